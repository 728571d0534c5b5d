"""A web server on 127.0.0.1 whose paths behave, and misbehave, as a test scripts them."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

CSV = b"id,name\n1,ada\n2,bob\n"


class Exchange(BaseHTTPRequestHandler):
    """One request; `reply` writes a whole response, `cut` ends the connection with a reset."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.server.seen.append((path, dict(self.headers)))
        self.close_connection = True
        self.server.pages[path](self)

    def reply(self, body: bytes = CSV, status: int = 200, **headers: Any) -> None:
        given = {name.replace("_", "-"): str(value) for name, value in headers.items() if value is not None}
        if "Content_Length" not in headers and "Transfer_Encoding" not in headers:
            given["Content-Length"] = str(len(body))
        self.send_response(status)
        for name, value in given.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def cut(self) -> None:
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def asked(self, times: int) -> bool:
        """Whether this path has now been asked for that many times."""
        return sum(path == self.path.partition("?")[0] for path, _ in self.server.seen) == times

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def handle(self) -> None:
        try:
            super().handle()
        except (OSError, ValueError):
            pass  # the client went away, or a test cut the connection

    def finish(self) -> None:
        try:
            super().finish()
        except (OSError, ValueError):
            pass


Page = Callable[[Exchange], None]


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.pages: dict[str, Page] = {}
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.stopped = threading.Event()
        self.scheme = "http"
        if tls is not None:
            self.scheme = "https"
            self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.server_address[1]}{path}"

    def page(self, path: str, page: Page) -> str:
        """Has the path answered so, and gives its URL."""
        self.pages[path.partition("?")[0]] = page
        return self.url(path)

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@contextmanager
def serving(tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    server = Server(tls)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Certificate:
    """A self-signed certificate for 127.0.0.1 and localhost."""

    folder: Path
    path: Path = field(init=False)

    def __post_init__(self) -> None:
        import subprocess

        self.path, key = self.folder / "certificate.pem", self.folder / "key.pem"
        subprocess.run(
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", self.path,
            ],
            check=True,
            capture_output=True,
        )  # fmt: skip
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.path, key)

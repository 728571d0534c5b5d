"""What a process behind the fence can still do, tried one by one; prints a JSON object of `reached` or the error."""

import ctypes
import json
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path


def main() -> None:
    directory, scratch, secret, other = (*sys.argv[1:4], int(sys.argv[4]))
    from builtin_tools.core.kernel import Fence, fence_files

    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        assert fence_files(Fence((directory,), (scratch,)))
        tries: dict[str, Callable[[], object]] = {
            "a file of the directory": lambda: Path(directory, "a.csv").read_text(),
            "the scratch folder": lambda: Path(scratch, "x").write_text("x"),
            "a file outside": lambda: Path(secret).read_text(),
            "a folder outside": lambda: os.listdir(Path(secret).parent),
            "writing into the directory": lambda: Path(directory, "b.csv").write_text("x"),
            "changing a file of the directory": lambda: os.truncate(Path(directory, "a.csv"), 0),
            "removing a file of the directory": lambda: os.unlink(Path(directory, "a.csv")),
            "renaming into the directory": lambda: os.rename(Path(scratch, "x"), Path(directory, "x")),
            "linking out of the directory": lambda: os.link(Path(directory, "a.csv"), Path(scratch, "l")),
            "a link to outside": lambda: _by_link(secret, Path(scratch, "s")),
            "another process's environment": lambda: Path(f"/proc/{other}/environ").read_text(),
            "its own environment": lambda: Path("/proc/self/environ").read_text(),
            "its own memory": lambda: open("/proc/self/mem", "rb"),  # noqa: SIM115
            "the folder for temporary files": lambda: Path(tempfile.gettempdir(), "fence-test").write_text("x"),
            "shared memory": lambda: Path("/dev/shm/fence-test").write_text("x"),
            "the passwords": lambda: Path("/etc/passwd").read_text(),
            "a port of this machine": lambda: socket.create_connection(("127.0.0.1", port), 1),
            "a port to listen on": lambda: socket.create_server(("127.0.0.1", 0)),
            "more rights by a program": _no_new_privileges,
        }
        version = fence_files(Fence((directory,), (scratch,)))
        if version >= 6:
            tries["a signal to another process"] = lambda: os.kill(other, signal.SIGCONT)
        outcomes = {}
        for name, attempt in tries.items():
            try:
                attempt()
                outcomes[name] = "reached"
            except (OSError, SystemError) as problem:
                outcomes[name] = type(problem).__name__
    print(json.dumps(outcomes))


def _by_link(secret: str, link: Path) -> str:
    os.symlink(secret, link)
    return link.read_text()


def _no_new_privileges() -> None:
    if ctypes.CDLL(None).prctl(39, 0, 0, 0, 0) == 1:
        raise PermissionError("no_new_privs is set")


if __name__ == "__main__":
    main()

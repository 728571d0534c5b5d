"""download_file as its users meet it: a process that talks to a server, well-behaved or not."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from time import time
from typing import Any

import pytest

from tests.network_server import CSV, Certificate, Exchange, Server, serving

TOOL = Path(__file__).resolve().parents[1] / "builtin_tools" / "download_file" / "tool.py"


@dataclass
class Outcome:
    answer: dict[str, Any]
    status: int
    stderr: str
    log: dict[str, Any]

    @property
    def code(self) -> str:
        return str(self.answer["error"]["code"])

    @property
    def path(self) -> str:
        return str(self.answer["artifacts"][0]["path"])

    @property
    def warned(self) -> list[str]:
        return [warning["code"] for warning in self.answer.get("warnings", [])]


@dataclass
class Tool:
    directory: Path

    def __call__(
        self, url: str, user: dict[str, Any] | None = None, env: dict[str, str] | None = None, **arguments: Any
    ) -> Outcome:
        config = {"artifact_dir": str(self.directory), "allow_private_networks": True, **(user or {})}
        command = [
            sys.executable,
            str(TOOL),
            "--user-params",
            json.dumps(config),
            "--tool-params",
            json.dumps({"url": url, **arguments}),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **(env or {})}, check=False)
        assert done.stdout.startswith("tool_output ") and done.stdout.count("\n") == 1, done.stdout + done.stderr
        log = (self.directory / ".artifacts" / "log.jsonl").read_text().splitlines()[-1]
        return Outcome(json.loads(done.stdout.removeprefix("tool_output ")), done.returncode, done.stderr, json.loads(log))

    def files(self) -> list[str]:
        return sorted(
            p.relative_to(self.directory).as_posix()
            for p in self.directory.rglob("*")
            if ".artifacts" not in p.parts and p.is_file()
        )


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    (tmp_path / "artifacts").mkdir()
    return Tool(tmp_path / "artifacts")


@pytest.fixture(scope="module")
def shared_server() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture
def server(shared_server: Server) -> Server:
    shared_server.seen.clear()
    shared_server.pages.clear()
    return shared_server


FAST = {"max_retries": 0}


# ---------------------------------------------------------------- what is there afterwards


def test_a_file_is_put_at_the_top_under_its_own_name_with_its_hash(tool: Tool, server: Server) -> None:
    done = tool(server.page("/data/sales.csv", lambda x: x.reply(Content_Type="text/csv")))
    assert (tool.directory / "sales.csv").read_bytes() == CSV
    assert done.answer["artifacts"] == [
        {"path": "sales.csv", "format": "csv", "bytes": len(CSV), "sha256": hashlib.sha256(CSV).hexdigest()}
    ]
    details = done.answer["details"]
    assert (details["host"], details["status"], details["attempts"], details["resumed"]) == ("127.0.0.1", 200, 1, False)
    assert 'path="sales.csv"' in done.answer["summary"]
    assert (done.status, done.stderr, done.log["ok"]) == (0, "", True)
    assert done.log["outputs"][0]["path"] == "sales.csv"


def test_a_chosen_path_makes_its_folders(tool: Tool, server: Server) -> None:
    assert tool(server.page("/x", lambda x: x.reply()), output_path="in/2026/a.txt").path == "in/2026/a.txt"
    assert tool.files() == ["in/2026/a.txt"]


def test_a_folder_as_path_keeps_the_files_own_name(tool: Tool, server: Server) -> None:
    url = server.page("/sales.txt", lambda x: x.reply())
    (tool.directory / "there").mkdir()
    assert tool(url, output_path="new/").path == "new/sales.txt"
    assert tool(url, output_path="there").path == "there/sales.txt"


def test_a_chosen_path_that_exists_is_refused_before_anything_is_asked(tool: Tool, server: Server) -> None:
    (tool.directory / "a.txt").write_text("old")
    done = tool(server.page("/x", lambda x: x.reply()), output_path="a.txt")
    assert (done.code, server.seen) == ("OUTPUT_EXISTS", [])
    assert tool(server.url("/x"), output_path="a.txt", overwrite=True).path == "a.txt"
    assert (tool.directory / "a.txt").read_bytes() == CSV


@pytest.mark.parametrize("path", ["../a.txt", "/etc/a.txt", ".artifacts/a.txt", "link/a.txt"])
def test_nothing_is_written_outside_the_directory(tool: Tool, server: Server, path: str) -> None:
    (tool.directory / "link").symlink_to(tool.directory.parent)
    done = tool(server.page("/x", lambda x: x.reply()), output_path=path, overwrite=True)
    assert (done.code, server.seen) == ("PATH_OUTSIDE_ARTIFACTS", [])


def test_the_same_content_under_the_same_name_is_a_success_and_writes_nothing(tool: Tool, server: Server) -> None:
    url = server.page("/sales.txt", lambda x: x.reply())
    tool(url)
    before = (tool.directory / "sales.txt").stat()
    done = tool(url)
    assert done.answer["ok"] and done.answer["details"]["already_there"] and done.path == "sales.txt"
    after = (tool.directory / "sales.txt").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_other_content_under_the_same_name_needs_overwrite(tool: Tool, server: Server) -> None:
    (tool.directory / "sales.txt").write_text("mine")
    url = server.page("/sales.txt", lambda x: x.reply())
    done = tool(url)
    assert done.code == "OUTPUT_EXISTS" and "sales_2.txt" in done.answer["error"]["guidance"]
    assert (tool.directory / "sales.txt").read_text() == "mine"
    assert tool(url, overwrite=True).answer["ok"]
    assert (tool.directory / "sales.txt").read_bytes() == CSV


# ---------------------------------------------------------------- names

NAMES = [
    ("/x", "attachment; filename=\"a b.csv\"", "a b.csv"),
    ("/x", "attachment; filename=plain.csv; size=3", "plain.csv"),
    ("/x", "attachment; filename=\"e.csv\"; filename*=UTF-8''%EB%A7%A4%EC%B6%9C.csv", "매출.csv"),
    ("/x", "attachment; filename*=EUC-KR''%B8%C5%C3%E2.csv", "매출.csv"),
    ("/x", 'attachment; filename="%EB%A7%A4%EC%B6%9C.csv"', "매출.csv"),
    ("/x", 'attachment; filename="=?UTF-8?B?66ek7LacLmNzdg==?="', "매출.csv"),
    ("/x", 'attachment; filename="' + "매출.csv".encode().decode("latin-1") + '"', "매출.csv"),
    ("/x", 'attachment; filename="' + "매출.csv".encode("euc-kr").decode("latin-1") + '"', "매출.csv"),
    ("/x", 'attachment; filename="../../etc/passwd.csv"', "passwd.csv"),
    ("/x", 'attachment; filename="C:\\\\dir\\\\a.csv"', "a.csv"),
    ("/x", 'attachment; filename=".artifacts"', "artifacts.csv"),
    ("/x", 'attachment; filename="con.csv"', "_con.csv"),
    ("/x", 'attachment; filename="say \\"hi\\"; now.csv"', "say _hi_; now.csv"),
    ("/x", 'attachment; filename=""', "x.csv"),
    ("/%EB%A7%A4%EC%B6%9C%201.csv", None, "매출 1.csv"),
    ("/..%2f..%2fetc%2fcron.csv", None, "cron.csv"),
    ("/export.php?file=a", None, "export.php.csv"),
    ("/", None, "download.csv"),
    ("/v1.2", None, "v1.2.csv"),
    ("/a%E2%80%AEfdp.csv", None, "afdp.csv"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "disposition", "name"), NAMES, ids=[name for _, _, name in NAMES])
def test_a_file_gets_the_name_that_server_or_url_gives_made_safe(path: str, disposition: str | None, name: str) -> None:
    from builtin_tools.core.network.names import proposed_name, with_extension
    from builtin_tools.core.network.urls import parse

    headers = {} if disposition is None else {"Content-Disposition": disposition}
    proposed = proposed_name(headers, [parse("https://example.com" + path)])
    assert with_extension(proposed, "csv") == name


def test_the_name_that_the_server_proposes_is_the_name_in_the_directory(tool: Tool, server: Server) -> None:
    raw = "../매출 1.csv".encode().decode("latin-1")
    done = tool(server.page("/x", lambda x: x.reply(Content_Disposition=f'attachment; filename="{raw}"')))
    assert (done.path, tool.files()) == ("매출 1.csv", ["매출 1.csv"])


def test_a_very_long_name_is_cut_in_its_stem(tool: Tool, server: Server) -> None:
    star = "UTF-8''" + "%EB%A7%A4" * 200 + ".csv.gz"
    done = tool(server.page("/x", lambda x: x.reply(Content_Disposition=f"attachment; filename*={star}")))
    assert done.path.endswith("매.csv.gz") and 250 < len(done.path.encode()) <= 255


def test_the_name_is_that_of_the_url_with_a_known_extension_on_either_side_of_a_redirect(tool: Tool, server: Server) -> None:
    server.page("/blob/77ab", lambda x: x.reply())
    server.page("/real.txt", lambda x: x.reply())
    assert tool(server.page("/sales.txt", lambda x: x.reply(b"", 302, Location="/blob/77ab"))).path == "sales.txt"
    assert tool(server.page("/short", lambda x: x.reply(b"", 302, Location="/real.txt"))).path == "real.txt"


# ---------------------------------------------------------------- kinds


def _workbook() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return held.getvalue()


KINDS = [
    (b"PAR1....PAR1", "/a", "application/octet-stream", "a.parquet", "parquet"),
    (b"%PDF-1.7\n", "/report", "", "report.pdf", "pdf"),
    (_workbook(), "/book", "application/octet-stream", "book.xlsx", "excel"),
    (b'{"a": 1}', "/api/items", "application/json; charset=utf-8", "items.json", "json"),
    (b'{"a": 1}\n{"a": 2}\n', "/lines", "application/x-ndjson", "lines.ndjson", "ndjson"),
    (gzip.compress(CSV), "/a.csv.gz", "application/gzip", "a.csv.gz", "csv"),
    (gzip.compress(CSV), "/a", "application/gzip", "a.gz", "gzip"),
    (b"<!DOCTYPE html><p>hi", "/page", "text/html", "page.html", "html"),
    (b"plain words", "/notes.txt", "text/plain", "notes.txt", "text"),
    (b"\x00\x01\x02", "/thing", "application/octet-stream", "thing", "binary"),
]


@pytest.mark.parametrize(("body", "path", "media_type", "name", "kind"), KINDS, ids=[case[3] for case in KINDS])
def test_the_kind_is_told_by_content_then_name_then_content_type(
    tmp_path: Path, body: bytes, path: str, media_type: str, name: str, kind: str
) -> None:
    from builtin_tools.core.network.kinds import kind_of
    from builtin_tools.core.network.names import with_extension

    (tmp_path / "scratch").write_bytes(body)
    found = kind_of(str(tmp_path / "scratch"), path[1:], media_type)
    assert (with_extension(path[1:], found.format), found.format, found.doubt) == (name, kind, None)


def test_a_web_page_in_place_of_a_table_is_warned_of(tool: Tool, server: Server) -> None:
    done = tool(server.page("/sales.csv", lambda x: x.reply(b"\n<html><h1>Log in</h1>", Content_Type="text/html")))
    assert done.answer["ok"] and done.warned == ["HTML_INSTEAD_OF_DATA"]
    assert done.answer["artifacts"][0]["format"] == "html"


def test_text_in_place_of_parquet_is_warned_of(tool: Tool, server: Server) -> None:
    assert "CONTENT_MISMATCH" in tool(server.page("/a.parquet", lambda x: x.reply(b"not found"))).warned


def test_a_file_of_no_bytes_is_kept_and_warned_of(tool: Tool, server: Server) -> None:
    done = tool(server.page("/a.csv", lambda x: x.reply(b"")))
    assert done.answer["ok"] and done.warned == ["FILE_EMPTY"] and tool.files() == ["a.csv"]


def test_a_table_comes_with_its_columns_for_the_next_call(tool: Tool, server: Server) -> None:
    done = tool(server.page("/sales.csv", lambda x: x.reply()))
    assert done.answer["details"]["columns"] == [{"name": "id", "type": "BIGINT"}, {"name": "name", "type": "VARCHAR"}]
    assert 'query_table path="sales.csv"' in done.answer["summary"]


def test_a_table_that_cannot_be_read_is_a_download_all_the_same(tool: Tool, server: Server) -> None:
    done = tool(server.page("/a.parquet", lambda x: x.reply(b"PAR1 this is no Parquet PAR1")))
    assert done.answer["ok"] and "COLUMNS_UNKNOWN" in done.warned and tool.files() == ["a.parquet"]


# ---------------------------------------------------------------- encodings


def test_identity_is_asked_for_and_gzip_undone_where_it_is_sent_anyway(tool: Tool, server: Server) -> None:
    done = tool(
        server.page("/sales.txt", lambda x: x.reply(gzip.compress(CSV[:9]) + gzip.compress(CSV[9:]), Content_Encoding="gzip"))
    )
    assert (tool.directory / "sales.txt").read_bytes() == CSV
    assert server.seen[0][1]["Accept-Encoding"] == "identity"
    assert done.answer["details"]["content_encoding_undone"] == "gzip"


def test_a_file_called_gz_stays_compressed(tool: Tool, server: Server) -> None:
    body = gzip.compress(CSV)
    tool(server.page("/sales.csv.gz", lambda x: x.reply(body, Content_Encoding="gzip")))
    assert (tool.directory / "sales.csv.gz").read_bytes() == body


def test_encodings_that_cannot_be_undone_are_errors(tool: Tool, server: Server) -> None:
    assert tool(server.page("/a.csv", lambda x: x.reply(Content_Encoding="br"))).code == "UNSUPPORTED_FORMAT"
    assert tool(server.page("/b.csv", lambda x: x.reply(Content_Encoding="gzip"))).code == "FILE_CORRUPT"
    half = gzip.compress(CSV * 9)[:-12]
    assert tool(server.page("/c.csv", lambda x: x.reply(half, Content_Encoding="gzip"))).code == "FILE_CORRUPT"
    assert tool.files() == []


# ---------------------------------------------------------------- limits


def test_a_large_file_is_refused_by_its_length_before_its_body(tool: Tool, server: Server) -> None:
    done = tool(server.page("/a.dat", lambda x: x.reply(b"", Content_Length=10**12)), {"max_bytes": "1MB"})
    assert (done.code, done.status) == ("RESPONSE_TOO_LARGE", 0) and "1.0 TB" not in done.code
    assert done.answer["error"]["details"]["bytes"] == 10**12 and tool.files() == []


def _endless(exchange: Exchange) -> None:
    exchange.reply(b"", Transfer_Encoding="chunked")
    while True:
        exchange.wfile.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")


def test_an_endless_file_is_stopped_at_the_limit(tool: Tool, server: Server) -> None:
    assert tool(server.page("/a.dat", _endless), {"max_bytes": "1MB"}).code == "RESPONSE_TOO_LARGE"


def test_a_gzip_bomb_is_stopped_at_the_limit(tool: Tool, server: Server) -> None:
    bomb = gzip.compress(b"0" * 20_000_000)
    done = tool(server.page("/a.dat", lambda x: x.reply(bomb, Content_Encoding="gzip")), {"max_bytes": "1MB"})
    assert done.code == "RESPONSE_TOO_LARGE" and tool.files() == []


def _drip(exchange: Exchange) -> None:
    exchange.reply(b"", Content_Length=1000)
    while not exchange.server.stopped.wait(0.1):
        exchange.wfile.write(b"x")


def _drip_head(exchange: Exchange) -> None:
    exchange.wfile.write(b"HTTP/1.1 200 OK\r\n")
    while not exchange.server.stopped.wait(0.1):
        exchange.wfile.write(b"x")


@pytest.mark.parametrize("page", [_drip, _drip_head])
def test_a_dripping_server_is_left_at_the_time_limit(tool: Tool, server: Server, page: Any) -> None:
    done = tool(server.page("/a.dat", page), {"timeout_seconds": 1.5})
    assert done.code == "TIMEOUT" and "timeout_seconds" in done.answer["error"]["guidance"] and tool.files() == []
    assert "127.0.0.1" in done.answer["error"]["message"]


def test_a_silent_server_is_a_connection_timeout(tool: Tool, server: Server) -> None:
    url = server.page("/a.dat", lambda x: x.server.stopped.wait(5) and None)
    done = tool(url, {"read_timeout_seconds": 0.2, "max_retries": 1})
    assert (done.code, done.status, done.answer["error"]["retryable"]) == ("CONNECTION_TIMEOUT", 1, True)
    assert len(server.seen) == 2 and done.answer["error"]["message"] in done.stderr


# ---------------------------------------------------------------- statuses

STATUSES = [
    (401, "UNAUTHORIZED", 1, False), (403, "FORBIDDEN", 1, False), (404, "NOT_FOUND", 0, False), (410, "NOT_FOUND", 0, False),
    (400, "INVALID_URL", 0, False), (429, "RATE_LIMITED", 1, True), (500, "SERVER_ERROR", 1, True),
    (501, "SERVER_ERROR", 1, False), (502, "SERVER_ERROR", 1, True), (503, "SERVICE_UNAVAILABLE", 1, True),
    (504, "SERVER_ERROR", 1, True), (204, "SERVER_ERROR", 1, False), (304, "SERVER_ERROR", 1, False),
    (206, "SERVER_ERROR", 1, False),
]  # fmt: skip


@pytest.mark.parametrize(("status", "code", "exit_status", "retryable"), STATUSES, ids=[str(case[0]) for case in STATUSES])
def test_a_status_that_brings_no_file_is_an_error_of_its_own(status: int, code: str, exit_status: int, retryable: bool) -> None:
    from builtin_tools.core.network.failures import status_failure
    from builtin_tools.core.network.urls import parse

    error = status_failure(status, parse("https://example.com/a.dat?token=hush"), None)
    assert (error.code, error.exit_status, error.retryable) == (code, exit_status, retryable)
    assert "hush" not in json.dumps(error.document())


@pytest.mark.parametrize(
    ("status", "code", "exit_status"),
    [(404, "NOT_FOUND", 0), (403, "FORBIDDEN", 1), (503, "SERVICE_UNAVAILABLE", 1), (206, "SERVER_ERROR", 1)],
)
def test_no_file_is_left_by_a_response_that_brings_none(
    tool: Tool, server: Server, status: int, code: str, exit_status: int
) -> None:
    done = tool(server.page("/a.dat", lambda x: x.reply(b"<h1>no</h1>", status)), FAST)
    assert (done.code, done.status, tool.files(), len(server.seen)) == (code, exit_status, [], 1)


def test_a_passing_failure_is_tried_again(tool: Tool, server: Server) -> None:
    done = tool(server.page("/a.dat", lambda x: x.reply() if x.asked(2) else x.reply(b"", 503, Retry_After="0")))
    assert done.answer["details"]["attempts"] == 2 and (tool.directory / "a.dat").read_bytes() == CSV


def test_retry_after_is_waited_for_in_seconds_and_as_a_date(tool: Tool, server: Server) -> None:
    moments: list[float] = []

    def page(exchange: Exchange) -> None:
        moments.append(time())
        after = {1: "1", 2: formatdate(time() + 2, usegmt=True)}.get(len(moments))
        exchange.reply(b"", 429, Retry_After=after) if after else exchange.reply()

    assert tool(server.page("/a.dat", page)).answer["details"]["attempts"] == 3
    assert moments[1] - moments[0] >= 0.95 and moments[2] - moments[1] >= 0.95  # a date has whole seconds


def test_a_wait_longer_than_the_time_left_is_told_at_once(tool: Tool, server: Server) -> None:
    started = time()
    done = tool(server.page("/a.dat", lambda x: x.reply(b"", 429, Retry_After="3600")), {"timeout_seconds": 30})
    assert done.code == "RATE_LIMITED" and time() - started < 10 and len(server.seen) == 1
    assert done.answer["error"]["details"]["retry_after_seconds"] == 3600 and "3,600" in done.answer["error"]["guidance"]


# ---------------------------------------------------------------- broken connections

BODY = hashlib.sha256(b"seed").digest() * 20_000  # 640 kB that a lost or doubled part would change
TAG = {"ETag": '"v1"', "Accept_Ranges": "bytes"}


def _ranged(first: int, **answer: Any) -> Any:
    """A page that is cut after `first` bytes once, and then serves the rest by range."""

    def page(exchange: Exchange) -> None:
        if exchange.asked(1):
            exchange.reply(BODY[:first], Content_Length=len(BODY), **TAG)
            return exchange.cut() if first else None
        start = int(exchange.headers["Range"].removeprefix("bytes=").removesuffix("-")) if "Range" in exchange.headers else None
        if start is None or exchange.headers.get("If-Range") != '"v1"':
            return exchange.reply(BODY, **TAG)
        spec = answer.get("spec") or f"bytes {start}-{len(BODY) - 1}/{len(BODY)}"
        exchange.reply(
            BODY[start:], answer.get("status", 206), **{**TAG, "ETag": answer.get("tag", '"v1"'), "Content_Range": spec}
        )
        return None

    return page


def test_a_broken_download_is_resumed_where_the_server_allows(tool: Tool, server: Server) -> None:
    done = tool(server.page("/a.bin", _ranged(300_000)))
    assert (tool.directory / "a.bin").read_bytes() == BODY
    assert done.answer["details"]["resumed"] and done.answer["details"]["attempts"] == 2
    assert server.seen[1][1]["If-Range"] == '"v1"' and 0 < int(server.seen[1][1]["Range"][6:-1]) <= 300_000


MISFITS = {
    "another_start": {"spec": f"bytes 5-{len(BODY) - 1}/{len(BODY)}"},
    "another_length": {"spec": f"bytes 300000-{len(BODY)}/{len(BODY) + 1}"},
    "no_range_told": {"spec": "nonsense"},
    "another_version": {"tag": '"v2"'},
    "refused": {"status": 416},
}


@pytest.mark.parametrize("answer", MISFITS.values(), ids=MISFITS.keys())
def test_a_rest_that_does_not_fit_is_thrown_away_and_all_is_fetched_anew(tool: Tool, server: Server, answer: Any) -> None:
    done = tool(server.page("/a.bin", _ranged(300_000, **answer)))
    assert (tool.directory / "a.bin").read_bytes() == BODY
    assert not done.answer["details"]["resumed"] and done.answer["details"]["attempts"] == 3


def test_a_server_without_a_strong_validator_is_asked_for_everything_again(tool: Tool, server: Server) -> None:
    def page(exchange: Exchange) -> None:
        exchange.reply(BODY[: 300_000 if exchange.asked(1) else None], Content_Length=len(BODY), ETag='W/"v1"')

    done = tool(server.page("/a.bin", page))
    assert (tool.directory / "a.bin").read_bytes() == BODY and not done.answer["details"]["resumed"]
    assert all("Range" not in headers for _, headers in server.seen)


def test_a_changed_file_is_not_pieced_together_from_two_versions(tool: Tool, server: Server) -> None:
    def page(exchange: Exchange) -> None:
        if exchange.asked(1):
            return exchange.reply(BODY[:300_000], Content_Length=len(BODY), ETag='"v1"')
        return exchange.reply(BODY[::-1], ETag='"v2"')  # If-Range no longer matches: the whole new file

    tool(server.page("/a.bin", page))
    assert (tool.directory / "a.bin").read_bytes() == BODY[::-1]


@pytest.mark.parametrize("headers", [{"Content_Length": 9999}, {"Transfer_Encoding": "chunked"}], ids=["short", "unended_chunks"])
def test_a_body_that_ends_early_is_never_a_success(tool: Tool, server: Server, headers: Any) -> None:
    body = b"14\r\n" + CSV + b"\r\n" if "Transfer_Encoding" in headers else CSV
    done = tool(server.page("/a.dat", lambda x: x.reply(body, **headers)), {"max_retries": 1})
    assert (done.code, done.answer["error"]["retryable"]) == ("SERVER_ERROR", True)
    assert "broke the connection" in done.answer["error"]["message"] and tool.files() == []
    assert done.answer["error"]["details"]["attempts"] == 2


def test_a_body_without_any_length_is_taken_and_told(tool: Tool, server: Server) -> None:
    def page(exchange: Exchange) -> None:
        exchange.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n" + CSV)

    assert tool(server.page("/a.dat", page)).warned[0] == "LENGTH_UNKNOWN"


def test_what_is_not_http_is_an_error(tool: Tool, server: Server) -> None:
    done = tool(server.page("/a.dat", lambda x: x.wfile.write(b"SSH-2.0-OpenSSH_9\r\n") and None), FAST)
    assert done.code == "SERVER_ERROR"


# ---------------------------------------------------------------- hosts and redirects

REFUSED = [
    "http://127.0.0.1:9/a.dat", "http://localhost:9/a.dat", "http://10.0.0.1/a.dat", "http://192.168.1.1/", "http://172.16.0.1/",
    "http://169.254.169.254/latest/meta-data/", "http://100.64.0.1/", "http://0.0.0.0/", "http://224.0.0.1/", "http://255.255.255.255/",
    "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[fe80::1]/", "http://[fc00::1]/", "http://[ff02::1]/",
    "http://[::]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://2130706433/", "http://0x7f000001/", "http://0177.0.0.1/",
    "http://127.1/", "http://127.0.0.1./", "http://１２７.０.０.１/", "http://127。0。0。1/", "http://192.0.0.192/", "http://168.63.129.16/",
]  # fmt: skip


@pytest.mark.parametrize("url", REFUSED)
def test_no_address_that_is_not_public_is_reached(url: str) -> None:
    from builtin_tools.core.errors import NetworkError
    from builtin_tools.core.network.hosts import HostPolicy
    from builtin_tools.core.network.urls import parse

    with pytest.raises(NetworkError) as caught:
        HostPolicy().addresses(parse(url))
    assert caught.value.code == "HOST_NOT_ALLOWED" and caught.value.exit_status == 0


@pytest.mark.parametrize("answers", [["10.0.0.7"], ["93.184.215.14", "127.0.0.1"], ["2606:2800::1", "fd00::1"], ["fe80::1%eth0"]])
def test_a_name_is_refused_where_any_of_its_addresses_is_not_public(answers: list[str]) -> None:
    from builtin_tools.core.errors import NetworkError
    from builtin_tools.core.network.hosts import HostPolicy
    from builtin_tools.core.network.urls import parse

    policy = HostPolicy(resolver=lambda *_, **__: [(0, 0, 0, "", (answer, 80)) for answer in answers])
    with pytest.raises(NetworkError, match=r"data\.example stands for"):
        policy.addresses(parse("https://data.example/a.dat"))


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "[fd00:ec2::254]", "100.100.100.200", "0.0.0.0", "[fe80::1]", "[::ffff:169.254.169.254]"]
)
def test_metadata_services_and_the_like_stay_out_of_reach_where_private_networks_are_open(host: str) -> None:
    from builtin_tools.core.errors import NetworkError
    from builtin_tools.core.network.hosts import HostPolicy
    from builtin_tools.core.network.urls import parse

    with pytest.raises(NetworkError, match="may not reach"):
        HostPolicy(None, allow_private=True).addresses(parse(f"http://{host}/latest/"))


def test_a_name_is_resolved_once_and_the_connection_goes_to_the_checked_address(server: Server, tmp_path: Path) -> None:
    from builtin_tools.core.network.connections import Connector
    from builtin_tools.core.network.hosts import HostPolicy
    from builtin_tools.core.network.progress import Progress
    from builtin_tools.core.network.transfer import Limits, Transfer
    from builtin_tools.core.network.urls import parse

    asked: list[str] = []

    def resolver(host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        return [(0, 0, 0, "", ("127.0.0.1" if len(asked) == 1 else "10.9.9.9", port))]  # changes its mind

    server.page("/a.dat", lambda x: x.reply())
    target = parse(server.url("/a.dat", host="data.example"))
    with (tmp_path / "out").open("wb") as stream:
        limits = Limits(1000, 5, 0, time() + 1e6)
        Transfer(target, HostPolicy(None, True, resolver), Connector(2, 2), limits, {}, {}, stream, Progress("")).run()
    assert asked == ["data.example"] and (tmp_path / "out").read_bytes() == CSV
    assert server.seen[0][1]["Host"] == target.authority


def test_hosts_are_held_to_the_operators_patterns(tool: Tool, server: Server) -> None:
    url = server.page("/a.dat", lambda x: x.reply())
    assert tool(url, {"allowed_hosts": ["*.example.com", "127.0.0.*"]}).answer["ok"]
    for allowed in (["*.example.com"], []):
        done = tool(url, {"allowed_hosts": allowed})
        assert done.code == "HOST_NOT_ALLOWED" and "allowed_hosts" in done.answer["error"]["guidance"], allowed


def test_patterns_cover_names_below_and_not_names_beside() -> None:
    from builtin_tools.core.network.hosts import _matches
    from builtin_tools.core.network.urls import parse

    def covers(pattern: str, host: str) -> bool:
        return _matches(pattern, parse(f"https://{host}/"))

    assert covers("*.example.com", "a.b.example.com") and covers("Example.COM", "example.com.")
    assert not covers("*.example.com", "example.com") and not covers("*.example.com", "evilexample.com")
    assert not covers("example.com", "example.com.evil.org") and not covers("a.example", "axexample")
    assert covers("a.example:8080", "a.example:8080") and covers("a.example:*", "a.example:81")
    assert not covers("a.example:8080", "a.example") and not covers("a.example:443", "a.example:8443")
    assert covers("*.한국", "자료.한국") and covers("[2606:2800::1]", "[2606:2800:0::1]")


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("http://169.254.169.254/latest/", "HOST_NOT_ALLOWED"),
        ("//elsewhere.invalid/a.dat", "HOST_NOT_ALLOWED"),
        ("file:///etc/passwd", "INVALID_URL"),
        ("http://user:hush@127.0.0.1/a.dat", "INVALID_URL"),
    ],
)
def test_each_redirect_is_held_to_the_same_rules(tool: Tool, server: Server, location: str, code: str) -> None:
    done = tool(server.page("/a.dat", lambda x: x.reply(b"", 302, Location=location)), {"allowed_hosts": ["127.0.0.1", "169.*"]})
    assert done.code == code and "hush" not in json.dumps(done.answer) and tool.files() == []


def test_redirects_that_go_round_in_a_circle_are_ended(tool: Tool, server: Server) -> None:
    done = tool(server.page("/a.dat", lambda x: x.reply(b"", 302, Location="/a.dat")), {"max_redirects": 3})
    assert done.code == "INVALID_URL" and len(server.seen) == 4


def test_redirects_of_every_kind_are_followed_and_counted(tool: Tool, server: Server) -> None:
    for step, status in enumerate((301, 302, 303, 307, 308)):
        server.page(f"/{step}", lambda x, step=step, status=status: x.reply(b"", status, Location=f"{step + 1}?q=%20 b"))
    server.page("/5", lambda x: x.reply())
    done = tool(server.url("/0"), output_path="a.dat")
    assert done.answer["details"]["redirects"] == 5 and (tool.directory / "a.dat").read_bytes() == CSV


# ---------------------------------------------------------------- secrets


def test_the_operators_headers_go_to_the_origin_of_the_url_and_nowhere_else(tool: Tool, server: Server) -> None:
    with serving() as other:
        back = server.page("/back.dat", lambda x: x.reply())
        other.page("/hop", lambda x: x.reply(b"", 302, Location=back))
        server.page("/same", lambda x: x.reply(b"", 302, Location=other.url("/hop")))
        user = {"headers": {"Authorization": "Bearer s3cr3t-token", "User-Agent": "acme"}}
        done = tool(server.page("/a", lambda x: x.reply(b"", 302, Location="/same")), user)
        sent = [headers.get("Authorization") for _, headers in [*server.seen[:2], *other.seen, server.seen[2]]]
    assert sent == ["Bearer s3cr3t-token", "Bearer s3cr3t-token", None, None] and done.path == "back.dat"
    assert server.seen[0][1]["User-Agent"] == "acme"
    assert "s3cr3t" not in json.dumps([done.answer, done.log]) + done.stderr


def test_credentials_in_a_url_are_refused_and_shown_nowhere(tool: Tool, server: Server) -> None:
    done = tool(server.page("/a.dat", lambda x: x.reply()).replace("http://", "http://ada:hush-hush@"))
    assert (done.code, server.seen) == ("INVALID_URL", []) and "headers" in done.answer["error"]["guidance"]
    assert "hush-hush" not in json.dumps([done.answer, done.log]) + done.stderr


@pytest.mark.parametrize(
    "headers", [{"Host": "x"}, {"Range": "bytes=0-1"}, {"X-A": "b\r\nX-C: d"}, {"X A": "b"}, {"X-A": "매출"}]
)
def test_headers_that_cannot_be_sent_are_the_operators_error(headers: dict[str, str]) -> None:
    from builtin_tools.core.errors import ConfigurationError
    from builtin_tools.core.network.download import _secret_headers

    with pytest.raises(ConfigurationError, match="in headers"):
        _secret_headers(headers)


def test_proxies_of_the_environment_are_not_asked(tool: Tool, server: Server) -> None:
    proxies = dict.fromkeys(("http_proxy", "HTTP_PROXY", "all_proxy"), "http://127.0.0.1:9")
    assert tool(server.page("/a.dat", lambda x: x.reply()), env=proxies).answer["ok"]


# ---------------------------------------------------------------- URLs and connections


@pytest.mark.parametrize(
    "url",
    [
        "example.com/a.dat", "file:///etc/passwd", "ftp://example.com/a", "s3://bucket/a", "data:text/csv,a", "http://", "http:///a",
        "https://exa mple.com/", "http://example.com:99999/", "http://example.com:0/", "http://[::1", "http://a..b/", "http://exam%70le.com/",
        "http://example.com\\@127.0.0.1/", "http://example.com/a\nb", "/etc/passwd", "a.dat", "http://" + "a" * 9000,
    ],
)  # fmt: skip
def test_what_is_no_web_address_is_refused(url: str) -> None:
    from builtin_tools.core.errors import NetworkError
    from builtin_tools.core.network.urls import parse

    with pytest.raises(NetworkError) as caught:
        parse(url)
    assert (caught.value.code, caught.value.retryable) == ("INVALID_URL", False)


def test_blanks_and_other_scripts_in_a_url_are_encoded(tool: Tool, server: Server) -> None:
    server.page("/%EB%A7%A4%EC%B6%9C%20a.dat", lambda x: x.reply())
    assert tool("  <" + server.url("/매출 a.dat?기간=1 월&b=100%#top") + ">\n").path == "매출 a.dat"


def test_a_name_that_does_not_exist_is_a_dns_failure(tool: Tool) -> None:
    done = tool("https://no-such-host.invalid/a.dat")
    assert (done.code, done.status, done.answer["error"]["retryable"]) == ("DNS_FAILURE", 0, False)


def test_a_closed_port_is_a_refused_connection(tool: Tool) -> None:
    with serving() as gone:
        url = gone.url("/a.dat")
    done = tool(url)
    assert (done.code, done.status) == ("CONNECTION_REFUSED", 0)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    return Certificate(tmp_path_factory.mktemp("tls"))


def test_a_certificate_that_nobody_vouches_for_is_refused(tool: Tool, certificate: Certificate) -> None:
    with serving(certificate.context) as server:
        server.page("/a.dat", lambda x: x.reply())
        done = tool(server.url("/a.dat", host="localhost"))
        assert (done.code, done.status, done.answer["error"]["retryable"]) == ("SSL_CERTIFICATE_ERROR", 1, False)
        assert server.seen == []


def test_an_authority_of_the_operator_is_trusted_for_the_name_and_not_for_another(tool: Tool, certificate: Certificate) -> None:
    trust = {"SSL_CERT_FILE": str(certificate.path)}
    with serving(certificate.context) as server:
        server.page("/a.dat", lambda x: x.reply())
        assert tool(server.url("/a.dat", host="localhost"), env=trust).answer["ok"]
        assert tool(server.url("/a.dat", host="127.0.0.1"), env=trust).code == "SSL_CERTIFICATE_ERROR"


def test_a_port_that_speaks_no_tls_is_told_so(tool: Tool, server: Server) -> None:
    done = tool(server.page("/a.dat", lambda x: x.reply()).replace("http:", "https:"))
    assert done.code == "SSL_CERTIFICATE_ERROR" and "http://" in done.answer["error"]["guidance"]


# ---------------------------------------------------------------- the process


def test_only_what_a_download_needs_is_loaded() -> None:
    code = "import sys, builtin_tools.core.network.download; print({'duckdb', 'pandas', 'requests'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=TOOL.parents[2])
    assert done.stdout.strip() == "set()"


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo terminal")
def test_a_progress_bar_is_drawn_on_a_terminal_and_wiped(tool: Tool, server: Server) -> None:
    url = server.page("/a.bin", lambda x: x.reply(BODY))
    near, far = os.openpty()
    config = json.dumps({"artifact_dir": str(tool.directory), "allow_private_networks": True})
    command = [sys.executable, str(TOOL), "--user-params", config, "--tool-params", json.dumps({"url": url})]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=far, timeout=60, check=True)
    os.close(far)
    drawn = os.read(near, 65536).decode()
    os.close(near)
    assert "of 640.0 kB" in drawn and drawn.endswith("\r\x1b[2K") and done.stdout.startswith(b"tool_output {")

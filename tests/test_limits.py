"""Every limit is hit once: the code says which one it was, the guidance what to do, and it comes in time."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import json
import lzma
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.document_process import pdf
from tests.harness import ROOT, Answer, Runner
from tests.security_calls import GRACE, leftovers

SMALL = {"timeout_seconds": 6, "memory_limit": "200MB", "temp_disk_limit": "20MB", "threads": 2}


def hit(run: Runner, tool: str, user: dict[str, Any], **parameters: Any) -> Answer:
    """A call that must end within its limit and the grace, and leave nothing."""
    began = time.monotonic()
    answer = run.tool(tool, user, **parameters)
    assert time.monotonic() - began < float(user.get("timeout_seconds", 60)) + GRACE
    assert leftovers(run.directory) == [] and answer.code not in ("INTERNAL_ERROR",), answer.raw
    if not answer.ok:
        assert answer.exit_status == 0 and len(answer.document["error"]["guidance"]) > 20
    return answer


# ---------------------------------------------------------------- time, memory, disk


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(hash(a.range + b.range)) FROM range(100000000) a, range(100000000) b",
        "SELECT length(lpad('x', 2000000000, 'y'))",
        "SELECT max(len(list_sort(range(n % 7, 2000000)))) FROM range(10000) t(n)",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r",
    ],
)
def test_a_statement_past_its_time_is_stopped(run: Runner, sql: str) -> None:
    answer = hit(run, "query_sql", SMALL | {"timeout_seconds": 2, "memory_limit": "400MB"}, sql=sql)
    assert answer.code in ("TIMEOUT", "MEMORY_LIMIT_EXCEEDED", "DISK_LIMIT_EXCEEDED"), answer.raw
    assert "2 s" in answer.words or "limit" in answer.words


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT len(range(2000000000))",
        "SELECT length(repeat('ab', 1500000000))",
        "SELECT length(string_agg(repeat('x', 1000000), '')) FROM range(100000)",
        "SELECT len(list(range)) FROM range(200000000)",
        "SELECT length(printf('%1900000000d', 1))",
    ],
)
def test_a_scalar_that_outgrows_the_memory_is_stopped_by_the_kernel_or_the_engine(run: Runner, sql: str) -> None:
    answer = hit(run, "query_sql", SMALL | {"timeout_seconds": 30}, sql=sql)
    assert answer.code == "MEMORY_LIMIT_EXCEEDED", answer.raw
    assert "memory_limit" in answer.words and "200.0 MB" in answer.words


def peak_of(pid: int, done: threading.Event, peak: list[int]) -> None:
    """Notes the most that a process and its children hold, until told to end."""
    while not done.wait(0.02):
        family = [pid]
        with contextlib.suppress(OSError):
            family += [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        held = 0
        for one in family:
            with contextlib.suppress(OSError):
                held += int(Path(f"/proc/{one}/statm").read_text().split()[1]) * 4096
        peak.append(held)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured by /proc")
def test_no_more_memory_is_held_than_the_limit_and_the_workers_share(run: Runner) -> None:
    script = str(ROOT / "builtin_tools" / "query_sql" / "tool.py")
    user = json.dumps({"artifact_dir": str(run.directory)} | SMALL)
    argv = [sys.executable, script, "--user-params", user, "--tool-params", json.dumps({"sql": "SELECT len(range(2000000000))"})]
    call, done, peak = subprocess.Popen(argv, stdout=subprocess.PIPE), threading.Event(), [0]
    looking = threading.Thread(target=peak_of, args=(call.pid, done, peak))
    looking.start()
    output, _ = call.communicate(timeout=30)
    done.set()
    looking.join()
    assert b"MEMORY_LIMIT_EXCEEDED" in output and max(peak) < 200_000_000 + 1_000_000_000


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured by /proc")
def test_the_watchdog_ends_a_worker_that_no_bound_of_the_kernel_holds() -> None:
    program = (
        "import time\nfrom builtin_tools.core.watchdog import Watchdog\n"
        "def work(parent):\n    held = [bytearray(b'x') * 100_000_000 for _ in range(20)]\n    time.sleep(20)\n"
        "outcome = Watchdog(time.monotonic() + 15, 15, 50_000_000).run(work)\nprint(outcome.error.code, time.process_time() < 5)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True, timeout=60)
    assert done.stdout == "MEMORY_LIMIT_EXCEEDED True\n"


def test_a_spill_past_its_share_of_the_disk_is_told(run: Runner) -> None:
    sql = "SELECT count(*) FROM (SELECT DISTINCT repeat('z', 60) || range FROM range(20000000))"
    answer = hit(run, "query_sql", SMALL | {"memory_limit": "64MB", "timeout_seconds": 20}, sql=sql)
    assert answer.code in ("DISK_LIMIT_EXCEEDED", "MEMORY_LIMIT_EXCEEDED") and "limit" in answer.words


@pytest.mark.parametrize("asked", ["csv", "json", "parquet"])
def test_a_result_past_the_disk_limit_is_told_and_not_kept(run: Runner, asked: str) -> None:
    sql = "SELECT range AS n, md5(range::VARCHAR) AS h FROM range(2000000)"
    answer = hit(run, "query_sql", SMALL | {"timeout_seconds": 30}, sql=sql, output_format=asked)
    assert answer.code == "DISK_LIMIT_EXCEEDED" and "temp_disk_limit" in answer.words, answer.raw
    assert not list(run.directory.glob("results/*"))


# ---------------------------------------------------------------- answers


def test_an_answer_keeps_to_its_characters_however_wide_the_rows(run: Runner) -> None:
    columns = ", ".join(f"repeat('{n}', 3000) AS c{n}" for n in range(300))
    answer = hit(run, "query_sql", {"max_output_chars": 5000, "threads": 1}, sql=f"SELECT {columns}")
    assert answer.ok and len(answer.raw) <= 5000 and answer.document["table"]["truncated"]


def test_an_error_keeps_to_the_budget_too(run: Runner) -> None:
    answer = hit(run, "query_sql", {"max_output_chars": 2000, "threads": 1}, sql="SELECT " + "x" * 50_000)
    assert not answer.ok and len(answer.raw) <= 2000


def test_an_agent_never_sees_more_rows_than_the_operator_allows(run: Runner) -> None:
    answer = hit(run, "query_sql", {"max_preview_rows": 5, "threads": 1}, sql="FROM range(100)", preview_rows=50)
    assert len(answer.rows) == 5 and answer.document["table"]["total_rows"] == 100


def test_a_listing_shows_so_many_entries_and_tells_of_the_rest(run: Runner) -> None:
    for number in range(2500):
        run.write(f"d{number % 10}/f{number}.txt", b"")
    answer = hit(run, "list_directory", {"timeout_seconds": 10}, recursive=True, max_entries=7)
    assert len(answer.rows) == 7 and answer.document["table"]["total_rows"] == 2510 and answer.document["table"]["truncated"]


# ---------------------------------------------------------------- SQL


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT 1" + " + 1" * 30_000, "INVALID_PARAMETERS"),
        ("SELECT " + "(" * 300 + "1" + ")" * 300, "SQL_SYNTAX_ERROR"),
        ("SELECT " + "(" * 40_000, "SQL_SYNTAX_ERROR"),
        ("SELECT " + "[" * 900 + "]" * 900, "SQL_SYNTAX_ERROR"),
    ],
)
def test_sql_that_is_too_long_or_too_deep_is_refused_before_it_is_parsed(run: Runner, sql: str, code: str) -> None:
    assert hit(run, "query_sql", SMALL, sql=sql).code == code


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + "NOT " * 5000 + "true",
        "SELECT " + "- " * 5000 + "1",
        "SELECT 1" + " + 1" * 5000,
        "SELECT " + "CASE WHEN true THEN " * 1500 + "1" + " END" * 1500,
        " UNION ALL ".join(["SELECT 1"] * 3000),
        "WITH "
        + ", ".join(f"t{n} AS (SELECT * FROM t{n - 1}, t{n - 1} b)" if n else "t0 AS (SELECT 1)" for n in range(40))
        + " SELECT count(*) FROM t39",
        "SELECT * FROM " + ", ".join(f"range(2) a{n}" for n in range(400)),
        "SELECT 1 WHERE 1 IN (" + ",".join(map(str, range(15_000))) + ")",
    ],
)
def test_sql_that_is_deep_without_brackets_ends_within_the_limits(run: Runner, sql: str) -> None:
    answer = hit(run, "query_sql", SMALL, sql=sql)
    fair = (
        "ok",
        "TIMEOUT",
        "MEMORY_LIMIT_EXCEEDED",
        "DISK_LIMIT_EXCEEDED",
        "SQL_ERROR",
        "SQL_SYNTAX_ERROR",
        "SQL_NOT_ALLOWED",
        "INVALID_PARAMETERS",
    )
    assert answer.code in fair, answer.raw


# ---------------------------------------------------------------- files


def zipped(data: bytes, path: Path) -> bytes:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", data)
    return path.read_bytes()


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "zip"])
def test_a_file_that_unpacks_past_its_limit_is_stopped(run: Runner, tmp_path: Path, ending: str) -> None:
    data = b"a,b\n" + b"1,2\n" * 4_000_000
    pack: dict[str, Callable[[bytes], bytes]] = {
        "gz": lambda data: gzip.compress(data, 1),
        "bz2": bz2.compress,
        "xz": lambda data: lzma.compress(data, preset=0),
    }
    run.write(f"a.csv.{ending}", zipped(data, tmp_path / "z") if ending == "zip" else pack[ending](data))
    answer = hit(run, "read_csv", {"max_uncompressed_bytes": "5MB", "timeout_seconds": 20, "threads": 1}, path=f"a.csv.{ending}")
    assert answer.code == "DISK_LIMIT_EXCEEDED" and "max_uncompressed_bytes" in answer.words


@pytest.mark.parametrize(
    "text", ["[" * 1_000_000, '{"a":' * 300_000, "[" * 100_000 + "]" * 100_000, '[{"a": ' + "[" * 5_000 + "]" * 5_000 + "}]"]
)
def test_json_that_is_nested_too_deep_is_told(run: Runner, text: str) -> None:
    run.write("deep.json", text)
    for tool, parameters in (("read_json", {"path": "deep.json"}), ("query_sql", {"sql": "FROM 'deep.json'"})):
        user = {"timeout_seconds": 15} | ({"threads": 1} if tool == "query_sql" else {})
        answer = hit(run, tool, user, **parameters)
        assert answer.code in ("FILE_CORRUPT", "SQL_ERROR", "UNSUPPORTED_FORMAT", "MEMORY_LIMIT_EXCEEDED") or answer.ok, (
            answer.raw
        )


def test_a_document_of_too_many_pages_is_read_in_part_and_says_so(run: Runner) -> None:
    run.write("long.pdf", pdf([f"BT /F1 12 Tf 72 700 Td (page {n}) Tj ET" for n in range(40)]))
    answer = hit(run, "read_pdf", {"max_pages": 5}, path="long.pdf")
    assert (not answer.ok and "max_pages" in answer.words) or (
        "warnings" in answer.document and "5" in json.dumps(answer.document["warnings"])
    ), answer.raw


@pytest.mark.parametrize(
    ("markdown", "user"),
    [
        ("x" * 20_000, {"max_markdown_chars": 10_000}),
        ("# T\n\n| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 8_000, {"timeout_seconds": 10}),
    ],
)
def test_markdown_that_is_too_large_is_refused_with_what_would_fit(run: Runner, markdown: str, user: dict[str, Any]) -> None:
    run.write("large.md", markdown)
    answer = hit(run, "markdown_to_pdf", user, input_path="large.md")
    assert answer.code == "INVALID_PARAMETERS" and any(word in answer.words for word in ("max_markdown_chars", "timeout_seconds"))


def test_more_files_than_a_process_may_open_are_read_or_told(run: Runner) -> None:
    import resource

    for number in range(600):
        run.write(f"parts/p{number}.csv", f"n\n{number}\n")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, hard))
    try:
        answer = hit(run, "query_sql", {"timeout_seconds": 60, "threads": 1}, sql="SELECT count(*), sum(n) FROM 'parts/*.csv'")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (answer.ok and answer.rows == [[600, 179700]]) or answer.code in (
        "SQL_ERROR",
        "UNSUPPORTED_FORMAT",
        "DISK_LIMIT_EXCEEDED",
    ), answer.raw

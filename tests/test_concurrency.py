"""Many calls in one directory at once: none is lost, none mixed up, all are logged, and what they share is shared."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from builtin_tools.core.artifacts import ArtifactDirectory
from builtin_tools.core.publishing import Scratch
from tests.harness import ROOT, Runner
from tests.security_calls import broken_lines, leftovers
from tests.security_crowd import ask, crowd, furnish


def test_sixty_calls_of_every_kind_at_once_are_all_answered_and_logged(run: Runner) -> None:
    furnish(run.directory)
    assert crowd(run.directory, 60) == []
    assert len(list((run.directory / "own").iterdir())) == 7


def test_the_same_call_ten_times_at_once_gives_one_file_and_ten_equal_answers(run: Runner) -> None:
    run.write("a.csv", "n\n" + "".join(f"{n}\n" for n in range(1000)))
    asked = {"sql": "SELECT n, n * n AS m FROM 'a.csv' ORDER BY n"}
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: ask(run.directory, "query_sql", asked), range(10)))
    assert len({answer.raw for answer in answers}) == 1
    assert len(os.listdir(run.directory / "results")) == 1 and len(run.log()) == 10 and leftovers(run.directory) == []


def test_one_of_many_that_want_the_same_new_name_gets_it(run: Runner) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(lambda n: ask(run.directory, "query_sql", {"sql": f"SELECT {n} AS n", "output_path": "one.csv"}), range(8))
        )
    assert sorted(answer.code for answer in answers) == ["OUTPUT_EXISTS"] * 7 + ["ok"]
    (won,) = [answer for answer in answers if answer.ok]
    assert (run.directory / "one.csv").read_text().split() == ["n", str(won.rows[0][0])]


def test_calls_that_overwrite_one_file_leave_one_of_them_whole(run: Runner) -> None:
    def write(number: int) -> str:
        sql = f"SELECT {number} AS n FROM range({20_000 + number})"
        return ask(run.directory, "query_sql", {"sql": sql, "output_path": "one.csv", "overwrite": True}).code

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(write, range(6))) == {"ok"}
    first, *rest = (run.directory / "one.csv").read_text().split()[1:]
    assert set(rest) == {first} and len(rest) + 1 == 20_000 + int(first)


def test_an_entry_of_the_cache_is_made_once_used_by_the_others_and_whole(run: Runner) -> None:
    furnish(run.directory)
    os.utime(run.directory / "big.csv", (1_700_000_000, 1_700_000_000))
    time.sleep(2.1)  # a file that changed just now is not remembered
    asked = {"sql": "SELECT count(*), min(value), max(id) FROM 'big.csv'"}
    with ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(lambda _: ask(run.directory, "query_sql", asked), range(5)))
    assert len({answer.raw for answer in answers}) == 1
    tables = run.directory / ".artifacts" / "cache" / "tables"
    assert sorted(path.suffix for path in tables.iterdir()) == [".json", ".parquet"]
    before = {path.name: path.stat().st_ino for path in tables.iterdir()}
    assert ask(run.directory, "query_sql", asked).raw == answers[0].raw
    assert {path.name: path.stat().st_ino for path in tables.iterdir()} == before, "the entry was used, not made again"


def test_a_living_call_keeps_its_scratch_folder_while_others_sweep(run: Runner) -> None:
    living = Scratch.make(ArtifactDirectory.open(str(run.directory)))
    os.utime(living.path, (1, 1))
    program = (
        "import sys\nfrom builtin_tools.core.artifacts import ArtifactDirectory\nfrom builtin_tools.core.publishing import Scratch\n"
        "for _ in range(300):\n    scratch = Scratch.make(ArtifactDirectory.open(sys.argv[1]))\n"
        "    assert open(scratch.path + '/lock') and __import__('os').listdir(scratch.path) == ['lock']\n    scratch.close()\n"
    )
    sweepers = [
        subprocess.Popen([sys.executable, "-c", program, str(run.directory)], cwd=ROOT, stderr=subprocess.PIPE) for _ in range(4)
    ]
    for sweeper in sweepers:
        _, errors = sweeper.communicate(timeout=60)
        assert sweeper.returncode == 0, errors.decode()
    assert os.listdir(living.path) == ["lock"]
    living.close()
    assert leftovers(run.directory) == []


def test_long_lines_of_many_writers_stay_whole_in_the_log(run: Runner) -> None:
    program = (
        "import sys\nfrom builtin_tools.core.artifacts import ArtifactDirectory\nfrom builtin_tools.core.run_log import append\n"
        "for n in range(100):\n    append(ArtifactDirectory.open(sys.argv[1]), {'tool': sys.argv[2], 'n': n, 'x': 'x' * (n * 211 % 20000)})\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", program, str(run.directory), str(w)], cwd=ROOT) for w in range(4)]
    assert [writer.wait(60) for writer in writers] == [0] * 4
    assert broken_lines(run.directory) == []
    assert sorted((entry["tool"], entry["n"]) for entry in run.log()) == sorted((str(w), n) for w in range(4) for n in range(100))


def test_an_entry_that_another_call_drops_is_read_all_the_same(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    from builtin_tools.core.tables import ingest_cache
    from tests.test_sources import Here

    furnish(run.directory)
    os.utime(run.directory / "big.csv", (1_700_000_000, 1_700_000_000))
    time.sleep(2.1)
    asked = {"sql": "SELECT count(*) AS n FROM 'big.csv'"}
    assert ask(run.directory, "query_sql", asked).ok
    tables = Path(run.directory, ".artifacts", "cache", "tables")
    load = ingest_cache.load
    found = []

    def late(*arguments: object) -> object:
        prepared = load(*arguments)  # type: ignore[arg-type]
        found.append(prepared)
        for path in tables.iterdir():
            path.unlink()
        return prepared

    monkeypatch.setattr(ingest_cache, "load", late)
    answer = Here(run.directory).tool("query_sql", **asked)  # type: ignore[arg-type]
    assert found[0] is not None and answer.code == "ok", json.dumps(answer.document)

"""list_directory as its callers meet it."""

from __future__ import annotations

import os
from datetime import datetime
from typing import Any

import pytest

from tests.harness import ROOT, Runner


def paths(run: Runner, **parameters: Any) -> list[str]:
    answer = run.tool("list_directory", **parameters)
    assert answer.ok, answer.words
    found: list[str] = answer.column("path")
    return found


@pytest.fixture
def filled(run: Runner) -> Runner:
    for number, name in enumerate(["b.csv", "a.parquet", "data/c.csv", "data/deep/d.json", "data/e.txt"]):
        path = run.write(name, "x" * (10 * number))
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    return run


def test_a_listing_tells_kind_format_size_and_time(run: Runner) -> None:
    path = run.write("sales.csv", "a,b\n1,2\n")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    run.write("data/x.bin", b"\0")
    answer = run.tool("list_directory")
    names = [column["name"] for column in answer.document["table"]["columns"]]
    assert names == ["path", "kind", "format", "bytes", "modified", "rows", "columns"]
    assert answer.rows[1] == ["sales.csv", "file", "csv", 8, "2023-11-14T22:13:20Z", None, None]
    assert answer.rows[0][:4] == ["data", "directory", None, None]
    assert datetime.fromisoformat(answer.rows[0][4]).utcoffset() is not None
    assert answer.summary == "2 entries; 2 shown."


def test_a_listing_goes_below_only_when_asked(filled: Runner) -> None:
    assert paths(filled) == ["a.parquet", "b.csv", "data"]
    assert paths(filled, recursive=True) == [
        "a.parquet", "b.csv", "data", "data/c.csv", "data/deep", "data/deep/d.json", "data/e.txt",
    ]  # fmt: skip
    assert paths(filled, path="data") == ["data/c.csv", "data/deep", "data/e.txt"]
    assert paths(filled, path="./data/../data/deep/") == ["data/deep/d.json"]


def test_a_pattern_matches_names_and_with_a_slash_paths(filled: Runner) -> None:
    assert paths(filled, pattern="*.csv") == ["b.csv"]
    assert paths(filled, pattern="*.csv", recursive=True) == ["b.csv", "data/c.csv"]
    assert paths(filled, pattern="data/*.csv") == ["data/c.csv"]
    assert paths(filled, pattern="**/*.json") == ["data/deep/d.json"]
    assert paths(filled, path="data", pattern="deep/*") == ["data/deep/d.json"]
    assert filled.tool("list_directory", pattern="*.xlsx").summary.startswith("Nothing matches '*.xlsx'")


def test_entries_are_sorted_as_asked_and_ties_by_name(filled: Runner) -> None:
    files = ["b.csv", "a.parquet", "data/c.csv", "data/deep/d.json", "data/e.txt"]
    by_size = paths(filled, recursive=True, sort_by="SIZE", pattern="*.*")
    assert by_size == files[::-1]
    assert paths(filled, recursive=True, sort_by="modified", pattern="*.*") == files[::-1]


def test_the_total_is_exact_though_fewer_are_shown(run: Runner) -> None:
    for number in range(30):
        run.write(f"{number:02}.csv", "")
    answer = run.tool("list_directory", max_entries=7)
    part = answer.document["table"]
    assert (part["shown_rows"], part["total_rows"], part["truncated"]) == (7, 30, True)
    assert answer.column("path") == [f"{number:02}.csv" for number in range(7)]


def test_parquet_files_tell_their_rows_and_columns_and_damaged_ones_do_not(run: Runner) -> None:
    run.write("customers.parquet", (ROOT / "artifacts_demo" / "customers.parquet").read_bytes())
    run.write("broken.parquet", b"PAR1 nothing PAR1")
    rows = {row[0]: row[5:] for row in run.tool("list_directory").rows}
    assert rows == {"broken.parquet": [None, None], "customers.parquet": [60, 5]}


def test_the_own_folder_is_never_shown(run: Runner) -> None:
    run.write("a.csv", "")
    assert paths(run, recursive=True) == ["a.csv"]
    assert (run.directory / ".artifacts").is_dir()
    assert run.tool("list_directory", path=".artifacts").code == "PATH_OUTSIDE_ARTIFACTS"
    assert paths(run, recursive=True, pattern="*") == ["a.csv"]


def test_links_are_told_as_files_of_the_directory_or_as_links_and_never_followed(run: Runner) -> None:
    run.write("data/a.csv", "12345")
    outside = run.directory.parent / "secret.csv"
    outside.write_text("secret")
    for name, target in {
        "in.csv": "data/a.csv",
        "out.csv": str(outside),
        "gone.csv": "nowhere",
        "folder": str(outside.parent),
    }.items():
        os.symlink(target, run.directory / name)
    rows = {row[0]: row[1:4] for row in run.tool("list_directory", recursive=True).rows}
    assert rows == {
        "data": ["directory", None, None],
        "data/a.csv": ["file", "csv", 5],
        "folder": ["link", None, None],
        "gone.csv": ["link", None, None],
        "in.csv": ["file", "csv", 5],
        "out.csv": ["link", None, None],
    }
    assert run.tool("list_directory", path="folder").code == "PATH_OUTSIDE_ARTIFACTS"


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"path": "missing"}, "FILE_NOT_FOUND"), ({"path": "a.csv"}, "UNSUPPORTED_FORMAT"), ({"path": ".."}, "PATH_OUTSIDE_ARTIFACTS"),
        ({"pattern": "../*"}, "PATH_OUTSIDE_ARTIFACTS"), ({"max_entries": 0}, "INVALID_PARAMETERS"), ({"sort_by": "colour"}, "INVALID_PARAMETERS"),
    ],
)  # fmt: skip
def test_what_cannot_be_listed_is_refused(run: Runner, parameters: dict[str, Any], code: str) -> None:
    run.write("a.csv", "")
    answer = run.tool("list_directory", **parameters)
    assert (answer.code, answer.exit_status) == (code, 0)


def test_an_empty_directory_is_a_success(run: Runner) -> None:
    answer = run.tool("list_directory")
    assert answer.ok and answer.rows == [] and answer.summary == "Nothing lies in the directory."


def test_names_in_other_scripts_and_with_odd_signs_are_shown_as_they_are(run: Runner) -> None:
    odd = ["a b.csv", "매출.csv", "quote'\".csv", "new\nline.csv", "[x]*.csv"]
    for name in odd:
        run.write(name, "")
    assert sorted(paths(run)) == sorted(odd)

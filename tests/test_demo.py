"""The demo's files, and what the demo shows of an answer."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from scripts.parts.demo_data import inventory, text_files
from scripts.parts.demo_workbook import write_workbook
from scripts.parts.readable import readable
from tests.harness import ROOT, Runner

DEMO = ROOT / "artifacts_demo"


@pytest.mark.parametrize("name", text_files())
def test_the_text_files_of_the_demo_are_what_their_generator_makes(name: str) -> None:
    assert (DEMO / name).read_bytes() == text_files()[name], "run scripts/make_demo_data"


def test_the_workbook_of_the_demo_is_what_its_generator_makes(tmp_path: Path) -> None:
    write_workbook(tmp_path / "made.xlsx", inventory())
    assert (DEMO / "inventory.xlsx").read_bytes() == (tmp_path / "made.xlsx").read_bytes(), "run scripts/make_demo_data"
    assert zipfile.ZipFile(tmp_path / "made.xlsx").testzip() is None


def test_the_demo_files_stay_small_and_each_is_told_of() -> None:
    files = [
        path for path in DEMO.rglob("*") if path.is_file() and path.relative_to(DEMO).parts[0] not in (".artifacts", "results")
    ]
    assert sum(path.stat().st_size for path in files) < 600_000
    page = (DEMO / "README.md").read_text("utf-8")
    tops = {path.relative_to(DEMO).parts[0] for path in files} - {"README.md"}
    assert {name for name in tops if f"`{name}" not in page} == set()


def test_an_answer_is_shown_as_an_aligned_table_with_wide_signs_counted_twice() -> None:
    table = {
        "columns": [{"name": "지역", "type": "VARCHAR"}, {"name": "n", "type": "BIGINT"}],
        "rows": [["서울", 4], ["Jeju", None]],
        "total_rows": 9,
    }
    shown = readable(
        {"ok": True, "summary": "9 rows.", "table": table, "artifacts": [{"path": "a.csv", "rows": 9, "bytes": 1200}]}
    )
    assert shown.splitlines() == [
        "9 rows.",
        "",
        "지역  n",
        "────  ─",
        "서울  4",
        "Jeju",
        "… 7 more rows",
        "→ a.csv (9 rows, 1,200 bytes)",
    ]


def test_a_failure_is_shown_with_what_to_do_about_it() -> None:
    error = {"code": "FILE_NOT_FOUND", "message": "'a' does not exist.", "guidance": "Closest: b."}
    assert readable({"ok": False, "error": error}) == "FILE_NOT_FOUND: 'a' does not exist.\nClosest: b."


def test_leading_zeros_and_korean_headers_survive_in_the_demo_files(run: Runner) -> None:
    for name in ("sales.csv", "korean_stores.csv"):
        run.write(name, (DEMO / name).read_bytes())
    sales = run.tool("read_csv", path="sales.csv", columns=["store_code", "product"], preview_rows=2)
    assert sales.rows == [["0012", "Filter paper"], ["0047", "Teapot"]]
    stores = run.tool("read_csv", path="korean_stores.csv", columns=["지역", "우편번호", "매출"], preview_rows=1)
    assert stores.rows == [["서울", "07396", 47895000]]

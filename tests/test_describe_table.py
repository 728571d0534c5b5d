"""describe_table: the columns of a table, what is in them, and every table of a directory."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from tests.harness import Answer, Runner
from tests.test_sources import Here, here

__all__ = ["here"]
SALES = (
    "id,shop,amount,day,zip\n1,EU,10.50,2024-01-05,02134\n2,US,,2024-02-10,94016\n3,EU,5.25,,10001\n4,EU,5.25,2024-02-10,02134\n"
)


def entries(answer: Answer) -> dict[str, dict[str, Any]]:
    names = [column["name"] for column in answer.document["table"]["columns"]]
    return {row[0]: dict(zip(names, row, strict=True)) for row in answer.rows}


def test_columns_types_and_why_a_column_is_text(here: Here) -> None:
    here.write("sales.csv", SALES)
    answer = here.tool("describe_table", path="sales.csv")
    found = entries(answer)
    assert {name: entry["type"] for name, entry in found.items()} == {
        "id": "BIGINT", "shop": "VARCHAR", "amount": "DECIMAL(4,2)", "day": "DATE", "zip": "VARCHAR",
    }  # fmt: skip
    assert "leading zeros" in found["zip"]["note"] and found["shop"]["note"] is None
    details = answer.document["details"]
    assert (details["rows"], details["bytes"], details["format"], details["dialect"]["delimiter"]) == (4, len(SALES), "csv", ",")
    assert answer.summary == "sales.csv is a csv table with 4 rows and 5 columns." and "artifacts" not in answer.document


def test_a_profile_agrees_with_pandas(here: Here) -> None:
    here.write("sales.csv", SALES)
    found = entries(here.tool("describe_table", path="sales.csv", profile=True))
    table = pd.read_csv(io.StringIO(SALES), dtype={"zip": str})
    for name in table.columns:
        entry, column = found[name], table[name]
        assert (entry["nulls"], entry["distinct"]) == (int(column.isna().sum()), column.nunique())
        values = column.dropna()
        if name in ("id", "amount"):
            assert (float(entry["min"]), float(entry["max"]), entry["mean"]) == (values.min(), values.max(), values.mean())
        else:
            assert (entry["min"], entry["max"], entry["mean"]) == (values.min(), values.max(), None)
    assert found["zip"]["samples"] == ["02134", "94016", "10001"] and found["amount"]["samples"] == ["10.50", "5.25"]


def test_a_profile_takes_every_type_and_sums_nothing_away(here: Here) -> None:
    path = here.write("t.parquet", b"")
    columns: dict[str, Any] = {
        "wide": pa.array(["9" * 38, "9" * 38]).cast(pa.decimal128(38, 0)), "l": [[1], [1, 2]], "s": [{"a": 1}, {"a": 1}], "b": [b"\xff", None],
        "f": [float("nan"), 1.0], "big": pa.array([2**64 - 1, 1], pa.uint64()), "none": pa.array([None, None], pa.string()),
    }  # fmt: skip
    pq.write_table(pa.table(columns), path)
    answer = here.tool("describe_table", path="t.parquet", profile=True)
    found = entries(answer)
    assert (found["wide"]["max"], found["wide"]["mean"], found["wide"]["distinct"]) == ("9" * 38, 1e38, 1)
    assert (found["l"]["distinct"], found["s"]["distinct"], found["l"]["samples"]) == (2, 1, ["[1]", "[1,2]"])
    assert (found["f"]["mean"], found["big"]["max"], found["none"]["nulls"]) == ("NaN", str(2**64 - 1), 2)


def test_names_that_had_to_be_made_usable_show_the_original(here: Here) -> None:
    here.write("d.csv", "id,name,name,,ID\n1,a,b,c,9\n")
    answer = here.tool("describe_table", path="d.csv")
    found = entries(answer)
    assert len({name.casefold() for name in found}) == 5
    assert [entry["original_name"].strip() for entry in found.values()] == ["id", "name", "name", "", "ID"]
    assert "COLUMN_NAMES_CHANGED" in [warning["code"] for warning in answer.document["warnings"]]


def test_a_table_without_rows_has_columns(here: Here) -> None:
    here.write("h.csv", "a,b\n")
    answer = here.tool("describe_table", path="h.csv", profile=True)
    assert [row[:2] for row in answer.rows] == [["a", "VARCHAR"], ["b", "VARCHAR"]]
    assert answer.document["details"]["rows"] == 0


def test_without_a_path_every_table_is_described_and_what_cannot_be_read_is_told(here: Here) -> None:
    here.write("a.csv", "id,name\n1,x\n")
    here.write("deep/b.json", '[{"k": 1}]')
    here.write("bad.parquet", b"PAR1")
    here.write("notes.md", "# nothing\n")
    answer = here.tool("describe_table")
    assert [row[:3] for row in answer.rows] == [
        ["a.csv", "id", "BIGINT"],
        ["a.csv", "name", "VARCHAR"],
        ["deep/b.json", "k", "BIGINT"],
    ]
    assert answer.summary == "2 tables: a.csv, deep/b.json."
    assert [warning["code"] for warning in answer.document["warnings"]] == ["FILE_NOT_READ"]
    assert answer.document["details"]["tables"][0] == {"path": "a.csv", "format": "csv", "rows": 1, "columns": 2}


def test_an_empty_directory_holds_no_table(run: Runner) -> None:
    answer = run.tool("describe_table")
    assert answer.ok and answer.rows == [] and answer.summary == "The directory holds no table."

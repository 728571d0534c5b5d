"""Parquet files: partitions, several files as one, damage, and types as they are stored."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builtin_tools.core.tables.parquet import partitions
from tests.test_sources import Here, here

__all__ = ["here"]


def put(here: Here, name: str, **columns: Any) -> None:
    path = here.write(name, b"")
    pq.write_table(pa.table(columns), path)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("sales/month=01/x.parquet", {"month": "01"}),
        ("a=1/b=2%2F3/x.parquet", {"a": "1", "b": "2/3"}),
        ("plain/x=1.parquet", {}),
        ("=1/a=/x.parquet", {}),
        ("a=b=c/x.parquet", {"a": "b=c"}),
    ],
)
def test_folders_named_key_equals_value_are_partitions(path: str, expected: dict[str, str]) -> None:
    assert partitions(path) == expected


def test_partitions_are_columns_of_text_that_can_be_filtered(here: Here) -> None:
    for month, day, value in (("01", "1", 10), ("01", "02", 20), ("10", "1", 30)):
        put(here, f"r/month={month}/day={day}/x.parquet", v=[value])
    answer = here.tool("query_table", path="r/*/*/*.parquet", order_by=["v"])
    assert answer.rows == [[10, "1", "01"], [20, "02", "01"], [30, "1", "10"]] or answer.rows == [
        [10, "01", "1"],
        [20, "01", "02"],
        [30, "10", "1"],
    ]
    condition = [{"column": "month", "op": "=", "value": "01"}, {"column": "day", "op": "=", "value": "02"}]
    assert here.tool("query_table", path="r/**/*.parquet", filters=condition, columns=["v"]).rows == [[20]]
    one = here.tool("query_sql", sql="SELECT month, v FROM 'r/month=10/day=1/x.parquet'")
    assert one.rows == [["10", 30]]


def test_files_with_other_columns_are_one_table_by_name(here: Here) -> None:
    put(here, "a.parquet", id=[1], x=["p"])
    put(here, "b.parquet", y=[2.5], id=[2])
    answer = here.tool("query_table", path="[ab].parquet", order_by=["id"], columns=["id", "x", "y"])
    assert answer.rows == [[1, "p", None], [2, None, 2.5]]


def test_types_that_clash_are_named_with_their_files(here: Here) -> None:
    put(here, "a.parquet", id=[1], v=[[1]])
    put(here, "b.parquet", id=["x"], v=[[1]])
    answer = here.tool("query_table", path="*.parquet")
    assert answer.ok or (answer.code == "SQL_ERROR" and "a.parquet" in answer.words and "b.parquet" in answer.words)
    if answer.ok:
        assert sorted(str(row[0]) for row in answer.rows) == ["1", "x"]


def test_damaged_files_are_named_alone_and_among_others(here: Here) -> None:
    put(here, "good.parquet", id=[1, 2, 3])
    whole = (here.directory / "good.parquet").read_bytes()
    here.write("cut.parquet", whole[: len(whole) // 2])
    here.write("empty.parquet", b"")
    assert here.tool("query_table", path="empty.parquet").code == "FILE_EMPTY"
    for path in ("cut.parquet", "[cg]*.parquet"):
        answer = here.tool("query_table", path=path)
        assert answer.code == "FILE_CORRUPT" and "cut.parquet" in answer.words and str(here.directory) not in answer.words
    assert here.tool("query_table", path="good.parquet").rows == [[1], [2], [3]]


def test_a_damaged_page_is_told_and_no_row_is_made_up(here: Here) -> None:
    put(here, "a.parquet", id=list(range(20_000)))
    data = bytearray((here.directory / "a.parquet").read_bytes())
    data[200:400] = b"\xff" * 200
    here.write("a.parquet", bytes(data))
    answer = here.tool("query_table", path="a.parquet")
    assert not answer.ok or answer.document["table"]["total_rows"] == 20_000
    assert answer.ok or answer.code in ("FILE_CORRUPT", "SQL_ERROR")


def test_a_parquet_file_is_known_by_its_content(here: Here) -> None:
    put(here, "data.csv", id=[7])
    here.write("text.parquet", "id\n8\n")
    assert here.tool("query_table", path="data.csv").rows == [[7]]
    assert here.tool("query_table", path="text.parquet").rows == [[8]]


def test_times_are_shown_with_an_offset_where_the_type_has_one_to_the_nanosecond(here: Here) -> None:
    moment = datetime(2024, 3, 1, 12, 30, tzinfo=UTC)
    put(
        here, "t.parquet", utc=pa.array([moment], pa.timestamp("us", "Asia/Seoul")), local=pa.array([moment.replace(tzinfo=None)], pa.timestamp("ms")),
        fine=pa.array([1_709_251_200_123_456_789], pa.timestamp("ns")), time=pa.array([3_600_000_001], pa.time64("us")),
    )  # fmt: skip
    answer = here.tool("query_table", path="t.parquet", columns=["utc", "local", "fine", "time"])
    assert answer.rows == [
        ["2024-03-01T12:30:00+00:00", "2024-03-01T12:30:00", "2024-03-01T00:00:00.123456789", "01:00:00.000001"]
    ]


def test_nested_values_bytes_and_decimals_are_shown_as_json(here: Here) -> None:
    put(
        here, "n.parquet", tags=[["a,b", None]], place=[{"city": "Oslo", "at": [59.9, 10.7]}], raw=[b"\x00\xff"],
        price=pa.array([Decimal("12.50")], pa.decimal128(9, 2)), kind=pa.array(["red"]).dictionary_encode(),
        pairs=pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())), big=pa.array([2**64 - 1], pa.uint64()), nothing=pa.array([None], pa.null()),
    )  # fmt: skip
    answer = here.tool("query_table", path="n.parquet")
    assert answer.rows == [
        [["a,b", None], {"city": "Oslo", "at": [59.9, 10.7]}, "hex:00ff", 12.5, "red", {"k": 1}, "18446744073709551615", None]
    ]


def test_the_metadata_tell_rows_and_row_groups(here: Here) -> None:
    path = here.write("g.parquet", b"")
    pq.write_table(pa.table({"id": range(2500)}), path, row_group_size=1000)
    details = here.tool("describe_table", path="g.parquet").document["details"]
    assert (details["rows"], details["row_groups"], details["format"]) == (2500, 3, "parquet")


def test_columns_that_differ_only_in_case_or_hold_odd_signs_are_each_had(here: Here) -> None:
    put(here, "c.parquet", **{'a "b"': [1], "x.y": [2], "select": [3]})
    for name, value in (('a "b"', 1), ("x.y", 2), ("select", 3)):
        found = here.tool("query_table", path="c.parquet", columns=[name], filters=[{"column": name, "op": "=", "value": value}])
        assert found.rows == [[value]]

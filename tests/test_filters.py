"""Each filter finds just the rows that plain Python finds, whatever the types and values."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from builtin_tools.core.errors import ColumnNotFound, InvalidParameters
from builtin_tools.core.tables import filters
from builtin_tools.core.tables.engine import Engine
from builtin_tools.core.tables.filters import OPERATORS, build, find_column
from builtin_tools.core.tables.prepared import SourceColumn
from builtin_tools.core.tables.sql_text import literal_path, quote_name, quote_text, text_list
from tests.test_sources import Here, here

__all__ = ["here"]
ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4) | st.sampled_from(
    ["a", "A", "%", "_", "'", '"', "\\", "a%b", "", " ", "ß", "é", "e\u0301"]
)
INTEGERS = st.integers(-5, 5) | st.sampled_from([-(2**63), 2**63 - 1, 2**53 + 1])
NUMBERS = INTEGERS | st.sampled_from(
    ["0.5", "-2.5", "2.000", "1e3", "9223372036854775808", "1e40", "-1e40", "1e-30", "1e400"]
).map(Decimal)
DECIMALS = st.decimals(-99, 99, places=2, allow_nan=False) | st.sampled_from(
    [Decimal("9" * 36 + ".99"), Decimal("-" + "9" * 36 + ".99")]
)


@lru_cache(1)
def _engine(directory: Path) -> Engine:
    """One engine for all examples of a test."""
    return Engine.open(Here(directory).call())


def found(here: Here, kind: str, values: list[Any], *conditions: dict[str, Any]) -> list[int]:
    """The places of the values that the conditions on column `v` let through."""
    engine = _engine(here.directory)
    made = build(engine, list(conditions), [SourceColumn("v", kind, "v")], "t.csv")
    engine.execute(f"CREATE OR REPLACE TEMP TABLE t (n INTEGER, v {kind})")
    for n, value in enumerate(values):
        engine.execute("INSERT INTO t VALUES (?, ?)", [n, value])
    return [row[0] for row in engine.rows(f"SELECT n FROM t WHERE {made.sql or 'true'} ORDER BY n", made.parameters)]


def sent(number: Any, as_text: bool) -> Any:
    """A number as JSON brings it: as an int, a float where one is exact, else as text."""
    if as_text or (isinstance(number, Decimal) and (not math.isfinite(float(number)) or Decimal(float(number)) != number)):
        return str(number)
    return float(number) if isinstance(number, Decimal) else number


EXAMPLES = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@EXAMPLES
@given(st.lists(st.none() | INTEGERS, max_size=6), st.sampled_from(list(ORDER)), NUMBERS, st.booleans())
@example([1, 2, None], ">", Decimal("0.5"), False)
def test_integers_compare_as_python_compares_them(here: Here, values: list[Any], op: str, number: Any, as_text: bool) -> None:
    expected = [n for n, value in enumerate(values) if value is not None and ORDER[op](Decimal(value), Decimal(number))]
    assert found(here, "BIGINT", values, {"column": "v", "op": op, "value": sent(number, as_text)}) == expected


@EXAMPLES
@given(st.lists(st.none() | DECIMALS, max_size=6), st.sampled_from(list(ORDER)), NUMBERS | DECIMALS, st.booleans())
def test_wide_decimals_compare_exactly(here: Here, values: list[Any], op: str, number: Any, as_text: bool) -> None:
    expected = [n for n, value in enumerate(values) if value is not None and ORDER[op](value, Decimal(number))]
    assert found(here, "DECIMAL(38,2)", values, {"column": "v", "op": op, "value": sent(number, as_text)}) == expected


@EXAMPLES
@given(
    st.lists(st.none() | INTEGERS, max_size=5),
    st.lists(NUMBERS, min_size=1, max_size=4),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
@example([0, 1, 2], [Decimal("0.5"), 1], True, False, False)
def test_lists_short_and_long_hold_the_same_members(
    here: Here, values: list[Any], members: list[Any], many: bool, none: bool, not_in: bool
) -> None:
    asked = [sent(member, False) for member in members] * (40 if many else 1) + ([None] if none else [])
    numbers = {Decimal(member) for member in members}
    inside = [n for n, value in enumerate(values) if (none if value is None else value in numbers)]
    outside = [n for n, value in enumerate(values) if value is not None and value not in numbers]
    condition = {"column": "v", "op": "not_in" if not_in else "in", "value": asked}
    assert found(here, "BIGINT", values, condition) == (outside if not_in else inside)


@EXAMPLES
@given(
    st.lists(st.none() | TEXT, max_size=6),
    TEXT,
    st.sampled_from(["=", "!=", "contains", "starts_with", "ends_with", "in", "like"]),
)
def test_text_is_matched_sign_by_sign(here: Here, values: list[Any], wanted: str, op: str) -> None:
    tests: dict[str, Callable[[str], bool]] = {
        "=": lambda value: value == wanted, "!=": lambda value: value != wanted, "in": lambda value: value == wanted,
        "contains": lambda value: wanted in value, "starts_with": lambda value: value.startswith(wanted),
        "ends_with": lambda value: value.endswith(wanted), "like": lambda value: like(wanted, value),
    }  # fmt: skip
    expected = [n for n, value in enumerate(values) if value is not None and tests[op](value)]
    assert found(here, "VARCHAR", values, {"column": "v", "op": op, "value": [wanted] if op == "in" else wanted}) == expected


def like(pattern: str, value: str) -> bool:
    parts = {"%": ".*", "_": "."}
    return re.fullmatch("".join(parts.get(sign) or re.escape(sign) for sign in pattern), value, re.DOTALL) is not None


@EXAMPLES
@given(
    st.lists(st.none() | st.floats(width=64) | st.sampled_from([0.1, 0.3, 1e300]), max_size=6),
    st.sampled_from(list(ORDER)),
    st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.1, 0.3, 1e300]),
)
def test_doubles_compare_as_python_compares_them_and_nan_is_the_greatest(
    here: Here, values: list[Any], op: str, number: float
) -> None:
    def holds(value: float) -> bool:
        return op in (">", ">=", "!=") if math.isnan(value) else ORDER[op](value, number)

    expected = [n for n, value in enumerate(values) if value is not None and holds(value)]
    assert found(here, "DOUBLE", values, {"column": "v", "op": op, "value": number}) == expected


NUMERALS = [
    "5",
    "12",
    "-3",
    "007",
    "1e3",
    "0.00000000001",
    "123456789012345678901234567890123",
    "2047948614742839297",
    "x",
    "",
    "nan",
    "inf",
    None,
]


@pytest.mark.parametrize("number", ["4", "0", "1e-12", "2047948614742839296", "2047948614742839297", "1e32", "1e40", "-3", "0.3"])
@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
def test_text_is_ordered_by_its_numbers_against_a_number(here: Here, op: str, number: str) -> None:
    numeric = {n: Decimal(text) for n, text in enumerate(NUMERALS) if text and text not in ("x", "nan", "inf")}
    expected = [n for n, value in numeric.items() if ORDER[op](value, Decimal(number))]
    assert found(here, "VARCHAR", NUMERALS, {"column": "v", "op": op, "value": number}) == expected


def test_that_text_was_ordered_as_numbers_is_told_once(here: Here) -> None:
    engine = Engine.open(here.call())
    made = build(engine, [{"column": "v", "op": "between", "value": [1, 5]}], [SourceColumn("v", "VARCHAR", "v")], "t.csv")
    assert [code for code, _ in made.notes] == ["COMPARED_AS_NUMBERS"]


@pytest.mark.parametrize(
    ("kind", "values", "op", "value", "expected"),
    [
        ("DATE", ["2024-02-28", "2024-02-29", None], ">", "2024-02-28", [1]),
        ("DATE", ["2024-02-28", "2024-02-29"], "<", "2024-02-28T12:00:00", [0]),
        ("DATE", ["2024-02-28", "2024-02-29"], "starts_with", "2024-02-2", [0, 1]),
        ("TIMESTAMP", ["2024-01-01 10:00:00", "2024-01-31 23:59:59"], "between", ["2024-01-01", "2024-01-31"], [0]),
        ("TIMESTAMP WITH TIME ZONE", ["2024-01-01 00:00:00+00"], "=", "2024-01-01T09:00:00+09:00", [0]),
        ("TIMESTAMP_NS", ["2024-01-01 00:00:00.123456789"], "<", "2024-01-01 00:00:00.123456790", [0]),
        ("TIME", ["10:00:00", "11:30:00"], ">=", "11:30", [1]),
        ("BOOLEAN", [True, False, None], "=", "TRUE", [0]),
        ("BOOLEAN", [True, False, None], "!=", True, [1]),
        ("BOOLEAN", [True, False, None], "in", [True, None], [0, 2]),
        ("UUID", ["00000000-0000-0000-0000-000000000001"], "=", "00000000-0000-0000-0000-000000000001", [0]),
        ("ENUM('a', 'b')", ["a", "b"], "in", ["b"], [1]),
        ("ENUM('a', 'b')", ["a", "b"], "in", ["b", "c"] * 20, [1]),
        ("BLOB", [b"\x00\xff", b"b"], "=", "hex:00ff", [0]),
        ("FLOAT", [0.1, 0.5], "=", 0.1, [0]),
        ("FLOAT", [0.1, 0.5], "<", 1e300, [0, 1]),
        ("DOUBLE", [math.nan, math.inf, 1.0], "=", "NaN", [0]),
        ("DOUBLE", [math.nan, math.inf, 1.0], "in", ["Infinity", 1], [1, 2]),
        ("UTINYINT", [0, 255], "<", -1, []),
        ("UTINYINT", [0, 255], "!=", 256, [0, 1]),
        ("HUGEINT", [2**127 - 1, 0], ">", "0.5", [0]),
        ("DECIMAL(38,0)", [Decimal("9" * 38), Decimal(2)], "<=", 2.5, [1]),
        ("VARCHAR", ["", None, "x"], "=", "", [0]),
        ("VARCHAR", ["", None, "x"], "is_null", None, [1]),
        ("VARCHAR", ["9", "10"], "<", "a", [0, 1]),
        ("BIGINT", [1, 2, 3], "between", [3, 1], []),
        ("BIGINT", [1, 12, 3], "contains", 1, [0, 1]),
        ("BIGINT", [1, None, 3], "not_in", [None], [0, 2]),
        ("BIGINT", [1, None, 3], "in", [None], [1]),
        ("BIGINT", [1, None, 3], "not_in", [0.5] * 40, [0, 2]),
    ],
)  # fmt: skip
def test_each_type_takes_the_values_that_answers_show(
    here: Here, kind: str, values: list[Any], op: str, value: Any, expected: list[int]
) -> None:
    assert found(here, kind, values, {"column": "v", "op": op, "value": value}) == expected


def test_all_filters_must_hold(here: Here) -> None:
    low, high = {"column": "v", "op": ">", "value": 1}, {"column": "v", "op": "<", "value": 4}
    assert found(here, "BIGINT", [1, 2, 3, 4], low, high) == [1, 2]
    null, either = {"column": "v", "op": "not_null"}, {"column": "v", "op": "in", "value": [1, None]}
    assert found(here, "BIGINT", [1, None, 3], null, either) == [0]
    assert found(here, "BIGINT", [1, None]) == [0, 1]


@pytest.mark.parametrize(
    ("kind", "condition", "words"),
    [
        ("BIGINT", {"column": "v", "op": ">", "value": "lots"}, ["lots", "BIGINT", "12"]),
        ("BIGINT", {"column": "v", "op": "=", "value": True}, ["true", "BIGINT"]),
        ("BIGINT", {"column": "v", "op": "=", "value": [1]}, ["in"]),
        ("BIGINT", {"column": "v", "op": "in", "value": ["x"] * 40}, ["x", "BIGINT"]),
        ("BIGINT", {"column": "v", "op": "in", "value": []}, ["empty"]),
        ("DECIMAL(9,2)", {"column": "v", "op": "=", "value": "1,5"}, ["1,5", "12.5"]),
        ("DATE", {"column": "v", "op": "=", "value": "31/01/2024"}, ["31/01/2024", "2024-01-31"]),
        ("BOOLEAN", {"column": "v", "op": "=", "value": "maybe"}, ["maybe", "true"]),
        ("UUID", {"column": "v", "op": "=", "value": "x"}, ["UUID"]),
        ("DOUBLE", {"column": "v", "op": "in", "value": ["x"]}, ["x", "12.5"]),
        ("VARCHAR", {"column": "v", "op": "=", "value": None}, ["is_null"]),
        ("VARCHAR", {"column": "v", "op": "!=", "value": None}, ["is_not_null"]),
        ("VARCHAR", {"column": "v", "op": "contains", "value": ["x"]}, ["text"]),
        ("VARCHAR", {"column": "v", "op": "between", "value": [1]}, ["two"]),
        ("VARCHAR", {"column": "v", "op": "between", "value": "1 and 2"}, ["two"]),
        ("VARCHAR", {"column": "v", "op": "~", "value": "x"}, ["~", "contains"]),
        ("VARCHAR", {"column": "v", "op": "containz", "value": "x"}, ["contains"]),
        ("VARCHAR", {"column": "v", "op": ">"}, ["no value"]),
        ("VARCHAR", {"column": "v", "value": 1}, ["op"]),
        ("VARCHAR", {"op": "=", "value": 1}, ["column"]),
        ("VARCHAR", {"column": 5, "op": "=", "value": 1}, ["5"]),
        ("VARCHAR", {"column": "v", "op": "=", "value": 1, "not": True}, ["not"]),
    ],
)
def test_a_filter_that_does_not_fit_is_explained(here: Here, kind: str, condition: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(InvalidParameters) as refused:
        found(here, kind, [], condition)
    told = f"{refused.value.message} {refused.value.guidance}"
    assert all(word in told for word in words), told


def test_every_spelling_stands_for_one_operator() -> None:
    spellings = [word for words in filters._SPELLINGS.values() for word in words.split()]
    assert len(spellings) == len(set(spellings)) and set(filters._SPELLINGS) == set(OPERATORS)
    for word, op in (("EQ", "="), ("Greater Than", ">"), ("not-in", "not_in"), (" <> ", "!="), ("startsWith", "starts_with")):
        assert filters.operator(word) == op


def test_a_column_is_found_by_its_name_or_nearly_so_and_never_by_guessing() -> None:
    columns = [SourceColumn(name, "VARCHAR", name) for name in ("Id", "name", "NAME", " pad ")]
    assert find_column("name", columns, "t", "x").name == "name" and find_column("NAME", columns, "t", "x").name == "NAME"
    assert find_column(" ID", columns, "t", "x").name == "Id" and find_column("pad", columns, "t", "x").name == " pad "
    for name in ("Name", "nam", "", "i d"):  # the first is either of two
        with pytest.raises(ColumnNotFound) as refused:
            find_column(name, columns, "t.csv", "x")
        assert all(column.name in refused.value.guidance for column in columns)


@EXAMPLES
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8))
@example("a\"b'c; --")
@example("*[?]")
def test_names_and_values_are_quoted_whatever_signs_they_hold(here: Here, text: str) -> None:
    connection = _engine(here.directory).connection
    assert connection.execute(f"SELECT {quote_text(text)}, {text_list([text, 'x'])}").fetchall() == [(text, [text, "x"])]
    if text:
        made = connection.execute(f"SELECT {quote_name(text)} FROM (SELECT 1 AS {quote_name(text)})")
        assert made.fetchall() == [(1,)] and made.description[0][0] == text


@pytest.mark.parametrize("name", ["plain.csv", "a[1].csv", "st*r.csv", "wh?t.csv", "it's.csv", "[!a].csv", "a{b,c}.csv"])
def test_a_literal_path_names_that_very_file(here: Here, name: str) -> None:
    here.write(name, "v\n1\n")
    here.write("a1.csv", "v\n2\n")
    here.write("star.csv", "v\n3\n")
    rows = Engine.open(here.call()).rows(f"SELECT content FROM read_text({literal_path(str(here.directory / name))})")
    assert rows == [("v\n1\n",)]

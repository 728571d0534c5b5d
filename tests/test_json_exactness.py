"""Any records come back exactly through prepare and DuckDB, and the rows shown without an engine are the same."""

from __future__ import annotations

import json
import tempfile
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import _duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builtin_tools.core.artifacts import ArtifactDirectory
from builtin_tools.core.call import Call
from builtin_tools.core.envelope import json_value
from builtin_tools.core.errors import UnsupportedFormat
from builtin_tools.core.tables.json_keywords import KEYWORDS
from builtin_tools.core.tables.json_path import parse_records_path, pointer
from builtin_tools.core.tables.json_rows import rows
from builtin_tools.core.tables.json_survey import survey
from builtin_tools.core.tables.json_table import prepare
from builtin_tools.core.tables.prepared import Prepared

DUCKDB = _duckdb.connect(":memory:", False, {"threads": "1"})


class Token(str):
    """A number as it is to stand in the file."""


def dumped(value: Any) -> str:
    if isinstance(value, Token):
        return str(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(dumped, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {dumped(part)}" for key, part in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


INTEGERS = (
    st.integers(-(10**45), 10**45)
    | st.integers(-5, 5)
    | st.sampled_from([2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64])
)
REALS = st.decimals(allow_nan=False, allow_infinity=False).map(str) | st.floats(allow_nan=False, allow_infinity=False).map(repr)
NUMBERS = (INTEGERS.map(str) | REALS | st.sampled_from(["1.50", "-0.0", "1e400", "1E-400", "0.1", "2.5e3"])).map(Token)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["2024-01-01", "true", "007", "NaN", "null", "1e5"]
)
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
KEYS = st.sampled_from(["a", "A", "b", "a b", "order", "", 'q"', "é", "\u0001"])
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6)
RECORDS = st.lists(st.dictionaries(KEYS, VALUES, max_size=5), max_size=6)
OF_ONE_TYPE = st.one_of(
    *(st.lists(st.fixed_dictionaries({"id": NUMBERS, "v": kind}), min_size=1, max_size=6) for kind in (NUMBERS, TEXTS))
)


def make_call(folder: str) -> Call:
    return Call("test", SimpleNamespace(), {}, ArtifactDirectory(folder), folder)


def prepared(text: str, folder: str) -> tuple[Prepared, list[tuple[Any, ...]], list[tuple[str, str]], list[list[Any]]]:
    path = Path(folder) / "in.json"
    path.write_text(text, "utf-8", newline="")
    made = prepare(make_call(folder), str(path), "in.json")
    described = [(row[0], row[1]) for row in DUCKDB.execute(f"DESCRIBE {made.scan}").fetchall()]
    shown, _ = rows(survey(str(path), "in.json", (), 0, 100))
    return made, DUCKDB.execute(made.scan).fetchall(), described, shown


def same(wanted: Any, found: Any) -> bool:
    """Whether a value that was found is exactly the one that was written."""
    if isinstance(wanted, Token):
        if isinstance(found, bool) or not isinstance(found, (int, float, Decimal, str)):
            return False
        return Decimal(repr(found) if isinstance(found, float) else found) == Decimal(wanted)
    if isinstance(wanted, list):
        return isinstance(found, list) and len(wanted) == len(found) and all(map(same, wanted, found))
    if isinstance(wanted, dict):
        return isinstance(found, dict) and wanted.keys() == found.keys() and all(same(wanted[key], found[key]) for key in wanted)
    return type(wanted) is type(found) and bool(wanted == found)


def cell_is_exact(wanted: Any, found: Any, kind: str) -> bool:
    if wanted is None:
        return found is None
    if kind == "JSON":
        return same(wanted, json.loads(found, parse_float=Decimal))
    if kind == "VARCHAR" and isinstance(wanted, bool):
        return bool(found == json.dumps(wanted))
    if kind == "VARCHAR" and isinstance(wanted, Token):
        return same(wanted, found) and (found == str(wanted) or wanted == "-0")
    return same(wanted, found)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(RECORDS | OF_ONE_TYPE, st.booleans())
def test_any_records_come_back_exactly(records: list[dict[str, Any]], in_lines: bool) -> None:
    text = "".join(dumped(record) + "\n" for record in records) if in_lines else dumped(records)
    if in_lines and len(records) < 2:
        text += "{}\n{}\n"
        records = [*records, {}, {}]
    with tempfile.TemporaryDirectory() as folder:
        made, found, described, shown = prepared(text, folder)
    assert described == [(column.name, column.type) for column in made.columns]
    assert len({column.name.casefold() for column in made.columns}) == len(made.columns)
    assert len(found) == len(records) == made.rows == len(shown)
    for record, row, look in zip(records, found, shown, strict=True):
        for column, cell, answer in zip(made.columns, row, look, strict=True):
            wanted = record.get(column.original_name) if any(records) else record
            assert cell_is_exact(wanted, cell, column.type), (column, wanted, cell)
            as_shown = json.loads(cell) if column.type == "JSON" and cell is not None else cell
            assert json_value(as_shown) == json_value(answer), (column, as_shown, answer)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.floats(), TEXTS), min_size=2, max_size=5))
def test_plain_columns_survive_whatever_reads_the_file(cells: list[tuple[int, float, str]]) -> None:
    lines = [json.dumps({"n": number, "x": real, "t": text}) for number, real, text in cells]
    with tempfile.TemporaryDirectory() as folder:
        made, found, _, _ = prepared("\r\n".join(lines), folder)
    assert [column.type for column in made.columns] == ["BIGINT", "DOUBLE", "VARCHAR"]
    assert [tuple(map(repr, row)) for row in found] == [tuple(map(repr, row)) for row in cells]


def test_fields_seen_late_are_columns_and_null_before(tmp_path: Path) -> None:
    made, found, _, _ = prepared('{"a": 1}\n' * 3 + '{"a": 2, "late": {"x": [1]}}\n', str(tmp_path))
    assert [column.type for column in made.columns] == ["BIGINT", "STRUCT(x BIGINT[])"]
    assert found == [(1, None)] * 3 + [(2, {"x": [1]})]


def test_the_text_form_has_values_as_the_file_writes_them(tmp_path: Path) -> None:
    made, _, _, _ = prepared('[{"a": 1.50, "b": [1, 2], "c": 7}, {"a": 2, "b": [], "c": 8}]', str(tmp_path))
    assert made.with_text is not None
    found = DUCKDB.execute(made.with_text({"a", "b"})).fetchall()
    assert found == [("1.50", "[1,2]", 7), ("2", "[]", 8)]


def test_a_document_that_is_no_table_is_refused_with_the_places_of_its_tables(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedFormat) as problem:
        prepared('{"meta": 1, "data": {"rows": [{"a": 1}], "names": ["x"]}}', str(tmp_path))
    assert "/data/rows" in problem.value.guidance and problem.value.details == {"records_paths": ["/data/rows"]}


def test_the_words_that_are_quoted_in_types_are_those_of_the_engine() -> None:
    assert frozenset(row[0] for row in DUCKDB.execute("SELECT keyword_name FROM duckdb_keywords()").fetchall()) == KEYWORDS


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6), min_size=1, max_size=4))
def test_a_pointer_leads_where_it_was_made_for(keys: list[str]) -> None:
    made = pointer(tuple(keys))
    if made == made.strip():
        assert parse_records_path(made) == tuple(keys)

"""Types without loss: what each column becomes, why it stays text, and that every way of reading gives the same."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from builtin_tools.core.tables.csv import normal, reader
from builtin_tools.core.tables.csv.reader import prepare_csv
from builtin_tools.core.tables.csv.source import CsvOptions
from builtin_tools.core.tables.engine import Engine
from tests.test_sources import Here, here

__all__ = ["here"]
PLAIN = CsvOptions(delimiter=",", quote='"', encoding="utf-8", header=True)


@dataclass
class Read:
    """A file as it was prepared: its columns with types and notes, its rows typed and as text, and what was told."""

    columns: list[tuple[str, str, str]]
    rows: list[tuple[Any, ...]]
    texts: list[tuple[Any, ...]]
    warnings: list[tuple[str, str]]
    count: int | None
    details: dict[str, Any]

    @property
    def types(self) -> list[str]:
        return [kind for _, kind, _ in self.columns]


def read(here: Here, data: str | bytes, options: CsvOptions = PLAIN) -> Read:
    path = here.write("table.csv", data)
    engine = Engine.open(here.call())
    made = prepare_csv(engine, str(path), "table.csv", options, "in")
    engine.allow(made.files)
    engine.lock()
    texts = engine.rows(made.with_text({column.name for column in made.columns})) if made.with_text else []
    columns = [(column.name, column.type, column.note) for column in made.columns]
    warnings = [(warning.code, warning.message) for warning in made.warnings]
    return Read(columns, engine.rows(made.scan), texts, warnings, made.rows, made.details)


def column(here: Here, *values: str) -> tuple[str, str, list[Any]]:
    """Type, note and values of a column of these texts, beside a column of words."""
    made = read(here, "v,w\n" + "".join(f"{value},x\n" for value in values))
    assert [row[0] for row in made.texts] == [None if value == "" else value.strip('"') for value in values]
    return made.types[0], made.columns[0][2], [row[0] for row in made.rows]


# ---------------------------------------------------------------- one column


TYPED = {
    "integers": (["1", "-20", "0", ""], "BIGINT"),
    "the ends of 64 bits": (["-9223372036854775808", "9223372036854775807"], "BIGINT"),
    "one number of decimals": (["1.50", "-0.25", "100.00"], "DECIMAL(5,2)"),
    "thirty digits and two decimals": (["1" * 30 + ".25", "0.50"], "DECIMAL(32,2)"),
    "whole numbers with a point": (["1.0", "2.0"], "DECIMAL(2,1)"),
    "shortest reals": (["0.1", "12.25", "1e-07"], "DOUBLE"),
    "reals with a missing one": (["1.5", "nan", "-inf", "0.25"], "DOUBLE"),
    "booleans": (["true", "false", ""], "BOOLEAN"),
    "dates": (["2024-02-29", "0001-01-01", "9999-12-31"], "DATE"),
    "time stamps": (["2024-01-01 00:00:00", "2024-01-01 23:59:59.5"], "TIMESTAMP"),
    "time stamps with T": (["2024-01-01T00:00", "2024-01-01T23:59"], "TIMESTAMP"),
    "instants": (["2024-01-01T00:00:00Z", "2024-06-01T12:30:00Z"], "TIMESTAMP WITH TIME ZONE"),
    "times": (["00:00:00", "23:59:59.999"], "TIME"),
}


@pytest.mark.parametrize(("values", "kind"), TYPED.values(), ids=TYPED.keys())
def test_a_column_gets_the_type_that_writes_all_of_its_values_back(here: Here, values: list[str], kind: str) -> None:
    found, note, typed = column(here, *values)
    assert (found, note) == (kind, "")
    for text, value in zip(values, typed, strict=True):
        if text == "":
            assert value is None
        elif kind in ("BIGINT", "DOUBLE") or kind.startswith("DECIMAL"):
            assert str(value) == str(float(text)) if kind == "DOUBLE" else Decimal(value) == Decimal(text)


TEXTS = {
    "leading zeros": (["007", "112"], "leading zeros"),
    "a zero far down": (["10"] * 400 + ["010"], "leading zeros"),
    "exponents": (["1e5", "2e7"], "exponent"),
    "twenty digits": (["12345678901234567890"], "more digits"),
    "one digit too many": (["9223372036854775807", "9223372036854775808"], "more digits"),
    "a plus": (["+5", "+6"], "written"),
    "no leading zero": ([".5", ".25"], "written"),
    "minus zero": (["-0", "1"], ""),
    "decimals of two lengths, zeros at the end": (["1.5", "1.50"], "decimals"),
    "decimal commas": (['"1,5"', '"2,25"'], "decimal"),
    "thousands": (['"1,000"', '"2,500"'], "thousands"),
    "currency": (["$5.00", "$7.25"], "currency"),
    "percent": (["5%", "7%"], "percent"),
    "blanks around": ([" 5", "7 "], "blanks"),
    "capital booleans": (["TRUE", "FALSE"], "small letters"),
    "days before months": (["03/04/2024", "05/06/2024"], "date_format"),
    "slashes": (["2024/01/31", "2024/02/01"], "date_format"),
    "a day that does not exist": (["2024-02-30", "2024-01-01"], "date"),
    "a word among numbers": (["1", "2", "n/a", "4"], "n/a"),
    "numbers of other scripts": (["١", "٢"], ""),
    "words": (["north", "south"], ""),
    "words of missing values alone": (["nan", "nan"], ""),
    "two ways of zones": (["2024-01-01T00:00:00Z", "2024-01-01T00:00:00+00:00"], ""),
}


@pytest.mark.parametrize(("values", "word"), TEXTS.values(), ids=TEXTS.keys())
def test_a_column_that_no_type_writes_back_stays_as_it_is_written_and_says_why(here: Here, values: list[str], word: str) -> None:
    found, note, typed = column(here, *values)
    assert found == "VARCHAR" and typed == [value.strip('"') for value in values]
    assert word in note and (note == "" or note.startswith("kept as text"))


NUMERALS = st.sampled_from(
    [
        "0",
        "1",
        "-1",
        "10",
        "007",
        "1.5",
        "1.50",
        "-0.0",
        "1e5",
        "1e-07",
        "0.1",
        "nan",
        "inf",
        "",
        "9223372036854775808",
        "1" * 22,
        "0.30000000000000004",
    ]
)
STAMPS = st.sampled_from(
    [
        "2024-01-01",
        "2024-02-30",
        "2024-01-01 00:00:00",
        "2024-01-01T00:00:00Z",
        "12:00:00",
        "12:00",
        "24:00:00",
        "true",
        "True",
        "",
    ]
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(NUMERALS, min_size=1, max_size=5) | st.lists(STAMPS, min_size=1, max_size=5))
def test_whatever_the_type_the_text_of_every_value_can_be_had_back(here: Here, values: list[str]) -> None:
    made = read(here, "v,w\n" + "".join(f"{value},x\n" for value in values))
    kind, engine = made.types[0], Engine.open(here.call())
    for text, value in zip(values, [row[0] for row in made.rows], strict=True):
        if text == "" or kind == "VARCHAR":
            assert value == (text or None)
        elif kind == "DOUBLE":
            assert repr(float(text)) == repr(value)
        elif kind in ("BIGINT",) or kind.startswith("DECIMAL"):
            assert f"{value}" == text
        else:
            assert engine.rows(f"SELECT CAST($1 AS {kind}) = CAST($2 AS {kind})", [text, str(value)]) == [(True,)]


def test_types_agree_with_pandas_where_nothing_is_ambiguous(here: Here) -> None:
    text = "i,f,s,b\n" + "".join(f"{n},{n + 0.25},w{n},{'true' if n % 2 else 'false'}\n" for n in range(50))
    frame = pd.read_csv(io.StringIO(text))
    made = read(here, text)
    assert made.types == ["BIGINT", "DECIMAL(4,2)", "VARCHAR", "BOOLEAN"]
    assert [list(map(str, row)) for row in made.rows] == [
        [str(row.i), f"{row.f:.2f}", row.s, str(row.b)] for row in frame.itertuples(index=False)
    ]


def test_a_quoted_empty_field_is_an_empty_string_in_text_and_null_with_a_word_elsewhere(here: Here) -> None:
    made = read(here, 'n,t\n1,x\n"",""\n,\n')
    assert made.types == ["BIGINT", "VARCHAR"] and made.rows == [(1, "x"), (None, ""), (None, None)]
    assert [code for code, _ in made.warnings] == ["QUOTED_EMPTY_AS_NULL"] and "n (1)" in made.warnings[0][1]


def test_a_column_without_values_is_text(here: Here) -> None:
    assert read(here, "a,b\n,1\n,2\n").types == ["VARCHAR", "BIGINT"]


# ---------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("values", "options", "kind", "expected"),
    [
        (["1.234,56", "-3,50"], {"decimal": ",", "thousands": "."}, "DECIMAL(6,2)", [Decimal("1234.56"), Decimal("-3.50")]),
        (["20,5", "7,25"], {"decimal": ","}, "DECIMAL(4,2)", [Decimal("20.5"), Decimal("7.25")]),
        (["1,000", "2,500"], {"thousands": ","}, None, [1000, 2500]),
        (["1 000", "25"], {"thousands": " "}, None, [1000, 25]),
        (["31/12/2024", "01/02/2024"], {"date_format": "%d/%m/%Y"}, "DATE", None),
        (["20240131 1230", "20240201 0000"], {"date_format": "%Y%m%d %H%M"}, "TIMESTAMP", None),
        (["1", "NA", "3"], {"null_values": ("NA",)}, "BIGINT", [1, None, 3]),
        (["1", "-", "?"], {"null_values": ("-", "?")}, "BIGINT", [1, None, None]),
        (["it's", "x"], {"null_values": ("it's",)}, "VARCHAR", [None, "x"]),
    ],
)
def test_options_convert_what_a_file_does_not_tell(
    here: Here, values: list[str], options: dict[str, Any], kind: str | None, expected: list[Any] | None
) -> None:
    data = "v;w\n" + "".join(f"{value};x\n" for value in values)
    made = read(here, data, CsvOptions(delimiter=";", header=True, **options))
    assert kind is None or made.types == [kind, "VARCHAR"]
    if expected is not None:
        assert [row[0] for row in made.rows] == expected


def test_days_and_months_fall_as_date_format_says(here: Here) -> None:
    for form, first in (("%d/%m/%Y", "2024-04-03"), ("%m/%d/%Y", "2024-03-04")):
        made = read(here, "v,w\n03/04/2024,x\n", CsvOptions(date_format=form))
        assert [str(row[0]) for row in made.rows] == [first]


# ---------------------------------------------------------------- every way gives the same

CELLS = st.sampled_from(
    ["a", "1", "2.50", "007", '""', '"x"', '"a,b"', '"a""b"', 'a"b', '"a"b', ' "a"', '"a" ', "", " ", '"\n"', '"\n\n"', "\0", "é"]
    + ["true", "2024-01-01", '"1"', "'", "1e5", "1.5", "0.1", "-0", "2024-02-30", "12:00:00", '""""', "#a", "NA", "\u2028", "\x0b", "\x85"]
)  # fmt: skip
ROWS = st.integers(2, 3).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width).map(",".join), min_size=1, max_size=6)
)


def by(here: Here, patch: pytest.MonkeyPatch, data: bytes, direct: bool, copied: bool = False, block: int = 1 << 20) -> Read:
    """The file by one of the ways: parsed by the engine or by record, typed in place or as a copy, in blocks of some size."""
    with patch.context() as inside:
        inside.setattr(reader, "_DIRECT_BYTES", 0 if direct else 1 << 60)
        inside.setattr(reader, "worth_keeping", lambda call, size: copied)
        inside.setattr(normal, "_BLOCK", block)
        return read(here, data)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS, st.booleans())
def test_regular_files_are_the_same_by_every_way(
    here: Here, monkeypatch: pytest.MonkeyPatch, rows: list[str], ended: bool
) -> None:
    head = ",".join(f"c{number}" for number in range(next(csv.reader(rows)).__len__() or 1))
    data = ("\n".join([head, *rows]) + "\n" * ended).encode()
    assume(data.split(b"\n")[0].count(b",") > 0)
    expected = by(here, monkeypatch, data, direct=False)
    assert by(here, monkeypatch, data, direct=True) == expected
    assert by(here, monkeypatch, data, direct=False, block=16) == expected
    for direct in (False, True):
        copy = by(here, monkeypatch, data, direct=direct, copied=True)
        assert (copy.columns, copy.rows, copy.count) == (expected.columns, expected.rows, expected.count)


REGULAR = 'id,name,price\n1,é,1.50\n2,"a""b",2.25\n3,,-0.75\n'


@pytest.mark.parametrize(
    "ending",
    [
        "\n",
        "\r\n",
        "\r",
    ],
    ids=["LF", "CRLF", "CR"],
)
@pytest.mark.parametrize("ended", [True, False])
def test_line_ends_do_not_change_a_file_by_any_way(here: Here, monkeypatch: pytest.MonkeyPatch, ending: str, ended: bool) -> None:
    text = REGULAR if ended else REGULAR.removesuffix("\n")
    expected = [(1, "é", Decimal("1.50")), (2, 'a"b', Decimal("2.25")), (3, None, Decimal("-0.75"))]
    for direct in (False, True):
        made = by(here, monkeypatch, text.replace("\n", ending).encode(), direct)
        assert (made.rows, made.count) == (expected, 3)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("blank", b"v\n\n1\n2\n"),
        ("mark", "v,w\n\ufeff,1\nx,2\n".encode()),
        ("bom", "\ufeffv,w\n1,1\nx,2\n".encode()),
        ("blank inside", b"v,w\n1,1\n\n2,2\n"),
        ("lone CR inside", b"v,w\n1,1\r2,2\n3,3\n"),
        ("CRLF inside", b"v,w\n1,1\r\n2,2\n3,3\n"),
        ("short row", b"v,w\n1,1\n2\n3,3\n"),
        ("long row", b"v,w\n1,1\n2,2,2\n3,3\n"),
        ("open quote", b'v,w\n1,1\n2,"2\n3,3\n'),
    ],
)
def test_each_irregular_file_is_the_same_by_every_way(
    here: Here, monkeypatch: pytest.MonkeyPatch, name: str, data: bytes
) -> None:
    expected = by(here, monkeypatch, data, direct=False)
    assert by(here, monkeypatch, data, direct=True) == expected
    assert by(here, monkeypatch, data, direct=False, block=8) == expected
    records = [row for row in csv.reader(io.StringIO(data.decode("utf-8-sig" if name == "bom" else "utf-8"), newline="")) if row]
    if "quote" not in name:
        assert [cell or "" for row in expected.texts for cell in row][: len(records[1])] == records[1]


def test_wide_decimals_survive_in_a_typed_copy(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    made = by(here, monkeypatch, b"v,w\n1.5,x\n99999999999999999999.5,y\n", direct=True, copied=True)
    assert [row[0] for row in made.rows] == [Decimal("1.5"), Decimal("99999999999999999999.5")]


def test_a_column_of_nothing_but_nan_is_text_in_a_typed_copy_too(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    made = by(here, monkeypatch, b"v,w\nnan,x\nnan,y\n", direct=True, copied=True)
    assert made.types == ["VARCHAR", "VARCHAR"]

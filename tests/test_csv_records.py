"""How bytes fall into records and fields, and that any table comes back from a CSV file as it was."""

from __future__ import annotations

import csv
import io
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from builtin_tools.core.tables.csv.reader import prepare_csv
from builtin_tools.core.tables.csv.records import Dialect, records
from builtin_tools.core.tables.csv.source import CsvOptions
from builtin_tools.core.tables.engine import Engine
from tests.test_sources import Here, here

__all__ = ["here"]
Table = list[list[str | None]]
COMMA = Dialect(",")
NONE = "\U000f4242 none"

# Signs that a CSV file gives a meaning to stand beside all of Unicode but halves of surrogate pairs.
SIGNS = st.characters(exclude_categories=["Cs"]) | st.sampled_from(list("\"',;\t|\\#= \r\n\0\ufeff\u2028x0"))
CELLS = st.none() | st.text(SIGNS, max_size=6)
TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=6)
)
DIALECTS: st.SearchStrategy[dict[str, str]] = st.builds(
    dict, delimiter=st.sampled_from([",", ";", "\t", "|", "^", "§"]), quotechar=st.sampled_from(['"', "'"]),
    lineterminator=st.sampled_from(["\n", "\r\n", "\r"]),
)  # fmt: skip


def written(table: Table, delimiter: str = ",", quotechar: str = '"', lineterminator: str = "\n") -> bytes:
    """Every string in quotes, None as an empty field: what csv.QUOTE_ALL writes, but for None."""
    lines = []
    for row in table:
        text = io.StringIO(newline="")
        writer = csv.writer(text, delimiter=delimiter, quotechar=quotechar, lineterminator="", quoting=csv.QUOTE_ALL)
        writer.writerow([NONE if cell is None else cell for cell in row])
        lines.append(text.getvalue().replace(quotechar + NONE + quotechar, "") + lineterminator)
    return "".join(lines).encode()


def fields(data: bytes, dialect: Dialect = COMMA) -> Table:
    return [[None if cell is None else cell.decode() for cell in row.fields] for row in records(data, 0, len(data), dialect)]


def prepared(here: Here, data: bytes, options: CsvOptions) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Names and rows of a file by the whole way that every table tool goes."""
    path = here.write("table.csv", data)
    engine = Engine.open(here.call())
    made = prepare_csv(engine, str(path), "table.csv", options, "in")
    engine.allow(made.files)
    engine.lock()
    assert made.rows == len(engine.rows(made.scan))
    assert made.with_text is not None
    return [column.name for column in made.columns], engine.rows(made.with_text({column.name for column in made.columns}))


@given(TABLES, DIALECTS)
@example([["\r"], ["\n"], ['"'], [""], [None]], {})
@settings(max_examples=300, deadline=None)
def test_any_table_comes_back_from_its_records(table: Table, form: dict[str, str]) -> None:
    data = written(table, **form)
    assert fields(data, Dialect(form.get("delimiter", ","), form.get("quotechar", '"'))) == table


@given(TABLES, DIALECTS)
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_table_comes_back_through_the_whole_way_of_a_file(here: Here, table: Table, form: dict[str, str]) -> None:
    names = [f"c{number}" for number in range(len(table[0]))]
    if len(names) == 1:  # a line with nothing on it is no row of a table of one column
        table = [row if row != [None] else ["x"] for row in table]
    assume(not any("\\" in (cell or "") for row in table for cell in row))  # it may be an escape: see below
    data = written([list(names), *table], **form)
    told = CsvOptions(delimiter=form.get("delimiter"), quote=form.get("quotechar"), encoding="utf-8", header=True)
    assert prepared(here, data, told) == (names, [tuple(row) for row in table])


@given(st.lists(st.lists(st.text(SIGNS, max_size=5), min_size=2, max_size=3), min_size=1, max_size=4), DIALECTS)
@settings(max_examples=150, deadline=None)
def test_what_the_csv_module_writes_by_its_usual_rules_comes_back_with_empty_strings_as_none(
    table: list[list[str]], form: dict[str, str]
) -> None:
    text = io.StringIO(newline="")
    form["lineterminator"] = "\r\n"  # of the signs that end lines only its own are put in quotes
    csv.writer(text, quoting=csv.QUOTE_MINIMAL, **form).writerows(table)  # type: ignore[arg-type]
    found = fields(text.getvalue().encode(), Dialect(form["delimiter"], form["quotechar"]))
    assert found == [[cell or None for cell in row] for row in table]


# ---------------------------------------------------------------- every rule, by an example

BY_THE_BOOK: dict[str, tuple[str, Table]] = {
    "each line end": ("a,b\nc,d\r\ne,f\rg,h", [["a", "b"], ["c", "d"], ["e", "f"], ["g", "h"]]),
    "empty and quoted empty": ('a,,""\n', [["a", None, ""]]),
    "blank lines": ("a\n\n\nb\n", [["a"], [None], [None], ["b"]]),
    "delimiters and line ends in quotes": ('"a,b","c\nd","e\r\nf"\n', [["a,b", "c\nd", "e\r\nf"]]),
    "doubled quotes": ('"say ""hi""","""",""""""\n', [['say "hi"', '"', '""']]),
    "blanks around quotes": (' "a" , b ,"c"\n', [["a", " b ", "c"]]),
    "a quote within a plain field": ('5" disk,a"b\n', [['5" disk', 'a"b']]),
    "text behind a closing quote": ('"a"b,c\n', [['"a"b', "c"]]),
    "a quote that is never closed": ('1,"a\n2,b\n', [["1", '"a'], ["2", "b"]]),
    "nothing after the last delimiter": ("a,", [["a", None]]),
    "NUL and signs of other scripts": ("\0,é,😀,\u2028\n", [["\0", "é", "😀", "\u2028"]]),
    "vertical tabs and form feeds end no line": ("a\x0bb,c\x0cd,e\x85f\n", [["a\x0bb", "c\x0cd", "e\x85f"]]),
}


@pytest.mark.parametrize(("text", "expected"), BY_THE_BOOK.values(), ids=BY_THE_BOOK.keys())
def test_records_follow_the_rules(text: str, expected: Table) -> None:
    assert fields(text.encode()) == expected


@pytest.mark.parametrize(
    ("text", "dialect", "expected"),
    [
        ("a||b||c|d\n", Dialect("||"), [["a", "b", "c|d"]]),
        ('"a||b"||c\n', Dialect("||"), [["a||b", "c"]]),
        ("a§b\n", Dialect("§"), [["a", "b"]]),
        ('a b "c d" e\n', Dialect(" "), [["a", "b", "c d", "e"]]),
        ("'a,b','it''s'\n", Dialect(",", "'"), [["a,b", "it's"]]),
        ('"a,b"\n', Dialect(",", None), [['"a', 'b"']]),
        ('"say \\"hi\\"",b\n', Dialect(",", '"', "\\"), [['say "hi"', "b"]]),
        ('"a\\\\",b\n', Dialect(",", '"', "\\"), [["a\\", "b"]]),
    ],
)
def test_records_follow_other_dialects(text: str, dialect: Dialect, expected: Table) -> None:
    assert fields(text.encode(), dialect) == expected


def test_every_record_knows_its_lines_and_its_bytes() -> None:
    data = b'a,b\r\n"x\ny\r\nz",1\n\n2,"q"u\n'
    found = list(records(data, 0, len(data), COMMA))
    assert [(one.line, one.lines, one.irregular) for one in found] == [(1, 1, False), (2, 3, False), (5, 1, False), (6, 1, True)]
    assert b"".join(data[one.start : one.end] for one in found) == data


@given(st.binary(max_size=40), st.sampled_from([COMMA, Dialect(";", "'"), Dialect("||"), Dialect(",", '"', "\\")]))
@settings(max_examples=300, deadline=None)
def test_no_byte_is_lost_or_read_twice_whatever_the_bytes(data: bytes, dialect: Dialect) -> None:
    found = list(records(data, 0, len(data), dialect))
    assert b"".join(data[one.start : one.end] for one in found) == data
    assert all(one.fields for one in found)


@pytest.mark.parametrize("piece", [b'"', b'"a"b', b'"a\n', b'"\r', b'",', b'"" ', b'\\"', b' "'])
@pytest.mark.parametrize("dialect", [COMMA, Dialect(",", '"', "\\")])
def test_one_record_takes_time_in_proportion_to_its_length(piece: bytes, dialect: Dialect) -> None:
    data = piece * 30_000
    start = time.perf_counter()
    next(records(data, 0, len(data), dialect))
    assert time.perf_counter() - start < 1.0


def test_a_path_that_ends_in_a_backslash_is_no_escaped_quote(here: Here) -> None:
    data = b'path,n\n"C:\\data\\",1\n"D:\\x, y\\",2\n'
    assert prepared(here, data, CsvOptions())[1] == [("C:\\data\\", "1"), ("D:\\x, y\\", "2")]

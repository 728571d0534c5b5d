"""Sheets of workbooks as tables: values, types, headers, and what is told of the rest."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import _duckdb
import pytest

from builtin_tools.core.artifacts import ArtifactDirectory
from builtin_tools.core.call import Call
from builtin_tools.core.errors import FileCorrupt, FileEmpty, InvalidParameters, MemoryLimitExceeded, TableNotFound
from builtin_tools.core.tables.excel import prepare, sheet_names
from builtin_tools.core.tables.excel_cells import column_letters
from builtin_tools.core.tables.prepared import Prepared

Rows = list[list[Any]]
Open = Callable[..., tuple[Prepared, list[tuple[Any, ...]]]]

_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_STYLES = (
    '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts count="1">'
    '<numFmt numFmtId="164" formatCode="yyyy-mm-dd hh:mm:ss"/></numFmts>'
    '<fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders>'
    '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="5"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/>'
    '<xf numFmtId="21"/><xf numFmtId="46"/></cellXfs></styleSheet>'
)


class Bad(str):
    """A cell with an error."""


def cell(place: str, value: Any) -> str:
    if isinstance(value, Bad):
        return f'<c r="{place}" t="e"><v>{value}</v></c>'
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    if isinstance(value, datetime):
        seconds = (value - datetime(1899, 12, 30)).total_seconds()
        return f'<c r="{place}" s="2"><v>{seconds / 86400!r}</v></c>'
    if isinstance(value, date):
        return f'<c r="{place}" s="1"><v>{(value - date(1899, 12, 30)).days}</v></c>'
    if isinstance(value, time):
        return f'<c r="{place}" s="3"><v>{(value.hour * 3600 + value.minute * 60 + value.second) / 86400!r}</v></c>'
    if isinstance(value, timedelta):
        return f'<c r="{place}" s="4"><v>{value.total_seconds() / 86400!r}</v></c>'
    return f'<c r="{place}"><v>{value!r}</v></c>'


def workbook(sheets: dict[str, Rows], merged: tuple[str, ...] = (), hidden: tuple[str, ...] = ()) -> bytes:
    """An xlsx file of these sheets; None is a cell that is not there."""
    main, docs = (
        "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
        "http://schemas.openxmlformats.org/officeDocument/2006",
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        states = ['state="hidden" ' if name in hidden else "" for name in sheets]
        entries = [
            f'<sheet name="{escape(name)}" sheetId="{at}" {state}r:id="rId{at}"/>'
            for at, (name, state) in enumerate(zip(sheets, states, strict=True), 1)
        ]
        archive.writestr("[Content_Types].xml", "<Types/>")
        root = f'<Relationship Id="rId1" Type="{docs}/relationships/officeDocument" Target="xl/workbook.xml"/>'
        archive.writestr("_rels/.rels", f'<Relationships xmlns="{_PACKAGE}">{root}</Relationships>')
        archive.writestr("xl/styles.xml", _STYLES)
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{docs}/relationships"><sheets>{"".join(entries)}</sheets></workbook>',
        )
        links = [
            f'<Relationship Id="rId{at}" Type="{docs}/relationships/worksheet" Target="worksheets/s{at}.xml"/>'
            for at in range(1, len(sheets) + 1)
        ]
        styles = f'<Relationship Id="rId99" Type="{docs}/relationships/styles" Target="styles.xml"/>'
        archive.writestr(
            "xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{_PACKAGE}">{"".join(links)}{styles}</Relationships>'
        )
        ranges = "".join(f'<mergeCell ref="{area}"/>' for area in merged)
        for at, rows in enumerate(sheets.values(), 1):
            lines = []
            for number, row in enumerate(rows, 1):
                cells = [
                    cell(f"{column_letters(column)}{number}", value) for column, value in enumerate(row) if value is not None
                ]
                lines.append(f'<row r="{number}">{"".join(cells)}</row>')
            merges = f"<mergeCells>{ranges}</mergeCells>" if merged and at == 1 else ""
            archive.writestr(
                f"xl/worksheets/s{at}.xml",
                f'<worksheet xmlns="{main}"><sheetData>{"".join(lines)}</sheetData>{merges}</worksheet>',
            )
    return stream.getvalue()


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    """The table of a workbook and its rows as DuckDB gives them."""

    def call(
        content: bytes | dict[str, Rows], user: dict[str, str] | None = None, **options: Any
    ) -> tuple[Prepared, list[tuple[Any, ...]]]:
        path = tmp_path / "book.xlsx"
        path.write_bytes(content if isinstance(content, bytes) else workbook(content))
        one = Call("test", SimpleNamespace(**(user or {})), {}, ArtifactDirectory(str(tmp_path)), str(tmp_path))
        made = prepare(one, str(path), "book.xlsx", **options)
        connection = _duckdb.connect()
        described = [(row[0], row[1]) for row in connection.execute(f"DESCRIBE {made.scan}").fetchall()]
        assert described == [(column.name, column.type) for column in made.columns]
        rows: list[tuple[Any, ...]] = connection.execute(made.scan).fetchall()
        assert made.rows == len(rows)
        return made, rows

    return call


def types(made: Prepared) -> list[str]:
    return [column.type for column in made.columns]


def codes(made: Prepared) -> list[str]:
    return [warning.code for warning in made.warnings]


def test_a_column_has_a_type_only_where_all_its_cells_have_it(opened: Open) -> None:
    head = ["n", "x", "t", "d", "m", "b", "z", "i", "none"]
    first = [1, 2, "007", date(2024, 2, 29), datetime(2024, 1, 1, 12, 30), True, time(10, 30), timedelta(hours=30), None]
    second = [None, 0.5, "1e5", date(1999, 12, 31), date(2024, 1, 2), False, time(0, 0, 1), timedelta(minutes=1), None]
    made, rows = opened({"S": [head, first, second]})
    assert types(made) == ["BIGINT", "DOUBLE", "VARCHAR", "DATE", "TIMESTAMP", "BOOLEAN", "TIME", "INTERVAL", "VARCHAR"]
    assert rows == [
        tuple(first),
        (None, 0.5, "1e5", date(1999, 12, 31), datetime(2024, 1, 2), False, time(0, 0, 1), timedelta(minutes=1), None),
    ]
    assert [column.nullable for column in made.columns][:2] == [True, False] and made.columns[-1].empty


def test_one_cell_of_text_makes_a_column_text_and_the_rest_stays_as_written(opened: Open) -> None:
    made, rows = opened({"S": [["v"], [7], ["x"], [0.5], [True], [date(2024, 1, 2)], [datetime(2024, 1, 2, 3, 4, 5)]]})
    assert types(made) == ["VARCHAR"] and "TYPES_MIXED" in codes(made)
    assert [row[0] for row in rows] == ["7", "x", "0.5", "true", "2024-01-02", "2024-01-02T03:04:05"]


def test_blank_rows_and_columns_and_titles_around_the_table_are_passed_over_and_told(opened: Open) -> None:
    sheet = [
        [],
        [None, None, "Report of May"],
        [],
        [None, None, "id", "name"],
        [None, None, 1, "a"],
        [],
        [None, None, 2, "b"],
        [],
    ]
    made, rows = opened({"S": sheet})
    assert rows == [(1, "a"), (2, "b")] and [column.name for column in made.columns] == ["id", "name"]
    assert (made.details["header_row"], made.details["first_column"]) == (4, "C")
    assert made.details["rows_above_header"] == ["row 2: Report of May"]
    assert {"ROWS_SKIPPED", "BLANK_ROWS_SKIPPED"} <= set(codes(made))


def test_names_that_stand_twice_or_are_blank_get_names_of_their_own(opened: Open) -> None:
    made, rows = opened({"S": [["id", "ID", None, "id_1", "x\ny"], [1, 2, 3, 4, 5]]})
    assert [column.name for column in made.columns] == ["id", "ID_2", "column3", "id_1", "x_y"] and rows == [(1, 2, 3, 4, 5)]
    assert [column.original_name for column in made.columns] == ["id", "ID", "", "id_1", "x\ny"] and "COLUMN_RENAMED" in codes(
        made
    )


def test_heads_merged_over_several_columns_are_put_together(opened: Open) -> None:
    sheet: Rows = [["Sales", None, None, None], ["region", "Q1", None, "Q2"], [None, "Jan", "Feb", "Apr"], ["EU", 1, 2, 3]]
    made, rows = opened(workbook({"S": sheet}, merged=("A1:D1", "A2:A3", "B2:C2")))
    assert [column.name for column in made.columns] == ["region", "Q1 Jan", "Q1 Feb", "Q2 Apr"] and rows == [("EU", 1, 2, 3)]
    assert "HEADER_OF_SEVERAL_ROWS" in codes(made)


def test_years_are_names_and_numbers_are_not(opened: Open) -> None:
    made, _ = opened({"S": [["region", 2023, 2024], ["EU", 1.5, 2.5]]})
    assert [column.name for column in made.columns] == ["region", "2023", "2024"]
    made, rows = opened({"S": [[1, 2.5], [3, 4.5]]})
    assert [column.name for column in made.columns] == ["column1", "column2"] and len(rows) == 2 and "NO_HEADER" in codes(made)


def test_cells_with_errors_are_null_and_named(opened: Open) -> None:
    made, rows = opened({"S": [["v", "w"], [1, "a"], [Bad("#N/A"), "b"], [Bad("#DIV/0!"), "c"]]})
    assert rows == [(1, "a"), (None, "b"), (None, "c")] and types(made)[0] == "BIGINT"
    told = next(warning.message for warning in made.warnings if warning.code == "ERROR_CELLS")
    assert "A3 #N/A" in told and "A4 #DIV/0!" in told


def test_the_first_visible_sheet_with_cells_is_read_and_the_others_are_told(opened: Open) -> None:
    sheets: dict[str, Rows] = {"Hidden": [["h"], [1]], "Empty": [], "Data & more": [["a"], [1]], "Other": [["b"], [2]]}
    made, rows = opened(workbook(sheets, hidden=("Hidden",)))
    assert rows == [(1,)] and made.details["sheet"] == "Data & more" and made.details["hidden_sheets"] == ["Hidden"]
    assert made.details["sheets"] == list(sheets) and "OTHER_SHEETS" in codes(made)
    assert opened(workbook(sheets), sheet="other")[1] == [(2,)]
    with pytest.raises(TableNotFound) as problem:
        opened(sheets, sheet="Othr")
    assert "Closest: Other" in problem.value.guidance


def test_a_range_is_read_alone(opened: Open) -> None:
    sheet = [["a", "b", "c"], [1, 2, 3], [4, 5, 6], [7, 8, 9]]
    made, rows = opened({"S": sheet}, cell_range="B1:C3")
    assert [column.name for column in made.columns] == ["b", "c"] and rows == [(2, 3), (5, 6)]
    for wrong in ("B1", "C3:B1", "A0:B2"):
        with pytest.raises(InvalidParameters):
            opened({"S": sheet}, cell_range=wrong)


def test_what_is_no_workbook_or_holds_nothing_is_told(opened: Open, tmp_path: Path) -> None:
    with pytest.raises(FileEmpty, match="no cells"):
        opened({"S": [], "T": []})
    whole = workbook({"S": [["a"], [1]]})
    for damaged in (whole[: len(whole) // 2], b"PK\x03\x04" + bytes(100), b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000)):
        with pytest.raises(FileCorrupt):
            opened(damaged)
    (tmp_path / "named.bin").write_bytes(whole)
    assert sheet_names(str(tmp_path / "named.bin"), "named.bin") == ["S"]


def test_a_workbook_that_unpacks_to_more_than_the_memory_is_refused(opened: Open) -> None:
    with pytest.raises(MemoryLimitExceeded):
        opened({"S": [["a"], ["x" * 3_000_000]]}, user={"memory_limit": "2MB"})


def test_integers_that_no_double_holds_are_not_made_up(opened: Open) -> None:
    made, rows = opened({"S": [["n"], [2**53], [1.2345678901234567e19]]})
    assert types(made) == ["DOUBLE"] and rows == [(float(2**53),), (1.2345678901234567e19,)]


def test_the_text_form_has_cells_as_they_are_written(opened: Open) -> None:
    made, _ = opened({"S": [["n", "d"], [7, date(2024, 1, 2)], [None, date(2024, 1, 3)]]})
    assert made.with_text is not None
    assert _duckdb.connect().execute(made.with_text({"n", "d"})).fetchall() == [("7", "2024-01-02"), (None, "2024-01-03")]

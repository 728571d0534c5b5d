"""A sheet of an Excel or OpenDocument workbook as a table (python-calamine reads xlsx, xlsb, xls and ods).

A column has a type only where every one of its cells has it: integers stay BIGINT beside blanks, dates are DATE, dates
with a time TIMESTAMP; one cell of text makes the whole column VARCHAR, with text as it stands and the rest as it is
written ('007' stays). Blank rows and columns around the table are passed over, and that is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..call import Call
from ..envelope import Warn
from ..errors import (
    ConfigurationError,
    FileCorrupt,
    FileEmpty,
    MemoryLimitExceeded,
    PasswordRequired,
    TableNotFound,
    listed,
    near_names,
)
from ..limits import readable_size
from .excel_cells import Grid, area_of, column_letters
from .excel_columns import SheetColumn
from .excel_header import Header, find_header
from .excel_parts import error_cells, unpacked_size
from .json_lines import scan_of_lines, write_lines
from .json_survey import unused_name, usable_name
from .prepared import Prepared

_LOOKED_AT = 40  # rows among which the header is sought


def prepare(call: Call, path: str, name: str, sheet: str | None = None, cell_range: str | None = None) -> Prepared:
    """The table on a sheet: the one named, else the first visible sheet that is not empty; all of it, or a range like B2:F20.

    Raises TableNotFound (no such sheet), InvalidParameters (the range), FileEmpty, FileCorrupt, PasswordRequired,
    MemoryLimitExceeded, ConfigurationError (the package is missing).
    """
    area = area_of(cell_range)
    _refuse_bombs(call, path, name)
    book = _open(path, name)
    chosen, cells = _choose(book, name, sheet)
    grid = Grid(cells, area)
    header = find_header(list(grid.rows(_LOOKED_AT)), grid.merged())
    if header is None:
        raise FileEmpty(f"The sheet {chosen!r} of {name!r} holds no cells with values there.", _sheets_hint(book))
    columns = _typed(grid, header)
    if not columns:
        raise FileEmpty(f"The sheet {chosen!r} of {name!r} holds no columns.", _sheets_hint(book))
    counts = _Counts()

    def written(names: set[str], counted: _Counts) -> tuple[str, str]:
        plan = [column.in_lines(as_words=column.name in names) for column in columns]
        tag = abs(hash((path, chosen, cell_range, frozenset(names))))
        lines = write_lines(call, f"sheet-{tag:x}.ndjson", name, plan, _data(grid, header, columns, counted))
        return scan_of_lines(lines, plan), lines.path

    scan, scratch_file = written(set(), counts)
    told, warnings = _told(book, chosen, header, columns, grid, counts, error_cells(path, chosen))
    return Prepared(
        scan,
        [column.source() for column in columns],
        "excel",
        [scratch_file],
        with_text=lambda names: written(names, _Counts())[0],
        rows=counts.rows,
        details=told,
        warnings=warnings,
    )


def sheet_names(path: str, name: str) -> list[str]:
    """The names of a workbook's sheets, hidden ones too. Raises FileCorrupt, PasswordRequired, ConfigurationError."""
    return list(_open(path, name).sheet_names)


# ---------------------------------------------------------------- the workbook


def _calamine() -> Any:
    from importlib import import_module

    try:
        return import_module("python_calamine")
    except ImportError:
        raise ConfigurationError(
            "Reading Excel and OpenDocument files needs the package python-calamine, which is not installed.",
            'The operator must install it: pip install "python-calamine==0.9.1".',
        ) from None


def _refuse_bombs(call: Call, path: str, name: str) -> None:
    """The reader holds a sheet in memory, so what it unpacks to must fit there."""
    size = unpacked_size(path)
    if size > call.memory_limit:
        raise MemoryLimitExceeded(
            f"{name!r} unpacks to {readable_size(size)}, more than the memory limit of {readable_size(call.memory_limit)}.",
            "Save the sheet as CSV and read that. The operator can raise memory_limit.",
        )


def _open(path: str, name: str) -> Any:
    calamine = _calamine()
    return _guarded(calamine, name, lambda: calamine.load_workbook(path))


def _guarded(calamine: Any, name: str, work: Any) -> Any:
    """What `work` gives; the reader's errors, and its panics, as ours."""
    try:
        return work()
    except calamine.PasswordError:
        raise PasswordRequired(f"{name!r} is a workbook with a password.", "Save it without a password first.") from None
    except (calamine.CalamineError, ValueError, OSError) as problem:
        raise _corrupt(name, str(problem)) from None
    except BaseException as problem:
        if type(problem).__name__ != "PanicException":
            raise
        raise _corrupt(name, "its parts do not fit together") from None


def _corrupt(name: str, cause: str) -> FileCorrupt:
    return FileCorrupt(
        f"{name!r} cannot be read as a workbook: {cause.strip().rstrip('.')[:200]}.",
        "Open it in a spreadsheet program and save it again.",
    )


def _choose(book: Any, name: str, sheet: str | None) -> tuple[str, Any]:
    """The sheet to read, by name or the first that is visible and has cells."""
    names = list(book.sheet_names)
    calamine = _calamine()

    def cells(which: str) -> Any:
        return _guarded(calamine, name, lambda: book.get_sheet_by_name(which))

    if sheet is not None:
        same = [known for known in names if known == sheet] or [known for known in names if known.casefold() == sheet.casefold()]
        if not same:
            near = near_names(sheet, names)
            closest = f"Closest: {listed(near)}. " if near else ""
            raise TableNotFound(f"{name!r} has no sheet {sheet!r}.", f"{closest}Sheets: {listed(names)}.")
        return same[0], cells(same[0])
    order = [part.name for part in book.sheets_metadata if _is_visible(part)] + [
        part.name for part in book.sheets_metadata if not _is_visible(part)
    ]
    for known in order:
        found = cells(known)
        if found.height:
            return known, found
    raise FileEmpty(f"{name!r} holds no cells with values on any of its sheets.", f"Sheets: {listed(names)}.")


def _is_visible(part: Any) -> bool:
    return str(part.visible).endswith(".Visible") and str(part.typ).endswith((".WorkSheet", ".DialogSheet"))


def _sheets_hint(book: Any) -> str:
    return f"Sheets: {listed(list(book.sheet_names))}."


# ---------------------------------------------------------------- cells


@dataclass
class _Counts:
    rows: int = 0
    blank_rows: int = 0


def _typed(grid: Grid, header: Header) -> list[SheetColumn]:
    """The columns with what their cells are, every cell looked at. Columns without name and values are left out."""
    taken: set[str] = set()
    folded = {usable_name(name).casefold() for name in header.names}
    columns = []
    for position, name in enumerate(header.names):
        shown = unused_name(usable_name(name).strip() or f"column{position + 1}", taken, folded)
        columns.append(SheetColumn(position, shown, name))
    for number, row in grid.rows():
        if number < header.first_data_row:
            continue
        while len(columns) < len(row):
            columns.append(SheetColumn(len(columns), unused_name(f"column{len(columns) + 1}", taken, folded), ""))
        filled = False
        for column, cell in zip(columns, row, strict=False):
            if cell is not None:
                column.add(cell)
                filled = True
        if filled:
            for column in columns:
                if column.position >= len(row) or row[column.position] is None:
                    column.blanks += 1
    return [column for column in columns if column.original or column.kinds]


def _data(grid: Grid, header: Header, columns: list[SheetColumn], counts: _Counts) -> Iterator[list[Any]]:
    """The rows below the header. Blank rows are passed over; those before the last row with values are counted."""
    waiting = 0
    for number, row in grid.rows():
        if number < header.first_data_row:
            continue
        cells = [row[column.position] if column.position < len(row) else None for column in columns]
        if all(cell is None for cell in cells):
            waiting += 1
            continue
        counts.blank_rows += waiting
        waiting = 0
        counts.rows += 1
        yield cells


# ---------------------------------------------------------------- what was found


def _told(
    book: Any, chosen: str, header: Header, columns: list[SheetColumn], grid: Grid, counts: _Counts, errors: tuple[int, list[str]]
) -> tuple[dict[str, Any], list[Warn]]:
    """Details and warnings about the sheet."""
    names = list(book.sheet_names)
    hidden = [part.name for part in book.sheets_metadata if not _is_visible(part)]
    told: dict[str, Any] = {"sheet": chosen, "sheets": names, "rows": counts.rows}
    told["header_row"] = header.row + 1 if header.row is not None else None
    told["first_column"] = column_letters(grid.first_column + header.first_column)
    told |= {key: value for key, value in (("hidden_sheets", hidden), ("rows_above_header", header.above)) if value}
    originals = {column.name: column.original for column in columns if column.original != column.name}
    notes = {column.name: note for column in columns if (note := column.note)}
    told |= ({"original_names": originals} if originals else {}) | ({"column_notes": notes} if notes else {})
    warnings = []
    others = [other for other in names if other != chosen]
    if others:
        warnings.append(Warn("OTHER_SHEETS", f"The sheet {chosen!r} was read; the workbook also has {listed(others, 12)}."))
    warnings += header.warnings
    if originals:
        pairs = [f"{original!r} is {name!r}" for name, original in originals.items()]
        warnings.append(Warn("COLUMN_RENAMED", f"Names that are blank, stand twice or cannot be written: {listed(pairs, 12)}."))
    if mixed := [column.name for column in columns if column.is_mixed]:
        warnings.append(Warn("TYPES_MIXED", f"Columns with cells of several types are VARCHAR: {listed(mixed, 12)}."))
    if counts.blank_rows:
        warnings.append(Warn("BLANK_ROWS_SKIPPED", f"Blank rows among the data were passed over: {counts.blank_rows:,}."))
    if errors[0]:
        warnings.append(Warn("ERROR_CELLS", f"Cells that hold an error are NULL: {errors[0]:,} ({listed(errors[1], 12)})."))
    inner = [area for area in grid.merged() if area[0] >= header.first_data_row]
    if inner:
        warnings.append(
            Warn("MERGED_CELLS", f"Merged areas among the data have their value in their first cell only: {len(inner):,}.")
        )
    return told, warnings

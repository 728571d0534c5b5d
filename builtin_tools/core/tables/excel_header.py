"""Where the table on a sheet begins: its header, titles above it, merged heads over several columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, time
from typing import Any

from ..envelope import Warn

Rows = list[tuple[int, list[Any]]]
Merged = list[tuple[int, int, int, int]]
_SHARE = 0.6  # of the usual number of filled cells that a header fills at least
_MAX_DEPTH = 4


@dataclass
class Header:
    """The names of the columns ("" where there is none), where they stand, and where the data begins (rows from 0)."""

    names: list[str]
    row: int | None
    first_data_row: int
    first_column: int
    above: list[str] = field(default_factory=list)
    warnings: list[Warn] = field(default_factory=list)


def find_header(rows: Rows, merged: Merged) -> Header | None:
    """The header among the first rows of a sheet; None where all are blank.

    It is the first row that fills most of the columns the rows below fill, with text in each filled cell (years and
    dates are taken for names beside text). Where that row holds other values there is no header, and the columns are
    called column1, column2 and so on.
    """
    filled = [(number, _spread(number, row, merged)) for number, row in rows if any(cell is not None for cell in row)]
    if not filled:
        return None
    usual = max(_count(row) for _, row in filled[:20])
    for position, (number, row) in enumerate(filled):
        if _count(row) < max(1, usual * _SHARE) or _is_title(number, row, merged):
            continue
        if not _can_be_names(row, has_rows_below=position + 1 < len(filled)):
            return _without(filled, position)
        return _with(filled, position, merged)
    return _without(filled, 0)


def _with(filled: Rows, position: int, merged: Merged) -> Header:
    number, row = filled[position]
    depth = _depth(filled, position, merged)
    heads = [below for _, below in filled[position : position + depth]]
    width = max(len(head) for head in heads)
    names = [
        " ".join(dict.fromkeys(_word(head[at]) for head in heads if at < len(head) and head[at] is not None))
        for at in range(width)
    ]
    made = Header(names, number, filled[position + depth - 1][0] + 1, _first(heads), _above(filled, position))
    if depth > 1:
        made.warnings.append(
            Warn("HEADER_OF_SEVERAL_ROWS", f"The names of the columns were put together from {depth} rows with merged cells.")
        )
    _tell_above(made)
    return made


def _without(filled: Rows, position: int) -> Header:
    number = filled[position][0]
    made = Header([], None, number, _first([row for _, row in filled[position:]]), _above(filled, position))
    made.warnings.append(Warn("NO_HEADER", "No row of names was found, so the columns are called column1, column2 and so on."))
    _tell_above(made)
    return made


def _tell_above(made: Header) -> None:
    if made.above:
        rows = "row" if len(made.above) == 1 else "rows"
        made.warnings.append(
            Warn("ROWS_SKIPPED", f"{len(made.above)} {rows} above the table were passed over; details has them.")
        )


def _above(filled: Rows, position: int) -> list[str]:
    return [
        f"row {number + 1}: " + " | ".join(_word(cell) for cell in row if cell is not None) for number, row in filled[:position]
    ]


def _depth(filled: Rows, position: int, merged: Merged) -> int:
    """How many rows the header has: as many as a merged cell of it spans, or one more below cells merged side by side."""
    number, _ = filled[position]
    own = [area for area in merged if area[0] == number]
    depth = max([area[2] - area[0] + 1 for area in own], default=1)
    if depth == 1 and any(area[3] > area[1] for area in own):
        depth = 2
    depth = min(depth, _MAX_DEPTH, len(filled) - position)
    while depth > 1 and not all(_can_be_names(row, has_rows_below=True) for _, row in filled[position : position + depth]):
        depth -= 1
    return depth


def _spread(number: int, row: list[Any], merged: Merged) -> list[Any]:
    """The row with the value of cells merged side by side in each of them."""
    made = row
    for top, left, _, right in merged:
        if top == number and right > left and 0 <= left < len(row) and row[left] is not None:
            made = made + [None] * (right + 1 - len(made))
            made = [*made[:left], *[row[left]] * (right + 1 - left), *made[right + 1 :]]
    return made


def _is_title(number: int, row: list[Any], merged: Merged) -> bool:
    """Whether all that stands in the row is one merged cell, as over a whole table."""
    wide = [area for area in merged if area[0] == number and area[3] > area[1]]
    return len(wide) == 1 and _count(row) == wide[0][3] - wide[0][1] + 1


def _can_be_names(row: list[Any], *, has_rows_below: bool) -> bool:
    cells = [cell for cell in row if cell is not None]
    texts = [cell for cell in cells if isinstance(cell, str)]
    if len(texts) == len(cells):
        return True
    return bool(texts) and has_rows_below and all(isinstance(cell, str) or _is_period(cell) for cell in cells)


def _is_period(cell: Any) -> bool:
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return float(cell).is_integer() and 1900 <= cell <= 2100
    return isinstance(cell, date)


def _word(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, (date, time)) else str(cell).strip()


def _count(row: list[Any]) -> int:
    return sum(cell is not None for cell in row)


def _first(rows: list[list[Any]]) -> int:
    return min((at for row in rows for at, cell in enumerate(row) if cell is not None), default=0)

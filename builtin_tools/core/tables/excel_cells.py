"""The cells of a sheet, row by row, and the names of places on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..errors import InvalidParameters


def area_of(cell_range: str | None) -> tuple[int, int, int, int] | None:
    """First row and column, last row and column of a range like B2:F20, counted from 0."""
    if cell_range is None:
        return None
    match = re.fullmatch(r"\$?([A-Za-z]{1,3})\$?(\d{1,7}):\$?([A-Za-z]{1,3})\$?(\d{1,7})", cell_range.strip())
    if match is None:
        raise InvalidParameters(f"The range {cell_range[:40]!r} cannot be read.", "Write it as B2:F20.")
    first, last = (int(match[2]) - 1, _column_number(match[1])), (int(match[4]) - 1, _column_number(match[3]))
    if first[0] < 0 or first[0] > last[0] or first[1] > last[1]:
        raise InvalidParameters(
            f"The range {cell_range!r} runs backwards.", "Write first the upper left cell, then the lower right one."
        )
    return (*first, *last)


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1


def column_letters(number: int) -> str:
    """The letters over a column, counted from 0: 0 is A, 27 is AB."""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


class Grid:
    """The cells of a sheet, or of an area of it, row by row with their numbers; blanks are None."""

    def __init__(self, cells: Any, area: tuple[int, int, int, int] | None) -> None:
        self._cells, self._area = cells, area
        self.first_column: int = cells.start[1] if cells.start else 0

    def rows(self, limit: int | None = None) -> Iterator[tuple[int, list[Any]]]:
        """Pairs of a row's number from 0 and its cells from `first_column` on; at most `limit` rows that are not blank."""
        given = 0
        for number, row in enumerate(self._cells.iter_rows()):
            if self._area is not None:
                if not self._area[0] <= number <= self._area[2]:
                    continue
                row = row[: max(0, self._area[3] - self.first_column + 1)]
                outside = min(len(row), max(0, self._area[1] - self.first_column))
                row = [None] * outside + row[outside:]
            made = [None if isinstance(cell, str) and not cell else cell for cell in row]
            if any(cell is not None for cell in made):
                given += 1
            yield number, made
            if limit is not None and given >= limit:
                return

    def merged(self) -> list[tuple[int, int, int, int]]:
        """Merged ranges as first row and column, last row and column; columns from `first_column` on."""
        ranges = self._cells.merged_cell_ranges or []
        return [(top, left - self.first_column, bottom, right - self.first_column) for (top, left), (bottom, right) in ranges]

"""Where the table lies in a CSV file: title lines and comments before it, its header, its width, its names."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from .records import Record

_NUMBER_OR_DATE = re.compile(
    rb"[-+]?[\d.,]*\d(?:[eE][-+]?\d+)?%?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ][\d:.Z+-]+)?|true|false", re.I
)
_YEAR = re.compile(rb"(?:1[89]|20|21)\d\d")


@dataclass
class Layout:
    """Indices count the records of the sample. `header` is None where the first record is data."""

    preamble: list[int] = field(default_factory=list)
    comments: list[int] = field(default_factory=list)
    header: int | None = None
    first_row: int = 0
    width: int = 1  # of the header, or of most records where there is none
    comment_sign: bytes = b""  # set where comment lines stand before the header; then they are comments further down too


def find_layout(rows: list[Record], header: bool | None, skip_rows: int | None) -> Layout:
    """The layout of a file from its first records. What the caller told (`header`, `skip_rows` in lines) is kept."""
    layout = Layout()
    start = 0
    if skip_rows:
        while start < len(rows) and rows[start].line <= skip_rows:
            layout.preamble.append(start)
            start += 1
    usual = _usual_width(rows[start:])
    if skip_rows is None:
        start = _pass_over(rows, usual, layout, header)
    while start < len(rows) and is_blank(rows[start]) and (usual > 1 or start == 0):
        layout.preamble.append(start)
        start += 1
    if start >= len(rows):
        layout.first_row, layout.width = start, max(1, usual)
        return layout
    has_header = header if header is not None else _looks_like_header(rows, start)
    layout.header = start if has_header else None
    layout.first_row = start + 1 if has_header else start
    layout.width = len(rows[start].fields) if has_header else max(usual, len(rows[start].fields))
    return layout


def is_blank(record: Record) -> bool:
    """A line with nothing, or with nothing but blanks, on it; a quoted empty field is something."""
    text = record.fields[0]
    return len(record.fields) == 1 and (text is None or (text != b"" and not text.strip()))


def _usual_width(rows: list[Record]) -> int:
    widths = Counter(len(row.fields) for row in rows if not is_blank(row))
    if not widths:
        return 1
    most = max(widths.values())
    return max(width for width, count in widths.items() if count == most)


def _pass_over(rows: list[Record], usual: int, layout: Layout, header: bool | None) -> int:
    """The index of the first record of the table, after title lines and comments, which are noted in the layout."""
    start = _leading_comments(rows, usual, layout)
    if usual < 2:
        return start
    full = next((index for index in range(start, len(rows)) if len(rows[index].fields) >= usual), start)
    if full > start and header is not False:
        before = next((index for index in range(full - 1, start - 1, -1) if not is_blank(rows[index])), None)
        if before is not None and before == full - 1 and _is_short_header(rows[before], rows[full], usual):
            full = before
    if full == start:
        full = _after_titles_padded_with_delimiters(rows, start, usual)
    layout.preamble += range(start, full)
    return full


def _leading_comments(rows: list[Record], usual: int, layout: Layout) -> int:
    index = 0
    while index < len(rows) and (rows[index].fields[0] or b"").lstrip().startswith(b"#"):
        index += 1
    if index == 0 or index >= len(rows):
        return 0
    only_one_and_header = index == 1 and usual > 1 and len(rows[0].fields) == usual and _has_data(rows[1])
    last = rows[index - 1]
    if index > 1 and usual > 1 and len(last.fields) == usual and not all(len(row.fields) == usual for row in rows[:index]):
        index -= 1  # the names stand in the last of the comments
    elif only_one_and_header or (index > 1 and all(len(row.fields) == usual > 1 for row in rows[:index])):
        return 0
    if len(rows[0].fields) == 1 == usual and not (rows[0].fields[0] or b"").startswith(b"# "):
        return 0
    layout.comments += range(index)
    layout.comment_sign = b"#"
    return index


def _has_data(record: Record) -> bool:
    return any(cell is not None and _NUMBER_OR_DATE.fullmatch(cell.strip()) for cell in record.fields)


def _is_short_header(record: Record, following: Record, usual: int) -> bool:
    """A header with fewer names than its rows have fields: words throughout, above a record with data."""
    cells = record.fields
    words = len(cells) >= 2 and all(cell and not _NUMBER_OR_DATE.fullmatch(cell.strip()) for cell in cells)
    return words and len(cells) >= 0.6 * usual and _has_data(following)


def _after_titles_padded_with_delimiters(rows: list[Record], start: int, usual: int) -> int:
    """Spreadsheets write a title as its text and a row of delimiters; the header is the next record that is full."""
    first = rows[start].fields
    if usual < 3 or first[0] is None or any(first[1:]):
        return start
    for index in range(start + 1, min(len(rows) - 1, start + 12)):
        cells = rows[index].fields
        if len(cells) == usual and all(cells):
            distinct = len(set(cells)) == usual
            return index if distinct and not _has_data(rows[index]) else start
        if sum(1 for cell in cells if cell) > 1:
            return start
    return start


def _looks_like_header(rows: list[Record], start: int) -> bool:
    """Whether the first record names the columns. Words do; a number above numbers does not, unless it is a year."""
    cells = rows[start].fields
    below = [row for row in rows[start + 1 : start + 60] if not is_blank(row)]
    numbers = [cell is not None and bool(_NUMBER_OR_DATE.fullmatch(cell.strip())) for cell in cells]
    if not any(numbers):
        return True
    if not below:
        return not all(numbers)
    for_header = against = 0
    for position, cell in enumerate(cells):
        values = [row.fields[position] for row in below if position < len(row.fields) and row.fields[position]]
        data = [bool(_NUMBER_OR_DATE.fullmatch((value or b"").strip())) for value in values]
        if not values or sum(data) < 0.8 * len(data):
            continue
        if not numbers[position]:
            for_header += 1 if cell else 0
        elif not _YEAR.fullmatch((cell or b"").strip()):
            against += 1
    years = sum(1 for cell in cells if cell and _YEAR.fullmatch(cell.strip()))
    return for_header > 0 or (against == 0 and years < len(cells))


def usable_names(originals: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Distinct names (case aside) for the columns, and pairs (original, made up) for those that had to be changed."""
    taken = {name.strip().casefold() for name in originals if name.strip()}
    used: set[str] = set()
    names, changed = [], []
    for position, original in enumerate(originals, 1):
        name = original.strip() or f"column_{position}"
        if name.casefold() in used or (not original.strip() and name.casefold() in taken):
            number = 2
            while f"{name}_{number}".casefold() in used | taken:
                number += 1
            name = f"{name}_{number}"
        used.add(name.casefold())
        names.append(name)
        if name != original:
            changed.append((original, name))
    return names, changed

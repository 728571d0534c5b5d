"""The beginning of a CSV file looked at: what the caller told, the dialect, the layout, the names of the columns."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...errors import FileEmpty, InvalidParameters
from ..encoding import Encoding
from .dialect import Found, find_dialect
from .layout import Layout, find_layout, is_blank, usable_names
from .records import Buffer, Record, records

_SAMPLE_BYTES = 256 * 1024
_SAMPLE_RECORDS = 1_000
_SAMPLE_VALUES = 300


@dataclass(frozen=True)
class CsvOptions:
    """What the caller told of a CSV file; None: find out."""

    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    header: bool | None = None
    skip_rows: int | None = None
    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None
    null_values: tuple[str, ...] = ()

    @property
    def asks_for_conversion(self) -> bool:
        """Whether values are to be read as something else than what they are written as."""
        return bool(self.decimal or self.thousands or self.date_format or self.null_values)


@dataclass
class Source:
    """A file on its way: its bytes in UTF-8 and what is known of them so far."""

    shown: str
    path: str
    encoding: Encoding
    buffer: Buffer
    start: int
    found: Found
    rows: list[Record]
    whole: bool
    layout: Layout
    names: list[str] = field(default_factory=list)
    originals: list[str] = field(default_factory=list)


def check(options: CsvOptions) -> None:
    for name, value, most in (
        ("delimiter", options.delimiter, 8),
        ("quote", options.quote, 1),
        ("thousands", options.thousands, 1),
    ):
        if value is not None and (len(value) > most or not value or "\n" in value or "\r" in value):
            raise InvalidParameters(
                f"{name} is {value[:40]!r}, but it takes {'one sign' if most == 1 else 'one to eight signs'}, no line end.",
                'Send for example delimiter ";", quote "\'" or thousands "."; for a tab send "\\t".',
            )
    if options.delimiter and options.delimiter == options.quote:
        raise InvalidParameters("delimiter and quote are the same sign.", "Send two different signs.")
    if options.thousands and options.thousands == (options.decimal or "."):
        raise InvalidParameters("decimal and thousands are the same sign.", 'Send for example decimal "," with thousands ".".')


# ---------------------------------------------------------------- looking at the beginning


def look(shown: str, path: str, encoding: Encoding, buffer: Buffer, skip: int, options: CsvOptions) -> Source:
    size = len(buffer)
    end = min(size, skip + _SAMPLE_BYTES)
    if end < size:
        cut = max(buffer.rfind(b"\n", skip, end), buffer.rfind(b"\r", skip, end))
        if cut < skip:
            following = buffer.find(b"\n", end)
            cut = size - 1 if following < 0 else following
        end = cut + 1
    sample = buffer[skip:end]
    whole = end >= size
    if not sample.strip(b" \t\r\n"):
        raise FileEmpty(f"{shown!r} holds nothing but blank lines.", "Choose a file with data.")
    found = find_dialect(sample, whole, _told_delimiter(options.delimiter), options.quote, shown.lower())
    start = skip + found.skip
    rows: list[Record] = []
    for record in records(buffer, start, end, found.dialect, 2 if found.skip else 1):
        rows.append(record)
        if len(rows) >= _SAMPLE_RECORDS:
            break
    if not whole and len(rows) > 2 and rows[-1].end >= end:
        rows.pop()
    layout = find_layout(rows, options.header, options.skip_rows)
    source = Source(shown, path, encoding, buffer, start, found, rows, whole, layout)
    _name_columns(source)
    return source


def _told_delimiter(told: str | None) -> str | None:
    return {"\\t": "\t", "tab": "\t", "TAB": "\t"}.get(told or "", told)


def _name_columns(source: Source) -> None:
    layout = source.layout
    if layout.header is None:
        source.originals = [""] * layout.width
        source.names = [f"column{position}" for position in range(layout.width)]
        return
    cells = [(cell or b"").decode("utf-8", "replace") for cell in source.rows[layout.header].fields]
    below = [row for row in source.rows[layout.first_row :] if len(row.fields) > 1 or row.fields[0]]
    if len(cells) > 1 and not cells[-1].strip() and below and all(len(row.fields) < len(cells) for row in below):
        cells.pop()  # the header alone ends in a delimiter
        layout.width -= 1
    source.originals = cells
    source.names, _ = usable_names(cells)


def first_values(source: Source, width: int, options: CsvOptions) -> list[list[str]]:
    """The first values of each column that are there, as text."""
    values: list[list[str]] = [[] for _ in range(width)]
    missing = {mark.encode() for mark in options.null_values}
    for record in source.rows[source.layout.first_row :][:_SAMPLE_VALUES]:
        if width > 1 and is_blank(record):
            continue
        for column, cell in zip(values, record.fields, strict=False):
            if cell and cell not in missing:
                column.append(cell.decode("utf-8", "replace"))
    return values

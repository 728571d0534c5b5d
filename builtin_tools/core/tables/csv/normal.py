"""A CSV file written anew in one plain form: every record with the same number of fields, each line accounted for.

The form: UTF-8, LF, no header, quotes doubled, the file's own delimiter and quote where they are of the usual kind, else
comma and double quote; an empty field is NULL, a quoted empty one is "".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from .layout import Layout, is_blank
from .records import Buffer, Dialect, Record, by_the_line, records

_MAX_EXTRA = 100
_BLOCK = 4 << 20
_MARK = b"\xef\xbb\xbf"


@dataclass
class Lines:
    """How many lines something happened on, and the first of their numbers."""

    count: int = 0
    first: list[int] = field(default_factory=list)

    def add(self, line: int) -> None:
        self.count += 1
        if len(self.first) < 100:
            self.first.append(line)

    def __bool__(self) -> bool:
        return self.count > 0

    def sentence(self, noun: str) -> str:
        """`3 rows (lines 4, 9, 12)`."""
        shown = ", ".join(str(line) for line in self.first[:20])
        more = f" and {self.count - 20:,} more" if self.count > 20 else ""
        return f"{self.count:,} {noun}{'' if self.count == 1 else 's'} ({'line' if self.count == 1 else 'lines'} {shown}{more})"

    def document(self) -> dict[str, object]:
        return {"count": self.count, "lines": self.first}


@dataclass
class Report:
    """Where every record of the file went: read = rows + header + preamble + comments + blank + rejected."""

    rows: int = 0
    header: int = 0
    preamble: Lines = field(default_factory=Lines)
    comments: Lines = field(default_factory=Lines)
    blank: Lines = field(default_factory=Lines)
    padded: Lines = field(default_factory=Lines)
    surplus: Lines = field(default_factory=Lines)
    trailing: Lines = field(default_factory=Lines)
    irregular: Lines = field(default_factory=Lines)
    other_delimiter: Lines = field(default_factory=Lines)

    def document(self) -> dict[str, object]:
        away = self.preamble.count + self.comments.count + self.blank.count
        told: dict[str, object] = {
            "read": self.rows + self.header + away,
            "rows": self.rows,
            "header": self.header,
            "preamble": self.preamble.count,
            "comments": self.comments.count,
            "blank": self.blank.count,
            "rejected": 0,
        }
        named = {
            "preamble_lines": self.preamble, "comment_lines": self.comments, "blank_lines": self.blank,
            "padded_rows": self.padded, "surplus_rows": self.surplus, "trailing_delimiter_rows": self.trailing,
            "irregular_quote_rows": self.irregular,
            "other_delimiter_rows": self.other_delimiter,
        }  # fmt: skip
        return told | {name: lines.document() for name, lines in named.items() if lines}


@dataclass
class Normalised:
    """`width`: columns that hold something; `written`: fields of each line; `longest`: bytes of the longest line."""

    report: Report
    width: int
    written: int
    longest: int


def normalise(buffer: Buffer, start: int, line: int, dialect: Dialect, layout: Layout, target: str) -> Normalised:
    """Writes the records from `start` (line number `line`) to the file `target` in `form_of(dialect)`, and says what became
    of each. Lines that are as they should be are copied as they stand, so that a large file costs little more than a copy."""
    written = layout.width
    while True:
        try:
            return _Writer(buffer, dialect, layout, target, written).write(start, line)
        except _Wider as found:
            written = min(layout.width + _MAX_EXTRA, _most_fields(buffer, found.start, dialect))


def form_of(dialect: Dialect) -> Dialect:
    """The dialect that the plain form has: the file's own where lines can be copied as they stand."""
    plain = dialect.escape is None and dialect.quote is not None and len(dialect.delimiter.encode()) == 1
    return dialect if plain and dialect.delimiter != " " else Dialect(",", '"')


def line_of_row(buffer: Buffer, start: int, line: int, dialect: Dialect, layout: Layout, row: int) -> int:
    """The number of the line on which the row (from 1) begins, among the records that `normalise` takes for rows."""
    passed = Report()
    for record in records(buffer, start, len(buffer), dialect, line):
        if not _passed_over(record, layout.width, layout.comment_sign, passed):
            row -= 1
            if row == 0:
                return record.line
    return line


class _Wider(Exception):  # noqa: N818
    """A record from `start` on has more fields than are being written."""

    def __init__(self, start: int) -> None:
        super().__init__()
        self.start = start


def _most_fields(buffer: Buffer, start: int, dialect: Dialect) -> int:
    """At least as many as the widest record has: delimiters inside quotes are counted too."""
    delimiter, most = dialect.delimiter.encode(), 1
    for block in blocks(buffer, start):
        most = max(most, *(line.count(delimiter) + 1 for line in block.splitlines()))
    return most


def blocks(buffer: Buffer, start: int) -> Iterator[bytes]:
    """The rest of the buffer in pieces that end with a line."""
    while start < len(buffer):
        block = _block(buffer, start)
        yield block
        start += len(block)


def _block(buffer: Buffer, start: int) -> bytes:
    end = min(len(buffer), start + _BLOCK)
    if end < len(buffer):
        cut = buffer.rfind(b"\n", start, end)
        if cut < 0:
            cut = buffer.find(b"\n", end)
        end = len(buffer) if cut < 0 else cut + 1
    return buffer[start:end]


class _Writer:
    """One try at writing the plain form with `written` fields a line."""

    def __init__(self, buffer: Buffer, dialect: Dialect, layout: Layout, target: str, written: int) -> None:
        self.buffer, self.dialect, self.layout, self.written = buffer, dialect, layout, written
        self.form = form_of(dialect)
        self.copies = self.form == dialect
        self.delimiter = self.form.delimiter.encode()
        self.quote = (self.form.quote or '"').encode()
        self.pad = self.delimiter * (written - layout.width)
        self.report = Report()
        self.seen, self.longest, self.surplus_there = layout.width, 0, False
        self.target = target
        self.whole_line = _whole_line(self.delimiter, self.quote, layout.width)

    def write(self, start: int, line: int) -> Normalised:
        with open(self.target, "wb", buffering=_BLOCK) as stream:
            while start < len(self.buffer):
                block = _block(self.buffer, start)
                ending = one_ending(block)
                if self.copies and ending:
                    start, line = self._copy(stream, block, ending, start, line)
                else:
                    start, line = self._rewrite(stream, start, start + len(block), line)
        width = self.seen if self.surplus_there else self.layout.width
        return Normalised(self.report, width, self.written, self.longest)

    def _rewrite(self, stream: BinaryIO, start: int, stop: int, line: int) -> tuple[int, int]:
        """Writes record by record up to `stop`, or as far as the last record reaches."""
        for record in records(self.buffer, start, len(self.buffer), self.dialect, line):
            self._record(stream, record)
            start, line = record.end, record.line + record.lines
            if start >= stop:
                break
        return start, line

    def _copy(self, stream: BinaryIO, block: bytes, ending: bytes, start: int, line: int) -> tuple[int, int]:
        """Copies the lines of a block that are as they should be, and writes the others record by record."""
        lines = block.split(ending)
        if lines[-1] == b"":
            lines.pop()
        delimiters = self.layout.width - 1
        odd = self._odd_lines(lines, block, delimiters)
        if self.report.rows == 0 and lines[0].startswith(_MARK) and 0 not in odd:
            odd.insert(0, 0)  # at the beginning of a file it would be taken for a byte order mark
        at = 0
        for index in [*odd, len(lines)]:
            if index < at:
                continue  # it lies within a quoted field that began before
            good = lines[at:index]
            if good:
                self._lines(stream, good)
                start += sum(map(len, good)) + len(ending) * len(good)
                line += len(good)
            if index == len(lines):
                break
            record = next(records(self.buffer, start, len(self.buffer), self.dialect, line))
            self._record(stream, record)
            start, line, at = record.end, record.line + record.lines, index + record.lines
        return min(start, len(self.buffer)), line

    def _odd_lines(self, lines: list[bytes], block: bytes, delimiters: int) -> list[int]:
        """The indices of the lines that are blank, have another number of fields, or have quotes that need a closer look."""
        count, quote, whole = self.delimiter, self.quote, self.whole_line
        if quote not in block:
            return [index for index, text in enumerate(lines) if not text or text.count(count) != delimiters]
        return [
            index
            for index, text in enumerate(lines)
            if not text or (not whole.fullmatch(text) if quote in text else text.count(count) != delimiters)
        ]

    def _lines(self, stream: BinaryIO, lines: list[bytes]) -> None:
        self.report.rows += len(lines)
        self.longest = max(self.longest, max(map(len, lines)) + len(self.pad) + 1)
        stream.write((self.pad + b"\n").join(lines) + self.pad + b"\n")

    def _record(self, stream: BinaryIO, record: Record) -> None:
        report, width = self.report, self.layout.width
        record = _mended(self.buffer, record, self.dialect, width, report)
        if _passed_over(record, width, self.layout.comment_sign, report):
            return
        fields, count = record.fields, len(record.fields)
        if count < width:
            report.padded.add(record.line)
        if count > width:
            if count > self.written and self.written < width + _MAX_EXTRA:
                raise _Wider(record.start)
            there = any(cell is not None for cell in fields[width:])
            self.surplus_there = self.surplus_there or there
            (report.surplus if there else report.trailing).add(record.line)
            self.seen = max(self.seen, min(count, self.written))
            if count > self.written:
                rest = self.dialect.delimiter.encode().join(cell or b"" for cell in fields[self.written - 1 :])
                fields = [*fields[: self.written - 1], rest]
        if record.irregular:
            report.irregular.add(record.line)
        report.rows += 1
        text = self.delimiter.join([self._cell(cell) for cell in fields] + [b""] * (self.written - len(fields))) + b"\n"
        self.longest = max(self.longest, len(text))
        stream.write(text)

    def _cell(self, cell: bytes | None) -> bytes:
        if cell is None:
            return b""
        quote = self.quote
        special = not cell or quote in cell or self.delimiter in cell or b"\n" in cell or b"\r" in cell
        if not special and cell[0] != 32 and cell[-1] != 32 and not cell.startswith(_MARK):
            return cell
        return quote + cell.replace(quote, quote + quote) + quote


def one_ending(block: bytes) -> bytes:
    """How all lines of a piece of text end: LF or CRLF; empty where they are mixed, or a lone CR is among them."""
    returns = block.count(b"\r")
    if not returns:
        return b"\n"
    pairs = block.count(b"\r\n")
    return b"\r\n" if pairs == returns == block.count(b"\n") else b""


def _whole_line(delimiter: bytes, quote: bytes, width: int) -> re.Pattern[bytes]:
    """A line of just `width` fields, quoted on one line by the book or without any quote at their beginning."""
    sign, part = re.escape(quote), re.escape(delimiter)
    some = rb"[^" + sign + rb"]*+"
    quoted = sign + some + rb"(?>(?:" + sign + sign + some + rb")*)" + sign
    plain = rb"(?![ ]*" + sign + rb")[^" + part + rb"]*+"
    one = rb"(?:" + quoted + rb"|" + plain + rb")"
    return re.compile(one + rb"(?:" + part + one + rb"){" + str(width - 1).encode() + rb"}")


def _mended(buffer: Buffer, record: Record, dialect: Dialect, width: int, report: Report) -> Record:
    """The record itself, or another reading of it where only that gives just as many fields as the table has."""
    if record.irregular and len(record.fields) != width:
        again = by_the_line(buffer, record, dialect)
        if len(again.fields) == width and again.end == record.end:
            return again
    if len(record.fields) == 1 and width > 2 and record.fields[0] is not None:
        for sign in (";", ",", "\t", "|"):
            if sign == dialect.delimiter or sign.encode() not in record.fields[0]:
                continue
            other = next(records(buffer, record.start, len(buffer), Dialect(sign, dialect.quote, dialect.escape)))
            if len(other.fields) == width and not other.irregular and other.end == record.end:
                report.other_delimiter.add(record.line)
                record.fields = other.fields
    return record


def _passed_over(record: Record, width: int, comment_sign: bytes, report: Report) -> bool:
    if len(record.fields) != 1:
        return False
    text = record.fields[0]
    if text is None or (width > 1 and is_blank(record)):
        report.blank.add(record.line)
        return True
    if comment_sign and width > 1 and text.lstrip().startswith(comment_sign):
        report.comments.add(record.line)
        return True
    return False

"""A CSV file written anew in one plain form: every record with the same number of fields, each line accounted for.

The form: UTF-8, comma, double quotes doubled, LF, no header; an empty field is NULL, a quoted empty one is "".
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .layout import Layout, is_blank
from .records import Buffer, Dialect, Record, by_the_line, records

_MAX_EXTRA = 100
_BLOCK = 1 << 20


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
    """Writes the records from `start` (line number `line`) to the file `target`, and says what became of each."""
    written = layout.width
    while True:
        normal, needed = _write(buffer, start, line, dialect, layout, target, written)
        if needed <= written:
            return normal
        written = needed


def line_of_row(buffer: Buffer, start: int, line: int, dialect: Dialect, layout: Layout, row: int) -> int:
    """The number of the line on which the row (from 1) begins, among the records that `normalise` takes for rows."""
    passed = Report()
    for record in records(buffer, start, len(buffer), dialect, line):
        if not _passed_over(record, layout.width, layout.comment_sign, passed):
            row -= 1
            if row == 0:
                return record.line
    return line


def _widest(buffer: Buffer, start: int, dialect: Dialect) -> int:
    return max(len(record.fields) for record in records(buffer, start, len(buffer), dialect))


def _write(
    buffer: Buffer, start: int, line: int, dialect: Dialect, layout: Layout, target: str, written: int
) -> tuple[Normalised, int]:
    """One try at lines of `written` fields; gives also how many are needed, which is more where a record was wider."""
    report, width, longest, surplus_there = Report(), layout.width, 0, False
    most = layout.width + _MAX_EXTRA
    with open(target, "wb", buffering=_BLOCK) as stream:
        for record in records(buffer, start, len(buffer), dialect, line):
            record = _mended(buffer, record, dialect, width, report)
            fields = record.fields
            if _passed_over(record, width, layout.comment_sign, report):
                continue
            count = len(fields)
            if count < written:
                if count < width:
                    report.padded.add(record.line)
                fields = fields + [None] * (written - count)
            if count > width:
                if count > written and written < most:
                    return Normalised(report, 0, 0, 0), min(most, _widest(buffer, record.start, dialect))
                there = any(cell is not None for cell in record.fields[width:])
                surplus_there = surplus_there or there
                (report.surplus if there else report.trailing).add(record.line)
                if count > most:
                    rest = dialect.delimiter.encode().join(cell or b"" for cell in fields[most - 1 :])
                    fields = [*fields[: most - 1], rest]
            if record.irregular:
                report.irregular.add(record.line)
            report.rows += 1
            text = b",".join(_cell(cell) for cell in fields) + b"\n"
            longest = max(longest, len(text))
            stream.write(text)
    return Normalised(report, written if surplus_there else width, written, longest), written


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


def _cell(cell: bytes | None) -> bytes:
    if cell is None:
        return b""
    if (
        cell
        and b'"' not in cell
        and b"," not in cell
        and b"\n" not in cell
        and b"\r" not in cell
        and cell[0] != 32
        and cell[-1] != 32
    ):
        return cell
    return b'"' + cell.replace(b'"', b'""') + b'"'

"""Which signs part and quote the fields: told by the caller, by a `sep=` line, or found by how well the lines agree.

A candidate is scored as van den Burg, Nazábal and Sutton do it ("Wrangling messy CSV files by detecting row and
type patterns", 2019): how regular the rows become, times how many cells become something of a known kind.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace

from .records import Dialect, records

_DELIMITERS = (",", ";", "\t", "|", ":", "^", "~", "\x1f", "\x01", "||", "::", "|~|", "§", "¦", " ")
_SAMPLE_RECORDS = 400
_KNOWN_CELL = re.compile(
    rb"\s*(?:[-+]?[\d.,]*\d%?|[-+]?\d+(?:\.\d+)?[eE][-+]?\d+|[$\xe2\x82\xac]?\s?\d[\d.,]*|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"
    rb"(?:[T ]\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[-+]\d\d:?\d\d)?)?|\d{1,2}:\d\d(?::\d\d)?|[\w.+-]+@[\w.-]+|https?://\S+|"
    rb"[A-Za-z\x80-\xff_][\w\x80-\xff &'()./#+-]*|[\w-]+)?\s*"
)


@dataclass(frozen=True)
class Found:
    """A dialect and how it was come by: "told", "sep line" or "found". `skip` is the length of a `sep=` line in bytes."""

    dialect: Dialect
    how: str
    skip: int = 0


def find_dialect(sample: bytes, whole: bool, delimiter: str | None, quote: str | None, name: str) -> Found:
    """The dialect of a file from its beginning in UTF-8; what the caller told is kept. `whole`: the sample is all there is."""
    skip, how = 0, "found"
    declared = re.match(rb'"?sep=([^\r\n"]{1,4})"?[ \t]*(\r\n|\n|\r|$)', sample)
    if declared and delimiter is None:
        delimiter, skip, how = declared[1].decode("utf-8", "replace"), declared.end(), "sep line"
        sample = sample[skip:]
    elif delimiter is not None:
        how = "told"
    escape = _escape(sample, quote or '"')
    if delimiter is not None:
        chosen = quote if quote is not None else _quote(sample, delimiter)
        return Found(Dialect(delimiter, chosen or None, escape), how, skip)
    best, best_score = Dialect(",", quote or '"', escape), -1.0
    for candidate in _candidates(sample, quote, escape):
        score = _score(sample, whole, candidate)
        if name.endswith((".tsv", ".tab")) and candidate.delimiter == "\t":
            score *= 1.5
        if score > best_score * (1 + 1e-9):
            best, best_score = candidate, score
    return Found(best, how, skip)


def _candidates(sample: bytes, quote: str | None, escape: str | None) -> list[Dialect]:
    """Comma first, so that it stays where nothing else is better; a longer delimiter before the sign it is made of."""
    found = []
    for delimiter in _DELIMITERS:
        if delimiter.encode() not in sample and delimiter != ",":
            continue
        quotes = [quote] if quote is not None else ['"'] + (["'"] if _quote(sample, delimiter) == "'" else [])
        found += [Dialect(delimiter, sign, escape) for sign in quotes]
    return found


def _quote(sample: bytes, delimiter: str) -> str:
    """The single quote where fields are set in it and none in double quotes; else the double quote."""
    parts = re.escape(delimiter.encode())
    opened = len(re.findall(rb"(?:^|[\r\n]|" + parts + rb")'[^'\r\n]*'(?=" + parts + rb"|[\r\n]|$)", sample))
    double = len(re.findall(rb"(?:^|[\r\n]|" + parts + rb')"', sample))
    return "'" if opened >= 2 and not double else '"'


def _escape(sample: bytes, quote: str) -> str | None:
    """The backslash where it stands before quotes inside quoted fields and doubled quotes do not occur."""
    sign = re.escape(quote.encode())
    escaped = re.search(rb"[^\\" + sign + rb"\r\n,;\t|]\\" + sign + rb"[^\r\n]", sample)
    doubled = re.search(rb"[^" + sign + rb",;\t|\r\n]" + sign + sign + rb"[^" + sign + rb"]", sample)
    return "\\" if escaped and not doubled else None


def _score(sample: bytes, whole: bool, dialect: Dialect) -> float:
    rows = []
    for record in records(sample, 0, len(sample), dialect):
        rows.append(record)
        if len(rows) >= _SAMPLE_RECORDS:
            break
    if len(rows) > 1 and not whole and len(rows) < _SAMPLE_RECORDS:
        rows.pop()  # it may be cut
    full = [row for row in rows if any(field is not None for field in row.fields)]
    if not full:
        return 0.0
    widths = Counter(len(row.fields) for row in full)
    pattern = sum(count * max(1e-3, width - 1) / width for width, count in widths.items()) / len(widths)
    cells = [field for row in full for field in row.fields]
    known = sum(1 for cell in cells if cell is None or _KNOWN_CELL.fullmatch(cell))
    broken = sum(1 for row in full if row.irregular)
    agreement = widths.most_common(1)[0][1] / len(full)
    blank = 0.35 if dialect.delimiter in (" ", ":") else 1.0  # they stand in prose and in times
    return pattern / len(full) * max(1e-10, known / len(cells)) * agreement * blank * (1 - 0.5 * broken / len(full))


def told(dialect: Dialect, delimiter: str | None, quote: str | None) -> Dialect:
    """The dialect with what the caller told in place of what was found."""
    return replace(dialect, delimiter=delimiter or dialect.delimiter, quote=quote or dialect.quote)

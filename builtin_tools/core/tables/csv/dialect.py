"""Which signs part and quote the fields: told by the caller, by a `sep=` line, or found by how well the lines agree.

A candidate is scored as van den Burg, Nazábal and Sutton do it ("Wrangling messy CSV files by detecting row and
type patterns", 2019): how regular the rows become, times how many cells become something of a known kind.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass, replace

from .records import Dialect, records

_USUAL = (",", ";", "\t", "|")
_UNUSUAL = (":", "^", "~", "\x1f", "\x01", "|~|", "§", "¦", " ", "#", "&", "@", "*", "!", "%", "$", "+", "=", "/", "-", "_")
_WEIGHT = {"/": 0.1, "-": 0.1, "_": 0.1} | dict.fromkeys((" ", ":", "#", "&", "@", "*", "!", "%", "$", "+", "="), 0.35)
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
    if delimiter is not None:
        chosen = quote if quote is not None else _quote(sample, delimiter)
        return Found(Dialect(delimiter, chosen or None, _escape(sample, chosen, delimiter)), how, skip)
    best, best_score = Dialect(",", quote or '"'), -1.0
    single = _plain_words(sample)
    for candidate in _candidates(sample, quote):
        if single and candidate.delimiter in _UNUSUAL:
            continue
        score = _score(sample, whole, candidate)
        if name.endswith((".tsv", ".tab")) and candidate.delimiter == "\t":
            score *= 1.5
        if score > best_score * (1 + 1e-9):
            best, best_score = candidate, score
    if _is_one_column(sample, best, single):
        return Found(
            replace(best, delimiter=next(sign for sign in ("\t", ";", "|", "\x1f") if sign.encode() not in sample)), how, skip
        )
    return Found(_with_blank(sample, best), how, skip)


def _plain_words(sample: bytes) -> bool:
    """Whether each line is one cell of a known kind, so that a rare sign in it need not part anything."""
    lines = [line for line in sample.splitlines()[:200] if line.strip()]
    return bool(lines) and all(_KNOWN_CELL.fullmatch(line) for line in lines)


def _is_one_column(sample: bytes, dialect: Dialect, single: bool) -> bool:
    """Whether the signs that would part the lines stand in the values of a single column: the first line has none of them,
    and the others are each one value of a known kind (1,000) or fall into unlike numbers of parts."""
    rows = [row for row in itertools.islice(records(sample, 0, len(sample), dialect), _SAMPLE_RECORDS) if row.fields != [None]]
    if b"\x1f" in sample or len(rows) < 2 or len(rows[0].fields) != 1 or rows[0].fields[0] is None:
        return False
    widths = Counter(len(row.fields) for row in rows[1:])
    several = [width for width in widths if width > 1]
    return bool(several) and (single or (len(several) > 1 and max(widths.values()) < 0.7 * len(rows)))


def _with_blank(sample: bytes, dialect: Dialect) -> Dialect:
    """The delimiter with the blank that follows it wherever it stands outside quotes."""
    sign = dialect.delimiter.encode()
    if dialect.delimiter not in _USUAL or sample.count(sign + b" ") < 6:
        return dialect
    wider = replace(dialect, delimiter=dialect.delimiter + " ")
    usual, other = (list(records(sample, 0, len(sample), each)) for each in (dialect, wider))
    same = [len(row.fields) for row in usual[:-1]] == [len(row.fields) for row in other[:-1]]
    return wider if same and len(usual) > 2 and len(usual[0].fields) > 1 else dialect


def _candidates(sample: bytes, quote: str | None) -> list[Dialect]:
    """Comma first, so that it stays where nothing else is better. A sign that is always doubled stands for the pair."""
    found = [Dialect(",", quote or '"', _escape(sample, quote or '"', ","))]
    for delimiter in (*_USUAL[1:], *_UNUSUAL):
        sign = delimiter.encode()
        count = sample.count(sign)
        if not count or (delimiter in _UNUSUAL and not _on_most_lines(sample, sign)):
            continue
        if delimiter in "|:^~" and sample.count(sign * 2) * 2 == count:
            delimiter *= 2
        quotes = [quote] if quote is not None else dict.fromkeys(['"', _quote(sample, delimiter)])
        found += [Dialect(delimiter, each, _escape(sample, each, delimiter)) for each in quotes]
    other = _quote(sample, ",")
    if quote is None and other != '"':
        found.append(Dialect(",", other, _escape(sample, other, ",")))
    return found


def _on_most_lines(sample: bytes, sign: bytes) -> bool:
    lines = [line for line in sample.splitlines()[:40] if line.strip()]
    return sum(1 for line in lines if sign in line) >= 0.8 * len(lines)


def _quote(sample: bytes, delimiter: str) -> str:
    """A single quote or backtick where it is needed (delimiters stand between two of them, or all fields are set in them)
    and no field is set in double quotes; else the double quote."""
    part = re.escape(delimiter.encode())
    start, end = rb"(?:^|[\r\n]|" + part + rb")", rb"(?=" + part + rb"|[\r\n]|$)"
    if re.search(start + rb'"', sample):
        return '"'
    for sign in (b"'", b"`"):
        if sign not in sample:
            continue
        inner = rb"[^" + sign + rb"\r\n]*"
        set_in = re.findall(start + sign + rb"[^" + sign + rb"]*" + sign + end, sample)
        needed = re.search(start + sign + rb"[^" + sign + rb"\r\n]*?" + part + inner + sign + end, sample)
        fields = len(re.findall(part + rb"|\r\n|\n|\r", sample))
        if len(set_in) >= 2 and (needed or len(set_in) >= 0.8 * fields):
            return sign.decode()
    return '"'


def _escape(sample: bytes, quote: str, delimiter: str) -> str | None:
    """The backslash where the lines agree better with it as an escape than without; RFC 4180 knows none."""
    if b"\\" not in sample or "\\" in (quote, delimiter):
        return None
    plain, escaped = (_disagreement(sample, Dialect(delimiter, quote, escape)) for escape in (None, "\\"))
    return "\\" if escaped < plain else None


def _disagreement(sample: bytes, dialect: Dialect) -> int:
    """How many records have misplaced quotes or another number of fields than most."""
    rows = list(itertools.islice(records(sample, 0, len(sample), dialect), _SAMPLE_RECORDS))
    widths = Counter(len(row.fields) for row in rows if row.fields != [None])
    return sum(widths.values()) - max(widths.values(), default=0) + sum(1 for row in rows if row.irregular)


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
    weight = _WEIGHT.get(dialect.delimiter, 1.0)  # they stand in prose, in times, in addresses and in names
    return pattern / len(full) * max(1e-10, known / len(cells)) * agreement * weight * (1 - 0.5 * broken / len(full))

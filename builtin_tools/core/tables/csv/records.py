"""From bytes to records: the one definition of how a CSV file falls into fields.

RFC 4180, and a rule for everything it leaves open: a line ends in LF, CRLF or a lone CR; a field that begins with
the quote (blanks before it aside) is quoted if its closing quote is followed by a delimiter or a line's end; a quoted
part with more text behind it on the same line is kept as it is written, quotes included; a quote that is never closed
so is an ordinary sign. Nothing is dropped: what is not by the rules marks its record as irregular.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

Buffer = bytes | mmap.mmap
_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True)
class Dialect:
    """`quote` None: no quoting. `escape` None: a quote inside quotes is doubled."""

    delimiter: str
    quote: str | None = '"'
    escape: str | None = None


@dataclass(slots=True)
class Record:
    """One record: its first line's number (from 1), its fields in UTF-8 (None: empty and unquoted), its place in bytes."""

    line: int
    fields: list[bytes | None]
    start: int
    end: int
    irregular: bool = False
    lines: int = 1


def records(buffer: Buffer, start: int, stop: int, dialect: Dialect, line: int = 1) -> Iterator[Record]:
    """Every record between two places of the buffer. A blank line is a record of one None."""
    delimiter = dialect.delimiter.encode()
    quote = dialect.quote.encode() if dialect.quote else b""
    position = start
    while position < stop:
        ended = _LINE_END.search(buffer, position, stop)
        here, after = (ended.start(), ended.end()) if ended else (stop, stop)
        text = buffer[position:here]
        if not quote or quote not in text:
            fields: list[bytes | None] = [part or None for part in text.split(delimiter)]
            yield Record(line, fields, position, after)
            line += 1
        else:
            record = _quoted(buffer, position, stop, dialect, line)
            yield record
            line += record.lines
            after = record.end
        position = after


def _quoted(buffer: Buffer, position: int, stop: int, dialect: Dialect, line: int) -> Record:
    pattern = _field_pattern(dialect)
    record = Record(line, [], position, position)
    escape = dialect.escape.encode() if dialect.escape else b""
    quote = (dialect.quote or "").encode()
    while True:
        found = pattern.match(buffer, record.end, stop)
        if found is None:  # cannot happen: the last alternative takes anything
            raise AssertionError("a field matches no rule")
        inside, kept, plain, after = found.group("inside", "kept", "plain", "after")
        if inside is not None:
            record.fields.append(_unescaped(inside, quote, escape))
        else:
            text = kept if kept is not None else plain
            record.irregular = record.irregular or text.lstrip(b" ").startswith(quote)
            record.fields.append(text or None)
        record.end = found.end()
        if after not in (b"", b"\n", b"\r", b"\r\n"):
            continue
        inner = buffer[position : found.start("after")]
        record.lines = 1 + (len(_LINE_END.findall(inner)) if b"\n" in inner or b"\r" in inner else 0)
        return record


def _unescaped(text: bytes, quote: bytes, escape: bytes) -> bytes:
    if escape and escape in text:
        text = re.sub(re.escape(escape) + b"([" + re.escape(escape) + re.escape(quote) + b"])", rb"\1", text)
    return text.replace(quote + quote, quote) if quote in text else text


@lru_cache
def _field_pattern(dialect: Dialect) -> re.Pattern[bytes]:
    """One field and what follows it. Possessive, so that no input makes it backtrack."""
    quote = re.escape((dialect.quote or "").encode())
    delimiter = re.escape(dialect.delimiter.encode())
    plain = rb"[^" + delimiter + rb"\r\n]*+" if len(dialect.delimiter.encode()) == 1 else rb"(?:(?!" + delimiter + rb")[^\r\n])*+"
    if dialect.escape:
        sign = re.escape(dialect.escape.encode())
        many = rb"(?:[^" + quote + sign + rb"]++|" + sign + rb".|" + quote + quote + rb")*+"
        flat = rb"(?:[^" + quote + sign + rb"\r\n]++|" + sign + rb"[^\r\n]|" + quote + quote + rb")*+"
    else:
        many = rb"[^" + quote + rb"]*+(?:" + quote + quote + rb"[^" + quote + rb"]*+)*+"
        flat = rb"[^" + quote + rb"\r\n]*+(?:" + quote + quote + rb"[^" + quote + rb"\r\n]*+)*+"
    blanks = b"" if dialect.delimiter == " " else b" *+"
    after = rb"(?P<after>" + delimiter + rb"|\r\n|\n|\r|\Z)"
    inside = blanks + quote + rb"(?P<inside>" + many + rb")" + quote + blanks
    kept = rb"(?P<kept>" + blanks + quote + flat + quote + plain + rb")"
    return re.compile(
        rb"(?:" + inside + rb"(?=" + delimiter + rb"|\r|\n|\Z)|" + kept + rb"|(?P<plain>" + plain + rb"))" + after, re.DOTALL
    )

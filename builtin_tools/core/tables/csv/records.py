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
    escape = dialect.escape.encode() if dialect.escape else b""
    position = start
    while position < stop:
        ended = _LINE_END.search(buffer, position, stop)
        here, after = (ended.start(), ended.end()) if ended else (stop, stop)
        text = buffer[position:here]
        if (not quote or quote not in text) and (not escape or escape not in text):
            fields: list[bytes | None] = [part or None for part in text.split(delimiter)]
            yield Record(line, fields, position, after)
            line += 1
        else:
            record = _quoted(buffer, position, stop, dialect, line)
            yield record
            line += record.lines
            after = record.end
        position = after


def by_the_line(buffer: Buffer, record: Record, dialect: Dialect) -> Record:
    """An irregular record read again with every quote that is out of place as an ordinary sign."""
    return _quoted(buffer, record.start, len(buffer), dialect, record.line, keep=False)


def _quoted(buffer: Buffer, position: int, stop: int, dialect: Dialect, line: int, keep: bool = True) -> Record:
    pattern = _field_pattern(dialect, keep)
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
            record.irregular = record.irregular or (bool(quote) and text.lstrip(b" ").startswith(quote))
            record.fields.append((_unescaped_plain(text, dialect) if escape and escape in text else text) or None)
        record.end = found.end()
        if after not in (b"", b"\n", b"\r", b"\r\n"):
            continue
        inner = buffer[position : found.start("after")]
        record.lines = 1 + (len(_LINE_END.findall(inner)) if b"\n" in inner or b"\r" in inner else 0)
        return record


def _unescaped(text: bytes, quote: bytes, escape: bytes) -> bytes:
    if escape and escape in text:
        sign, mark = re.escape(escape), re.escape(quote)
        return re.sub(sign + b"([" + sign + mark + b"])|" + mark + mark, lambda found: found[1] or quote, text)
    return text.replace(quote + quote, quote) if quote in text else text


def _unescaped_plain(text: bytes, dialect: Dialect) -> bytes:
    """An unquoted field without the escapes that keep its delimiters, quotes and escapes from being such."""
    signs = b"|".join(re.escape(sign.encode()) for sign in (dialect.escape, dialect.quote, dialect.delimiter) if sign)
    return re.sub(re.escape((dialect.escape or "").encode()) + b"(" + signs + b")", rb"\1", text)


@lru_cache
def _field_pattern(dialect: Dialect, keep: bool) -> re.Pattern[bytes]:
    """One field and what follows it. Possessive, so that no input makes it backtrack."""
    delimiter, never = re.escape(dialect.delimiter.encode()), rb"(?!)"
    after = rb"(?P<after>" + delimiter + rb"|\r\n|\n|\r|\Z)"
    sign = re.escape(dialect.escape.encode()) if dialect.escape else b""
    if sign:
        plain = _atomic(sign + rb"[^\r\n]|(?!" + delimiter + rb")[^\r\n]")
    elif len(dialect.delimiter.encode()) == 1:
        plain = rb"[^" + delimiter + rb"\r\n]*+"
    else:
        plain = _atomic(rb"(?!" + delimiter + rb")[^\r\n]")
    inside, kept = rb"(?P<inside>" + never + rb")", rb"(?P<kept>" + never + rb")"
    if dialect.quote:
        quote, blanks = re.escape(dialect.quote.encode()), b"" if dialect.delimiter == " " else b" *+"
        many, flat = _quoted_text(quote, sign, b""), _quoted_text(quote, sign, rb"\r\n")
        inside = blanks + quote + rb"(?P<inside>" + many + rb")" + quote + blanks + rb"(?=" + delimiter + rb"|\r|\n|\Z)"
        if keep:
            kept = rb"(?P<kept>" + blanks + quote + flat + quote + plain + rb")"
    return re.compile(rb"(?:" + inside + rb"|" + kept + rb"|(?P<plain>" + plain + rb"))" + after, re.DOTALL)


def _atomic(many: bytes) -> bytes:
    """Any number of something, without a way back. Not `(?:…)*+`: before Python 3.11.5 that matches too much of a group."""
    return rb"(?>(?:" + many + rb")*)"


def _quoted_text(quote: bytes, escape: bytes, without: bytes) -> bytes:
    """What may stand between two quotes, signs of `without` aside."""
    if escape:
        escaped = escape + (rb"[^" + without + rb"]" if without else rb".")
        return _atomic(rb"[^" + quote + escape + without + rb"]++|" + escaped + rb"|" + quote + quote)
    some = rb"[^" + quote + without + rb"]*+"
    return some + _atomic(quote + quote + some)

"""PIVOT without a list of values, which the engine runs as two statements: the values are looked up first, then listed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import SqlNotAllowed
from .engine import Engine, native
from .sql_text import quote_text

_MAX_VALUES = 1_000
_ENDS = {"USING", "GROUP", "ORDER", "LIMIT", "OFFSET"}


@dataclass
class Pivot:
    """A statement in pieces: `parts` stand around the places where ` IN (…)` is to be put, one for each of `lookups`."""

    parts: list[str]
    lookups: list[str]

    def with_values(self, values: list[list[str]]) -> str:
        """The statement with the values of each place listed."""
        text = self.parts[0]
        for found, part in zip(values, self.parts[1:], strict=True):
            text += f" IN ({', '.join(quote_text(value) for value in found) or 'NULL'}) {part}"
        return text


@dataclass
class Token:
    """A token: its place in bytes, its text in capitals, and how many brackets are open around it."""

    start: int
    end: int
    word: str  # in capitals
    depth: int


def find_pivot(engine: Engine, sql: str) -> Pivot | None:
    """The PIVOT of a statement whose values are not listed; None where there is none. Raises SqlNotAllowed."""
    if not re.search(r"\bpivot(_wider)?\b", sql, re.IGNORECASE) or len(sql) > 100_000:
        return None
    try:
        statements = engine.connection.extract_statements(sql)
    except native().Error:
        return None
    if len(statements) != 1 or statements[0].type.name != "MULTI":
        return None
    data = sql.encode()
    tokens = tokens_of(sql)
    start = next((at for at, token in enumerate(tokens) if token.word in ("PIVOT", "PIVOT_WIDER")), None)
    if start is None:
        return None
    depth = tokens[start].depth
    on = next((at for at in range(start, len(tokens)) if tokens[at].word == "ON" and tokens[at].depth == depth), None)
    if on is None:
        return None
    source = data[tokens[start].end : tokens[on].start].decode()
    prefix = data[: tokens[start].start].decode() if depth == 0 else ""
    places: list[tuple[int, int, bool]] = []
    lookups: list[str] = []
    for first, last in _items(tokens, on + 1, depth):
        if any(token.word == "IN" and token.depth == depth for token in tokens[first : last + 1]):
            continue
        item = data[tokens[first].start : tokens[last].end].decode()
        places.append((tokens[first].start, tokens[last].end, first < last))
        lookups.append(
            f"{prefix} SELECT DISTINCT CAST({item} AS VARCHAR) AS v FROM {source} WHERE ({item}) IS NOT NULL ORDER BY v LIMIT {_MAX_VALUES}"
        )
    if not places:
        raise SqlNotAllowed(
            "The values of this PIVOT come from a query.",
            "Write the values out, as in IN ('EU', 'US'), or leave IN out to have all of them.",
        )
    end = len(data)
    while tokens and tokens[-1].word == ";":
        end = tokens.pop().start
    parts, at = [""], 0
    for start, stop, is_expression in places:
        item = data[start:stop].decode()
        parts[-1] += data[at:start].decode() + (f"({item})" if is_expression else item)
        parts.append("")
        at = stop
    parts[-1] += data[at:end].decode()
    return Pivot(parts, lookups)


def _items(tokens: list[Token], at: int, depth: int) -> list[tuple[int, int]]:
    """The first and last token of each thing that stands between ON and what follows, parted by commas."""
    found, first = [], at
    while True:
        done = (
            at >= len(tokens)
            or tokens[at].depth < depth
            or (tokens[at].depth == depth and (tokens[at].word in _ENDS or tokens[at].word == ";"))
        )
        if done or (tokens[at].word == "," and tokens[at].depth == depth):
            if at > first:
                found.append((first, at - 1))
            first = at + 1
        if done:
            return found
        at += 1


def tokens_of(sql: str) -> list[Token]:
    """The engine's tokens with their places in bytes; a bracket and its partner have the same depth."""
    data = sql.encode()
    spots = [(position, kind) for position, kind in native().tokenize(sql) if kind != native().token_type.comment]
    tokens, depth = [], 0
    for index, (position, _) in enumerate(spots):
        end = spots[index + 1][0] if index + 1 < len(spots) else len(data)
        text = data[position:end].split(b"--")[0].rstrip() if b"--" in data[position:end] else data[position:end].rstrip()
        word = text.decode("utf-8", "replace").upper()
        if word in (")", "]", "}"):
            depth -= 1
        tokens.append(Token(position, position + len(text), word, depth))
        if word in ("(", "[", "{"):
            depth += 1
    return tokens

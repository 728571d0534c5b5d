"""JSON values as Python objects, exactly: what no Python number holds as written keeps its digits.

Integers are of any length. A real number is a float where the float, written shortest, is the number that was
written (RFC 8259, section 6); any other is Digits. Of a key given twice in one object the last value counts, and
the key is noted.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

_SAFE_CHARS = 16  # a sign, a point and at most 15 digits: every such number survives a double
_MAX_INT_CHARS = 4000  # Python refuses to convert much longer ones
_MAX_NOTED = 20


class Digits(str):
    """A number as it is written in the file."""

    __slots__ = ()


class Notes:
    """What was met while decoding that the reader must be told: keys that stand twice in one object."""

    def __init__(self) -> None:
        self.twice: dict[str, None] = {}

    def note_twice(self, keys: list[str]) -> None:
        seen: set[str] = set()
        for key in keys:
            if key in seen and len(self.twice) < _MAX_NOTED:
                self.twice[key] = None
            seen.add(key)


def real(text: str) -> float | Digits:
    """A number with a fraction or an exponent: a float where that is exactly what is written, else its digits."""
    value = float(text)
    if len(text) <= _SAFE_CHARS and 1e-290 < abs(value) < 1e290:
        return value
    return value if double_is_exact(text, value) else Digits(text)


def double_is_exact(text: str, value: float) -> bool:
    """Whether the double, written as short as possible, is the number that the text writes."""
    if value in (float("inf"), float("-inf")):
        return False
    if value == 0:
        return not text.lower().partition("e")[0].strip("-+0.")
    return Decimal(repr(value)) == Decimal(text)


def long_integer(text: str) -> int | Digits:
    """An integer, or its digits where Python would not convert so many."""
    return int(text) if len(text) <= _MAX_INT_CHARS else Digits(text)


def decoder(notes: Notes, *, written: bool = False, long_integers: bool = False) -> json.JSONDecoder:
    """A decoder. `written`: every number comes as its Digits. `long_integers`: those of any length are taken."""

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            notes.note_twice([key for key, _ in pairs])
        return made

    if written:
        return json.JSONDecoder(object_pairs_hook=members, parse_float=Digits, parse_int=Digits)
    return json.JSONDecoder(object_pairs_hook=members, parse_float=real, parse_int=long_integer if long_integers else None)


def plain(value: Any) -> Any:
    """A value decoded as written, with its numbers as numbers where those are exact."""
    kind = type(value)
    if kind is Digits:
        return real(value) if any(sign in value for sign in ".eE") else long_integer(value)
    if kind is dict:
        return {key: plain(part) for key, part in value.items()}
    if kind is list:
        return [plain(part) for part in value]
    return value


def reason(problem: json.JSONDecodeError | str, text: str, position: int) -> str:
    """What is wrong at a place, in words that tell a person how to mend it."""
    here = text[position : position + 1]
    before = text[max(0, position - 200) : position].rstrip()[-1:]
    if text.startswith(("//", "/*"), position) or here == "#":
        return "a comment, which JSON does not have"
    if before == "," and here in ("}", "]"):
        return "a comma before the closing bracket"
    if here == "," and text[position + 1 : position + 200].lstrip()[:1] in ("}", "]"):
        return "a comma before the closing bracket"
    if here == "'":
        return "a text in single quotes (JSON takes double quotes)"
    for word, right in (("None", "null"), ("True", "true"), ("False", "false"), ("undefined", "null")):
        if text.startswith(word, position):
            return f"the word {word} (JSON writes {right})"
    if not here:
        return "the end of the file in the middle of a value"
    said = problem if isinstance(problem, str) else problem.msg
    said = said[0].lower() + said[1:]
    if said.startswith("unterminated string"):
        return "a text that has no closing quote"
    return f"{said.removesuffix(' at')}, near {text[position : position + 20]!r}"

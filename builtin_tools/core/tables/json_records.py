"""The records of a JSON document, one after the other, wherever they lie in it.

The layouts: an array of records; documents one after the other (lines of JSON, or concatenated); records at a path
within one document. Whatever the layout, the whole text is read, so that damage behind the records is found too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..errors import FileCorrupt, InvalidParameters, listed, near_names
from .json_path import Steps, pointer
from .json_text import TextWindow

ARRAY, LINES, OBJECT, SCALAR = "array", "lines", "object", "scalar"
_ARRAY_SIGHT = 1 << 20  # how far a first array is followed to see whether another document comes after it
_OBJECT_SIGHT = 1 << 25
_MAX_STREAMED_DEPTH = 64
_KEYS_KEPT = 2000


class Nowhere(InvalidParameters):
    """The records_path leads to nothing."""


def layout(window: TextWindow) -> str:
    """`array`, `lines` (several documents), `object` or `scalar`; the position stays at the first value."""
    first = window.peek()
    if not first:
        raise window.empty()
    more = window.followed_by_more(_OBJECT_SIGHT if first == "{" else _ARRAY_SIGHT)
    if more:
        return LINES
    return {"[": ARRAY, "{": OBJECT}.get(first, SCALAR)


def records(window: TextWindow, found: str, steps: Steps) -> Iterator[Any]:
    """Every record of the document with this layout, at these steps.

    Raises Nowhere where the steps lead to nothing, InvalidParameters where they lead to a single text or number.
    """
    if found == LINES:
        yield from _at(window, steps, 0, lambda: _documents(window)) if steps else _documents(window)
        return
    yield from _at(window, steps, 0, None)
    if window.peek():
        raise window.corrupt("more text follows after the end of the document", window.pos)


def _documents(window: TextWindow) -> Iterator[Any]:
    window.one_to_a_line = True
    while window.peek():
        yield window.value()


def elements(window: TextWindow) -> Iterator[int]:
    """The positions of an array's elements; the caller takes each value from the window before it asks for the next."""
    window.pos += 1
    if window.take("]"):
        return
    count = 0
    while True:
        if window.peek() == "]":
            raise window.corrupt("a comma before the closing bracket", window.pos)
        yield count
        count += 1
        if window.take(","):
            continue
        if window.take("]"):
            return
        raise window.corrupt("expecting a comma or ]", window.pos)


def members(window: TextWindow) -> Iterator[str]:
    """The keys of an object; the caller takes each value from the window before it asks for the next."""
    window.pos += 1
    if window.take("}"):
        return
    while True:
        if window.peek() != '"':
            raise window.corrupt("expecting a key in double quotes", window.pos)
        key: str = window.value()
        if not window.take(":"):
            raise window.corrupt("expecting a colon after the key", window.pos)
        window.peek()
        yield key
        if window.take(","):
            continue
        if window.take("}"):
            return
        raise window.corrupt("expecting a comma or }", window.pos)


def skip(window: TextWindow, depth: int = 0) -> None:
    """Passes over a value, checking it, without holding a large one as a whole."""
    sign = window.peek()
    if sign not in ("{", "[") or depth >= _MAX_STREAMED_DEPTH or window.whole_value_at_hand():
        window.value()
        return
    for _ in elements(window) if sign == "[" else members(window):
        skip(window, depth + 1)


# ---------------------------------------------------------------- following a path


def _at(window: TextWindow, steps: Steps, done: int, documents: Callable[[], Iterator[Any]] | None) -> Iterator[Any]:
    """The records at `steps[done:]` from the value at the position. `documents`: the text is many values, told by position."""
    if documents is not None:
        yield from _in_documents(window, steps)
        return
    sign = window.peek()
    if done == len(steps):
        yield from _here(window, sign, steps)
    elif sign == "{":
        yield from _in_object(window, steps, done)
    elif sign == "[":
        yield from _in_array(window, steps, done)
    else:
        value = window.value()
        raise Nowhere(
            f"records_path {pointer(steps)!r}: there is only {_kind(value)} at {pointer(steps[:done])!r}.",
            "Leave records_path out to see an outline of the document.",
        )


def _here(window: TextWindow, sign: str, steps: Steps) -> Iterator[Any]:
    if sign == "[":
        for _ in elements(window):
            yield window.value()
        return
    value = window.value()
    if steps and not isinstance(value, dict):
        raise InvalidParameters(
            f"records_path {pointer(steps)!r} leads to {_kind(value)}, where an array of records is due.",
            "Leave records_path out to see an outline that names where arrays of records lie.",
        )
    yield value


def _in_object(window: TextWindow, steps: Steps, done: int) -> Iterator[Any]:
    seen: list[str] = []
    wanted, met = str(steps[done]), False
    for key in members(window):
        if key != wanted:
            skip(window)
            if len(seen) < _KEYS_KEPT:
                seen.append(key)
            continue
        if met:
            raise FileCorrupt(
                f"{window.name!r} has the key {wanted!r} twice at {pointer(steps[:done])!r}, so records_path means two places.",
                "Mend the file: give each key once.",
            )
        met = True
        yield from _at(window, steps, done + 1, None)
    if not met:
        raise _no_key(steps, done, seen)


def _in_array(window: TextWindow, steps: Steps, done: int) -> Iterator[Any]:
    names: list[str] = []
    wanted, count = _position(steps[done]), 0
    for index in elements(window):
        count = index + 1
        if index == wanted:
            yield from _at(window, steps, done + 1, None)
        elif index == 0 and wanted is None:
            value = window.value()
            names = list(value) if isinstance(value, dict) else []
        else:
            skip(window)
    if wanted is None or wanted >= count:
        raise _no_position(steps, done, count, names)


def _in_documents(window: TextWindow, steps: Steps) -> Iterator[Any]:
    names: list[str] = []
    wanted, count = _position(steps[0]), 0
    while window.peek():
        if count == wanted:
            yield from _at(window, steps, 1, None)
        else:
            value = window.value()
            names = list(value) if count == 0 and isinstance(value, dict) else names
        count += 1
    if wanted is None or wanted >= count:
        raise _no_position(steps, 0, count, names)


def _position(step: str | int) -> int | None:
    if isinstance(step, int):
        return step
    return int(step) if step.isascii() and step.isdigit() and len(step) < 16 else None


def _no_key(steps: Steps, done: int, seen: list[str]) -> Nowhere:
    near = [pointer((*steps[:done], name, *steps[done + 1 :])) for name in near_names(str(steps[done]), seen)]
    closest = f"Closest: {listed(near)}. " if near else ""
    keys = f"Keys there: {listed(seen, 30)}." if seen else "The object there is empty."
    return Nowhere(
        f"records_path {pointer(steps)!r}: there is no key {str(steps[done])!r} at {pointer(steps[:done])!r}.", closest + keys
    )


def _no_position(steps: Steps, done: int, count: int, names: list[str]) -> Nowhere:
    here = pointer(steps[:done])
    if _position(steps[done]) is not None:
        return Nowhere(
            f"records_path {pointer(steps)!r}: at {here!r} there are {count:,} elements, so there is no position {steps[done]}.",
            f"Positions run from 0 to {count - 1}." if count else "Leave records_path out to see an outline.",
        )
    keys = f" Its records have the keys {listed(names, 20)}." if names else ""
    advice = (
        "leave records_path out to read them as a table" if not done else f"send records_path {here!r} to read them as a table"
    )
    return Nowhere(
        f"records_path {pointer(steps)!r}: at {here!r} is a list of {count:,} records, which has no key {str(steps[done])!r}.",
        f"Either {advice}, or name one of them by its position, such as {pointer((*steps[:done], 0, *steps[done:]))!r}.{keys}",
    )


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "true or false", dict: "an object", list: "an array", int: "a number", float: "a number", str: "a text"}
    return names.get(type(value), "a number")

"""A JSON document in outline: keys, types, lengths, and where arrays of records lie."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from ..errors import UnsupportedFormat, listed
from .json_decoding import Notes
from .json_path import Steps, pointer
from .json_records import elements, members, skip
from .json_schema import ARRAY, NULL, OBJECT, SCALAR, Shape, column_type
from .json_text import TextWindow

_MAX_KEYS = 60  # of one object
_MAX_DEPTH = 8
_MAX_LINES = 1_500
_MAX_SAMPLE = 60


@dataclass
class Place:
    """An array that can be read as a table: where it lies, how many elements it has, and whether they are objects."""

    steps: Steps
    count: int
    objects: bool


@dataclass
class Outline:
    """The lines of an outline, the arrays found, and what the document itself is."""

    lines: list[str] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    root: str = ""
    notes: Notes = field(default_factory=Notes)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def add(self, depth: int, text: str) -> None:
        if len(self.lines) < _MAX_LINES:
            self.lines.append("  " * depth + text)
        elif len(self.lines) == _MAX_LINES:
            self.lines.append("… the outline is cut here")

    def best(self) -> list[Place]:
        """The arrays of records, largest first; where there are none, the other arrays."""
        records = [place for place in self.places if place.objects] or self.places
        return sorted(records, key=lambda place: -place.count)


def outline(path: str, name: str) -> Outline:
    """Reads the whole document, one object or scalar, in bounded memory. Raises FileCorrupt and what TextWindow raises."""
    with TextWindow(path, name) as window:
        made = Outline(notes=window.notes)
        if not window.peek():
            raise window.empty()
        try:
            made.root = _value(window, made, (), "$")
        except RecursionError:
            raise window.too_deep() from None
        if window.peek():
            raise window.corrupt("more text follows after the end of the document", window.pos)
    return made


def no_table(path: str, name: str) -> UnsupportedFormat:
    """The error for a document that is no table, naming where arrays of records lie and how to read them."""
    made = outline(path, name)
    places = [pointer(place.steps) for place in made.best()]
    if not places:
        return UnsupportedFormat(
            f"{name!r} is one JSON document ({made.root}), not a table.",
            "read_json shows an outline of it. A table is an array of objects, or lines of objects.",
        )
    return UnsupportedFormat(
        f"{name!r} is one JSON document ({made.root}), not a table; arrays lie at {listed(places, 8)}.",
        f"First read_json with records_path {places[0]!r} and an output_path such as 'orders.parquet'; then query that file.",
        details={"records_paths": places[:20]},
    )


# ---------------------------------------------------------------- walking


def _value(window: TextWindow, made: Outline, steps: Steps, label: str) -> str:
    """Adds the lines of one value and gives its kind in words."""
    depth = len(steps)
    sign = window.peek()
    if depth > _MAX_DEPTH and sign in ("{", "["):
        skip(window)
        kind = "object" if sign == "{" else "array"
        made.add(depth, f"{label}: {kind}, nested more deeply than this outline goes")
        return kind
    if sign == "{":
        return _object(window, made, steps, label)
    if sign == "[":
        return _array(window, made, steps, label)
    value = window.value()
    kind = _scalar_kind(value)
    made.add(depth, f"{label}: {kind}" + ("" if value is None else f" {_sample(value)}"))
    return kind


def _object(window: TextWindow, made: Outline, steps: Steps, label: str) -> str:
    place, depth = len(made.lines), len(steps)
    made.add(depth, label)
    count = 0
    for key in members(window):
        count += 1
        if count <= _MAX_KEYS:
            _value(window, made, (*steps, key), _key(key))
        else:
            skip(window)
    if count > _MAX_KEYS:
        made.add(depth + 1, f"… {count - _MAX_KEYS:,} more keys")
    kind = f"object with {count:,} {'key' if count == 1 else 'keys'}"
    if place < len(made.lines) and place < _MAX_LINES:
        made.lines[place] = "  " * depth + f"{label}: {kind}"
    return kind


def _array(window: TextWindow, made: Outline, steps: Steps, label: str) -> str:
    shape, count = Shape(), 0
    for _ in elements(window):
        shape.add(window.value())
        count += 1
    kinds = shape.kinds & ~NULL
    kind = f"array of {count:,} {_elements(kinds, count)}"
    hint = ""
    if count and (kinds == OBJECT or (kinds and not kinds & ~SCALAR)):
        made.places.append(Place(steps, count, kinds == OBJECT))
        if kinds == OBJECT and steps:
            hint = f" — a table: records_path {json.dumps(pointer(steps), ensure_ascii=False)}"
    made.add(len(steps), f"{label}: {kind}{hint}")
    _shape_lines(shape, made, len(steps) + 1)
    return kind


def _shape_lines(shape: Shape, made: Outline, depth: int) -> None:
    """The keys of an array's objects, with their types; deeper ones below."""
    fields = shape.fields
    if not fields or depth > _MAX_DEPTH:
        return
    for position, (key, part) in enumerate(fields.items()):
        if position == _MAX_KEYS:
            made.add(depth, f"… {len(fields) - _MAX_KEYS:,} more keys")
            return
        made.add(depth, f"{_key(key)}: {_shape_kind(part)}")
        inner = part.element if part.element is not None and part.element.fields else part
        _shape_lines(inner, made, depth + 1)


def _shape_kind(part: Shape) -> str:
    kinds = part.kinds & ~NULL
    if not kinds:
        return "null"
    if kinds == OBJECT:
        return f"object with {len(part.fields or {}):,} keys"
    if kinds == ARRAY:
        size = f"{part.shortest:,}" if part.shortest == part.longest else f"{part.shortest:,} to {part.longest:,}"
        return f"array of {size} {_elements(part.element.kinds & ~NULL if part.element else 0, part.longest)}"
    if not kinds & ~SCALAR:
        kind = column_type(part)
        return kind if kinds & (kinds - 1) == 0 or kind != "VARCHAR" else "values of several types"
    return "values of several types"


def _elements(kinds: int, count: int) -> str:
    if kinds == OBJECT:
        return "object" if count == 1 else "objects"
    if kinds == ARRAY:
        return "array" if count == 1 else "arrays"
    return "element" if count == 1 else "elements"


def _scalar_kind(value: object) -> str:
    if value is None:
        return "null"
    shape = Shape()
    shape.add(value)
    kind = column_type(shape)
    return "number" if kind == "DECIMAL" else kind


def _key(key: str) -> str:
    shown = key if len(key) <= 80 else f"{key[:80]}… [{len(key):,} chars]"
    return (
        shown
        if shown and shown.isprintable() and shown == shown.strip() and ":" not in shown
        else json.dumps(shown, ensure_ascii=False)
    )


def _sample(value: object) -> str:
    if isinstance(value, str) and type(value) is str:
        shown = json.dumps(value[:_MAX_SAMPLE], ensure_ascii=False)
        return shown if len(value) <= _MAX_SAMPLE else f"{shown}… [{len(value):,} chars]"
    text = str(value) if not isinstance(value, bool) else str(value).lower()
    return text if len(text) <= _MAX_SAMPLE else f"{text[:_MAX_SAMPLE]}… [{len(text):,} digits]"

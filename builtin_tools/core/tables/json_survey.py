"""A first look at every record of a JSON file: what columns there are, of which types, and how many rows.

A table has a column for each key of its records, in the order in which the keys first appear. Where the records are
no objects (`[1, 2, 3]`), or have too many keys, there is one column, `value`.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..envelope import Warn
from ..errors import listed
from .json_decoding import Notes
from .json_path import Steps
from .json_records import ARRAY, LINES, layout, records
from .json_schema import DECIMAL_PENDING, MAX_FIELDS, NULL, NUMBER, REAL, TEXT, WIDE, Precision, Shape, column_type
from .json_text import TextWindow

VALUE = "value"
_MIXED = "values of several types, as they are written"
_LONG = "numbers that no number type holds exactly, as they are written"


@dataclass
class JsonColumn:
    """A column: its name in the table, the key in the file (None: the record itself), its type, and why that is so."""

    name: str
    key: str | None
    type: str
    shape: Shape
    note: str = ""


@dataclass
class Survey:
    """What all records of a file have in common. `kept` are the texts of the records that were asked for."""

    path: str
    name: str
    steps: Steps
    layout: str
    encoding: str
    columns: list[JsonColumn] = field(default_factory=list)
    rows: int = 0
    shape: Shape = field(default_factory=Shape)
    kept: list[str] = field(default_factory=list)
    longest: int = 0
    one_per_line: bool = True
    half_pairs: bool = False
    notes: Notes = field(default_factory=Notes)
    warnings: list[Warn] = field(default_factory=list)

    @property
    def is_table(self) -> bool:
        """Whether the document is records: an array, lines, or what a records_path leads to."""
        return bool(self.steps) or self.layout in (ARRAY, LINES)

    @property
    def as_written(self) -> bool:
        """Whether a column holds numbers as the file writes them, so that they must be read as text."""
        return any(column.type == "VARCHAR" and column.shape.kinds & (REAL | WIDE) for column in self.columns)

    def records(self, *, written: bool = False) -> Iterator[Any]:
        """All records once more."""
        with TextWindow(self.path, self.name, written=written) as window:
            try:
                yield from records(window, layout(window), self.steps)
            except RecursionError:
                raise window.too_deep() from None


def survey(path: str, name: str, steps: Steps = (), keep_from: int = 0, keep: int = 0) -> Survey:
    """Reads the whole file once (twice where a column has numbers that no double holds).

    A document that is one object or one scalar, without steps, is not read any further: `is_table` is false.
    Raises FileCorrupt, FileEmpty, EncodingProblem, InvalidParameters (the steps lead to no records).
    """
    with TextWindow(path, name) as window:
        found = Survey(path, name, steps, layout(window), window.encoding, notes=window.notes)
        if not found.is_table:
            return found
        gc.disable()  # decoded JSON holds no cycles, and looking for them costs a quarter of the time
        try:
            _read(found, window, keep_from, keep_from + keep)
        except RecursionError:
            raise window.too_deep() from None
        finally:
            gc.enable()
        found.half_pairs = window.half_pairs
    found.columns = _columns(found.shape)
    _settle_precision(found)
    _explain(found)
    return found


def _read(found: Survey, window: TextWindow, first: int, end: int) -> None:
    shape, count, longest = found.shape, 0, 0
    add = shape.add
    watch_lines = found.layout == LINES and not found.steps
    for record in records(window, found.layout, found.steps):
        add(record)
        if first <= count < end:
            found.kept.append(window.source())
        count += 1
        size = window.pos - window.start
        if size > longest:
            longest = size
        if watch_lines and not (window.ends_line() and window.text.find("\n", window.start, window.pos) < 0):
            watch_lines = found.one_per_line = False
    found.rows, found.longest = count, longest


# ---------------------------------------------------------------- columns


def _columns(shape: Shape) -> list[JsonColumn]:
    if not shape.is_table:
        kind = "JSON" if shape.too_many else column_type(shape)
        return [JsonColumn(VALUE, None, kind, shape)]
    columns, taken = [], set[str]()
    fields = shape.fields or {}
    folded = {usable_name(key).casefold() for key in fields}
    for position, (key, part) in enumerate(fields.items(), 1):
        name = unused_name(usable_name(key) or f"column{position}", taken, folded)
        columns.append(JsonColumn(name, key, column_type(part), part))
    return columns


def usable_name(name: str) -> str:
    """A name that SQL and every file format can hold: control signs and halves of surrogate pairs become `_`."""
    return "".join(sign if sign.isprintable() and not "\ud800" <= sign <= "\udfff" else "_" for sign in name)


def unused_name(name: str, taken: set[str], others: set[str]) -> str:
    """The name, with a number behind it where it is taken, case aside; noted in `taken`. `others` are kept free."""
    made, number = name, 0
    while made.casefold() in taken or (number and made.casefold() in others):
        number += 1
        made = f"{name}_{number}"
    taken.add(made.casefold())
    return made


def _settle_precision(found: Survey) -> None:
    """A type for the columns of numbers that no double holds: another look at all of them."""
    pending = {column.key: Precision() for column in found.columns if column.type == DECIMAL_PENDING}
    if not pending:
        return
    for record in found.records():
        for key, precision in pending.items():
            precision.add(record if key is None else record.get(key) if record else None)
    for column in found.columns:
        if column.type == DECIMAL_PENDING:
            column.type = pending[column.key].type


# ---------------------------------------------------------------- what the caller must know


def _explain(found: Survey) -> None:
    """Notes at columns, and warnings for what was assumed or kept back."""
    for column in found.columns:
        column.note = _note(column)
    told = (
        ("TYPES_MIXED", "Columns with values of several types are VARCHAR, each value as it is written", _named(found, _MIXED)),
        ("TYPE_KEPT_AS_TEXT", "Columns with numbers of more digits than a number type holds are VARCHAR", _named(found, _LONG)),
        ("COLUMN_RENAMED", "Keys whose names are empty, cannot be written, or differ only in case", _renamed(found)),
        ("NOT_A_NUMBER", "NaN or Infinity, which JSON does not have, was read as such in", _not_numbers(found)),
    )
    found.warnings += [Warn(code, f"{words}: {listed(names, 12)}.") for code, words, names in told if names]
    if found.shape.too_many:
        words = f"The records have more than {MAX_FIELDS:,} different keys, so each record is one value of the column {VALUE}."
        found.warnings.append(Warn("TOO_MANY_KEYS", words))
    elif not found.shape.is_table and found.shape.kinds & ~NULL:
        found.warnings.append(Warn("RECORDS_ARE_NO_OBJECTS", f"The records are not objects, so there is one column, {VALUE}."))
    found.warnings += note_warnings(found.notes)


def _note(column: JsonColumn) -> str:
    kinds = column.shape.kinds & ~NULL
    if not kinds:
        return "nothing but null"
    if column.type == "JSON":
        return "nested values that differ in their keys or types; take parts with ->> '$.key'"
    if column.type == "VARCHAR" and kinds != TEXT:
        return _MIXED if kinds & ~NUMBER else _LONG
    return ""


def _named(found: Survey, note: str) -> list[str]:
    return [column.name for column in found.columns if column.note == note]


def _renamed(found: Survey) -> list[str]:
    return [f"{column.key!r} is {column.name!r}" for column in found.columns if column.key not in (None, column.name)]


def _not_numbers(found: Survey) -> list[str]:
    return [column.name for column in found.columns if column.shape.not_a_number]


def note_warnings(notes: Notes) -> list[Warn]:
    """The warning for keys that stand twice in one object."""
    if not notes.twice:
        return []
    keys = listed([repr(key) for key in notes.twice], 12)
    return [Warn("DUPLICATE_KEY", f"Of a key that stands twice in one object the last value is taken: {keys}.")]


def number_text(value: Any) -> str:
    """A scalar as text: text as it is, numbers as they are written, true and false as JSON has them."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value - value != 0:
        return "NaN" if value != value else ("Infinity" if value > 0 else "-Infinity")
    return repr(value)

"""A column of a sheet: its type from all of its cells, and how the cells are written for DuckDB."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from .json_lines import LineColumn
from .prepared import SourceColumn

_INTEGER, _REAL, _BOOLEAN, _DATE, _TIMESTAMP, _TIME, _INTERVAL, _TEXT = (1 << bit for bit in range(8))
_KINDS = {bool: _BOOLEAN, str: _TEXT, int: _INTEGER, date: _DATE, datetime: _TIMESTAMP, time: _TIME, timedelta: _INTERVAL}
_TYPES = {
    _INTEGER: "BIGINT", _REAL: "DOUBLE", _INTEGER | _REAL: "DOUBLE", _BOOLEAN: "BOOLEAN", _DATE: "DATE",
    _TIMESTAMP: "TIMESTAMP", _DATE | _TIMESTAMP: "TIMESTAMP", _TIME: "TIME", _INTERVAL: "INTERVAL",
}  # fmt: skip
_EXACT = 2**53


@dataclass
class SheetColumn:
    """A column of the sheet: where it stands, its name here and on the sheet, what its cells are, and how many are blank."""

    position: int
    name: str
    original: str
    kinds: int = 0
    blanks: int = 0

    def add(self, value: Any) -> None:
        kind = _KINDS.get(type(value), 0)
        if not kind:
            kind = _INTEGER if value.is_integer() and -_EXACT <= value <= _EXACT else _REAL
        self.kinds |= kind

    @property
    def type(self) -> str:
        return _TYPES.get(self.kinds, "VARCHAR")

    def source(self) -> SourceColumn:
        """The column as it can be queried."""
        nullable = self.blanks > 0 or not self.kinds
        return SourceColumn(self.name, self.type, self.original, self.note, nullable=nullable, empty=not self.kinds)

    def in_lines(self, *, as_words: bool) -> LineColumn:
        """The column as it is written for DuckDB, as text where so asked."""
        kind = "VARCHAR" if as_words else self.type
        return LineColumn(self.name, kind, _encoder(kind))

    @property
    def note(self) -> str:
        """Why the column is text."""
        if not self.kinds:
            return "no values"
        return "cells of several types, as they are written" if self.is_mixed else ""

    @property
    def is_mixed(self) -> bool:
        """Whether its cells have no type in common."""
        return self.type == "VARCHAR" and self.kinds not in (0, _TEXT)


def _encoder(kind: str) -> Any:
    if kind == "VARCHAR":
        return as_text
    if kind == "BIGINT":
        return int
    if kind == "TIMESTAMP":
        return lambda value: value.isoformat(" ") if isinstance(value, datetime) else f"{value.isoformat()} 00:00:00"
    if kind in ("DATE", "TIME"):
        return lambda value: value.isoformat()
    if kind == "INTERVAL":
        return lambda value: f"{value.days} days {value.seconds} seconds {value.microseconds} microseconds"
    return None


def as_text(value: Any) -> str:
    """A cell in a column of text: text as it stands, whole numbers without a point, dates in ISO 8601."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and -_EXACT <= value <= _EXACT else repr(value)
    if isinstance(value, (date, time)):
        return value.isoformat()
    return str(value)

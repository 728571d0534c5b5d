"""The type of every column, from every value: what all records share, and nothing that a sample suggests.

only integers                    BIGINT, else UBIGINT, else DECIMAL(38,0), else VARCHAR (all digits kept)
integers and reals               DOUBLE where every one is exactly a double, else DECIMAL where that holds all,
                                 else VARCHAR with the numbers as they are written
only text                        VARCHAR: text is never read as a date, a number or anything else
text, numbers, true and false    VARCHAR: text as it is, the others as they are written
objects with the same keys       STRUCT, where all their parts have types of their own, else JSON
arrays of one type               a LIST, else JSON
objects or arrays beside others  JSON
nothing but null                 VARCHAR
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from .json_decoding import Digits, double_is_exact

NULL, BOOL, INT, REAL, WIDE, TEXT, OBJECT, ARRAY = (1 << bit for bit in range(8))
NUMBER = INT | REAL | WIDE
SCALAR = BOOL | NUMBER | TEXT
MAX_FIELDS = 5_000
_MAX_NESTED_FIELDS = 300
_MAX_TYPE_DEPTH = 12
_SAFE = 2**53
_PLAIN_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
DECIMAL_PENDING = "DECIMAL"  # numbers that no double holds: another look at all of them tells the precision


class Shape:
    """What the values at one place have in common. `add` takes the next value."""

    __slots__ = (
        "count",
        "element",
        "fields",
        "high",
        "inexact",
        "kinds",
        "longest",
        "low",
        "not_a_number",
        "ragged",
        "shortest",
        "too_many",
    )

    def __init__(self) -> None:
        self.kinds = 0
        self.low, self.high = 0, 0
        self.inexact = False  # an integer that no double holds
        self.not_a_number = False  # NaN or an infinity
        self.fields: dict[str, Shape] | None = None
        self.ragged = False
        self.too_many = False
        self.element: Shape | None = None
        self.shortest, self.longest = -1, 0
        self.count = 0

    def add(self, value: Any) -> None:
        kind = type(value)
        if kind is str:
            self.kinds |= TEXT
        elif kind is int:
            self._add_integer(value)
        elif value is None:
            self.kinds |= NULL
        elif kind is float:
            self.kinds |= REAL
            if value - value != 0.0:
                self.not_a_number = True
        elif kind is bool:
            self.kinds |= BOOL
        elif kind is dict:
            self._add_object(value)
        elif kind is list:
            self._add_array(value)
        else:  # Digits
            self.kinds |= WIDE

    def _add_integer(self, value: int) -> None:
        self.kinds |= INT
        if value > self.high:
            self.high = value
        elif value < self.low:
            self.low = value
        if not (-_SAFE <= value <= _SAFE or self.inexact):
            self.inexact = not _integer_is_exact(value)

    def _add_object(self, value: dict[str, Any]) -> None:
        self.kinds |= OBJECT
        self.count += 1
        fields = self.fields
        if fields is None:
            fields = self.fields = {}
        elif fields.keys() != value.keys():
            self.ragged = True
        for key, part in value.items():
            shape = fields.get(key)
            if shape is None:
                if len(fields) >= MAX_FIELDS:
                    self.too_many = True
                    continue
                shape = fields[key] = Shape()
            kind = type(part)  # the commonest kinds here, since a call for each cell would double the time
            if kind is str:
                shape.kinds |= TEXT
            elif kind is int and -_SAFE <= part <= _SAFE and shape.low <= part <= shape.high:
                shape.kinds |= INT
            else:
                shape.add(part)

    def _add_array(self, value: list[Any]) -> None:
        self.kinds |= ARRAY
        size = len(value)
        self.longest = max(self.longest, size)
        self.shortest = size if self.shortest < 0 else min(self.shortest, size)
        if value:
            element = self.element
            if element is None:
                element = self.element = Shape()
            for part in value:
                element.add(part)

    @property
    def is_table(self) -> bool:
        """Whether every value was an object (or null), with keys few enough to be columns."""
        return bool(self.kinds & OBJECT) and not self.kinds & ~(OBJECT | NULL) and not self.too_many and bool(self.fields)


def column_type(shape: Shape, depth: int = 0) -> str:
    """DuckDB's name of the type; DECIMAL without precision where another look at the values is needed."""
    kinds = shape.kinds & ~NULL
    if kinds in (0, TEXT):
        return "VARCHAR"
    if kinds == BOOL:
        return "BOOLEAN"
    if not kinds & ~NUMBER:
        return _number_type(shape, kinds, depth)
    if not kinds & ~SCALAR:
        return "VARCHAR" if depth == 0 else "JSON"
    if kinds == OBJECT:
        return _struct_type(shape, depth)
    if kinds == ARRAY and depth < _MAX_TYPE_DEPTH:
        inner = "VARCHAR" if shape.element is None else column_type(shape.element, depth + 1)
        return "JSON" if inner == "JSON" else inner + "[]"
    return "JSON"


def _number_type(shape: Shape, kinds: int, depth: int) -> str:
    if kinds == INT:
        if shape.low >= -(2**63) and shape.high < 2**63:
            return "BIGINT"
        if shape.low >= 0 and shape.high < 2**64:
            return "UBIGINT"
        if not depth and max(-shape.low, shape.high) < 10**38:
            return "DECIMAL(38,0)"
    elif not kinds & WIDE and not shape.inexact:
        return "DOUBLE"
    if depth:
        return "JSON"
    return "VARCHAR" if shape.not_a_number else DECIMAL_PENDING


def _struct_type(shape: Shape, depth: int) -> str:
    fields = shape.fields or {}
    if shape.ragged or not fields or len(fields) > _MAX_NESTED_FIELDS or depth >= _MAX_TYPE_DEPTH:
        return "JSON"
    if len({key.casefold() for key in fields}) != len(fields) or not all(map(_can_be_named, fields)):
        return "JSON"
    parts = []
    for key, part in fields.items():
        inner = column_type(part, depth + 1)
        if inner == "JSON":
            return "JSON"
        parts.append(f"{quoted(key)} {inner}")
    return f"STRUCT({', '.join(parts)})"


def _can_be_named(key: str) -> bool:
    return bool(key) and key.isprintable() and not any("\ud800" <= sign <= "\udfff" for sign in key)


def quoted(name: str) -> str:
    """A name as DuckDB shows it within a type: in double quotes unless it is a plain word and no keyword."""
    from .json_keywords import KEYWORDS

    if _PLAIN_NAME.fullmatch(name) and name.lower() not in KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def _integer_is_exact(value: int) -> bool:
    try:
        return double_is_exact(str(value), float(value))
    except (OverflowError, ValueError):
        return False


class Precision:
    """How many digits a DECIMAL needs to hold every number it was shown."""

    def __init__(self) -> None:
        self.whole, self.scale, self.possible = 1, 0, True

    def add(self, value: Any) -> None:
        if value is None or not self.possible:
            return
        text = value if isinstance(value, Digits) else repr(value)
        if len(text) > 400:
            self.possible = False
            return
        number = Decimal(text)
        if not number.is_finite() or (number != 0 and not -60 < number.adjusted() < 60):
            self.possible = False
            return
        exponent = int(number.as_tuple().exponent)
        if number != 0:
            self.scale = max(self.scale, -exponent)
            self.whole = max(self.whole, number.adjusted() + 1)
        self.possible = self.whole + self.scale <= 38

    @property
    def type(self) -> str:
        """DECIMAL(p,s), or VARCHAR where 38 digits are not enough."""
        return f"DECIMAL({self.whole + self.scale},{self.scale})" if self.possible else "VARCHAR"

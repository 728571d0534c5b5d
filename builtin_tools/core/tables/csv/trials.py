"""The types that a column of text can turn out to have, each with the round trip that proves it for every value.

A trial's condition holds for a value if text → type → text gives the very text again. `@@` stands for the column.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

_INTEGER = re.compile(r"-?(0|[1-9]\d*)", re.ASCII)
_DECIMAL = re.compile(r"-?(?:0|[1-9]\d*)\.(\d+)", re.ASCII)
_DOUBLE = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[-+]\d\d+)?|nan|-?inf", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_STAMP = re.compile(r"\d{4}-\d\d-\d\d([T ])\d\d:\d\d(:\d\d(?:\.(\d{1,6}))?)?(Z|\+00(?::?00)?)?", re.ASCII)
_DAY_AND_MONTH = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})", re.ASCII)
_TIME = re.compile(r"\d\d:\d\d:\d\d(?:\.\d{1,6})?", re.ASCII)


@dataclass
class Typed:
    """What a column is: DuckDB's type, the SQL that makes it from the text in @@, and why it stayed text."""

    type: str
    expression: str
    note: str = ""
    assumed: str = ""  # what was taken for granted in giving it a type
    empty: bool = False  # no value at all stands in the column
    empties: int = 0  # quoted empty strings that became NULL because the type has no other way to hold them


@dataclass
class Trial:
    """A type to try. `extras` are aggregates that `settle` gets along with the number of values there are."""

    key: str
    condition: str
    settle: Callable[[int, list[Any]], Typed | None]
    extras: list[str] = field(default_factory=list)


def _plainly(name: str) -> Callable[[int, list[Any]], Typed | None]:
    return lambda there, extras: Typed(name, f"CAST(@@ AS {name})")


def _decimal(scale: int) -> Trial:
    def settle(there: int, extras: list[Any]) -> Typed | None:
        name = f"DECIMAL({max(int(extras[0]) - 1, scale + 1)},{scale})"
        return Typed(name, f"CAST(@@ AS {name})")

    return Trial(
        f"DECIMAL {scale}", f"TRY_CAST(@@ AS DECIMAL(38,{scale}))::VARCHAR = @@", settle, ["max(length(ltrim(@@, '-')))"]
    )


def _double() -> Trial:
    """Shortest digits that read back, with or without `.0` at whole numbers, but not both in one column."""

    def settle(there: int, extras: list[Any]) -> Typed | None:
        as_written, point_zero, special = extras
        if special == there or (point_zero and as_written != there):
            return None
        return Typed("DOUBLE", "CAST(@@ AS DOUBLE)")

    return Trial(
        "DOUBLE",
        "TRY_CAST(@@ AS DOUBLE)::VARCHAR IN (@@, @@ || '.0')",
        settle,
        [
            "count(CASE WHEN TRY_CAST(@@ AS DOUBLE)::VARCHAR = @@ THEN 1 END)",
            "count(CASE WHEN suffix(@@, '.0') THEN 1 END)",
            "count(CASE WHEN @@ IN ('nan', 'inf', '-inf') THEN 1 END)",
        ],
    )


def _stamp(values: list[str]) -> Trial | None:
    """The one way in which all the values write a time stamp; None where they differ in it."""
    parts = [match for value in values if (match := _STAMP.fullmatch(value))]
    ways = {(match[1], len(match[2] or ""), match[4] or "") for match in parts}
    separators, zones = {way[0] for way in ways}, {way[2] for way in ways}
    if len(separators) != 1 or len(zones) != 1:
        return None
    separator, zone = separators.pop(), zones.pop()
    text = f"left(@@, length(@@) - {len(zone)})" if zone else "@@"
    stamp = f"TRY_CAST({text} AS TIMESTAMP)"
    lengths = {way[1] for way in ways}
    if len(lengths) == 1 and lengths != {3}:
        length = lengths.pop()
        written = f"left(strftime({stamp}, '%Y-%m-%d{separator}%H:%M:%S.%f'), {16 + length})"
    else:
        written = f"replace({stamp}::VARCHAR, ' ', '{separator}')"
        length = 3
    name = "TIMESTAMP WITH TIME ZONE" if zone else "TIMESTAMP"
    return Trial(
        f"{name} {separator}{length}{zone}", f"{written} || '{zone}' = @@" if zone else f"{written} = @@", _plainly(name)
    )


def _day_and_month(values: list[str]) -> Trial | None:
    """A date with the day before the month or after it: a type only where the whole column proves which."""
    parts = [match for value in values if (match := _DAY_AND_MONTH.fullmatch(value))]
    separators, padded = {part[2] for part in parts}, all(len(part[1]) == len(part[3]) == 2 for part in parts)
    if len(separators) != 1:
        return None
    sign, day, month = separators.pop(), "%d" if padded else "%-d", "%m" if padded else "%-m"
    forms = {"day, month, year": f"{day}{sign}{month}{sign}%Y", "month, day, year": f"{month}{sign}{day}{sign}%Y"}
    valid = {order: f"strftime(try_strptime(@@, '{form}'), '{form}') = @@" for order, form in forms.items()}

    def settle(there: int, extras: list[Any]) -> Typed | None:
        fitting = [order for order, count in zip(forms, extras, strict=True) if count == there]
        if len(fitting) != 1:
            return None
        assumed = f"read as dates in the order {fitting[0]}, the only one that all {there:,} values allow"
        return Typed("DATE", f"CAST(strptime(@@, '{forms[fitting[0]]}') AS DATE)", assumed=assumed)

    return Trial(
        f"{ORDER_TO_PROVE} {sign}{day}",
        " OR ".join(valid.values()),
        settle,
        [f"count(CASE WHEN {each} THEN 1 END)" for each in valid.values()],
    )


ORDER_TO_PROVE = "DATE ORDER"
_BIGINT = Trial("BIGINT", "TRY_CAST(@@ AS BIGINT)::VARCHAR = @@", _plainly("BIGINT"))
_BOOLEAN = Trial("BOOLEAN", "@@ IN ('true', 'false')", _plainly("BOOLEAN"))
_DATES = Trial("DATE", "TRY_CAST(@@ AS DATE)::VARCHAR = @@", _plainly("DATE"))
_TIMES = Trial("TIME", "TRY_CAST(@@ AS TIME)::VARCHAR = @@", _plainly("TIME"))


def next_trial(values: list[str], tried: set[str]) -> Trial | None:
    """The type that all of these values could have and that was not tried yet; None where they can only be text."""
    trial = _candidate(values)
    return trial if trial is not None and trial.key not in tried else None


def _candidate(values: list[str]) -> Trial | None:
    if not values:
        return _BIGINT  # nothing is known yet; the whole file says more
    if all(_INTEGER.fullmatch(value) for value in values):
        return _BIGINT if all(len(value) <= 20 for value in values) else None
    scales = {len(match[1]) if (match := _DECIMAL.fullmatch(value)) else -1 for value in values}
    if len(scales) == 1 and (scale := scales.pop()) > 0:
        return _decimal(scale) if all(len(value) <= 39 for value in values) and scale < 38 else None
    if all(_DOUBLE.fullmatch(value) for value in values):
        return _double()
    if all(value in ("true", "false") for value in values):
        return _BOOLEAN
    if all(_DATE.fullmatch(value) for value in values):
        return _DATES
    if all(_STAMP.fullmatch(value) for value in values):
        return _stamp(values)
    if all(_DAY_AND_MONTH.fullmatch(value) for value in values):
        return _day_and_month(values)
    return _TIMES if all(_TIME.fullmatch(value) for value in values) else None

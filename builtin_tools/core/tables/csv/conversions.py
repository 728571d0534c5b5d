"""Conversions that the caller asked for: decimal and thousands separators, a date format. Exact, and only where a whole
column fits."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ...errors import InvalidParameters
from ..engine import native
from ..sql_text import quote_text
from .trials import Typed

Run = Callable[[str], list[tuple[Any, ...]]]


def convert(
    run: Run, columns: list[str], typed: list[Typed], decimal: str | None, thousands: str | None, date_format: str | None
) -> list[Typed]:
    """The types after the conversions told; columns that do not fit stay as they are."""
    found = list(typed)
    if decimal == "," or thousands:
        _numbers(run, columns, found, decimal or ".", thousands or "")
    if date_format:
        _dates(run, columns, found, date_format)
    return found


def _numbers(run: Run, columns: list[str], found: list[Typed], decimal: str, thousands: str) -> None:
    """Columns written with the separators become DECIMAL with as many digits as stand in the file."""
    if decimal == "," or thousands == ".":
        for position, kind in enumerate(found):
            if kind.type == "DOUBLE" or kind.type.startswith("DECIMAL"):
                found[position] = Typed("VARCHAR", "@@", 'kept as text: a point is no decimal separator where decimal is ","')
    texts = [position for position, kind in enumerate(found) if kind.type == "VARCHAR"]
    if not texts:
        return
    point, group = re.escape(decimal), re.escape(thousands)
    whole = f"(0|[1-9][0-9]{{0,2}}({group}[0-9]{{3}})+|[1-9][0-9]*)" if thousands else "(0|[1-9][0-9]*)"
    pattern = quote_text(f"^[-+]?{whole}({point}[0-9]+)?$")
    parts = []
    for position in texts:
        column = f"nullif({columns[position]}, '')"
        plain = _plain(column, decimal, thousands)
        parts += [
            f"count({column})",
            f"count(*) FILTER (regexp_matches({column}, {pattern}))",
            f"max(CASE WHEN contains({plain}, '.') THEN length({plain}) - position('.' IN {plain}) ELSE 0 END)",
            f"max(length(regexp_replace(split_part({plain}, '.', 1), '^[-+]', '')))",
            f"count(*) FILTER ({columns[position]} = '')",
        ]
    values = list(run(f"SELECT {', '.join(parts)} FROM rows")[0])
    for position in texts:
        there, fit, scale, before, empties = values[:5]
        values = values[5:]
        if there and fit == there:
            name = f"DECIMAL({max(before, 1) + scale},{scale})" if before + scale <= 38 else "DOUBLE"
            found[position] = Typed(name, f"CAST({_plain('@@', decimal, thousands)} AS {name})", empties=empties)


def _plain(column: str, decimal: str, thousands: str) -> str:
    text = f"replace({column}, {quote_text(thousands)}, '')" if thousands else column
    return f"replace({text}, {quote_text(decimal)}, '.')" if decimal != "." else text


def _dates(run: Run, columns: list[str], found: list[Typed], date_format: str) -> None:
    """Columns in the format become DATE, or TIMESTAMP where the format has a time of day."""
    texts = [position for position, kind in enumerate(found) if kind.type in ("VARCHAR", "DATE", "TIMESTAMP")]
    if not texts:
        return
    parts = []
    for position in texts:
        column = f"nullif({columns[position]}, '')"
        parts += [f"count({column})", f"count(try_strptime({column}, {quote_text(date_format)}))"]
    try:
        values = list(run(f"SELECT {', '.join(parts)} FROM rows")[0])
    except (native().InvalidInputException, native().BinderException, native().ParserException):
        raise InvalidParameters(
            f"date_format {date_format[:60]!r} is no format.", 'Send strptime signs, such as "%d/%m/%Y" or "%Y%m%d %H:%M".'
        ) from None
    has_time = re.search(r"%[-]?[HIMSfgnpXcTR]", date_format) is not None
    kind = "TIMESTAMP" if has_time else "DATE"
    for position in texts:
        there, fit = values[:2]
        values = values[2:]
        if there and fit == there:
            expression = f"CAST(strptime(nullif(@@, ''), {quote_text(date_format)}) AS {kind})"
            found[position] = Typed(kind, expression)

"""Conversions that the caller asked for: decimal and thousands separators, a date format. They are exact and strict: a
column converts where every value fits; one that is meant (most of its values fit) and does not is an error that names
the first value in the way and its line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...errors import InvalidParameters
from ..engine import native
from ..sql_text import quote_text
from .trials import Typed

Run = Callable[[str], list[tuple[Any, ...]]]


@dataclass
class Conversion:
    """What the caller told, and how to run SELECTs over the text (`run`) and find the line of a row (`line_of`)."""

    run: Run
    columns: list[str]
    names: list[str]
    line_of: Callable[[int], int]
    decimal: str = "."
    thousands: str = ""
    date_format: str = ""

    def apply(self, typed: list[Typed]) -> list[Typed]:
        """The types after the conversions; columns that are not meant stay as they are. Raises InvalidParameters."""
        found = list(typed)
        if self.decimal == "," or self.thousands:
            self._numbers(found)
        if self.date_format:
            self._dates(found)
        return found

    def _numbers(self, found: list[Typed]) -> None:
        """Columns written with the separators become DECIMAL with as many digits as stand in the file."""
        if self.decimal == "," or self.thousands == ".":
            for position, kind in enumerate(found):
                if kind.type == "DOUBLE" or kind.type.startswith("DECIMAL"):
                    note = 'kept as text: a point is no decimal separator where decimal is ","'
                    found[position] = Typed("VARCHAR", "@@", note)
        texts = [position for position, kind in enumerate(found) if kind.type == "VARCHAR"]
        if not texts:
            return
        fits = f"regexp_matches(@@, {quote_text(self._pattern())})"
        plain = self._plain("@@")
        signs = " OR ".join(f"contains(@@, {quote_text(sign)})" for sign in (self.decimal, self.thousands) if sign)
        checks = [
            "count(@@)",
            f"count(CASE WHEN {fits} THEN 1 END)",
            f"max(CASE WHEN contains({plain}, '.') THEN length({plain}) - position('.' IN {plain}) ELSE 0 END)",
            f"max(length(regexp_replace(split_part({plain}, '.', 1), '^[-+]', '')))",
            f"count(CASE WHEN {fits} AND ({signs}) THEN 1 END)",
        ]
        for position, (there, fit, scale, before, telling) in self._counted(texts, checks).items():
            if there and fit == there:
                name = f"DECIMAL({max(before, 1) + scale},{scale})" if before + scale <= 38 else "DOUBLE"
                number = self._plain("nullif(@@, '')")
                found[position] = Typed(name, f"CAST({number} AS {name})")
            elif telling and fit * 2 > there:
                raise self._unfit(position, fits, f"no number with the decimal separator {self.decimal!r}")

    def _pattern(self) -> str:
        point, group = re.escape(self.decimal), re.escape(self.thousands)
        whole = f"(0|[1-9][0-9]{{0,2}}({group}[0-9]{{3}})+|[1-9][0-9]*)" if self.thousands else "(0|[1-9][0-9]*)"
        return f"^[-+]?{whole}({point}[0-9]+)?$"

    def _plain(self, column: str) -> str:
        text = f"replace({column}, {quote_text(self.thousands)}, '')" if self.thousands else column
        return f"replace({text}, {quote_text(self.decimal)}, '.')" if self.decimal != "." else text

    def _dates(self, found: list[Typed]) -> None:
        """Columns in the format become DATE, or TIMESTAMP where the format has a time of day."""
        texts = [position for position, kind in enumerate(found) if kind.type in ("VARCHAR", "DATE", "TIMESTAMP", "BIGINT")]
        fits = f"try_strptime(@@, {quote_text(self.date_format)}) IS NOT NULL"
        try:
            counted = self._counted(texts, ["count(@@)", f"count(CASE WHEN {fits} THEN 1 END)"])
        except (native().InvalidInputException, native().BinderException, native().ParserException):
            raise InvalidParameters(
                f"date_format {self.date_format[:60]!r} is no format.",
                'Send strptime signs, such as "%d/%m/%Y" or "%Y%m%d %H:%M".',
            ) from None
        kind = "TIMESTAMP" if re.search(r"%[-]?[HIMSfgnpXcTR]", self.date_format) else "DATE"
        for position, (there, fit) in counted.items():
            if there and fit == there:
                found[position] = Typed(kind, f"CAST(strptime(nullif(@@, ''), {quote_text(self.date_format)}) AS {kind})")
            elif fit * 2 > there:
                raise self._unfit(position, fits, f"no date in the format {self.date_format!r}")

    def _counted(self, positions: list[int], checks: list[str]) -> dict[int, list[Any]]:
        """What each check counts for each column; @@ in a check is the column without its empty strings."""
        if not positions:
            return {}
        parts = [check.replace("@@", f"nullif({self.columns[position]}, '')") for position in positions for check in checks]
        values = list(self.run(f"SELECT {', '.join(parts)} FROM rows")[0])
        size = len(checks)
        return {position: values[at * size : (at + 1) * size] for at, position in enumerate(positions)}

    def _unfit(self, position: int, fits: str, why: str) -> InvalidParameters:
        column = self.columns[position]
        row, value = self.run(
            f"SELECT n, v FROM (SELECT row_number() OVER () AS n, {column} AS v FROM rows) "
            f"WHERE v <> '' AND NOT coalesce({fits.replace('@@', 'v')}, false) ORDER BY n LIMIT 1"
        )[0]
        line = self.line_of(int(row))
        return InvalidParameters(
            f"{self.names[position]} does not convert: on line {line} stands {str(value)[:60]!r}, which is {why}.",
            f'If it means "no value", send it in null_values: [{str(value)[:60]!r}]; else leave the option out and convert in SQL.',
            details={"column": self.names[position], "line": line, "value": str(value)[:200]},
        )

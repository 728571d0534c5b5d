"""Types without loss: a column has a type only if every one of its values, written back from that type, is what stands
in the file.

The first rows say which type to try; the whole file says whether it holds. What stays text although it looks like
something else gets a note with the reason and with the option that would convert it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..sql_text import quote_text

_SAMPLE_ROWS = 5_000
Run = Callable[[str], list[tuple[Any, ...]]]


@dataclass
class Typed:
    """What a column is: DuckDB's type, the SQL that makes it from the text in @@, and why it stayed text."""

    type: str
    expression: str
    note: str = ""
    option: str = ""
    empty: bool = False  # no value at all stands in the column
    empties: int = 0  # quoted empty strings that became NULL because the type has no other way to hold them


# Aggregates over a column of text: @@ is the column. A value is "there" where it is not NULL and not empty.
_INTEGER = "^-?(0|[1-9][0-9]*)$"
_DECIMAL = "^-?(0|[1-9][0-9]*)\\.[0-9]+$"
_SHORTEST = "^-?(0|[1-9][0-9]*)(\\.[0-9]*[1-9])?$"
_DATE = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_STAMP = "^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,6})?)?$"
_STAMP_UTC = "^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,6})?)?(Z|[+]00(:?00)?)$"
_TIME = "^[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,6})?$"


def _count(condition: str) -> str:
    return f"count(*) FILTER ({condition})"


def _matches(pattern: str) -> str:
    return f"regexp_matches(@@, {quote_text(pattern)})"


_CHECKS: dict[str, list[str]] = {
    "BIGINT": [_count("TRY_CAST(@@ AS BIGINT)::VARCHAR = @@")],
    "DECIMAL": [
        _count(_matches(_DECIMAL) + " AND NOT regexp_matches(@@, '^-0[.]0*$')"),
        "min(length(@@) - position('.' IN @@))",
        "max(length(@@) - position('.' IN @@))",
        "max(position('.' IN @@) - 1 - (CASE WHEN @@[1] = '-' THEN 1 ELSE 0 END))",
    ],
    "DOUBLE": [
        _count("TRY_CAST(@@ AS DOUBLE)::VARCHAR IN (@@, @@ || '.0')"),
        _count("TRY_CAST(@@ AS DOUBLE)::VARCHAR = @@"),
        _count("suffix(@@, '.0')"),
        _count(_matches("[0-9]")),
    ],
    "BOOLEAN": [_count("@@ IN ('true', 'false')")],
    "DATE": [_count(_matches(_DATE) + " AND TRY_CAST(@@ AS DATE)::VARCHAR = @@")],
    "TIMESTAMP": [
        _count(_matches(_STAMP) + " AND TRY_CAST(@@ AS TIMESTAMP) IS NOT NULL AND @@[12:13] <> '24'"),
        "min(length(@@))", "max(length(@@))", _count("contains(@@, 'T')"),
    ],
    "TIMESTAMP WITH TIME ZONE": [
        _count(_matches(_STAMP_UTC) + " AND TRY_CAST(@@ AS TIMESTAMPTZ) IS NOT NULL AND @@[12:13] <> '24'"),
        "min(length(@@))", "max(length(@@))", _count("contains(@@, 'T')"),
    ],
    "TIME": [_count(_matches(_TIME) + " AND TRY_CAST(@@ AS TIME)::VARCHAR = @@")],
}  # fmt: skip

# What text can look like without being it: (key, pattern, reason, option).
_LOOKS: list[tuple[str, str, str, str]] = [
    ("zeros", "^-?0[0-9]+([.][0-9]+)?$", "leading zeros", ""),
    ("exponent", "^[-+]?[0-9]+([.][0-9]+)?[eE][-+]?[0-9]+$", "an exponent, as in scientific notation or a code", ""),
    ("long", "^[-+]?[0-9]{19,}$", "more digits than a 64-bit integer holds", ""),
    ("plus", "^[+][0-9]", "a plus sign", ""),
    ("comma", "^[-+]?([0-9]{1,3}([.][0-9]{3})+|[0-9]+),[0-9]+$", "a comma that may be a decimal separator", "decimal"),
    ("thousands", "^[-+]?[0-9]{1,3}(,[0-9]{3})+([.][0-9]+)?$", "a comma that may be a thousands separator", "thousands"),
    ("day", "^[0-9]{1,2}[-/.][0-9]{1,2}[-/.]([0-9]{4}|[0-9]{2})( .*)?$", "dates in an order that the format does not tell", "date_format"),
    ("year", "^[0-9]{4}([/.])[0-9]{1,2}[/.][0-9]{1,2}( .*)?$", "dates in another format than ISO 8601", "date_format"),
    ("zone", "^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+ ?[-+][0-9]{2}", "times with an offset, which the type would not keep", ""),
    ("money", "^[(]?[-+]? ?[$€£¥₩][ ]?[0-9]|[0-9] ?[€₩원円]$", "a currency symbol", ""),
    ("percent", "^[-+]?[0-9.,]+ ?%$", "a percent sign", ""),
    ("blank", "^( +[-+]?[0-9.]+ *|[-+]?[0-9.]+ +)$", "blanks around numbers", ""),
    ("truth", "^(?i:true|false|yes|no)$", "true and false written otherwise", ""),
    ("number", "^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)$", "", ""),
    ("date", "^[0-9]{4}-[0-9]{2}-[0-9]{2}", "", ""),
]  # fmt: skip


def infer(run: Run, columns: list[str], rows: int | None = None) -> tuple[int, list[Typed]]:
    """The exact number of rows and the type of each column. `columns` are SQL expressions of text; `run` gives the rows of
    a SELECT list over the whole table: run("SELECT … FROM rows") with `rows` and `sample` as names for all and the first."""
    whole = rows is not None and rows <= _SAMPLE_ROWS
    tries = _candidates(run, columns, "rows" if whole else f"(FROM rows LIMIT {_SAMPLE_ROWS})")
    found: dict[int, Typed] = {}
    waiting = {position: kinds for position, kinds in enumerate(tries)}
    total = -1
    while waiting or total < 0:
        total, results = _checked(run, columns, {position: kinds[0] for position, kinds in waiting.items() if kinds})
        for position, (there, empties, values) in results.items():
            typed = _accept(waiting[position][0], there, values) if there else Typed("VARCHAR", "@@", empty=True)
            if typed is not None:
                typed.empties = empties
                found[position] = typed
        waiting = {position: kinds[1:] for position, kinds in waiting.items() if position not in found and len(kinds) > 1}
    texts = [position for position in range(len(columns)) if position not in found]
    notes = _notes(run, columns, [position for position in texts if tries[position]])
    return total, [found.get(position) or notes.get(position) or Typed("VARCHAR", "@@") for position in range(len(columns))]


def _candidates(run: Run, columns: list[str], source: str) -> list[list[str]]:
    """For each column the types to try, the likeliest first; empty where the first rows hold plain words."""
    hint = "^(-?[0-9.]+|nan|-?inf|true|false|.*[0-9].*|(?i:true|false|yes|no))$"
    parts = []
    for column in columns:
        parts.append(_count(f"{column} <> ''"))
        for pattern in (hint, "^-?[0-9]+$", "^-?[0-9]*[.][0-9]*$|^-?[0-9.]+e[-+][0-9]+$", "^[0-9]{4}-[0-9]{2}-[0-9]{2}", "^[0-9]{2}:[0-9]{2}", "^(true|false)$"):
            parts.append(_count(f"regexp_matches({column}, {quote_text(pattern)})"))
    tries = []
    for chunk in range(0, len(columns), 200):
        some = parts[chunk * 7 : (chunk + 200) * 7]
        values = run(f"SELECT {', '.join(some)} FROM {source}")[0]
        for at in range(0, len(values), 7):
            tries.append(_order(*values[at : at + 7]))
    return tries


def _order(there: int, any_hint: int, integers: int, fractions: int, dates: int, times: int, truths: int) -> list[str]:
    if there == 0:
        return ["BIGINT", "DECIMAL", "DOUBLE", "DATE", "TIMESTAMP", "BOOLEAN"]
    if integers + fractions >= 0.5 * there:
        return ["DECIMAL", "DOUBLE"] if fractions == there else ["BIGINT", "DECIMAL", "DOUBLE"] if not fractions else ["DOUBLE", "DECIMAL"]
    if dates >= 0.5 * there:
        return ["DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"]
    if times >= 0.5 * there:
        return ["TIME"]
    if truths >= 0.5 * there:
        return ["BOOLEAN"]
    return ["DOUBLE"] if any_hint else []


def _checked(run: Run, columns: list[str], kinds: dict[int, str]) -> tuple[int, dict[int, tuple[int, int, list[Any]]]]:
    """One pass over the whole file: its rows, and for each column (values there, empty strings, what its check counted)."""
    total, results = 0, {}
    positions = sorted(kinds)
    for chunk in range(0, max(1, len(positions)), 200):
        parts = ["count(*)"]
        for position in positions[chunk : chunk + 200]:
            column = f"nullif({columns[position]}, '')"
            parts += [f"count({column})", _count(f"{columns[position]} = ''")]
            parts += [check.replace("@@", column) for check in _CHECKS[kinds[position]]]
        values = list(run(f"SELECT {', '.join(parts)} FROM rows")[0])
        total, at = values[0], 1
        for position in positions[chunk : chunk + 200]:
            count = len(_CHECKS[kinds[position]])
            results[position] = (values[at], values[at + 1], values[at + 2 : at + 2 + count])
            at += 2 + count
    return total, results


def _accept(kind: str, there: int, values: list[Any]) -> Typed | None:
    """The type, where the counts say that every value holds."""
    if values[0] != there:
        return None
    if kind == "DECIMAL":
        _, least, most, before = values
        if least != most or before + most > 38:
            return None
        name = f"DECIMAL({max(before, 1) + most},{most})"
        return Typed(name, f"CAST(@@ AS {name})")
    if kind == "DOUBLE":
        _, as_written, point_zero, digits = values
        if digits == 0 or (point_zero and as_written != there):
            return None
        return Typed("DOUBLE", "CAST(@@ AS DOUBLE)")
    if kind in ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE"):
        _, shortest, longest, with_t = values
        if shortest != longest or with_t not in (0, there):
            return None
    return Typed(kind, f"CAST(@@ AS {kind})")


def _notes(run: Run, columns: list[str], positions: list[int]) -> dict[int, Typed]:
    """For columns that stay text although they look like more: what stood in the way."""
    notes: dict[int, Typed] = {}
    for chunk in range(0, len(positions), 60):
        some = positions[chunk : chunk + 60]
        parts = []
        for position in some:
            column = f"nullif({columns[position]}, '')"
            parts.append(f"count({column})")
            parts += [_count(f"regexp_matches({column}, {quote_text(pattern)})") for _, pattern, _, _ in _LOOKS]
        values = list(run(f"SELECT {', '.join(parts)} FROM rows")[0])
        for position in some:
            there, *counts = values[: len(_LOOKS) + 1]
            values = values[len(_LOOKS) + 1 :]
            note = _note(there, dict(zip((key for key, _, _, _ in _LOOKS), counts, strict=True)))
            if note is not None:
                notes[position] = Typed("VARCHAR", "@@", *note)
    return notes


def _note(there: int, counts: dict[str, int]) -> tuple[str, str] | None:
    for key, _, reason, option in _LOOKS:
        if reason and counts[key] and (counts[key] * 2 > there or key in ("zeros", "long", "exponent") and counts[key] + counts["number"] >= there * 0.5):
            advice = {
                "decimal": "; decimal \",\" (and thousands \".\") would convert it",
                "thousands": "; thousands \",\" would convert it",
                "date_format": "; date_format, such as \"%d/%m/%Y\", would convert it",
            }.get(option, "")
            return f"kept as text: {counts[key]:,} of {there:,} values have {reason}{advice}", option
    if counts["number"] == there:
        return "kept as text: the numbers are written in mixed ways (a number of decimals that varies, zeros at the end); CAST in SQL converts it", "decimal"
    if counts["number"] * 2 > there:
        return f"kept as text: not every value is a number, {there - counts['number']:,} of {there:,} are not; null_values names marks of missing values", "null_values"
    if counts["date"] * 2 > there:
        return f"kept as text: not every value is a date written alike, {counts['date']:,} of {there:,} begin like one", "date_format"
    return None

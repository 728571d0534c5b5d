"""Rows written to the scratch folder, one JSON object to a line, so that DuckDB reads back exactly these values.

The keys are c0, c1, …, whatever the columns are called. DECIMAL and JSON are written as text and cast by the scan;
NaN and the infinities are written as text, which DuckDB reads as DOUBLE.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..call import Call
from ..errors import DiskLimitExceeded
from ..limits import readable_size
from .json_rows import HALVES
from .sql_text import literal_path, quote_name, quote_text

_LEAST_OBJECT = 16 << 20
_CHECK_EVERY = 4 << 20
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")).encode
Encode = Callable[[Any], Any]


@dataclass
class LineColumn:
    """A column: its name, its type, and how its values become JSON (None: they are written as they are)."""

    name: str
    type: str
    encode: Encode | None = None


@dataclass
class Lines:
    """What was written: the file, the bytes of its longest line, and the halves of surrogate pairs that were replaced."""

    path: str
    longest: int
    replaced: int


def write_lines(call: Call, file_name: str, shown: str, columns: list[LineColumn], rows: Iterable[list[Any]]) -> Lines:
    """Writes every row (its cells in the order of the columns). Raises DiskLimitExceeded past temp_disk_limit."""
    keys = [f"c{number}" for number in range(len(columns))]
    encoders = [column.encode for column in columns]
    made = Lines(call.scratch_path(file_name), 0, 0)
    size, next_check, limit = 0, _CHECK_EVERY, call.temp_disk_limit
    with Path(made.path).open("wb", buffering=1 << 20) as stream:
        for row in rows:
            line, replaced = _line(row, keys, encoders)
            stream.write(line)
            made.replaced += replaced
            made.longest = max(made.longest, len(line))
            size += len(line)
            if size > next_check:
                next_check += _CHECK_EVERY
                if size > limit:
                    raise DiskLimitExceeded(
                        f"{shown!r} needs more than {readable_size(limit)} of temporary disk.",
                        "Choose a smaller file. The operator can raise temp_disk_limit.",
                    )
    return made


def _line(row: list[Any], keys: list[str], encoders: list[Encode | None]) -> tuple[bytes, int]:
    made = {
        key: cell if encode is None else encode(cell)
        for key, cell, encode in zip(keys, row, encoders, strict=True)
        if cell is not None
    }
    try:
        text = _encode(made)
    except ValueError:
        text = _encode(finite(made))
    try:
        return text.encode() + b"\n", 0
    except UnicodeEncodeError:
        text, count = HALVES.subn("\ufffd", text)
        return text.encode() + b"\n", count


def scan_of_lines(lines: Lines, columns: list[LineColumn]) -> str:
    """The SELECT that gives the columns from the file."""
    types = ", ".join(f"c{number}: {quote_text(_type_in_lines(column))}" for number, column in enumerate(columns))
    parts = []
    for number, column in enumerate(columns):
        cast = f"CAST(c{number} AS {column.type})" if _type_in_lines(column) != column.type else f"c{number}"
        parts.append(f"{cast} AS {quote_name(column.name)}")
    return f"SELECT {', '.join(parts)} FROM {reader(lines.path, 'newline_delimited', types, lines.longest)}"


def reader(path: str, form: str, types: str, longest: int) -> str:
    """A call of read_json with the types of all columns."""
    size = max(_LEAST_OBJECT, longest + 1024)
    return (
        f"read_json({literal_path(path)}, format={quote_text(form)}, records=true, compression='none', "
        f"maximum_object_size={size}, columns={{{types}}})"
    )


def _type_in_lines(column: LineColumn) -> str:
    cast_from_text = ("JSON", "DATE", "TIMESTAMP", "TIME", "INTERVAL")
    return "VARCHAR" if column.type in cast_from_text or column.type.startswith("DECIMAL(") else column.type


# ---------------------------------------------------------------- values


def json_text(value: Any) -> str:
    """Nested JSON as text, with NaN and the infinities as texts."""
    try:
        return _encode(value)
    except ValueError:
        return _encode(finite(value))


def finite(value: Any) -> Any:
    """The value with NaN and the infinities as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, list):
        return [finite(part) for part in value]
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    return value

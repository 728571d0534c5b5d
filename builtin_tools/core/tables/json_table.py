"""A JSON file as a table: what DuckDB scans gives exactly the values that the file writes.

Where DuckDB's own reader gives the same it scans the file itself. Elsewhere every record is written again, one to a
line, with numbers that no double holds, and nested values that differ, as text that the scan casts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..call import Call
from ..envelope import Warn
from .json_decoding import plain
from .json_lines import Encode, LineColumn, json_text, reader, scan_of_lines, write_lines
from .json_path import parse_records_path
from .json_records import ARRAY, LINES
from .json_rows import cells_of, details, half_pair_warnings
from .json_schema import NULL, TEXT, Shape
from .json_survey import VALUE, JsonColumn, Survey, number_text, survey
from .prepared import Prepared, SourceColumn
from .sql_text import quote_name, quote_text


def prepare(call: Call, path: str, name: str, records_path: str | None = None) -> Prepared:
    """The records of the JSON file at `path` (plain bytes; `name` is what the caller calls it) as a table.

    Raises UnsupportedFormat for a document that is no table, naming where its arrays of records lie; and what
    `survey` raises.
    """
    found = survey(path, name, parse_records_path(records_path or ""))
    if not found.is_table:
        from .json_outline import no_table

        raise no_table(path, name)
    return prepared(call, found)


def prepared(call: Call, found: Survey) -> Prepared:
    """The table of a file that has been surveyed."""
    columns = [
        SourceColumn(
            column.name,
            column.type,
            VALUE if column.key is None else column.key,
            column.note,
            nullable=_nullable(found, column),
            empty=not column.shape.kinds & ~NULL,
        )
        for column in found.columns
    ]
    warnings = list(found.warnings)
    if _same_in_duckdb(found):
        scan, files = _scan_of_file(found), [found.path]
    else:
        scan, files, more = _written_again(call, found)
        warnings += more
    format_name = "ndjson" if found.layout == LINES else "json"
    return Prepared(
        scan,
        columns,
        format_name,
        files,
        with_text=lambda names: _with_text(call, found, names),
        rows=found.rows,
        details=details(found),
        warnings=warnings,
    )


def _with_text(call: Call, found: Survey, names: set[str]) -> str:
    """The scan with the named columns as text, as the file writes their values; nested values as JSON."""
    columns = [replace(column, type="VARCHAR") if column.name in names else column for column in found.columns]
    return _written_again(call, replace(found, columns=columns))[0]


def _nullable(found: Survey, column: JsonColumn) -> bool:
    return column.key is None or found.shape.ragged or bool((column.shape.kinds | found.shape.kinds) & NULL)


def _as_text(value: Any) -> str:
    """A value of a column of text: text and numbers as they are written, nested values as JSON."""
    return _as_json(value) if isinstance(value, (dict, list)) else number_text(value)


def _as_json(value: Any) -> str:
    """A nested value as JSON. A real number that no double holds becomes a text of its digits."""
    return json_text(plain(value))


def _encoder(column: JsonColumn) -> Encode | None:
    if column.type == "JSON":
        return _as_json
    if column.type.startswith("DECIMAL(") or (column.type == "VARCHAR" and column.shape.kinds & ~(NULL | TEXT)):
        return _as_text
    return None


# ---------------------------------------------------------------- scans


def _written_again(call: Call, found: Survey) -> tuple[str, list[str], list[Warn]]:
    """Every record on a line of its own in the scratch folder: the scan of it, its path, and warnings."""
    written = found.as_written  # then every number comes as text: those of number columns become numbers again
    columns = [LineColumn(column.name, column.type, _encoder(column) or (plain if written else None)) for column in found.columns]

    def every() -> Iterator[list[Any]]:
        for record in found.records(written=written):
            yield cells_of(record, found)

    lines = write_lines(call, f"json-{_tag(found)}.ndjson", found.name, columns, every())
    return scan_of_lines(lines, columns), [lines.path], half_pair_warnings(lines.replaced)


def _tag(found: Survey) -> str:
    """What tells this table of this file apart from others in the scratch folder."""
    return f"{abs(hash((found.path, found.steps, tuple(column.type for column in found.columns)))):x}"


def _same_in_duckdb(found: Survey) -> bool:
    """Whether DuckDB's own reader gives the very values from the file itself."""
    if found.steps or found.half_pairs or found.notes.twice or found.encoding not in ("utf-8", "utf-8-sig"):
        return False
    if found.layout == LINES and not found.one_per_line:
        return False
    return all(column.key == column.name and _encoder(column) is None and not _has_nan(column.shape) for column in found.columns)


def _has_nan(shape: Shape) -> bool:
    parts = [*(shape.fields or {}).values(), *([shape.element] if shape.element else [])]
    return shape.not_a_number or any(map(_has_nan, parts))


def _scan_of_file(found: Survey) -> str:
    types = ", ".join(f"{quote_text(column.name)}: {quote_text(column.type)}" for column in found.columns)
    names = ", ".join(quote_name(column.name) for column in found.columns)
    form = "array" if found.layout == ARRAY else "newline_delimited"
    return f"SELECT {names} FROM {reader(found.path, form, types, found.longest * 4)}"

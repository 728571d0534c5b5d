"""The result of a query: written by the engine straight to a file, once; count, preview and hash come from that."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ..artifacts import OutputFile
from ..envelope import Artifact, Column
from ..errors import InvalidParameters
from .csv.layout import usable_names
from .engine import Engine, native
from .engine_errors import told
from .sql_text import literal_path, quote_name, quote_text

FORMATS = ("parquet", "csv", "json")
_OPTIONS = {
    "parquet": "FORMAT parquet, COMPRESSION snappy",
    "csv": "FORMAT csv, HEADER true",
    "json": "FORMAT json, ARRAY true",
}
_PLAIN = {
    "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
    "FLOAT", "DOUBLE", "VARCHAR",
}  # fmt: skip


@dataclass
class Result:
    """The rows to show, the exact count, and the file with all of them."""

    columns: list[Column]
    rows: list[list[Any]]
    total_rows: int
    artifact: Artifact | None


def output_format(output_path: str | None, asked: str | None, default: str = "parquet") -> str:
    """The format of a result file: the one asked for, else the one its extension names, else the default."""
    if asked is not None:
        return asked
    extension = (output_path or "").rpartition(".")[2].lower()
    named = {"parquet": "parquet", "pq": "parquet", "csv": "csv", "json": "json"}
    if extension in ("tsv", "xlsx", "xls", "ndjson", "jsonl", "gz", "zst"):
        raise InvalidParameters(
            f"A result cannot be written as .{extension}.",
            f"Choose an output_path that ends in .{', .'.join(FORMATS)}, or send output_format.",
        )
    return named.get(extension, default)


def described(engine: Engine, sql: str, parameters: Any = None) -> list[Column]:
    """The columns that a SELECT gives, with DuckDB's names of their types."""
    return [Column(str(row[0]), str(row[1])) for row in engine.rows(f"DESCRIBE (\n{sql}\n)", parameters)]


def write_result(
    engine: Engine, sql: str, parameters: Any, output: OutputFile, format_name: str, preview_rows: int, offset: int = 0
) -> Result:
    """Runs the SELECT `sql` once, writing every row to the output (parquet, csv or json); shows `preview_rows` rows after
    `offset`. Raises the engine's errors."""
    engine.lock()
    columns = described(engine, sql, parameters)
    names, changed = usable_names([column.name for column in columns])
    if changed:
        told_of = ", ".join(f"{original!r} → {name}" for original, name in changed[:20])
        engine.call.warn("COLUMN_NAMES_CHANGED", f"Two columns of the result had one name, or none: {told_of}. AS names them.")
        sql = f"SELECT * FROM (\n{sql}\n) AS result({', '.join(quote_name(name) for name in names)})"
        columns = [Column(name, column.type) for name, column in zip(names, columns, strict=True)]
    scratch_name = f"result.{format_name}"
    target = engine.call.scratch_path(scratch_name)
    total = _copy(engine, sql, parameters, columns, target, format_name)
    artifact = engine.call.publish(scratch_name, output, format_name, total)
    try:
        rows = preview(engine, _reread(target, format_name, columns, 16 << 20), columns, preview_rows, offset)
    except native().InvalidInputException:  # a row longer than the engine's usual buffer
        rows = preview(engine, _reread(target, format_name, columns, artifact.bytes + 1024), columns, preview_rows, offset)
    return Result(columns, rows, total, artifact)


def _copy(engine: Engine, sql: str, parameters: Any, columns: list[Column], target: str, format_name: str) -> int:
    """Writes the file and gives the number of its rows. A HUGEINT that Parquet cannot hold as a decimal becomes text."""
    for exact in (True, False):
        cells = [_stored(column, format_name, exact) for column in columns]
        if format_name == "csv" and len(columns) == 1:  # a line with nothing on it would be no row for other readers
            name = quote_name(columns[0].name)
            cells = [f"coalesce(CAST({cells[0].partition(' AS ')[0] if cells[0] != name else name} AS VARCHAR), '') AS {name}"]
        plain = all(cell == quote_name(column.name) for cell, column in zip(cells, columns, strict=True))
        source = f"{sql}\n" if plain else f"SELECT {', '.join(cells)} FROM (\n{sql}\n)"
        statement = f"COPY ({source}) TO {quote_text(target)} ({_OPTIONS[format_name]})"
        try:
            return int(engine.execute(statement, parameters).fetchone()[0])
        except native().ConversionException as problem:
            if not exact or format_name != "parquet" or not any(column.type == "HUGEINT" for column in columns):
                raise
            if "DECIMAL(38,0)" not in str(told(problem)["exception_message"]):
                raise
    raise AssertionError("both ways return or raise")


def _stored(column: Column, format_name: str, exact: bool) -> str:
    """The SQL of a column as the file holds it: exactly, in a form that reads back."""
    name, kind = quote_name(column.name), column.type
    made = name
    if format_name == "parquet":
        if kind in ("HUGEINT", "UHUGEINT"):
            made = f"CAST({name} AS {'DECIMAL(38,0)' if exact and kind == 'HUGEINT' else 'VARCHAR'})"
        elif kind in ("BIGNUM", "BIT", "TIME WITH TIME ZONE", "INTERVAL") or kind.startswith("UNION("):
            made = f"CAST({name} AS VARCHAR)"
        elif is_nested(kind) and "HUGEINT" in kind:
            made = f"CAST({name} AS {kind.replace('UHUGEINT', 'VARCHAR').replace('HUGEINT', 'DECIMAL(38,0)')})"
    elif format_name == "csv":
        if is_nested(kind):
            made = f"to_json({name})::VARCHAR"
        elif kind == "BLOB":
            made = f"'hex:' || lower(hex({name}))"
    elif kind in ("DOUBLE", "FLOAT"):
        made = f"CASE WHEN isfinite({name}) THEN to_json({name}) ELSE to_json({_special(name)}) END"
    elif kind == "BLOB":
        made = f"'hex:' || lower(hex({name}))"
    return name if made == name else f"{made} AS {name}"


def _special(name: str) -> str:
    return f"CASE WHEN isnan({name}) THEN 'NaN' WHEN {name} > 0 THEN 'Infinity' WHEN {name} < 0 THEN '-Infinity' END"


def is_nested(kind: str) -> bool:
    """Whether a type is a list, a struct, a map or a union."""
    return kind.endswith("]") or kind.startswith(("STRUCT(", "MAP(", "UNION("))


def _reread(target: str, format_name: str, columns: list[Column], longest: int) -> str:
    """A SELECT over the file just written, with the types of the query again as far as showing them asks for it."""
    path = literal_path(target)
    if format_name == "parquet":
        return f"SELECT * FROM read_parquet({path}, hive_partitioning=false)"
    kinds = ", ".join(f"{quote_text(column.name)}: {quote_text(_text_type(column.type, format_name))}" for column in columns)
    if format_name == "csv":
        single = len(columns) == 1
        return (
            f"SELECT * FROM read_csv({path}, auto_detect=false, header=true, delim=',', quote='\"', escape='\"', nullstr='', "
            f"allow_quoted_nulls={'true' if single else 'false'}, new_line='\\n', max_line_size={longest}, columns={{{kinds}}})"
        )
    return f"SELECT * FROM read_json({path}, format='array', maximum_object_size={longest}, columns={{{kinds}}})"


def _text_type(kind: str, format_name: str) -> str:
    if is_nested(kind):
        return "VARCHAR" if format_name == "csv" else "JSON"
    if format_name == "json" and kind in ("DOUBLE", "FLOAT"):
        return "JSON"
    exact = (
        kind in ("BOOLEAN", "DOUBLE", "FLOAT")
        or kind.endswith(("TINYINT", "SMALLINT", "INTEGER", "BIGINT"))
        or kind.startswith("DECIMAL")
    )
    return kind if exact else "VARCHAR"


def preview(engine: Engine, source: str, columns: list[Column], count: int, offset: int = 0) -> list[list[Any]]:
    """Rows of a SELECT as they are shown: Python values that json_value turns into exact JSON."""
    names = [f"c{position}" for position in range(len(columns))]
    cells = [shown(name, column.type) for name, column in zip(names, columns, strict=True)]
    page = f"(SELECT * FROM ({source}) LIMIT {count} OFFSET {offset}) AS t({', '.join(names)})"
    rows = engine.rows(f"SELECT {', '.join(cells)} FROM {page}")
    kinds = [column.type for column in columns]
    return [[_settled(value, kind) for value, kind in zip(row, kinds, strict=True)] for row in rows]


def _settled(value: Any, kind: str) -> Any:
    """A value that the file or the query gave as text, as what its type says it is."""
    if not isinstance(value, str) or kind == "VARCHAR":
        return value
    if is_nested(kind) or kind == "JSON":
        try:
            return json.loads(value, parse_float=Decimal)
        except ValueError:
            return value
    if kind in ("HUGEINT", "UHUGEINT"):
        return int(value)
    if kind in ("DOUBLE", "FLOAT"):
        return float(value.strip('"'))
    return value


def shown(expression: str, kind: str) -> str:
    """The SQL that brings a value to Python without loss: what Python has no exact type for comes as ISO 8601 text."""
    if kind in _PLAIN or kind.startswith("DECIMAL") or kind in ("HUGEINT", "UHUGEINT", "BLOB"):
        return expression
    if kind in ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"):
        return f"replace(CAST({expression} AS VARCHAR), ' ', 'T')"
    if kind == "TIMESTAMP WITH TIME ZONE":
        return f"replace(CAST({expression} AS VARCHAR), ' ', 'T') || ':00'"
    if kind in ("TIME", "TIME_NS"):
        return f"CAST({expression} AS VARCHAR)"
    if is_nested(kind):
        return expression if not _has_fine_times(kind) else f"to_json({expression})"
    return f"CAST({expression} AS VARCHAR)"


def _has_fine_times(kind: str) -> bool:
    return any(word in kind for word in ("TIMESTAMP_NS", "WITH TIME ZONE", "INTERVAL", "TIME_NS", "UNION("))

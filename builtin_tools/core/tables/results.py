"""The result of a query: written by the engine straight to a file, once; count, preview and hash come from that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..artifacts import OutputFile
from ..call import Call
from ..envelope import Artifact, Column
from ..errors import InvalidParameters
from .csv.layout import usable_names
from .engine import Engine, native
from .engine_errors import told
from .result_cells import reread_type, settled, shown, stored, types_kept
from .sql_text import literal_path, quote_name, quote_text

FORMATS = ("parquet", "csv", "json")
_OPTIONS = {
    "parquet": "FORMAT parquet, COMPRESSION snappy",
    "csv": "FORMAT csv, HEADER true",
    "json": "FORMAT json, ARRAY true",
}


@dataclass
class Result:
    """The rows to show, the exact count, and the file with all of them."""

    columns: list[Column]
    rows: list[list[Any]]
    total_rows: int
    artifact: Artifact | None


def asked_output(call: Call, output_path: str | None, overwrite: bool | None, asked: str | None) -> str:
    """The format of the result file that a call asks for; a place that is taken or out of reach is told before the work.

    Raises OutputExists, PathOutsideArtifacts, InvalidParameters.
    """
    if output_path is not None:
        call.directory.output_file(output_path, bool(overwrite))
    return output_format(output_path, asked)


def output_format(output_path: str | None, asked: str | None, default: str = "parquet") -> str:
    """The format of a result file: the one asked for, else the one its extension names, else the default."""
    extension = (output_path or "").rpartition(".")[2].lower()
    named = {"parquet": "parquet", "pq": "parquet", "csv": "csv", "json": "json"}
    if asked is not None:
        if named.get(extension, asked) != asked:
            raise InvalidParameters(
                f"output_path ends in .{extension}, but output_format is {asked!r}: the file could not be read again by its name.",
                f"Leave output_format out, or choose an output_path that ends in .{asked}.",
            )
        return asked
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
    if format_name == "csv" and len(columns) == 1 and columns[0].type == "VARCHAR":
        engine.call.warn("NULL_AS_EMPTY", 'In a CSV file of one column NULL and the empty string are both written as "".')
    scratch_name = f"result.{format_name}"
    target = engine.call.scratch_path(scratch_name)
    total = _copy(engine, sql, parameters, columns, target, format_name)
    artifact = engine.call.publish(scratch_name, output, format_name, total)
    try:
        rows = preview(engine, _reread(target, format_name, columns, 16 << 20), columns, preview_rows, offset, format_name)
    except native().InvalidInputException:  # a row longer than the engine's usual buffer
        rows = preview(
            engine, _reread(target, format_name, columns, artifact.bytes + 1024), columns, preview_rows, offset, format_name
        )
    return Result(columns, rows, total, artifact)


def _copy(engine: Engine, sql: str, parameters: Any, columns: list[Column], target: str, format_name: str) -> int:
    """Writes the file and gives the number of its rows. A HUGEINT that Parquet cannot hold as a decimal becomes text."""
    for exact in (True, False):
        cells = [stored(column, format_name, exact) for column in columns]
        if format_name == "csv" and len(columns) == 1:  # a line with nothing on it would be no row for other readers
            name = quote_name(columns[0].name)
            cells = [f"coalesce(CAST({cells[0].partition(' AS ')[0] if cells[0] != name else name} AS VARCHAR), '') AS {name}"]
        plain = all(cell == quote_name(column.name) for cell, column in zip(cells, columns, strict=True))
        source = f"{sql}\n" if plain else f"SELECT {', '.join(cells)} FROM (\n{sql}\n)"
        options = _OPTIONS[format_name] + (types_kept(columns) if format_name == "parquet" else "")
        statement = f"COPY ({source}) TO {quote_text(target)} ({options})"
        try:
            return int(engine.execute(statement, parameters).fetchone()[0])
        except native().ConversionException as problem:
            if not exact or format_name != "parquet" or not any("HUGEINT" in column.type for column in columns):
                raise
            if "DECIMAL(38,0)" not in str(told(problem)["exception_message"]):
                raise
    raise AssertionError("both ways return or raise")


def _reread(target: str, format_name: str, columns: list[Column], longest: int) -> str:
    """A SELECT over the file just written, with the types of the query again as far as showing them asks for it."""
    path = literal_path(target)
    if format_name == "parquet":
        return f"SELECT * FROM read_parquet({path}, hive_partitioning=false)"
    kinds = ", ".join(f"{quote_text(column.name)}: {quote_text(reread_type(column.type, format_name))}" for column in columns)
    if format_name == "csv":
        single = len(columns) == 1
        return (
            f"SELECT * FROM read_csv({path}, auto_detect=false, header=true, delim=',', quote='\"', escape='\"', nullstr='', "
            f"allow_quoted_nulls={'true' if single else 'false'}, new_line='\\n', max_line_size={longest}, columns={{{kinds}}})"
        )
    return f"SELECT * FROM read_json({path}, format='array', maximum_object_size={longest}, columns={{{kinds}}})"


def preview(
    engine: Engine, source: str, columns: list[Column], count: int, offset: int = 0, format_name: str = "parquet"
) -> list[list[Any]]:
    """Rows of a SELECT as they are shown: Python values that json_value turns into exact JSON.

    `format_name`: that of the file which `source` reads; where it reads none, columns have their own types as in Parquet.
    """
    names = [f"c{position}" for position in range(len(columns))]
    cells = [shown(name, column.type, format_name) for name, column in zip(names, columns, strict=True)]
    page = f"(SELECT * FROM ({source}) LIMIT {count} OFFSET {offset}) AS t({', '.join(names)})"
    rows = engine.rows(f"SELECT {', '.join(cells)} FROM {page}")
    kinds = [column.type for column in columns]
    return [[settled(value, kind) for value, kind in zip(row, kinds, strict=True)] for row in rows]

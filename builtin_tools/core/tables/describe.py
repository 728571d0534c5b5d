"""What the columns of a table are, and with a profile what is in them."""

from __future__ import annotations

from typing import Any

from ..call import Call, current
from ..envelope import Answer, Column, Table, Warn
from ..errors import ToolError, listed
from .engine import Engine, native
from .engine_errors import engine_error
from .formats import TABULAR, format_by_name
from .ingest_cache import again_without_cache
from .prepared import Prepared, SourceColumn
from .result_cells import is_nested
from .sources import Sources
from .sql_text import quote_name

_COLUMNS = [
    Column("column", "VARCHAR"), Column("type", "VARCHAR"), Column("original_name", "VARCHAR"), Column("nullable", "BOOLEAN"),
    Column("note", "VARCHAR"),
]  # fmt: skip
_PROFILE = [
    Column("nulls", "BIGINT"), Column("distinct", "BIGINT"), Column("min", "VARCHAR"), Column("max", "VARCHAR"),
    Column("mean", "DOUBLE"), Column("samples", "VARCHAR[]"),
]  # fmt: skip
_SAMPLES = 5
_SAMPLED_ROWS = 1_000
_CHUNK = 50  # columns profiled in one statement


@again_without_cache
def describe_table(path: str | None, profile: bool) -> Answer:
    """The answer of describe_table. Raises the errors of sources and engine."""
    call = current()
    engine = Engine.open(call)
    sources = Sources(engine)
    if path is None:
        return _all(call, engine, sources, profile)
    path = call.directory.relative(path)
    try:
        prepared = sources.open(path)
        rows = _rows(engine, prepared, profile)
        total = _total(engine, prepared)
    except native().Error as problem:
        raise engine_error(problem, engine) from None
    size = sum(file.size for file in call.inputs.values())
    details = {"path": path, "format": prepared.format, "rows": total, "bytes": size, **prepared.details}
    counts = f"{total:,} {'row' if total == 1 else 'rows'} and {len(rows):,} {'column' if len(rows) == 1 else 'columns'}"
    summary = f"{path} is a {prepared.format} table with {counts}."
    return Answer(
        summary, Table(_COLUMNS + (_PROFILE if profile else []), rows, len(rows)), details=details, warnings=prepared.warnings
    )


def _total(engine: Engine, prepared: Prepared) -> int:
    if prepared.rows is None:
        prepared.rows = int(engine.rows(f"SELECT count(*) FROM ({prepared.scan})")[0][0])
    return prepared.rows


def _rows(engine: Engine, prepared: Prepared, profile: bool) -> list[list[Any]]:
    rows: list[list[Any]] = [
        [column.name, column.type, column.original_name, column.nullable, column.note or None] for column in prepared.columns
    ]
    if profile:
        for start in range(0, len(rows), _CHUNK):
            found = _profiles(engine, prepared, prepared.columns[start : start + _CHUNK])
            for row, more in zip(rows[start : start + _CHUNK], found, strict=True):
                row += more
    return rows


def _comparable(column: SourceColumn) -> str:
    name = quote_name(column.name)
    return f"to_json({name})::VARCHAR" if is_nested(column.type) else name


def _profiles(engine: Engine, prepared: Prepared, columns: list[SourceColumn]) -> list[list[Any]]:
    """Of each column: nulls, distinct values, least and most as text, mean of numbers, and the first distinct values."""
    parts = []
    for column in columns:
        name, value = quote_name(column.name), _comparable(column)
        numeric = (
            column.type in ("DOUBLE", "FLOAT") or column.type.startswith("DECIMAL") or column.type.endswith(("INT", "INTEGER"))
        )
        mean = f"favg({name}::DOUBLE)" if numeric else "NULL"  # a sum of wide decimals can overflow, one of doubles cannot
        parts += [
            f"count(*) - count({name})",
            f"count(DISTINCT {value})",
            f"min({value})::VARCHAR",
            f"max({value})::VARCHAR",
            mean,
        ]
    counted = engine.rows(f"SELECT {', '.join(parts)} FROM ({prepared.scan})")[0]
    texts = ", ".join(f"{_comparable(column)}::VARCHAR" for column in columns)
    first = engine.rows(f"SELECT {texts} FROM ({prepared.scan}) LIMIT {_SAMPLED_ROWS}")
    found = []
    for position, column in enumerate(columns):
        samples = list(dict.fromkeys(row[position] for row in first if row[position] is not None))[:_SAMPLES]
        facts = counted[position * 5 : position * 5 + 5]
        if not samples and facts[1]:
            name, value = quote_name(column.name), _comparable(column)
            rows = engine.rows(f"SELECT {value}::VARCHAR FROM ({prepared.scan}) WHERE {name} IS NOT NULL LIMIT {_SAMPLED_ROWS}")
            samples = list(dict.fromkeys(row[0] for row in rows))[:_SAMPLES]
        found.append([*facts, samples])
    return found


def _all(call: Call, engine: Engine, sources: Sources, profile: bool) -> Answer:
    """Every table of the directory, a line a column; what cannot be read is told and passed over."""
    rows: list[list[Any]] = []
    tables: list[dict[str, Any]] = []
    warnings: list[Warn] = []
    for path, entry in call.directory.walk():
        if not entry.is_file() or format_by_name(entry.name) not in TABULAR:
            continue
        try:
            prepared = sources.open(path)
            rows += [[path, *row] for row in _rows(engine, prepared, profile)]
            tables.append(
                {"path": path, "format": prepared.format, "rows": _total(engine, prepared), "columns": len(prepared.columns)}
            )
        except native().Error as problem:
            warnings.append(Warn("FILE_NOT_READ", f"{path}: {engine_error(problem, engine).message}"))
        except ToolError as problem:
            warnings.append(Warn("FILE_NOT_READ", f"{path}: {problem.message}"))
    names = [str(table["path"]) for table in tables]
    summary = (
        f"{len(tables):,} {'table' if len(tables) == 1 else 'tables'}: {listed(names, 10)}."
        if tables
        else "The directory holds no table."
    )
    columns = [Column("path", "VARCHAR"), *_COLUMNS, *(_PROFILE if profile else [])]
    return Answer(summary, Table(columns, rows, len(rows)), details={"tables": tables}, warnings=warnings)

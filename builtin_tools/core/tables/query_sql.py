"""One read-only SQL statement over the files of the directory, its full result in a file."""

from __future__ import annotations

from typing import Any

from ..call import Call, current
from ..envelope import SHOWN, Answer, Table
from ..errors import ToolError
from .catalog import Catalog
from .engine import Engine, native
from .engine_errors import engine_error
from .guard import check
from .ingest_cache import again_without_cache
from .pivot import Pivot, find_pivot
from .results import Result, asked_output, write_result
from .sources import Sources


@again_without_cache
def query_sql(
    sql: str, parameters: Any, preview_rows: int | None, output_path: str | None, asked_format: str | None, overwrite: bool | None
) -> Answer:
    """The answer of query_sql. Raises the errors of guard, sources and engine."""
    call = current()
    format_name = asked_output(call, output_path, overwrite, asked_format)
    engine = Engine.open(call)
    catalog = Catalog(engine, Sources(engine))
    try:
        text = _ready(engine, catalog, sql, parameters)
        output = call.result_output(output_path, overwrite, "query", format_name)
        result = write_result(engine, text, parameters, output, format_name, call.preview_rows(preview_rows))
    except native().Error as problem:
        raise engine_error(problem, engine, sql, catalog.columns) from None
    return _answer(call, catalog, sql, result)


def _ready(engine: Engine, catalog: Catalog, sql: str, parameters: Any) -> str:
    """The text that is run: checked, its files made views, the engine locked."""
    pivot = find_pivot(engine, sql)
    if pivot is None:
        text = catalog.resolve(_with_columns(engine, catalog, sql))
        engine.lock()
        return text
    return _pivoted(engine, catalog, pivot, parameters)


def _with_columns(engine: Engine, catalog: Catalog, sql: str) -> Any:
    """`check`, with the columns of the files that the text names at hand for the message where it does not parse."""
    try:
        return check(engine, sql)
    except ToolError as problem:
        if problem.code == "SQL_SYNTAX_ERROR":
            _explain(engine, catalog, sql, problem)
        raise


def _explain(engine: Engine, catalog: Catalog, sql: str, problem: ToolError) -> None:
    """Adds to a syntax error the names that need quotes, of files that the text seems to name."""
    import re

    from .engine_errors import quoted_names_sentence

    for name in re.findall(r"""\bfrom\s+(?:'([^']+)'|"([^"]+)"|([\w.]+))""", sql, re.IGNORECASE)[:3]:
        word = next(part for part in name if part)
        try:
            columns = [column.name for column in catalog.add(word, catalog.path(word)).columns]
        except (ToolError, native().Error):
            continue
        sentence = quoted_names_sentence(columns, sql)
        if sentence:
            problem.guidance = f"{sentence} {problem.guidance}"


def _pivoted(engine: Engine, catalog: Catalog, pivot: Pivot, parameters: Any) -> str:
    """A PIVOT whose values are not listed: they are looked up by a query that is checked as any other."""
    checked = check(engine, pivot.with_values([["?"] for _ in pivot.lookups]))
    catalog.resolve(checked)
    lookups = [check(engine, lookup) for lookup in pivot.lookups]
    texts = [catalog.resolve(lookup) for lookup in lookups]
    engine.lock()
    found = [[str(row[0]) for row in engine.rows(text, parameters)] for text in texts]
    return check(engine, pivot.with_values(found)).sql


def _answer(call: Call, catalog: Catalog, sql: str, result: Result) -> Answer:
    artifact = result.artifact
    path = artifact.path if artifact else ""
    total = result.total_rows
    if total == 0:
        summary = f"No rows: the query matched nothing. The empty result with its columns is {path}."
    else:
        summary = f"{total:,} {'row' if total == 1 else 'rows'}; {SHOWN} shown, all in {path}."
    root = call.directory.root + "/"
    files = {name.replace(root, ""): prepared.format for name, prepared in catalog.prepared.items()}
    details: dict[str, Any] = {"sql": sql.replace(root, "")}
    if files:
        details["tables"] = files
    warnings = [warning for prepared in catalog.prepared.values() for warning in prepared.warnings]
    return Answer(
        summary,
        Table(result.columns, result.rows, total),
        artifacts=[artifact] if artifact else [],
        details=details,
        warnings=warnings,
    )

"""A CSV file as it is: its rows from an offset on, its dialect, and what became of each line."""

from __future__ import annotations

from typing import Any

from ..call import current
from ..envelope import SHOWN, Answer, Column, Table
from .csv.source import CsvOptions
from .engine import Engine, native
from .engine_errors import engine_error
from .filters import find_column
from .ingest_cache import again_without_cache
from .results import asked_output, preview, write_result
from .sources import Sources
from .sql_text import quote_name


@again_without_cache
def read_csv(args: Any) -> Answer:
    """The answer of read_csv for its validated arguments. Raises the errors of sources and engine."""
    call = current()
    shown = call.directory.relative(args.path)
    wanted = args.output_path is not None or args.output_format is not None
    format_name = asked_output(call, args.output_path, args.overwrite, args.output_format)
    engine = Engine.open(call)
    options = CsvOptions(
        args.delimiter, args.quote, args.encoding, args.header, args.skip_rows, args.decimal, args.thousands, args.date_format,
        tuple(args.null_values or ()),
    )  # fmt: skip
    count, offset = call.preview_rows(args.preview_rows), args.offset or 0
    try:
        prepared = Sources(engine).open(args.path, options)
        chosen = [find_column(name, prepared.columns, shown, "columns") for name in args.columns or []] or prepared.columns
        names = list(dict.fromkeys(column.name for column in chosen))
        by_name = {column.name: column for column in prepared.columns}
        columns = [Column(name, by_name[name].type) for name in names]
        sql = f"SELECT {', '.join(quote_name(name) for name in names)} FROM ({prepared.scan})"
        artifacts = []
        if wanted:
            output = call.result_output(args.output_path, args.overwrite, "csv", format_name)
            result = write_result(engine, sql, None, output, format_name, count, offset)
            rows, total, columns = result.rows, result.total_rows, result.columns
            artifacts = [result.artifact] if result.artifact else []
        else:
            engine.lock()
            rows = preview(engine, sql, columns, count, offset)
            total = (
                prepared.rows if prepared.rows is not None else int(engine.rows(f"SELECT count(*) FROM ({prepared.scan})")[0][0])
            )
    except native().Error as problem:
        raise engine_error(problem, engine) from None
    where = f" from row {offset + 1:,} on" if offset else ""
    kept = f", all in {artifacts[0].path}" if artifacts else ""
    summary = f"{shown} has {total:,} {'row' if total == 1 else 'rows'} and {len(columns):,} {'column' if len(columns) == 1 else 'columns'}; {SHOWN} shown{where}{kept}."
    details = {"format": prepared.format, **prepared.details}
    return Answer(summary, Table(columns, rows, total, offset), artifacts=artifacts, details=details, warnings=prepared.warnings)

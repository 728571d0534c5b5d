"""Filters, groups, order and limits over one table, put into SQL with bound values."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from ..call import Call, current
from ..envelope import SHOWN, Answer, Table, Warn, json_value
from ..errors import InvalidParameters, near_names
from .catalog import Catalog
from .engine import Engine, native
from .engine_errors import engine_error
from .filters import Conditions, build, find_column
from .ingest_cache import again_without_cache
from .prepared import Prepared, SourceColumn
from .result_cells import is_nested
from .results import Result, asked_output, write_result
from .sources import Sources
from .sql_text import quote_name, quote_text

_FUNCTIONS = {
    "count": "count({})", "count_distinct": "count(DISTINCT {})", "sum": "sum({})", "avg": "avg({})", "min": "min({})",
    "max": "max({})", "median": "median({})", "stddev": "stddev({})",
}  # fmt: skip
_SPELLINGS = {
    "mean": "avg", "average": "avg", "minimum": "min", "maximum": "max", "total": "sum", "std": "stddev", "stdev": "stddev",
    "nunique": "count_distinct", "distinct": "count_distinct", "distinct_count": "count_distinct", "n": "count", "size": "count",
    "standard_deviation": "stddev", "stddev_samp": "stddev", "countdistinct": "count_distinct",
}  # fmt: skip


@dataclass
class _Query:
    """The parts of the SELECT, each in SQL. `outputs` are the names that ORDER BY may use."""

    cells: list[str] = field(default_factory=list)
    outputs: list[SourceColumn] = field(default_factory=list)
    groups: list[SourceColumn] = field(default_factory=list)
    aggregated: bool = False


@again_without_cache
def query_table(args: Any) -> Answer:
    """The answer of query_table for its validated arguments. Raises the errors of sources, filters and engine."""
    call = current()
    args = args.model_copy(update={"path": call.directory.relative(args.path)})
    format_name = asked_output(call, args.output_path, args.overwrite, args.output_format)
    engine = Engine.open(call)
    catalog = Catalog(engine, Sources(engine))
    try:
        prepared = catalog.add(args.path, args.path, _needed(args))
        conditions = build(engine, args.filters or [], prepared.columns, args.path)
        query = _selected(args, prepared)
        sql = _sql(args, query, conditions, prepared)
        output = call.result_output(args.output_path, args.overwrite, "query", format_name)
        result = write_result(engine, sql, conditions.parameters, output, format_name, call.preview_rows(args.preview_rows))
    except native().Error as problem:
        raise engine_error(problem, engine, "", catalog.columns) from None
    return _answer(call, args, prepared, conditions, sql, result)


def _needed(args: Any) -> frozenset[str] | None:
    """The names, in small letters, of all columns that the arguments may mean; None where they mean every column."""
    if not args.columns and not args.group_by and not args.aggregates:
        return None
    names = [*(args.columns or []), *(args.group_by or [])]
    for given in [*(args.filters or []), *(args.aggregates or []), *(args.order_by or [])]:
        names += (
            [str(given.get("column", ""))] if isinstance(given, dict) else [given, *re.split(r"[\s,]+", given), *given.split(",")]
        )
        if isinstance(given, str):
            names += [re.sub(r"\s+(asc|desc)\w*\s*$", "", part, flags=re.IGNORECASE) for part in [given, *given.split(",")]]
    return frozenset(name.strip().casefold() for name in names)


def _selected(args: Any, prepared: Prepared) -> _Query:
    if not args.group_by and not args.aggregates:
        query = _Query()
        chosen = [find_column(name, prepared.columns, args.path, "columns") for name in args.columns or []] or prepared.columns
        for column in chosen:
            if column not in query.outputs:
                query.outputs.append(column)
                query.cells.append(quote_name(column.name))
        return query
    return _aggregated(args, prepared)


def _aggregated(args: Any, prepared: Prepared) -> _Query:
    query = _Query(aggregated=True)
    for name in args.group_by or []:
        column = find_column(name, prepared.columns, args.path, "group_by")
        if column not in query.groups:
            query.groups.append(column)
            query.cells.append(quote_name(column.name))
            query.outputs.append(column)
    for name in args.columns or []:
        column = find_column(name, prepared.columns, args.path, "columns")
        if column not in query.groups:
            raise InvalidParameters(
                f"columns names {column.name!r}, which is no column of group_by.",
                "With groups, leave columns out, or add the column to group_by or aggregates.",
            )
    for number, given in enumerate(args.aggregates or [], 1):
        _add_aggregate(query, number, given, args, prepared)
    return query


def _add_aggregate(query: _Query, number: int, given: dict[str, Any], args: Any, prepared: Prepared) -> None:
    unknown = set(given) - {"function", "column", "alias"}
    if unknown or not isinstance(given.get("function"), str):
        raise InvalidParameters(
            f"Aggregate {number} is {json.dumps(given, ensure_ascii=False, default=str)[:120]}.",
            'Send for example {"function": "sum", "column": "amount", "alias": "total"}.',
        )
    word = re.sub(r"[\s-]+", "_", given["function"].strip().casefold())
    function = _SPELLINGS.get(word, word)
    if function not in _FUNCTIONS:
        near = near_names(word, [*_FUNCTIONS, *_SPELLINGS], 1)
        hint = f"Did you mean {near[0]}? " if near else ""
        raise InvalidParameters(
            f"There is no aggregate {given['function'][:80]!r}.", f"{hint}Aggregates: {', '.join(_FUNCTIONS)}."
        )
    name = given.get("column")
    if name in (None, "*", ""):
        if function != "count":
            raise InvalidParameters(
                f"The aggregate {function} needs a column.", f'Send {{"function": "{function}", "column": "…"}}.'
            )
        argument, default = "*", "count"
    else:
        column = find_column(name, prepared.columns, args.path, f"Aggregate {number}")
        if function in ("sum", "avg", "stddev") and column.type == "VARCHAR":
            raise InvalidParameters(
                f"The aggregate {function} needs numbers, but {column.name!r} is text{f' ({column.note})' if column.note else ''}.",
                f"Choose another column, or use query_sql with {function}(TRY_CAST({quote_name(column.name)} AS DOUBLE)).",
            )
        argument, default = quote_name(column.name), f"{function}_{column.name}"
    alias = given.get("alias") or default
    if not isinstance(alias, str):
        raise InvalidParameters(f"The alias of aggregate {number} is no text.", 'Send for example "total".')
    if any(output.name.casefold() == alias.casefold() for output in query.outputs):
        raise InvalidParameters(
            f"Two columns of the result would be named {alias!r}.", "Give each aggregate an alias of its own."
        )
    query.cells.append(f"{_FUNCTIONS[function].format(argument)} AS {quote_name(alias)}")
    query.outputs.append(SourceColumn(alias, "", alias))


def _sql(args: Any, query: _Query, conditions: Conditions, prepared: Prepared) -> str:
    """The SELECT: ties fall the same way on every run, since what was not asked to order by orders last."""
    parts = [f"SELECT {', '.join(query.cells)}", f"FROM {quote_text(args.path)}"]
    if conditions.sql:
        parts.append(f"WHERE {conditions.sql}")
    if query.groups:
        parts.append(f"GROUP BY {', '.join(quote_name(column.name) for column in query.groups)}")
    order = _order(args, query, prepared)
    if order:
        parts.append(f"ORDER BY {', '.join(order)}")
    if args.limit is not None:
        parts.append(f"LIMIT {args.limit}")
    if args.offset:
        parts.append(f"OFFSET {args.offset}")
    return "\n".join(parts)


def _order(args: Any, query: _Query, prepared: Prepared) -> list[str]:
    terms, named = [], set()
    others = [] if query.aggregated else [column for column in prepared.columns if column not in query.outputs]
    candidates = [*query.outputs, *others]
    for given in _parted(args.order_by or [], candidates):
        column, descending = _order_term(given, candidates, "The grouped result" if query.aggregated else args.path)
        if column.name not in named:
            named.add(column.name)
            terms.append(f"{quote_name(column.name)} {'DESC' if descending else 'ASC'} NULLS LAST")
    rest = query.groups if query.aggregated else (query.outputs if terms else [])
    return terms + [quote_name(column.name) for column in rest if column.name not in named and not is_nested(column.type)]


def _parted(order: list[Any], candidates: list[SourceColumn]) -> list[Any]:
    """The terms, of which `name desc, id` are two unless a column is named so."""
    names = {column.name for column in candidates}
    parted: list[Any] = []
    for given in order:
        several = isinstance(given, str) and "," in given and not any(name in given for name in names if "," in name)
        parted += [part for part in given.split(",") if part.strip()] if several else [given]
    return parted


def _order_term(given: Any, candidates: list[SourceColumn], table: str) -> tuple[SourceColumn, bool]:
    if isinstance(given, dict):
        unknown = set(given) - {"column", "direction"}
        if unknown or "column" not in given:
            raise InvalidParameters(
                f"order_by has {json.dumps(given, ensure_ascii=False, default=str)[:120]}.",
                'Send {"column": "amount", "direction": "desc"}.',
            )
        word = str(given.get("direction") or "asc").strip().casefold()
        if word not in ("asc", "desc", "ascending", "descending"):
            raise InvalidParameters(f"order_by has the direction {word[:60]!r}.", 'Send "asc" or "desc".')
        return find_column(given["column"], candidates, table, "order_by"), word.startswith("desc")
    text = str(given)
    if any(column.name == text for column in candidates):
        return find_column(text, candidates, table, "order_by"), False
    match = re.fullmatch(r"(.+?)\s+(asc|desc|ascending|descending)", text.strip(), re.IGNORECASE | re.DOTALL)
    name = match[1] if match else text
    return find_column(name, candidates, table, "order_by"), bool(match and match[2].casefold().startswith("desc"))


def _why_nothing(args: Any, prepared: Prepared) -> str:
    if args.limit == 0:
        return "No rows, since limit is 0."
    if args.offset:
        return f"No rows: offset {args.offset:,} lies past the last row, or no row matches."
    there = "" if prepared.rows != 0 else f" {args.path} has none."
    return f"No rows of {args.path} match." if args.filters else f"No rows.{there}"


def _answer(call: Call, args: Any, prepared: Prepared, conditions: Conditions, sql: str, result: Result) -> Answer:
    artifact = result.artifact
    path = artifact.path if artifact else ""
    total, source = (
        result.total_rows,
        f" of {prepared.rows:,}" if prepared.rows is not None and not (args.group_by or args.aggregates) else "",
    )
    if total == 0:
        summary = f"{_why_nothing(args, prepared)} The empty result with its columns is {path}."
    elif args.group_by or args.aggregates:
        summary = f"{total:,} {'row' if total == 1 else 'rows'} from {args.path}; {SHOWN} shown, all in {path}."
    else:
        summary = f"{total:,}{source} {'row' if total == 1 and not source else 'rows'} of {args.path}{' match' if args.filters else ''}; {SHOWN} shown, all in {path}."
    details: dict[str, Any] = {"sql": sql}
    if conditions.parameters:
        details["parameters"] = json_value(conditions.parameters)
    details["source"] = {"format": prepared.format, "rows": prepared.rows, **prepared.details}
    warnings = [Warn(code, message) for code, message in dict.fromkeys(conditions.notes)] + prepared.warnings
    return Answer(
        summary,
        Table(result.columns, result.rows, total),
        artifacts=[artifact] if artifact else [],
        details=details,
        warnings=warnings,
    )

"""What DuckDB says when something fails, told in terms of what the caller sent, with the next step."""

from __future__ import annotations

import json
import re
from typing import Any

from ..errors import (
    CacheLost,
    ColumnNotFound,
    DiskLimitExceeded,
    SqlError,
    SqlNotAllowed,
    SqlSyntaxError,
    TableNotFound,
    ToolError,
    listed,
    near_names,
)
from ..watchdog import memory_error
from .dialect_hints import function_hint, syntax_hint
from .engine import Engine
from .sql_text import quote_name


def told(problem: BaseException) -> dict[str, Any]:
    """The parts of an engine's error: exception_type, exception_message, and more where it names them."""
    text = str(problem)
    start = text.find("{")
    if start >= 0:
        try:
            parts = json.loads(text[start:])
            if isinstance(parts, dict) and "exception_message" in parts:
                return parts
        except ValueError:
            pass
    kind, _, message = text.partition(": ")
    return {"exception_type": kind.removesuffix(" Error"), "exception_message": message or text}


def engine_error(problem: BaseException, engine: Engine, sql: str = "", columns: dict[str, list[str]] | None = None) -> ToolError:
    """The tool's error for an engine's error. `columns`: the columns of each table that the statement names."""
    parts = told(problem)
    kind, message = str(parts["exception_type"]), _clean(str(parts["exception_message"]), engine)
    tables = columns or {}
    if kind in ("IO", "Invalid Input") and "cache/tables/" in message:
        return CacheLost("A kept copy of a file went away while it was read.", "Send the call again.", retryable=True)
    if kind in ("Out of Memory", "OutOfMemory"):
        if "temp" in message and "directory" in message and ("max_temp" in message or "offload" in message):
            return DiskLimitExceeded(
                "The call needs more temporary disk space than temp_disk_limit allows.",
                "Ask for less at once: a filter, fewer columns, an aggregate. The operator can raise temp_disk_limit.",
            )
        return memory_error(engine.call.memory_limit)
    if kind == "IO" and "File too large" in message:
        return DiskLimitExceeded(
            "A file of this call grew past temp_disk_limit.",
            "Ask for less at once: a filter, fewer columns, a LIMIT. The operator can raise temp_disk_limit.",
        )
    if kind == "IO" and re.search(r"No space left|Could not write", message):
        return DiskLimitExceeded("The disk is full.", "Free space in the artifact directory, then send the call again.")
    if kind in ("Parser", "Syntax"):
        return SqlSyntaxError(f"The SQL does not parse: {_one_line(message)}.", _syntax_guidance(parts, sql, tables))
    if parts.get("error_subtype") == "COLUMN_NOT_FOUND" or re.match(
        r"Referenced column|[^\n]* does not have a column named", message
    ):
        return _column_error(parts, message, sql, tables)
    if kind == "Catalog":
        return _catalog_error(parts, message, sql)
    if kind == "Permission" or "disabled by configuration" in message or "locked" in message:
        return SqlNotAllowed(
            "The statement reaches for something that is out of reach: only files that it names itself can be read.",
            "Name the file by its path in quotes, as in FROM 'data/sales.csv'.",
        )
    hint = function_hint(message, sql) or syntax_hint(sql) or _value_hint(message, kind)
    return SqlError(f"{_kind_words(kind)}: {_one_line(message)}.", hint)


def _clean(message: str, engine: Engine) -> str:
    """Without absolute paths, and without advice that is meant for users of the engine itself."""
    message = message.replace(engine.call.scratch + "/", "").replace(engine.call.directory.root + "/", "")
    message = re.split(r"\n\s*(?:Possible (?:solutions|fixes)|LINE \d+:|Column \S+ is being converted)", message)[0]
    return re.sub(r"CSV Error on Line: \d+\s*Original Line: .*?\n", "", message, flags=re.DOTALL)


def _one_line(message: str) -> str:
    return " ".join(message.split())[:600].rstrip(" .!")


def _kind_words(kind: str) -> str:
    return {
        "Conversion": "A value does not convert",
        "Binder": "The statement does not fit the tables",
        "Out of Range": "A value is out of range",
        "Invalid Input": "The statement cannot be run so",
    }.get(kind, "The statement failed")


def _value_hint(message: str, kind: str) -> str:
    if kind == "Conversion" or "Could not convert" in message:
        return "Use TRY_CAST(… AS …), which gives NULL where a value does not convert, or filter such rows out first."
    if "lambda arrow" in message:
        return "Write lambda x: x + 1 instead of x -> x + 1."
    if "No function matches" in message:
        return "Cast the argument to a type that the function takes, as in sum(CAST(amount AS DOUBLE)); describe_table shows the types."
    if "parameter" in message.lower():
        return "Send a value for each $name (an object) or for each ? (a list) in parameters."
    if "GROUP BY" in message:
        return "Add the column to GROUP BY, or wrap it in an aggregate such as any_value()."
    if "Ambiguous" in message:
        return "Qualify the column with its table, as in s.region."
    return "Correct the statement; describe_table shows the columns and types of each file."


def _column_error(parts: dict[str, Any], message: str, sql: str, tables: dict[str, list[str]]) -> ToolError:
    found = re.search(r'(?:Referenced (?:column|table)|does not have a column named) "([^"]*)"', message)
    wanted = str(parts.get("name") or (found[1] if found else "?"))
    known = [name for names in tables.values() for name in names]
    candidates = list(re.findall(r'"((?:[^"]|"")+)"', message.partition("Candidate")[2]))
    near = near_names(wanted, known) or candidates[:3]
    shown = [quote_name(name) if not re.fullmatch(r"[^\W\d]\w*", name) else name for name in near]
    closest = f"Closest: {listed(shown)}. " if shown else ""
    return ColumnNotFound(f"There is no column {wanted!r} in the tables of this statement.", closest + columns_sentence(tables))


def columns_sentence(tables: dict[str, list[str]]) -> str:
    """The columns of each table, quoted where SQL needs it."""
    told_of = []
    for table, names in tables.items():
        shown = [name if re.fullmatch(r"[^\W\d]\w*", name) else quote_name(name) for name in names]
        told_of.append(f"Columns of {table}: {listed(shown)}.")
    return " ".join(told_of) or "describe_table shows the columns of a file."


def _catalog_error(parts: dict[str, Any], message: str, sql: str) -> ToolError:
    name = str(parts.get("name", ""))
    if parts.get("type") == "Table" or message.startswith("Table with name"):
        return TableNotFound(
            f"There is no table {name!r}.", "A file is a table by its path in quotes, as in FROM 'data/sales.csv'."
        )
    hint = function_hint(message, sql)
    near = [word for word in str(parts.get("candidates", "")).split(",") if word]
    fallback = f"Closest: {listed(near)}." if near else "Use a function of DuckDB."
    return SqlError(f"{_one_line(message.split('Did you mean')[0])}.", hint or fallback)


def _syntax_guidance(parts: dict[str, Any], sql: str, tables: dict[str, list[str]]) -> str:
    hint = syntax_hint(sql)
    if hint:
        return hint
    sentence = quoted_names_sentence([name for names in tables.values() for name in names], sql)
    if sentence:
        return sentence
    near = sql[max(0, int(parts.get("position", 0)) - 20) :][:50] if parts.get("position") else ""
    return (
        f"Look near {near!r}. " * bool(near)
        + "Send one SELECT statement in DuckDB's dialect, such as SELECT region, sum(amount) FROM 'sales.csv' GROUP BY region."
    )


def quoted_names_sentence(columns: list[str], sql: str) -> str:
    """The names that stand in the SQL without the quotes they need, quoted; "" where there are none."""
    odd = [name for name in columns if not re.fullmatch(r"[^\W\d]\w*", name) and name.lower() in sql.lower()]
    return (
        f"A name with blanks or other signs stands in double quotes: {listed([quote_name(name) for name in odd])}." if odd else ""
    )

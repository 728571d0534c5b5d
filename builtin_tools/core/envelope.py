"""The answer of a tool and its one line: strict JSON (RFC 8259), within a budget of characters.

What does not fit is cut in a fixed order, and each cut is told: rows after the first, long cells, details,
then columns. Nothing is ever cut in the files that an answer reports.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

SHOWN = "{shown}"  # in a summary: replaced by the number of rows that fitted


@dataclass
class Column:
    """A column of an answer; `type` is DuckDB's name of the type."""

    name: str
    type: str


@dataclass
class Table:
    """Rows in the order of `columns`. `total_rows` is exact; `offset` is how many rows were passed over before the first."""

    columns: list[Column]
    rows: list[list[Any]]
    total_rows: int
    offset: int = 0


@dataclass
class Text:
    """Prose: `content` is as much of the whole as is at hand, `total_chars` the length of the whole."""

    content: str
    total_chars: int


@dataclass
class Artifact:
    """A file that was written: its path relative to the directory, its format, size and hash."""

    path: str
    format: str
    bytes: int
    sha256: str
    rows: int | None = None

    def document(self) -> dict[str, Any]:
        part: dict[str, Any] = {"path": self.path, "format": self.format}
        if self.rows is not None:
            part["rows"] = self.rows
        return part | {"bytes": self.bytes, "sha256": self.sha256}


@dataclass
class Warn:
    """Something that was assumed, kept back, cut or skipped."""

    code: str
    message: str


@dataclass
class Answer:
    """A success. `summary` is one or two plain sentences; `{shown}` in it becomes the number of rows shown."""

    summary: str
    table: Table | None = None
    text: Text | None = None
    artifacts: list[Artifact] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)
    warnings: list[Warn] = field(default_factory=list)


# ---------------------------------------------------------------- values


def json_value(value: Any) -> Any:
    """A value as strict JSON can hold it, exactly: a number only where a double-precision parser reads it back."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        return value if -(2**53) <= value <= 2**53 or _double_holds(value) else str(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, Decimal):
        return _json_decimal(value)
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "hex:" + bytes(value).hex()
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(json_value(key)): json_value(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(part) for part in value]
    if isinstance(value, timedelta):
        return str(value)
    return str(value)


def _double_holds(value: int) -> bool:
    try:
        return int(float(value)) == value
    except OverflowError:
        return False


def _json_decimal(value: Decimal) -> Any:
    if not value.is_finite():
        return "NaN" if value.is_nan() else ("Infinity" if value > 0 else "-Infinity")
    if value == value.to_integral_value() and abs(value) < Decimal(2**53):
        return int(value)
    nearest = float(value)
    return nearest if math.isfinite(nearest) and Decimal(repr(nearest)) == value else format(value, "f")


def cut_cell(value: Any, limit: int) -> tuple[Any, bool]:
    """The cell within `limit` characters, and whether it was cut. A cut cell ends in `… [N chars]`, N its true length."""
    if isinstance(value, str):
        text = value
    elif isinstance(value, (list, dict)):
        text = dumps(value)
    else:
        return value, False
    if len(text) <= limit:
        return value, False
    return f"{text[:limit]}… [{len(text):,} chars]", True


def dumps(value: Any) -> str:
    """Compact strict JSON on one line, with other scripts as they are."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))


def encodable(text: str) -> str:
    """The text without halves of surrogate pairs, which no UTF-8 can hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text


# ---------------------------------------------------------------- the budget


def render(answer: Answer, max_output_chars: int, max_cell_chars: int) -> str:
    """The envelope of a success as JSON text of at most `max_output_chars` characters."""
    document: dict[str, Any] = {"ok": True, "summary": answer.summary}
    table, cut = _table_part(answer.table, max_cell_chars)
    warnings = list(answer.warnings)
    if table is not None:
        document["table"] = table
    if answer.text is not None:
        content = answer.text.content
        document["text"] = {
            "content": content,
            "total_chars": answer.text.total_chars,
            "truncated": len(content) < answer.text.total_chars,
        }
    if answer.artifacts:
        document["artifacts"] = [artifact.document() for artifact in answer.artifacts]
    if answer.details:
        document["details"] = json_value(answer.details)
    _set_warnings(document, warnings)
    _settle(document, cut)
    if len(_final(document)) > max_output_chars:
        _shrink(document, warnings, cut, max_output_chars)
    return encodable(_final(document))


def render_failure(error: dict[str, Any], max_output_chars: int) -> str:
    """The envelope of a failure, its prose and details cut to the budget."""
    document = {"ok": False, "error": json_value(error)}
    text = dumps(document)
    if len(text) > max_output_chars:
        part = document["error"]
        part.pop("details", None)
        room = max(200, (max_output_chars - 300) // 2)
        for key in ("message", "guidance"):
            part[key], _ = cut_cell(part[key], room)
        text = dumps(document)
    return encodable(text)


def _table_part(table: Table | None, max_cell_chars: int) -> tuple[dict[str, Any] | None, bool]:
    if table is None:
        return None, False
    rows, any_cut = [], False
    for row in table.rows:
        cells = [cut_cell(json_value(cell), max_cell_chars) for cell in row]
        any_cut = any_cut or any(cut for _, cut in cells)
        rows.append([cell for cell, _ in cells])
    part = {
        "columns": [{"name": column.name, "type": column.type} for column in table.columns],
        "rows": rows,
        "shown_rows": len(rows),
        "total_rows": table.total_rows,
        "truncated": False,
    }
    return part, any_cut


def _settle(document: dict[str, Any], cut: bool) -> None:
    """Makes the counts of the table say what it holds."""
    if "table" in document:
        part = document["table"]
        part["shown_rows"] = len(part["rows"])
        part["truncated"] = cut or part["shown_rows"] < part["total_rows"]


def _set_warnings(document: dict[str, Any], warnings: list[Warn]) -> None:
    if warnings:
        document["warnings"] = [{"code": warning.code, "message": warning.message} for warning in warnings]


def _final(document: dict[str, Any]) -> str:
    shown = document["table"]["shown_rows"] if "table" in document else 0
    return dumps({**document, "summary": document["summary"].replace(SHOWN, f"{shown:,}")})


def _shrink(document: dict[str, Any], warnings: list[Warn], cut: bool, budget: int) -> None:
    """Cuts a document that is too long, in the order that costs the reader least."""
    for limit in (100, 20, 5, 2):
        aside = {key: document[key] for key in ("details", "warnings", "artifacts") if key in document}
        if len(dumps(aside)) <= budget * 2 // 5:
            break
        for key in aside:
            document[key] = _pruned(document[key], limit, 400 if limit > 5 else 160)
    if len(dumps({key: document[key] for key in ("details", "warnings", "artifacts") if key in document})) > budget // 2:
        document["details"] = {"cut": "The details did not fit in max_output_chars."}
    if "text" in document:
        _shrink_text(document, budget)
    if "table" in document:
        _shrink_table(document, cut, budget)


def _pruned(value: Any, limit: int, chars: int) -> Any:
    """Nested JSON with long lists, objects and strings cut, each saying how much is missing."""
    if isinstance(value, str):
        return cut_cell(value, chars)[0]
    if isinstance(value, list):
        kept = [_pruned(part, limit, chars) for part in value[:limit]]
        if len(value) > limit and all(isinstance(part, dict) and "code" in part for part in value):
            return [*kept, {"code": "WARNINGS_CUT", "message": f"{len(value) - limit:,} more warnings did not fit."}]
        if len(value) > limit and all(isinstance(part, dict) and "sha256" in part for part in value):
            return kept
        return [*kept, f"… {len(value) - limit:,} more"] if len(value) > limit else kept
    if isinstance(value, dict):
        entries = list(value.items())
        kept_entries = {key: _pruned(part, limit, chars) for key, part in entries[: max(limit, 12)]}
        if len(entries) > max(limit, 12):
            kept_entries["…"] = f"{len(entries) - max(limit, 12):,} more"
        return kept_entries
    return value


def _shrink_text(document: dict[str, Any], budget: int) -> None:
    part = document["text"]
    whole: str = part["content"]
    part["content"], part["truncated"] = "", True
    room = budget - len(_final(document))
    low, high = 0, len(whole)
    while low < high:  # escapes make the JSON longer than the text
        middle = (low + high + 1) // 2
        if len(dumps(whole[:middle])) - 2 <= room:
            low = middle
        else:
            high = middle - 1
    part["content"] = whole[:low]
    part["truncated"] = low < part["total_chars"]


def _shrink_table(document: dict[str, Any], cut: bool, budget: int) -> None:
    part = document["table"]
    rows, columns = part["rows"], part["columns"]
    part["rows"] = []
    _settle(document, cut)
    room = budget - len(_final(document)) - 12
    kept = _fitting(rows, room)
    if 0 < len(kept) < len(rows):
        warning = {"code": "ROWS_CUT", "message": f"Of the {len(rows):,} rows to show only the first fit in max_output_chars."}
        kept = _fitting(rows, room - len(dumps(warning)) - 16) or kept[:1]
        document.setdefault("warnings", []).append(warning)
        part["rows"] = kept
        if len(_final(document)) > budget:
            document["warnings"].pop()
    if not kept and (rows or room < 0):
        kept, cut = _fewer_columns(document, rows[:1], columns, budget, cut)
    part["rows"] = kept
    _settle(document, cut)


def _fitting(rows: list[list[Any]], room: int) -> list[list[Any]]:
    """The first rows whose JSON has no more characters than there is room for."""
    used = 0
    for count, row in enumerate(rows):
        used += len(dumps(row)) + 2
        if used > room:
            return rows[:count]
    return rows


def _fewer_columns(
    document: dict[str, Any], rows: list[list[Any]], columns: list[dict[str, str]], budget: int, cut: bool
) -> tuple[list[list[Any]], bool]:
    """The first row, if there is one, its cells cut as far as needed; where even the names do not fit, fewer columns."""
    part = document["table"]
    cells = rows
    for limit in (200, 80, 30, 12, 4) if rows else ():
        cells = [[cut_cell(cell, limit)[0] for cell in row] for row in rows]
        part["rows"] = cells
        _settle(document, True)
        if len(_final(document)) <= budget:
            return cells, True
    warning = {"code": "COLUMNS_CUT", "message": ""}
    document.setdefault("warnings", []).append(warning)
    total = count = len(columns)
    while count > 1:
        count = count * 4 // 5
        part["columns"], part["rows"] = columns[:count], [row[:count] for row in cells]
        warning["message"] = f"{count:,} of {total:,} columns are shown; name the ones you need in columns."
        _settle(document, True)
        if len(_final(document)) <= budget:
            break
    if len(_final(document)) > budget:
        part["columns"] = [{**column, "name": cut_cell(column["name"], 200)[0]} for column in part["columns"]]
    return part["rows"], cut or bool(rows)

"""An answer of a tool as a person reads it in a terminal: summary, a small aligned table, text, files, warnings."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

_MAX_ROWS, _MAX_LINES, _MAX_WIDTH, _MAX_CELL = 8, 10, 110, 28


def readable(answer: dict[str, Any]) -> str:
    """The lines of one envelope, success or failure."""
    if not answer["ok"]:
        error = answer["error"]
        return f"{error['code']}: {error['message']}\n{error['guidance']}"
    lines = [answer["summary"]]
    if "table" in answer:
        lines += ["", *_table(answer["table"])]
    if "text" in answer:
        lines += ["", *_beginning(answer["text"]["content"])]
    for artifact in answer.get("artifacts", []):
        rows = f"{artifact['rows']:,} rows, " if "rows" in artifact else ""
        lines.append(f"→ {artifact['path']} ({rows}{artifact['bytes']:,} bytes)")
    lines += [f"! {warning['code']}: {_cut(warning['message'], 150)}" for warning in answer.get("warnings", [])[:3]]
    return "\n".join(lines)


def _beginning(content: str) -> list[str]:
    lines = [_cut(line, _MAX_WIDTH) for line in content.splitlines() if line.strip()]
    return lines if len(lines) <= _MAX_LINES else [*lines[:_MAX_LINES], f"… {len(lines) - _MAX_LINES} more lines"]


def _table(part: dict[str, Any]) -> list[str]:
    names = [column["name"] for column in part["columns"]]
    rows = [[_cell(value) for value in row] for row in part["rows"][:_MAX_ROWS]]
    widths = [max(map(_width, column)) for column in zip(names, *rows, strict=True)]
    kept = 0
    while kept < len(widths) and sum(widths[: kept + 1]) + 2 * kept <= _MAX_WIDTH:
        kept += 1
    numeric = [all(isinstance(row[at], (int, float, type(None))) for row in part["rows"]) for at in range(len(names))]
    lines = [_line(cells[:kept], widths, numeric) for cells in (names, ["─" * width for width in widths], *rows)]
    left_out = [f"{part['total_rows'] - len(rows):,} more rows"] if part["total_rows"] > len(rows) else []
    left_out += [f"{len(names) - kept} more columns"] if kept < len(names) else []
    return lines + ([f"… {', '.join(left_out)}"] if left_out else [])


def _line(cells: list[str], widths: list[int], numeric: list[bool]) -> str:
    padded = []
    for cell, width, right in zip(cells, widths, numeric, strict=False):
        blanks = " " * (width - _width(cell))
        padded.append(blanks + cell if right else cell + blanks)
    return "  ".join(padded).rstrip()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _cut(" ".join(text.split()), _MAX_CELL)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _width(text: str) -> int:
    """Columns of a terminal: wide signs, such as Hangul, take two."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)

"""How the values of a result are put into a file, and how they are shown: exactly, and in a form that reads back."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from ..envelope import Column
from .sql_text import quote_name, quote_text
from .sql_types import Leaf, parse, rebuilt

_NUMBERS = (
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "FLOAT",
    "DOUBLE",
)
_TEXT_ONLY = ("BIGNUM", "BIT", "TIME WITH TIME ZONE", "INTERVAL", "UHUGEINT")
NOT_IN_PARQUET = ("HUGEINT", *_TEXT_ONLY)
KEPT_TYPES = "builtin_tools_types"  # the key under which a Parquet file tells them


def is_nested(kind: str) -> bool:
    """Whether a type is a list, a struct, a map, a tuple or a union."""
    return kind.endswith("]") or kind.startswith(("STRUCT(", "MAP(", "UNION(", "TUPLE("))


def stored(column: Column, format_name: str, exact: bool) -> str:
    """The SQL of a column as a file of the format holds it. `exact` False: huge integers become text in Parquet."""
    name = quote_name(column.name)
    leaf: Leaf = {"parquet": _in_parquet(exact), "csv": _in_csv, "json": _in_json}[format_name]
    made = rebuilt(name, parse(column.type), leaf)
    if format_name == "csv" and is_nested(column.type):
        made = f"to_json({rebuilt(name, parse(column.type), _in_json) or name})::VARCHAR"
    return name if made is None else f"{made} AS {name}"


def types_kept(columns: list[Column]) -> str:
    """The option of COPY that writes beside the data which columns have a type that Parquet has not."""
    kept = {column.name: column.type for column in columns if column.type in NOT_IN_PARQUET}
    return f", KV_METADATA {{{KEPT_TYPES}: {quote_text(json.dumps(kept))}}}" if kept else ""


def _in_parquet(exact: bool) -> Leaf:
    def leaf(expression: str, kind: str) -> str | None:
        if kind == "HUGEINT":
            return f"CAST({expression} AS {'DECIMAL(38,0)' if exact else 'VARCHAR'})"
        if kind.startswith("TUPLE("):
            return f"to_json({expression})::VARCHAR"
        return f"CAST({expression} AS VARCHAR)" if kind in _TEXT_ONLY or kind.startswith("UNION(") else None

    return leaf


def _in_csv(expression: str, kind: str) -> str | None:
    return f"'hex:' || lower(hex({expression}))" if kind == "BLOB" else None


def _in_json(expression: str, kind: str) -> str | None:
    """JSON has no word for numbers that are none, so they become strings."""
    if kind in ("DOUBLE", "FLOAT"):
        word = f"CASE WHEN isnan({expression}) THEN 'NaN' WHEN {expression} > 0 THEN 'Infinity' WHEN {expression} < 0 THEN '-Infinity' END"
        return f"CASE WHEN isfinite({expression}) THEN to_json({expression}) ELSE to_json({word}) END"
    if kind.startswith("TUPLE("):
        return f"to_json({expression})"
    return _in_csv(expression, kind)


def reread_type(kind: str, format_name: str) -> str:
    """The type by which a column of a CSV or JSON file just written is read for the preview."""
    if is_nested(kind):
        return "VARCHAR" if format_name == "csv" else "JSON"
    if format_name == "json" and kind in ("DOUBLE", "FLOAT"):
        return "JSON"
    return kind if kind in _NUMBERS or kind.startswith("DECIMAL") else "VARCHAR"


def shown(expression: str, kind: str, format_name: str = "parquet") -> str:
    """The SQL that brings a value to Python without loss: what Python has no exact type for comes as ISO 8601 text."""
    if is_nested(kind) and format_name != "parquet":
        return f"CAST({expression} AS VARCHAR)"  # it is JSON text in the file
    return rebuilt(expression, parse(kind), _shown) or expression


def _shown(expression: str, kind: str) -> str | None:
    if kind in _NUMBERS or kind in ("VARCHAR", "HUGEINT", "UHUGEINT", "BLOB") or kind.startswith("DECIMAL"):
        return None
    text = f"CAST({expression} AS VARCHAR)"
    if kind in ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"):
        return f"replace({text}, ' ', 'T')"
    return f"replace({text}, ' ', 'T') || ':00'" if kind == "TIMESTAMP WITH TIME ZONE" else text


def settled(value: Any, kind: str) -> Any:
    """A value that came as text, as what its type says it is."""
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

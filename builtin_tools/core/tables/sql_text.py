"""The one place where names and values become SQL text."""

from __future__ import annotations

from collections.abc import Iterable


def quote_name(name: str) -> str:
    """A name as a quoted identifier."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(value: str) -> str:
    """A string as a SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def text_list(values: Iterable[str]) -> str:
    """Strings as a SQL list literal."""
    return "[" + ", ".join(quote_text(value) for value in values) + "]"


def literal_path(path: str) -> str:
    """A path as a SQL literal that DuckDB takes for that very file: its glob signs are set in brackets."""
    return quote_text("".join(f"[{sign}]" if sign in "*?[" else sign for sign in path))

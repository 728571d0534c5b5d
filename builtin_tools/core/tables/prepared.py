"""What a reader makes of a file: something DuckDB can scan, its typed columns, and what was found on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..envelope import Warn


@dataclass
class SourceColumn:
    """A column as it can be queried. `type` is DuckDB's name; `note` says why it stayed text and what would convert it."""

    name: str
    type: str
    original_name: str
    note: str = ""
    nullable: bool = True
    empty: bool = False  # no value stands in it, so its type is open


@dataclass
class Prepared:
    """A file that is ready to be queried.

    `scan` is a SQL query (a SELECT) that gives exactly `columns`, with those names and types, in the order of the
    file; of a large file, only those that were asked for (`held`), and only their types are proved. It reads only files named in `files` (absolute paths: the input itself, or files of the scratch folder).
    `rows` is exact where it is known without a scan. `details` is what the answer tells of the file.
    """

    scan: str
    columns: list[SourceColumn]
    format: str
    files: list[str] = field(default_factory=list)
    with_text: Callable[[set[str]], str] | None = None  # `scan` with the named columns as the text that stands in the file
    held: frozenset[str] | None = None  # where set: the names, in small letters, of the only columns that `scan` gives
    rows: int | None = None
    details: dict[str, Any] = field(default_factory=dict)
    warnings: list[Warn] = field(default_factory=list)

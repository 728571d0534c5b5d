"""The result of a query: written by the engine straight to a file, once; count, preview and hash come from that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..artifacts import OutputFile
from ..envelope import Artifact, Column


@dataclass
class Result:
    """The rows to show, the exact count, and the file with all of them."""

    columns: list[Column]
    rows: list[list[Any]]
    total_rows: int
    artifact: Artifact | None


def write_result(
    engine: Any, sql: str, parameters: Any, output: OutputFile, format_name: str, preview_rows: int, offset: int = 0
) -> Result:
    """Runs `sql` once, writing every row to the output (parquet, csv or json); shows `preview_rows` rows after `offset`."""
    raise NotImplementedError

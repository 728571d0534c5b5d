"""What a large result costs: three million rows filtered from Parquet to Parquet, against DuckDB's own COPY of the same query."""

from __future__ import annotations

import tempfile
from pathlib import Path

from scripts.parts.bench.measure import compare, tool_command
from scripts.parts.bench.report import pairs_table

TITLE = "Three million rows written"

ROWS = 4_000_000
SQL = "SELECT * FROM 'source.parquet' WHERE share < 75"
_SOURCE = (
    "SELECT i AS id, i % 1000 AS customer, i % 100 AS share, (i * 7919 % 100003) / 100.0 AS amount, "
    "DATE '2020-01-01' + CAST(i % 2000 AS INTEGER) AS day, 'product ' || (i * 31 % 500) AS product FROM range({rows}) AS t(i)"
)


def run(rounds: int, only: list[str]) -> str:
    """Measures query_sql; `only` is not looked at. Gives the Markdown of the report."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        with duckdb.connect() as connection:
            connection.sql(_SOURCE.format(rows=ROWS)).write_parquet(str(folder / "source.parquet"))
        size = (folder / "source.parquet").stat().st_size
        copy = (
            "from pydantic import BaseModel, Field\nimport duckdb\ncon = duckdb.connect()\n"
            f"con.execute(\"COPY ({SQL}) TO 'floor.parquet' (FORMAT parquet, COMPRESSION snappy)\")\n"
            "con.execute(\"SELECT * FROM 'floor.parquet' LIMIT 20\").fetchall()\n"
        )
        call = tool_command("query_sql", folder, {"sql": SQL, "output_path": "tool.parquet", "overwrite": True})
        pair = compare("query_sql", call, ["-c", copy], folder, rounds)
        written = (folder / "tool.parquet").stat().st_size, (folder / "floor.parquet").stat().st_size
    return (
        f"`{SQL}` over {ROWS:,} rows ({size / 1e6:.0f} MB), {ROWS * 3 // 4:,} rows to a new file, beside a bare script with DuckDB's "
        f"`COPY` of the same query. The tool takes the sha256 of input and output too. Medians of {rounds} rounds; files of "
        f"{written[0] / 1e6:.0f} and {written[1] / 1e6:.0f} MB.\n\n" + pairs_table([pair])
    )

"""What reading a large CSV file costs: the first query on it, a later one, and the same in other shapes and encodings,
against DuckDB's own auto-detected query on it. The environment's BENCH_MEGABYTES sets the size (250)."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path

from scripts.parts.bench.measure import Cost, cost_of, median, tool_command
from scripts.parts.docs import table

TITLE = "The first query on a large CSV file, and the next"

MEGABYTES = int(os.environ.get("BENCH_MEGABYTES", "250"))
_ROW_BYTES = 122
_SOURCE = (
    "SELECT i AS id, 'EU-' || (i % 7) AS region, CAST((i * 37 % 1000000) / 100.0 AS DECIMAL(9,2)) AS amount, "
    "DATE '2020-01-01' + CAST(i % 1500 AS INTEGER) AS day, TIMESTAMP '2020-01-01' + to_seconds(i % 86400) AS seen, "
    "md5(CAST(i AS VARCHAR)) AS code, (i * 7919 % 1000003) / 1000003.0 AS share, "
    "CASE WHEN i % 10 = 0 THEN NULL ELSE '{word} ' || i END AS note FROM range({rows}) AS t(i)"
)
_QUERIES = {
    "two columns, grouped": "SELECT region, count(*) AS n, sum(amount) AS total FROM '{file}' WHERE amount > 100 GROUP BY region",
    "all columns, a tenth of the rows": "SELECT * FROM '{file}' WHERE amount > 9000",
}


def run(rounds: int, only: list[str]) -> str:
    """Measures query_sql on files made for it; `only` is not looked at. Gives the Markdown of the report."""
    rows = MEGABYTES * 1_000_000 // _ROW_BYTES
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        _make(folder, rows)
        size = (folder / "plain.csv").stat().st_size
        lines = [_query(folder, "plain.csv", title, sql, rounds) for title, sql in _QUERIES.items()]
        lines += [
            _query(folder, file, f"{title}, two columns", _QUERIES["two columns, grouped"], rounds, floor="plain.csv")
            for title, file in (
                ("one short row", "ragged.csv"),
                ("Korean in UTF-8", "korean.csv"),
                ("the same in cp949", "cp949.csv"),
            )
        ]
    head = ["file and query", "first, tool / floor", "ratio", "again", "ratio", "peak memory"]
    return (
        f"`query_sql` over CSV files of {size / 1e6:.0f} MB, {rows:,} rows, the result written to Parquet, beside a bare script with "
        f"DuckDB's own auto-detection and `COPY` on the plain file under the same memory limit. `first` has no ingest cache to "
        f"draw on, `again` has. Wall time; medians of {rounds} rounds.\n\n" + table(head, lines)
    )


def _make(folder: Path, rows: int) -> None:
    import duckdb

    with duckdb.connect() as connection:
        for file, word in (("plain.csv", "note number"), ("korean.csv", "메모 번호")):
            connection.execute(f"COPY ({_SOURCE.format(rows=rows, word=word)}) TO '{folder / file}' (HEADER)")
    with (folder / "korean.csv").open(encoding="utf-8", newline="") as source, (folder / "cp949.csv").open("wb") as target:
        while text := source.read(1 << 22):
            target.write(text.encode("cp949"))
    shutil.copy(folder / "plain.csv", folder / "ragged.csv")
    with (folder / "ragged.csv").open("ab") as target:
        target.write(b"1,short\n")


def _query(folder: Path, file: str, title: str, sql: str, rounds: int, floor: str = "") -> list[str]:
    bare = (
        "import duckdb\ncon = duckdb.connect()\ncon.execute(\"SET memory_limit='2GB'\")\ncon.execute('SET enable_progress_bar=false')\n"
        f"con.execute({json.dumps('COPY (' + sql.format(file=floor or file) + ') TO ' + chr(39) + 'floor.parquet' + chr(39))})\n"
        "con.execute(\"SELECT * FROM 'floor.parquet' LIMIT 20\").fetchall()\n"
    )
    call = tool_command("query_sql", folder, {"sql": sql.format(file=file)})
    firsts: list[Cost] = []
    others: list[Cost] = []
    floors: list[Cost] = []
    for _ in range(rounds):
        floors.append(cost_of(["-c", bare], folder))
        shutil.rmtree(folder / ".artifacts", ignore_errors=True)
        firsts.append(cost_of(call, folder))
        others.append(cost_of(call, folder))
    first, again, least = median(firsts), median(others), median(floors)
    return [
        title,
        f"{first.wall:.2f} / {least.wall:.2f} s",
        f"**{first.wall / least.wall:.2f}**",
        f"{again.wall:.2f} s",
        f"**{again.wall / least.wall:.2f}**",
        f"{max(first.peak, again.peak) / 1e6:,.0f} MB",
    ]

"""What one call costs from a cold start, against a bare script that imports the same packages and does the same work."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from scripts.parts.bench.measure import ROOT, compare, tool_command
from scripts.parts.bench.report import pairs_table
from scripts.parts.walkthrough import serving

TITLE = "One call from a cold start"

SQL = "SELECT c.segment, count(*) AS orders FROM 'sales.csv' AS s JOIN 'customers.parquet' AS c USING (customer_id) GROUP BY ALL"
GROUPS = "SELECT region, sum(quantity) AS items FROM 'sales.csv' WHERE quantity > 2 GROUP BY region"

_PYDANTIC = "from pydantic import BaseModel, Field\nimport json, os, sys\n"
_DUCKDB = f"{_PYDANTIC}import duckdb\ncon = duckdb.connect()\n"
_QUERY = (
    _DUCKDB + "con.execute(f\"COPY ({sql}) TO 'floor.parquet' (FORMAT parquet)\")\n"
    "count = con.execute(\"SELECT count(*) FROM 'floor.parquet'\").fetchone()[0]\n"
    "print(json.dumps([count, con.execute(\"SELECT * FROM 'floor.parquet' LIMIT 20\").fetchall()], default=str))\n"
)

# tool: its parameters, and the bare script.
CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "list_directory": (
        {"pattern": "*.csv"},
        _PYDANTIC + "rows = sorted((e.name, e.stat().st_size, e.stat().st_mtime) for e in os.scandir('.') if e.name.endswith('.csv'))\n"
        "print(json.dumps(rows))\n",
    ),
    "read_json": (
        {"path": "orders.json", "records_path": "/orders"},
        _PYDANTIC + "rows = json.load(open('orders.json', encoding='utf-8'))['orders']\nprint(json.dumps([len(rows), rows[:20]]))\n",
    ),
    "read_csv": (
        {"path": "sales.csv"},
        _DUCKDB + "rows = con.execute(\"SELECT * FROM 'sales.csv' LIMIT 20\").fetchall()\n"
        "count = con.execute(\"SELECT count(*) FROM 'sales.csv'\").fetchone()[0]\nprint(json.dumps([count, rows], default=str))\n",
    ),
    "describe_table": (
        {"path": "sales.csv"},
        _DUCKDB + "rows = con.execute(\"DESCRIBE SELECT * FROM 'sales.csv'\").fetchall()\n"
        "count = con.execute(\"SELECT count(*) FROM 'sales.csv'\").fetchone()[0]\nprint(json.dumps([count, rows]))\n",
    ),
    "query_table": (
        {
            "path": "sales.csv",
            "filters": [{"column": "quantity", "op": ">", "value": 2}],
            "group_by": ["region"],
            "aggregates": [{"function": "sum", "column": "quantity", "alias": "items"}],
        },
        f"sql = {GROUPS!r}\n{_QUERY}",
    ),
    "query_sql": ({"sql": SQL}, f"sql = {SQL!r}\n{_QUERY}"),
    "read_pdf": (
        {"path": "report.pdf"},
        _PYDANTIC + "import pypdfium2\npdf = pypdfium2.PdfDocument('report.pdf')\n"
        "text = '\\n'.join(page.get_textpage().get_text_range() for page in pdf)\n"
        "open('floor.md', 'w').write(text)\nprint(json.dumps(text))\n",
    ),
    "markdown_to_pdf": (
        {"input_path": "report.md", "output_path": "tool.pdf", "overwrite": True},
        _PYDANTIC + "import markdown, weasyprint\n"
        "html = markdown.markdown(open('report.md', encoding='utf-8').read(), extensions=['tables', 'fenced_code'])\n"
        "weasyprint.HTML(string=html).write_pdf('floor.pdf')\n",
    ),
    "download_file": (
        {"url": "{address}/sales.csv", "output_path": "tool.csv", "overwrite": True},
        _PYDANTIC + "import urllib3\nopen('floor.csv', 'wb').write(urllib3.PoolManager().request('GET', '{address}/sales.csv').data)\n",
    ),
}  # fmt: skip


def run(rounds: int, only: list[str]) -> str:
    """Measures each tool, or those named; gives the Markdown of the report."""
    pairs = []
    with tempfile.TemporaryDirectory(prefix="bench-") as name, serving(ROOT / "artifacts_demo") as address:
        folder = Path(name, "artifacts")
        shutil.copytree(ROOT / "artifacts_demo", folder, ignore=shutil.ignore_patterns(".artifacts", "results"))
        for tool, (parameters, script) in CALLS.items():
            if only and tool not in only:
                continue
            filled = {
                key: value.replace("{address}", address) if isinstance(value, str) else value for key, value in parameters.items()
            }
            user = {"allow_private_networks": True} if tool == "download_file" else {}
            floor = ["-c", script.replace("{address}", address)]
            pairs.append(compare(tool, tool_command(tool, folder, filled, **user), floor, folder, rounds))
    return (
        "Each call over a small file, beside a bare script that imports pydantic, and DuckDB or another library where the tool needs "
        "it, and does the same work with no tool around it. Tool and script run in turn; medians of "
        f"{rounds} rounds. Memory is that of the largest process; modules are counted from the interpreter's start.\n\n"
        + pairs_table(pairs)
    )

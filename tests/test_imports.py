"""What a call loads: heavy packages only where its work needs them, seen in the tool's processes from outside.

A `sitecustomize` on PYTHONPATH notes every top-level module that a process tries to load, in the watchdog and, the
descriptor being inherited, in the worker too.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.harness import ROOT, Runner

DEMO = ROOT / "artifacts_demo"
HEAVY = {"pandas", "pyarrow", "numpy", "weasyprint", "sqlglot", "polars", "mcp", "starlette", "uvicorn", "httpx", "requests"}
NOTING = """
import os, sys
descriptor = os.open(os.environ["NOTED"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
class Noting:
    def find_spec(self, name, path=None, target=None):
        if "." not in name:
            os.write(descriptor, (name + "\\n").encode())
sys.meta_path.insert(0, Noting())
"""
Loaded = Callable[..., set[str]]


@pytest.fixture
def loaded(run: Runner, tmp_path: Path) -> Loaded:
    """Names of the top-level modules that a successful call loads."""
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(NOTING)
    noted = tmp_path / "noted.txt"

    def call(tool: str, **parameters: Any) -> set[str]:
        for name in ("sales.csv", "customers.parquet", "orders.json", "report.pdf"):
            run.write(name, (DEMO / name).read_bytes())
        answer = run.tool(tool, env={"PYTHONPATH": str(tmp_path / "hook"), "NOTED": str(noted)}, **parameters)
        assert answer.ok, answer.raw
        names = set(noted.read_text().split())
        assert "pydantic" in names, "the hook saw nothing"
        return names

    return call


QUERIES: dict[str, tuple[str, dict[str, Any]]] = {
    "query_table": ("query_table", {"path": "sales.csv", "filters": [{"column": "quantity", "op": ">", "value": 3}]}),
    "query_table on Parquet": ("query_table", {"path": "customers.parquet"}),
    "query_sql": ("query_sql", {"sql": "SELECT * FROM sales JOIN customers USING (customer_id)"}),
    "describe_table": ("describe_table", {"path": "sales.csv", "profile": True}),
    "read_csv": ("read_csv", {"path": "sales.csv"}),
}


@pytest.mark.parametrize(("tool", "parameters"), QUERIES.values(), ids=QUERIES)
def test_a_query_loads_no_heavy_package_but_its_engine(loaded: Loaded, tool: str, parameters: dict[str, Any]) -> None:
    names = loaded(tool, **parameters)
    assert names & HEAVY == set()
    assert "_duckdb" in names or "duckdb" in names


@pytest.mark.parametrize(
    ("tool", "parameters"),
    [("list_directory", {"pattern": "*.csv"}), ("read_json", {"path": "orders.json", "records_path": "/orders"}), ("read_json", {"path": "orders.json"})],
)  # fmt: skip
def test_a_small_listing_or_json_document_loads_no_engine(loaded: Loaded, tool: str, parameters: dict[str, Any]) -> None:
    assert loaded(tool, **parameters) & (HEAVY | {"duckdb", "_duckdb"}) == set()


def test_reading_a_pdf_loads_no_engine_and_no_printer(loaded: Loaded) -> None:
    assert loaded("read_pdf", path="report.pdf") & (HEAVY | {"duckdb", "_duckdb"}) == set()


def test_a_refused_argument_loads_nothing_heavy_at_all(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(NOTING)
    noted = tmp_path / "noted.txt"
    answer = run.tool("query_sql", env={"PYTHONPATH": str(tmp_path), "NOTED": str(noted)}, sqll="SELECT 1")
    assert answer.code == "INVALID_PARAMETERS"
    assert set(noted.read_text().split()) & (HEAVY | {"duckdb", "_duckdb"}) == set()

"""Shows the tools at work: a file is downloaded, described, filtered, joined, read beside others, and reported as a PDF.

Each step is one process, started by the command that is shown. Ends with exit status 1 at the first step that fails.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from scripts.parts.printing_needs import can_print
from scripts.parts.readable import readable

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "artifacts_demo"

JOIN = (
    "SELECT c.segment, count(*) AS orders, round(sum(s.quantity * s.unit_price), 2) AS revenue "
    "FROM sales AS s JOIN customers AS c USING (customer_id) GROUP BY c.segment ORDER BY revenue DESC"
)


class StepError(Exception):
    """A tool answered with a failure, or not at all."""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """A web server on the loopback address for as long as the block runs; gives its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Walk:
    """The steps of the demo in one artifact directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.number = 0

    def step(self, title: str, tool: str, parameters: dict[str, Any], **user: Any) -> dict[str, Any]:
        """Runs one tool, shows command and answer, and gives the answer. Raises StepError."""
        self.number += 1
        user_text = json.dumps({"artifact_dir": str(self.folder), **user}, ensure_ascii=False)
        tool_text = json.dumps(parameters, ensure_ascii=False)
        script = f"builtin_tools/{tool}/tool.py"
        print(f"\n━━ {self.number}. {title}\n")
        print(
            f"$ python {script} \\\n    --user-params {shlex.quote(user_text)} \\\n    --tool-params {shlex.quote(tool_text)}\n"
        )
        started = time.monotonic()
        command = [sys.executable, script, "--user-params", user_text, "--tool-params", tool_text]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
        seconds = time.monotonic() - started
        if not done.stdout.startswith("tool_output "):
            raise StepError(f"{tool} gave no answer: {done.stderr.strip()[-400:]}")
        answer: dict[str, Any] = json.loads(done.stdout.removeprefix("tool_output "))
        print(readable(answer) + f"\n({seconds:.2f} s)", flush=True)
        if not answer["ok"]:
            raise StepError(f"{tool} answered {answer['error']['code']}")
        return answer

    def run(self) -> Path | None:
        """All steps; gives the PDF, or None where the system cannot print."""
        with serving(DEMO) as address:
            downloaded = self.step(
                "Download a CSV file (here from a server on this machine)", "download_file",
                {"url": f"{address}/sales.csv"}, allow_private_networks=True,
            )  # fmt: skip
        sales = downloaded["artifacts"][0]["path"]
        self.step("See what is in the directory", "list_directory", {"recursive": True})
        self.step("Look at the columns", "describe_table", {"path": sales, "profile": True})
        march = self.step(
            "Filter and group without SQL", "query_table",
            {
                "path": sales,
                "filters": [{"column": "date", "op": ">=", "value": "2026-03-01"}, {"column": "quantity", "op": ">=", "value": 2}],
                "group_by": ["region", "store_code"],
                "aggregates": [{"function": "count", "column": "*", "alias": "orders"}, {"function": "sum", "column": "quantity", "alias": "items"}],
                "order_by": ["items desc"],
            },
        )  # fmt: skip
        segments = self.step("Join the CSV file with a Parquet file in SQL", "query_sql", {"sql": JOIN})
        self.step("See what a JSON document holds", "read_json", {"path": "orders.json"})
        orders = self.step("Read its records as a table", "read_json", {"path": "orders.json", "records_path": "/orders"})
        pdf = self.step("Read a PDF", "read_pdf", {"path": "report.pdf"})
        report = self._report(march, segments, orders, pdf)
        (self.folder / "findings.md").write_text(report, "utf-8")
        if not can_print():
            print("\nThe PDF is left out: this system lacks Pango. The report is findings.md.")
            return None
        printed = self.step(
            "Print a report with these results", "markdown_to_pdf", {"input_path": "findings.md", "output_path": "findings.pdf"}
        )
        return self.folder / str(printed["artifacts"][0]["path"])

    @staticmethod
    def _report(march: dict[str, Any], segments: dict[str, Any], orders: dict[str, Any], pdf: dict[str, Any]) -> str:
        best = march["table"]["rows"][0]
        return (
            "# Findings / 분석 결과\n\n"
            f"In March the region **{best[0]}** sold most: {best[3]} items in {best[2]} orders of two items or more.\n\n"
            f"## March by region / 3월 지역별\n\n{_markdown_table(march['table'])}\n"
            f"## Revenue by kind of customer / 고객 유형별 매출\n\n{_markdown_table(segments['table'])}\n"
            f"## Sources / 출처\n\n- `{march['artifacts'][0]['path']}`: {march['artifacts'][0]['rows']} rows\n"
            f"- `{segments['artifacts'][0]['path']}`: {segments['artifacts'][0]['rows']} rows\n"
            f"- `orders.json`: {orders['table']['total_rows']} orders\n"
            f"- `report.pdf`: {pdf['text']['total_chars']:,} characters of text\n"
        )


def _markdown_table(part: dict[str, Any]) -> str:
    rows = [[column["name"] for column in part["columns"]], ["---"] * len(part["columns"]), *part["rows"]]
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/demo", description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, help="folder to make and work in; by default a new temporary one")
    folder = parser.parse_args().folder
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="builtin-tools-demo-")) / "artifacts"
    folder = folder.absolute()
    if folder.exists():
        print(f"{folder} exists already; choose a folder that does not.", file=sys.stderr)
        return 1
    shutil.copytree(DEMO, folder, ignore=shutil.ignore_patterns(".artifacts", "results", "README.md", "sales.csv"))
    started = time.monotonic()
    try:
        pdf = Walk(folder).run()
    except StepError as problem:
        print(f"\nThe demo stopped: {problem}", file=sys.stderr)
        return 1
    print(f"\nDone in {time.monotonic() - started:.1f} s. Every file the tools wrote lies in {folder}")
    if pdf is not None:
        print(f"The report: {pdf}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A crowd: many calls of every kind in one directory at once. Run as `python -m tests.security_crowd --count 500`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.harness import ROOT, Answer
from tests.security_calls import broken_lines, judged, leftovers

ROWS = 130_000


def furnish(directory: Path) -> None:
    """A large file, worth an entry of the cache, and small ones."""
    text = "id,word,value\n" + "".join(f"{n},word {n % 13},{'7' * 50}{n}\n" for n in range(ROWS))
    (directory / "big.csv").write_text(text)
    for number in range(5):
        (directory / f"small_{number}.csv").write_text("id,v\n" + "".join(f"{n},{n * number}\n" for n in range(100)))
    (directory / "records.json").write_text(json.dumps([{"a": n} for n in range(40)]))


def call(number: int) -> tuple[str, dict[str, Any], Any]:
    """The call of this number, and what its answer must show."""
    kind, which = number % 8, number // 8 % 5
    if kind == 0:
        return "query_sql", {"sql": f"SELECT count(*) AS n, {number} AS me FROM 'big.csv' WHERE id < 1000"}, [[1000, number]]
    if kind == 1:
        asked = {
            "path": f"small_{which}.csv",
            "filters": [{"column": "id", "op": "<", "value": number % 90}],
            "aggregates": [{"function": "count", "column": "*"}],
        }
        return "query_table", asked, [[number % 90]]
    if kind == 2:
        return "read_csv", {"path": f"small_{which}.csv", "preview_rows": 1, "offset": 9}, [[9, 9 * which]]
    if kind == 3:
        return (
            "query_sql",
            {"sql": "SELECT word, count(*) AS n FROM 'big.csv' GROUP BY word ORDER BY word LIMIT 1"},
            [["word 0", ROWS // 13]],
        )
    if kind == 4:
        return "list_directory", {"pattern": "small_*.csv"}, 5
    if kind == 5:
        return "read_json", {"path": "records.json", "preview_rows": 2}, [[0], [1]]
    if kind == 6:
        return "query_sql", {"sql": f"SELECT {number} AS me", "output_path": f"own/{number}.csv"}, [[number]]
    return "describe_table", {"path": f"small_{which}.csv"}, 2


def ask(directory: Path, tool: str, asked: dict[str, Any]) -> Answer:
    """One call as a process of its own."""
    user = {"artifact_dir": str(directory), "timeout_seconds": 100}
    argv = [
        sys.executable,
        str(ROOT / "builtin_tools" / tool / "tool.py"),
        "--user-params",
        json.dumps(user),
        "--tool-params",
        json.dumps(asked),
    ]
    done = subprocess.run(argv, capture_output=True, check=False)
    return judged(done.stdout, done.stderr.decode("utf-8", "replace"), done.returncode)


def crowd(directory: Path, count: int, at_once: int = 8) -> list[str]:
    """Makes `count` calls, so many at once, and gives what was wrong."""

    def one(number: int) -> str:
        tool, asked, expected = call(number)
        try:
            answer = ask(directory, tool, asked)
        except AssertionError as problem:
            return f"call {number}: {problem}"
        if not answer.ok:
            return f"call {number}: {answer.raw[:500]}"
        shown = len(answer.rows) if isinstance(expected, int) else answer.rows
        return "" if shown == expected else f"call {number} shows {shown}, not {expected}"

    with ThreadPoolExecutor(at_once) as pool:
        wrong = [said for said in pool.map(one, range(count)) if said]
    log = (directory / ".artifacts" / "log.jsonl").read_text("utf-8").splitlines()
    if broken := broken_lines(directory):
        wrong.append(f"lines of the log that are none: {broken[:3]}")
    if len(log) != count:
        wrong.append(f"the log has {len(log)} lines after {count} calls")
    asked = sorted(json.dumps(call(number)[1], sort_keys=True) for number in range(count))
    if not broken and sorted(json.dumps(json.loads(line)["parameters"], sort_keys=True) for line in log) != asked:
        wrong.append("the log tells of other calls than were made")
    if left := leftovers(directory):
        wrong.append(f"{left} lies about")
    return wrong


def main() -> int:
    """Exit status 1 where a call was lost, mixed up or not logged."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        furnish(Path(folder))
        began = time.monotonic()
        wrong = crowd(Path(folder), options.count, options.at_once)
        print(json.dumps({"calls": options.count, "seconds": round(time.monotonic() - began, 1), "faults": wrong}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

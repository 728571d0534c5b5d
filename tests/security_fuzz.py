"""The fuzzer: seeded cases of arguments, SQL and files, each a whole call. Run as `python -m tests.security_fuzz --seconds 60`.

Of every case is asked: exactly one valid envelope with a documented code that is not INTERNAL_ERROR, within the limit and
four seconds; nothing of what lies outside is shown or touched; the input files stay as they are; nothing is left behind.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from tests.harness import ROOT, Runner
from tests.security_calls import Call, answer, broken_lines, changes, leftovers, preload, start, tree
from tests.security_inputs import arguments, file_call, sql_call

KINDS = ("arguments", "sql", "sql", "file", "file")
SECRET = "FUZZ-SECRET-7731"
LIMITS = {"timeout_seconds": 4, "memory_limit": "300MB", "temp_disk_limit": "60MB", "threads": 1}
REAL = 40  # one case of so many is a process of its own, from the start of the interpreter


class Fuzzer:
    """A directory of demo data with something outside, and the cases that are run in it."""

    def __init__(self, base: Path, seed: str) -> None:
        self.base, self.seed = base, seed
        self.demo, self.directory, self.outside = ROOT / "artifacts_demo", base / "artifacts", base / "outside"
        keep_out = shutil.ignore_patterns(".artifacts", "results")
        shutil.copytree(self.demo, self.directory, ignore=keep_out)
        self.outside.mkdir()
        for name in ("secret.csv", "secret.json"):
            (self.outside / name).write_text(SECRET)
        (self.directory / "link.csv").symlink_to(self.outside / "secret.csv")
        self.functions = functions_of_the_engine()
        self.codes: Counter[str] = Counter()
        self.faults: list[str] = []
        self.before = self._state()

    def _state(self) -> dict[str, Any]:
        own = (self.directory / ".artifacts", self.directory / "results", self.directory / "fuzz")
        found = tree(self.directory, own, contents=False) | tree(self.outside, contents=False)
        return {name: what for name, what in found.items() if name not in (".artifacts", "results", "fuzz")}

    def make(self, number: int) -> tuple[str, Call]:
        """The case of this number: always the same for a seed."""
        random = Random(f"{self.seed}:{number}")
        kind = random.choice(KINDS)
        if kind == "arguments":
            made = arguments(random)
        elif kind == "sql":
            made = sql_call(random, self.functions)
        else:
            made = file_call(random, self.demo, self.directory)
        return kind, made

    def run(self, number: int) -> None:
        """Runs one case and notes what is wrong with it."""
        shutil.rmtree(self.directory / "fuzz", ignore_errors=True)
        kind, made = self.make(number)
        known = (
            LIMITS if made.tool.startswith(("query", "read_csv", "describe")) else {"timeout_seconds": 6, "memory_limit": "500MB"}
        )
        made.user = dict(known)
        try:
            self._hold(kind, made, number % REAL == 0)
        except AssertionError as problem:
            said = f"seed {self.seed} case {number} ({kind}): {made.tool} {made.text[:600]}\n    {str(problem)[:900]}"
            self.faults.append(said)
            print(said, file=sys.stderr, flush=True)

    def _hold(self, kind: str, made: Call, real: bool) -> None:
        if real and "\0" not in made.text and len(made.text) < 100_000:
            user = {"artifact_dir": str(self.directory)} | made.user
            script = str(ROOT / "builtin_tools" / made.tool / "tool.py")
            found = Runner(self.directory).argv(script, "--user-params", json.dumps(user), "--tool-params", made.text)
        else:
            found = answer(start(made, self.directory, self.base), float(made.user["timeout_seconds"]))
        self.codes[f"{kind} {found.code}"] += 1
        assert found.code != "INTERNAL_ERROR", found.raw[:600]
        assert SECRET not in found.raw + found.stderr, "what lies outside is shown"
        assert str(self.directory) not in found.raw, f"an absolute path is shown: {found.raw[:600]}"
        made_files = {artifact["path"] for artifact in found.document.get("artifacts", [])}
        touched = [name for name in changes(self.before, self._state()) if name not in made_files]
        for name in made_files:
            if not name.startswith(("results/", "fuzz/")):
                (self.directory / name).unlink()
        touched = [name for name in touched if not any(file.startswith(f"{name}/") for file in made_files)]
        if made_files:
            self.before = self._state()
        assert not touched, f"touched {touched}"
        assert not leftovers(self.directory), f"left {leftovers(self.directory)}"


def functions_of_the_engine() -> list[str]:
    """The names of all functions the engine knows, sorted; asked in a process of its own, since an engine has threads."""
    import subprocess

    program = (
        "import _duckdb, json\nrows = _duckdb.connect(':memory:').execute('SELECT DISTINCT function_name FROM duckdb_functions()')"
        ".fetchall()\nprint(json.dumps(sorted(name for (name,) in rows if name[0].isalpha() or name[0] == '_')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, cwd=ROOT)
    names: list[str] = json.loads(done.stdout)
    return [name for name in names if "collate" not in name]


def main() -> int:
    """Runs cases until the time is over, or the one of `--case`; exit status 1 where one of them broke a rule."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", default=str(int(time.time())))
    parser.add_argument("--case", type=int, help="run this case alone, and show its answer")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--step", type=int, default=1, help="how far the next case is: so many fuzzers share a seed")
    options = parser.parse_args()
    preload()
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(Path(folder), options.seed)
        print(f"seed {options.seed}", file=sys.stderr)
        if options.case is not None:
            print(fuzzer.make(options.case))
            fuzzer.run(options.case)
            print(
                (fuzzer.base / "call.stdout").read_text("utf-8", "replace")[:3000]
                if os.path.exists(fuzzer.base / "call.stdout")
                else ""
            )
        else:
            over, number = time.monotonic() + options.seconds, options.first
            while time.monotonic() < over:
                fuzzer.run(number)
                number += options.step
        if broken := broken_lines(fuzzer.directory):
            fuzzer.faults.append(f"lines of the log that are none: {broken[:3]}")
        cases = sum(fuzzer.codes.values())
        print(
            json.dumps(
                {"seed": options.seed, "cases": cases, "codes": dict(sorted(fuzzer.codes.items())), "faults": fuzzer.faults}
            )
        )
    return 1 if fuzzer.faults else 0


if __name__ == "__main__":
    sys.exit(main())

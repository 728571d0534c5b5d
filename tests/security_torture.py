"""The torture: calls that are killed at a random moment. Run as `python -m tests.security_torture --count 200`.

Killed is the call's process alone, its worker alone, or both with their groups. After every kill: the inputs are as they were;
every file under its final name is whole, byte for byte that of a call that was left in peace; the log's lines are whole; no
process is left. After the call that follows: its answer is that of the reference, and nothing lies about.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import http.server
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from tests.harness import Answer
from tests.security_calls import Call, Running, answer, ask, broken_lines, changes, judged, leftovers, preload, start, tree

TARGETS = ("process", "worker", "group")
ROWS = 135_000  # of the large file, which with its 8.9 MB is worth an entry of the ingest cache
BODY = b"id,word\n" + b"".join(b"%d,word %d\n" % (number, number % 97) for number in range(40_000))


def jobs(port: int) -> dict[str, Call]:
    """The calls that are killed, each with a file of its own name."""
    loopback = {"allow_private_networks": True, "timeout_seconds": 30}
    table = {"threads": 1}
    md = "# Report\n\n" + "".join(f"| a{n} | b |\n|---|---|\n| {n} | x |\n\n" for n in range(30))
    made = {
        "query_sql": ("SELECT word, count(*) AS n, sum(value) AS s FROM 'big.csv' GROUP BY word ORDER BY word", "sql.csv"),
        "query_sql_large": ("SELECT range AS n, md5(range::VARCHAR) AS h FROM range(400000)", "large.parquet"),
    }
    calls = {
        name: Call("query_sql", json.dumps({"sql": sql, "output_path": path, "overwrite": True}), table)
        for name, (sql, path) in made.items()
    }
    calls["query_sql_results"] = Call("query_sql", json.dumps({"sql": "SELECT id, word FROM 'small.csv' ORDER BY id"}), table)
    filters = [{"column": "value", "op": ">", "value": 500}]
    calls["query_table"] = Call(
        "query_table", json.dumps({"path": "big.csv", "filters": filters, "output_path": "t.json", "overwrite": True}), table
    )
    calls["read_csv"] = Call(
        "read_csv", json.dumps({"path": "big.csv", "output_path": "whole.parquet", "overwrite": True}), table
    )
    calls["markdown_to_pdf"] = Call("markdown_to_pdf", json.dumps({"markdown": md, "output_path": "r.pdf", "overwrite": True}))
    address = f"http://127.0.0.1:{port}/data.csv"
    calls["download_file"] = Call(
        "download_file", json.dumps({"url": address, "output_path": "d.csv", "overwrite": True}), loopback
    )
    return calls


class Slow(http.server.BaseHTTPRequestHandler):
    """Sends the body in pieces, with pauses, so that a kill falls between them."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/csv")
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        step = len(BODY) // 8 + 1
        with contextlib.suppress(OSError):
            for at in range(0, len(BODY), step):
                self.wfile.write(BODY[at : at + step])
                time.sleep(0.01)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def serve() -> tuple[int, int]:
    """Starts the server as a process of its own: its id and its port."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    server.daemon_threads = True
    owner = os.getpid()
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        while os.getppid() == owner:
            time.sleep(0.5)
        os._exit(0)
    server.server_close()
    return pid, server.server_address[1]


class Torture:
    """A directory with inputs and references, and the kills."""

    def __init__(self, base: Path, seed: str, port: int) -> None:
        self.base, self.seed, self.jobs = base, seed, jobs(port)
        self.directory = base / "artifacts"
        self.directory.mkdir()
        random = Random(seed)
        lines = [f"{n},word {random.randrange(50)},{random.randrange(1000)},{'x' * random.randrange(80)}" for n in range(ROWS)]
        (self.directory / "big.csv").write_text("id,word,value,note\n" + "\n".join(lines) + "\n")
        (self.directory / "small.csv").write_text("id,word\n" + "".join(f"{n},w{n % 7}\n" for n in range(500)))
        os.utime(self.directory / "big.csv", (1_700_000_000, 1_700_000_000))
        self.inputs = self._inputs()
        self.outcomes: Counter[str] = Counter()
        self.faults: list[str] = []
        self.references: dict[str, tuple[dict[str, Any], str, str, float]] = {}
        for name, call in self.jobs.items():
            self.references[name] = self._reference(name, call)

    def _inputs(self) -> dict[str, Any]:
        found = tree(self.directory, leave_out=(self.directory / ".artifacts", self.directory / "results"))
        return {name: what for name, what in found.items() if name in ("big.csv", "small.csv")}

    def _reference(self, name: str, call: Call) -> tuple[dict[str, Any], str, str, float]:
        """The answer of a call left in peace, its file and the file's hash, and its seconds."""
        shutil.rmtree(self.directory / ".artifacts", ignore_errors=True)
        began = time.monotonic()
        found = ask(call, self.directory, self.base)
        assert found.ok, f"{name}: {found.raw[:800]}"
        seconds = time.monotonic() - began
        path = found.document["artifacts"][0]["path"]
        return told(found), path, digest(self.directory / path), seconds

    # ---- one kill

    def kill(self, number: int) -> None:
        """One call killed at a moment that the seed and the number tell; what is wrong after it is noted."""
        random = Random(f"{self.seed}:{number}")
        name = random.choice(list(self.jobs))
        target = random.choice(TARGETS)
        _, path, _, seconds = self.references[name]
        if random.random() < 0.3:
            shutil.rmtree(self.directory / ".artifacts" / "cache", ignore_errors=True)
        if random.random() < 0.5:
            (self.directory / path).unlink(missing_ok=True)
        moment = random.random() * seconds * 1.1
        running = start(self.jobs[name], self.directory, self.base)
        time.sleep(moment)
        try:
            self._strike(running, target)
            self._hold()
            if random.random() < 0.2:
                self._follow(name)
        except AssertionError as problem:
            said = f"seed {self.seed} kill {number}: {name}, {target} after {moment:.3f} s: {str(problem)[:900]}"
            self.faults.append(said)
            print(said, file=sys.stderr, flush=True)

    def _strike(self, running: Running, target: str) -> None:
        workers = running.workers()
        victims = {"process": [running.pid], "worker": workers, "group": [running.pid, *workers]}[target]
        for victim in victims:
            with contextlib.suppress(OSError):
                if target == "group":
                    os.killpg(victim, signal.SIGKILL)
                os.kill(victim, signal.SIGKILL)
        if target == "worker":
            status = running.wait(40)
            assert status is not None, "the process hangs after its worker was killed"
            found = judged(running.output.read_bytes(), running.errors.read_text("utf-8", "replace"), status)
            assert found.ok or found.code == "MEMORY_LIMIT_EXCEEDED", found.raw[:500]
            self.outcomes[f"worker killed: {found.code}"] += 1
        else:
            running.wait(40)
            self.outcomes[f"{target} killed: {'answered' if running.output.stat().st_size else 'no answer'}"] += 1
        deadline = time.monotonic() + 5
        while alive := [pid for pid in workers if os.path.exists(f"/proc/{pid}") and "Z" not in state(pid)]:
            assert time.monotonic() < deadline, f"the workers {alive} outlive their process"
            time.sleep(0.005)

    def _hold(self) -> None:
        assert changes(self.inputs, self._inputs()) == [], "an input was changed"
        known = {path: whole for _, path, whole, _ in self.references.values()}
        for path in self.directory.rglob("*"):
            relative = path.relative_to(self.directory).as_posix()
            if relative.startswith(".artifacts") or relative in ("big.csv", "small.csv", "results"):
                continue
            assert relative in known, f"{relative} lies about"
            assert digest(path) == known[relative], f"{relative} is not whole ({path.stat().st_size} bytes)"
        assert not broken_lines(self.directory) or self._torn_by_the_last(), (
            f"broken lines in the log: {broken_lines(self.directory)}"
        )

    def _torn_by_the_last(self) -> bool:
        """Whether only the end of the log is torn, which the next call takes back."""
        data = (self.directory / ".artifacts" / "log.jsonl").read_bytes()
        return len(broken_lines(self.directory)) == 1 and not data.endswith(b"\n")

    def _follow(self, name: str) -> None:
        """The same call, left in peace: the answer of the reference, and nothing of the killed ones stays."""
        expected, _, _, _ = self.references[name]
        found = answer(start(self.jobs[name], self.directory, self.base), 40)
        assert found.ok, found.raw[:800]
        assert told(found) == expected, f"another answer than the reference: {found.raw[:800]}"
        left = [one for one in leftovers(self.directory) if not one.startswith("digests/")]
        assert not left, f"{left} stayed after the next call"
        assert not broken_lines(self.directory), "a torn line stayed in the log"
        self.outcomes["followed by the reference's answer"] += 1


def told(found: Answer) -> dict[str, Any]:
    """What of an answer must be the same in every call."""
    kept = {key: found.document.get(key) for key in ("table", "text", "artifacts")}
    return json.loads(json.dumps(kept))  # type: ignore[no-any-return]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def state(pid: int) -> str:
    """The letter of a process's state; Z where it has ended and nobody asked for its status."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return "Z"


def main() -> int:
    """Kills so many calls; exit status 1 where one of them broke a rule."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long, whatever the count")
    parser.add_argument("--seed", default=str(int(time.time())))
    options = parser.parse_args()
    server, port = serve()
    preload()
    try:
        with tempfile.TemporaryDirectory() as folder:
            torture = Torture(Path(folder), options.seed, port)
            print(
                f"seed {options.seed}; seconds in peace: { ({name: round(one[3], 2) for name, one in torture.references.items()}) }",
                file=sys.stderr,
            )
            over, kills = time.monotonic() + options.seconds, 0
            while kills < options.count and time.monotonic() < over:
                torture.kill(kills)
                kills += 1
            for name in torture.jobs:
                torture._follow(name)
            faults = torture.faults
            print(json.dumps({"seed": options.seed, "kills": kills, "outcomes": dict(torture.outcomes), "faults": faults}))
    finally:
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

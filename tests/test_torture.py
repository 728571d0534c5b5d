"""Calls killed at random moments leave everything as it was or whole. scripts/torture kills thousands by the same code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

from tests.harness import ROOT

KILLS, SECONDS = 150, 30  # of each of two processes, whichever comes first
SEED = "torture-1"


def test_a_call_that_is_killed_at_any_moment_leaves_no_trace_but_a_whole_result() -> None:
    began = time.monotonic()
    running = []
    for number in range(2):
        argv = [
            sys.executable,
            "-m",
            "tests.security_torture",
            "--count",
            str(KILLS),
            "--seconds",
            str(SECONDS),
            "--seed",
            f"{SEED}-{number}",
        ]
        running.append(subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT))
    kills = 0
    for one in running:
        output, errors = one.communicate(timeout=300)
        assert one.returncode == 0, errors.decode("utf-8", "replace")[-3000:]
        report = json.loads(output)
        assert report["faults"] == []
        assert {name.split(" ")[0] for name in report["outcomes"]} >= {"process", "worker", "group", "followed"}
        kills += report["kills"]
    print(f"{kills} kills in {time.monotonic() - began:.0f} s, seed {SEED}")
    assert kills > 30


def test_the_script_takes_a_count(tmp_path: object) -> None:
    environment = os.environ | {"BUILTIN_TOOLS_READY": "1"}
    done = subprocess.run(
        [str(ROOT / "scripts" / "torture"), "--help"], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0 and "--count" in done.stdout

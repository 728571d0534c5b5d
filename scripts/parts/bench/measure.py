"""Runs commands in turn and takes what each cost: processor time of the process and its children, wall time, memory, modules."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Cost:
    """Seconds of processor (user and system, children included) and of the clock; bytes of the largest process."""

    cpu: float
    wall: float
    peak: int


@dataclass(frozen=True)
class Pair:
    """A tool's call beside the bare script that does its work: medians over all rounds, and modules loaded."""

    name: str
    tool: Cost
    floor: Cost
    tool_modules: int
    floor_modules: int


def tool_command(tool: str, folder: Path, parameters: dict[str, Any], **user: Any) -> list[str]:
    """The command of one call."""
    settings = json.dumps({"artifact_dir": str(folder), **user})
    return [f"{ROOT}/builtin_tools/{tool}/tool.py", "--user-params", settings, "--tool-params", json.dumps(parameters)]


def cost_of(arguments: list[str], folder: Path) -> Cost:
    """Runs the interpreter with these arguments in a folder. Raises RuntimeError where it fails or a tool answers so."""
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    with process.stdout as stream:
        output = stream.read()
    _, status, usage = os.wait4(process.pid, 0)  # the usage of this process and of the children it waited for
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0 or b'tool_output {"ok": false' in output:
        raise RuntimeError(f"{arguments[0]} failed: {output.decode('utf-8', 'replace')[-600:]}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))


def modules_of(arguments: list[str], folder: Path) -> int:
    """How many modules the interpreter imports for this, its own start included, forked workers too."""
    done = subprocess.run([sys.executable, "-X", "importtime", *arguments], cwd=folder, capture_output=True, check=True)
    return done.stderr.count(b"\nimport time:") + done.stderr.startswith(b"import time:") - 1


def compare(name: str, tool: list[str], floor: list[str], folder: Path, rounds: int) -> Pair:
    """Tool and floor in turn, so that what else the machine does meets both; one round beforehand warms the disk's cache."""
    costs: tuple[list[Cost], list[Cost]] = ([], [])
    for number in range(rounds + 1):
        for command, taken in zip((tool, floor), costs, strict=True):
            cost = cost_of(command, folder)
            if number:
                taken.append(cost)
    return Pair(name, median(costs[0]), median(costs[1]), modules_of(tool, folder), modules_of(floor, folder))


def median(costs: list[Cost]) -> Cost:
    """The median of each measure by itself."""
    return Cost(
        statistics.median(cost.cpu for cost in costs),
        statistics.median(cost.wall for cost in costs),
        int(statistics.median(cost.peak for cost in costs)),
    )

"""The columns of a file that has just come. Finding them never costs the download: it runs in a process of its own."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

from ..call import Call
from ..errors import ToolError
from ..kernel import die_with_parent
from ..watchdog import Watchdog

_SECONDS = 15.0  # a file that takes longer is described by describe_table


@dataclass(frozen=True)
class Columns:
    """The columns as (name, DuckDB's type); none where the file is no table, or with `problem`, why they are not known."""

    found: tuple[tuple[str, str], ...] = ()
    problem: str | None = None


NO_COLUMNS = Columns()


def columns_of(call: Call, path: str, name: str, deadline: float) -> Columns:
    """The columns of the file at `path`, read as one called `name`, if they can be told in the time that is left."""
    seconds = min(_SECONDS, deadline - time.monotonic())
    if seconds < 0.2:
        return Columns(problem="no time was left for it")

    def work(parent: int) -> dict[str, Any]:
        die_with_parent(parent)
        _tell_sizes(call)
        from ..tables.sources import describe_file

        try:
            return {"columns": [(column.name, column.type) for column in describe_file(call, path, name)]}
        except ToolError as problem:
            return {"problem": problem.message}

    outcome = Watchdog(time.monotonic() + seconds, seconds, call.memory_limit).run(work)
    if outcome.document is None:
        reasons = {"TIMEOUT": "it took too long", "MEMORY_LIMIT_EXCEEDED": "it takes more memory than the call has"}
        return Columns(problem=reasons.get(outcome.error.code if outcome.error else "", "its reader failed"))
    if "problem" in outcome.document:
        return Columns(problem=outcome.document["problem"].rstrip("."))
    return Columns(tuple((column, kind) for column, kind in outcome.document["columns"]))


def _tell_sizes(call: Call) -> None:
    """Tells DuckDB how large the machine is by the variables that it asks before /proc/self/cgroup.

    The fence of the worker lets that one process read its own /proc folder, and none that it starts.
    """
    os.environ["SLURM_CPUS_ON_NODE"] = str(call.threads)
    os.environ["SLURM_MEM_PER_NODE"] = str(max(call.memory_limit // 1_000_000, 64))  # in MB

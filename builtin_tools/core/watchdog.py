"""One call as two processes: a watchdog that holds the clock, and a worker that touches what may be hostile.

The worker is forked, dies with the watchdog, and sends back one JSON document. Past the time limit the watchdog
ends the worker's whole process group by SIGKILL, which nothing in it can refuse. The watchdog itself never opens
an input, never parses SQL and never loads an engine.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .errors import InternalError, MemoryLimitExceeded, TimeLimitExceeded, ToolError

WORKER_SHARE = 512_000_000  # what a worker may hold beside its memory limit: code, buffers, the interpreter
_GLANCE_SECONDS = 0.05  # how often the worker's memory is looked at, for what the kernel's own bound does not count


@dataclass
class Outcome:
    """What became of a worker: the document it sent, or the error that stands for it."""

    document: dict[str, Any] | None
    error: ToolError | None


class Watchdog:
    """Runs one function in a worker. `deadline` is in seconds of time.monotonic()."""

    def __init__(self, deadline: float, timeout_seconds: float, memory_limit: int) -> None:
        self._deadline = deadline
        self._timeout_seconds = timeout_seconds
        self._memory_limit = memory_limit
        self._worker = 0

    def run(self, work: Callable[[int], dict[str, Any]]) -> Outcome:
        """Calls `work(pid of the watchdog)` in a worker and gives what it returned, or why it did not."""
        if not hasattr(os, "fork"):
            return Outcome(work(os.getpid()), None)  # no fork: the layers that need one are reported as absent
        reader, writer = os.pipe()
        parent = os.getpid()
        sys.stdout.flush()
        sys.stderr.flush()
        self._worker = os.fork()
        if self._worker == 0:
            os.close(reader)
            _be_worker(work, parent, writer)
        os.close(writer)
        with contextlib.suppress(OSError):
            os.setpgid(self._worker, self._worker)
        stopped: ToolError | None = None
        try:
            answer, stopped = self._collect(reader)
        finally:
            os.close(reader)
            if stopped is not None:
                self.kill()
            status, usage = self._end()
        return Outcome(None, stopped) if stopped is not None else self._outcome(answer, status, usage)

    def kill(self) -> None:
        """Ends the worker and all that it started, at once."""
        if self._worker:
            for send in (os.killpg, os.kill):
                with contextlib.suppress(OSError):
                    send(self._worker, signal.SIGKILL)

    def _collect(self, reader: int) -> tuple[bytes, ToolError | None]:
        """All that the worker sends until it closes its end; or the limit that it passed before, its time or its memory."""
        parts: list[bytes] = []
        while True:
            left = self._deadline - time.monotonic()
            if left <= 0:
                return b"", self._timeout()
            ready, _, _ = select.select([reader], [], [], min(left, _GLANCE_SECONDS))
            if not ready:
                if _held_by(self._worker) > self._memory_limit + WORKER_SHARE:
                    return b"", memory_error(self._memory_limit)
                continue
            block = os.read(reader, 1 << 16)
            if not block:
                return b"".join(parts), None
            parts.append(block)

    def _end(self) -> tuple[int, Any]:
        """Ends what is left of the group and takes the worker's status; it has sent all it will send."""
        pid, status, usage = os.wait4(self._worker, os.WNOHANG)
        patience = min(time.monotonic() + 0.5, self._deadline)
        while pid == 0 and time.monotonic() < patience:
            time.sleep(0.0005)
            pid, status, usage = os.wait4(self._worker, os.WNOHANG)
        self.kill()
        if pid == 0:
            _, status, usage = os.wait4(self._worker, 0)
        self._worker = 0
        return status, usage

    def _timeout(self) -> TimeLimitExceeded:
        return TimeLimitExceeded(
            f"The call was stopped after {self._timeout_seconds:g} s, its time limit.",
            "Ask for less: fewer files or rows, a filter, an aggregate or a LIMIT; or for a smaller document "
            "(a table of fewer rows). The operator can raise timeout_seconds.",
            details={"timeout_seconds": self._timeout_seconds},
        )

    def _outcome(self, answer: bytes, status: int, usage: Any) -> Outcome:
        if answer and os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
            return Outcome(json.loads(answer), None)
        peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        by_signal = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        if by_signal in (signal.SIGKILL, signal.SIGABRT) or (by_signal and peak > self._memory_limit // 2):
            return Outcome(None, memory_error(self._memory_limit))
        return Outcome(
            None,
            InternalError(
                f"The worker ended by signal {by_signal} before it could answer."
                if by_signal
                else "The worker ended before it could answer.",
                "Send a simpler call; if the same call ends so again, report it with the run log.",
            ),
        )


def _held_by(pid: int) -> int:
    """The bytes of memory that are a process's own and resident; 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as stream:
            _, resident, shared, *_ = map(int, stream.read().split())
        return (resident - shared) * os.sysconf("SC_PAGESIZE")
    except (OSError, ValueError):
        return 0


def memory_error(limit: int) -> MemoryLimitExceeded:
    """The error of a call that needs more memory than it has."""
    from .limits import readable_size

    return MemoryLimitExceeded(
        f"The call needs more memory than its limit of {readable_size(limit)}.",
        "Ask for less at once: fewer columns, a filter, an aggregate or a LIMIT, or a smaller document. "
        "The operator can raise memory_limit.",
    )


def _be_worker(work: Callable[[int], dict[str, Any]], parent: int, writer: int) -> None:
    """The worker's life: it never returns."""
    status = 1
    try:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        data = json.dumps(work(parent)).encode()
        with open(writer, "wb", closefd=False) as stream:
            stream.write(data)
        status = 0
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)

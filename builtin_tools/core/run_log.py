"""The run log, `.artifacts/log.jsonl`: one line for each call, whatever its outcome.

A line is appended in a single write to a file opened for appending, under a lock, so that lines of parallel calls stay
whole. What a full disk cuts short is taken back, and so is the beginning of a line whose writer was killed.
"""

from __future__ import annotations

import errno
import json
import os
import time
from datetime import UTC, datetime
from typing import Any

from .artifacts import ArtifactDirectory
from .envelope import encodable
from .publishing import own_folder

_MAX_PARAMETERS = 20_000
_PATIENCE = 2.0  # seconds to wait for the lock; a process that was stopped while it held it must not stop the others


def append(directory: ArtifactDirectory, entry: dict[str, Any]) -> None:
    """Adds one line. `entry` must hold no secret; raises OSError or ConfigurationError where nothing can be written."""
    line = encodable(json.dumps(entry, ensure_ascii=False, default=str)).encode() + b"\n"
    path = os.path.join(own_folder(directory, "tmp"), "..", "log.jsonl")
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(os.path.normpath(path), flags, 0o600)
    try:
        _append(descriptor, line, _locked(descriptor))
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    """Whether the lock of the log was to be had; it is free again when the descriptor is closed."""
    try:
        import fcntl
    except ImportError:
        return False
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.002)
        except OSError:  # a file system without locks
            return False


def _append(descriptor: int, line: bytes, alone: bool) -> None:
    end = os.lseek(descriptor, 0, os.SEEK_END)
    if alone and end and os.pread(descriptor, 1, end - 1) != b"\n":
        end = _whole_lines(descriptor, end)
        os.ftruncate(descriptor, end)
    written = os.write(descriptor, line)
    if written < len(line):
        if alone:
            os.ftruncate(descriptor, end)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _whole_lines(descriptor: int, end: int) -> int:
    """Where the last whole line ends, of a file whose last line is not."""
    while end > 0:
        start = max(0, end - (1 << 16))
        at = os.pread(descriptor, end - start, start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


def loggable(parameters: Any) -> Any:
    """The agent's parameters as the log keeps them: whole, or their beginning where they are very long."""
    text = json.dumps(parameters, ensure_ascii=False, default=str)
    if len(text) <= _MAX_PARAMETERS:
        return parameters
    return {"cut": text[:_MAX_PARAMETERS], "chars": len(text)}


def timestamp(seconds: float) -> str:
    """An instant as ISO 8601 in UTC, to the millisecond."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

"""The run log, `.artifacts/log.jsonl`: one line for each call, whatever its outcome.

A line is appended in a single write to a file opened for appending, so that lines of parallel calls stay whole.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import Any

from .artifacts import ArtifactDirectory
from .envelope import encodable
from .publishing import own_folder

_MAX_PARAMETERS = 20_000


def append(directory: ArtifactDirectory, entry: dict[str, Any]) -> None:
    """Adds one line. `entry` must hold no secret; raises OSError or ConfigurationError where nothing can be written."""
    line = encodable(json.dumps(entry, ensure_ascii=False, default=str)).encode() + b"\n"
    path = os.path.join(own_folder(directory, "tmp"), "..", "log.jsonl")
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(os.path.normpath(path), flags, 0o600)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def loggable(parameters: Any) -> Any:
    """The agent's parameters as the log keeps them: whole, or their beginning where they are very long."""
    text = json.dumps(parameters, ensure_ascii=False, default=str)
    if len(text) <= _MAX_PARAMETERS:
        return parameters
    return {"cut": text[:_MAX_PARAMETERS], "chars": len(text)}


def timestamp(seconds: float) -> str:
    """An instant as ISO 8601 in UTC, to the millisecond."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

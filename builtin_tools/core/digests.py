"""The sha256 of files that were hashed before: a pure accelerator under `.artifacts/cache/digests`.

An entry is known by device, inode, size and both times of change in nanoseconds, so it is void the moment the file
changes. A file that changed only just now is not remembered: within one tick of the clock it could change again unseen.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import time
from typing import NamedTuple

from .artifacts import OWN_FOLDER

WORTH_BYTES = 4 << 20  # hashing less costs no more than looking it up
_SETTLED_NS = 2_000_000_000
_MOST = 5_000
_DRAFT_SECONDS = 60.0  # a draft lives for an instant, unless its writer was killed


class State(NamedTuple):
    """What tells a file in one state from itself in another."""

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> State:
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _entry(root: str, state: State) -> str:
    key = ":".join(str(part) for part in state)
    return os.path.join(root, OWN_FOLDER, "cache", "digests", hashlib.sha256(key.encode()).hexdigest()[:32])


def known(root: str, state: State) -> str:
    """The hash of the file in this very state; "" where it is not known."""
    try:
        with open(_entry(root, state), encoding="ascii") as stream:
            text = stream.read(65)
    except (OSError, UnicodeDecodeError):
        return ""
    return text if len(text) == 64 else ""


def remember(root: str, state: State, digest: str, *, settled: bool = False) -> None:
    """Keeps a hash. `settled`: the file was written by this call, so that it may be kept although it is new."""
    if state.size < WORTH_BYTES or not digest:
        return
    if not settled and time.time_ns() - max(state.modified_ns, state.changed_ns) < _SETTLED_NS:
        return
    path = _entry(root, state)
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        draft = f"{path}.{secrets.token_hex(4)}"
        with open(draft, "w", encoding="ascii") as stream:
            stream.write(digest)
        os.replace(draft, path)
        _bound(os.path.dirname(path))


def _bound(folder: str) -> None:
    """Drops drafts whose writer was killed, and the oldest half once there are too many entries."""
    with os.scandir(folder) as scan:
        entries = list(scan)
    old = [entry for entry in entries if "." in entry.name and time.time() - entry.stat().st_mtime > _DRAFT_SECONDS]
    if len(entries) > _MOST:
        old += sorted(entries, key=lambda one: one.stat().st_mtime_ns)[: _MOST // 2]
    for entry in old:
        with contextlib.suppress(OSError):
            os.unlink(entry.path)

"""What lies in the artifact directory, bounded and in a fixed order."""

from __future__ import annotations

import fnmatch
import os
import unicodedata
from datetime import UTC, datetime
from typing import Any

from .artifacts import ArtifactDirectory
from .call import current
from .envelope import SHOWN, Answer, Column, Table
from .errors import PathOutsideArtifacts
from .tables.formats import format_by_name

COLUMNS = [
    Column("path", "VARCHAR"), Column("kind", "VARCHAR"), Column("format", "VARCHAR"), Column("bytes", "BIGINT"),
    Column("modified", "TIMESTAMP WITH TIME ZONE"), Column("rows", "BIGINT"), Column("columns", "BIGINT"),
]  # fmt: skip


def list_directory(path: str, pattern: str | None, recursive: bool, sort_by: str, max_entries: int) -> Answer:
    """The answer of list_directory. Raises FileNotFound, PathOutsideArtifacts, UnsupportedFormat."""
    call = current()
    directory = call.directory
    relative, real = directory.folder(path)
    start = os.path.relpath(real, directory.root).replace(os.sep, "/").removeprefix(".").removeprefix("/")
    if pattern is not None:
        directory.relative(f"{relative}/{pattern}" if relative and not os.path.isabs(pattern) else pattern)
        pattern = unicodedata.normalize("NFC", pattern.removeprefix("./"))
    entries = [
        (shown, entry)
        for shown, entry in _entries(directory, start, relative, recursive or "/" in (pattern or ""))
        if _matches(shown, relative, pattern)
    ]
    if sort_by == "size":
        entries.sort(key=lambda pair: (-_status(pair[1]).st_size, pair[0]))
    elif sort_by == "modified":
        entries.sort(key=lambda pair: (-_status(pair[1]).st_mtime_ns, pair[0]))
    rows = [_row(directory, shown, entry) for shown, entry in entries[:max_entries]]
    _add_parquet_shapes(rows)
    return Answer(summary=_summary(relative, pattern, len(entries)), table=Table(COLUMNS, rows, len(entries)))


def _entries(directory: ArtifactDirectory, start: str, relative: str, recursive: bool) -> Any:
    """Pairs of the path as the agent writes it and the directory entry."""
    if recursive:
        skip = len(start) + 1 if start else 0
        for found, entry in directory.walk(start):
            yield (f"{relative}/{found[skip:]}" if relative else found), entry
        return
    with os.scandir(os.path.join(directory.root, start)) as scan:
        entries = sorted(scan, key=lambda entry: entry.name)
    for entry in entries:
        shown = f"{relative}/{entry.name}" if relative else entry.name
        if start or entry.name.casefold() != ".artifacts":
            yield shown, entry


def _matches(shown: str, relative: str, pattern: str | None) -> bool:
    if pattern is None:
        return True
    below = unicodedata.normalize("NFC", shown[len(relative) + 1 :] if relative else shown)
    if "/" not in pattern:
        return fnmatch.fnmatchcase(below.rpartition("/")[2], pattern)
    return _parts_match(below.split("/"), pattern.split("/"))


def _parts_match(names: list[str], patterns: list[str]) -> bool:
    if not patterns or not names:
        return not patterns and not names
    if patterns[0] == "**":
        return _parts_match(names, patterns[1:]) or _parts_match(names[1:], patterns) or (len(patterns) == 1)
    return fnmatch.fnmatchcase(names[0], patterns[0]) and _parts_match(names[1:], patterns[1:])


def _status(entry: os.DirEntry[str]) -> os.stat_result:
    return entry.stat(follow_symlinks=False)


def _row(directory: ArtifactDirectory, shown: str, entry: os.DirEntry[str]) -> list[Any]:
    kind, size, status = "other", None, _status(entry)
    if entry.is_symlink():
        kind = "link"
        try:
            real = directory.input_file(shown) if entry.is_file() else None
        except PathOutsideArtifacts:
            real = None
        if real is not None:
            kind, size = "file", real.size
    elif entry.is_dir(follow_symlinks=False):
        kind = "directory"
    elif entry.is_file(follow_symlinks=False):
        kind, size = "file", status.st_size
    moment = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    name = format_by_name(entry.name) if kind == "file" else None
    return [shown, kind, name, size, moment, None, None]


def _add_parquet_shapes(rows: list[list[Any]]) -> None:
    files = [row for row in rows if row[2] == "parquet" and row[3]]
    if not files:
        return
    from .tables.parquet import shapes

    found = shapes([row[0] for row in files])
    for row in files:
        row[5], row[6] = found.get(row[0], (None, None))


def _summary(relative: str, pattern: str | None, total: int) -> str:
    where = f" in {relative}" if relative else ""
    match = f" {'matches' if total == 1 else 'match'} {pattern!r}" if pattern is not None else ""
    if total == 0:
        return f"Nothing{' matches ' + repr(pattern) if pattern else ' lies'}{where or ' in the directory'}."
    noun = "entry" if total == 1 else "entries"
    return f"{total:,} {noun}{where}{match}; {SHOWN} shown."

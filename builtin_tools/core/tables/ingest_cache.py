"""The ingest cache: a typed Parquet copy of a large text file and what was found in it, under `.artifacts/cache/tables`.

An entry is named by the content's sha256, the options and this program's version, so it can never stand for another
state of a file; deleting it changes no answer. It is used only where the hash is known without reading the file again
(see digests.py). The worker writes into its scratch folder; the watchdog moves the finished entry into place.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, ParamSpec

from ... import __version__
from ..artifacts import OWN_FOLDER, ArtifactDirectory, InputFile
from ..call import Call, current
from ..envelope import Answer, Warn
from ..errors import CacheLost
from ..limits import parse_size
from .engine import Engine
from .prepared import Prepared, SourceColumn
from .sql_text import literal_path, quote_name, quote_text

Given = ParamSpec("Given")
WORTH_BYTES = 8 << 20  # below, reading the text again costs no more than keeping a copy
COPY_OPTIONS = "FORMAT parquet, COMPRESSION uncompressed, DICTIONARY_SIZE_LIMIT 1, ROW_GROUP_SIZE 122880"
_FORM = 1  # raised whenever an entry of an earlier program would be read wrongly


def _folder(root: str) -> str:
    return os.path.join(root, OWN_FOLDER, "cache", "tables")


def key_of(digest: str, name: str, options: str) -> str:
    """The name that all entries of one file in one state have in common."""
    text = json.dumps([_FORM, __version__, digest, name, options])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def load(engine: Engine, file: InputFile, options: Any, needed: frozenset[str] | None) -> Prepared | None:
    """The relation kept for a file in its present state that has the columns needed (None: all); None where there is none."""
    call = engine.call
    digest = call.digest_at_hand(file.path)
    if not digest or call.without_cache:
        return None
    folder, key = _folder(call.directory.root), key_of(digest, file.path, repr(options))
    try:
        names = sorted(name for name in os.listdir(folder) if name.startswith(key) and name.endswith(".json"))
    except OSError:
        return None
    for name in names:
        prepared = _read(os.path.join(folder, name.removesuffix(".json")))
        if prepared is not None and _suffices(prepared, needed):
            call.used_entries.append(name.removesuffix(".json"))
            return prepared
    return None


def _read(entry: str) -> Prepared | None:
    try:
        with open(f"{entry}.json", encoding="utf-8") as stream:
            kept = json.load(stream)
        if os.path.getsize(f"{entry}.parquet") != kept["bytes"]:
            return None
    except (OSError, ValueError, KeyError):
        return None
    columns = [SourceColumn(**column) for column in kept["columns"]]
    held = frozenset(kept["held"]) if kept["held"] is not None else None
    warnings = [Warn(**warning) for warning in kept["warnings"]]
    data = f"{entry}.parquet"
    return Prepared(
        _scan(data, columns, held), columns, kept["format"], [data], None, held, kept["rows"], kept["details"], warnings
    )


def again_without_cache(work: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """Does the work of a tool once more, without the cache, where another call dropped an entry while it was read."""

    @functools.wraps(work)
    def done(*args: Given.args, **kwargs: Given.kwargs) -> Answer:
        try:
            return work(*args, **kwargs)
        except CacheLost:
            call = current()
            call.without_cache = True
            call.pending.clear()
            call.warnings.clear()
            return work(*args, **kwargs)

    return done


def _suffices(prepared: Prepared, needed: frozenset[str] | None) -> bool:
    if prepared.held is None:
        return True
    names = {column.name.casefold() for column in prepared.columns}
    return needed is not None and needed & names <= prepared.held


def _scan(data: str, columns: list[SourceColumn], held: frozenset[str] | None) -> str:
    cells = [
        f"CAST({quote_name(column.name)} AS {column.type}) AS {quote_name(column.name)}"
        for column in columns
        if held is None or column.name.casefold() in held
    ]
    return f"SELECT {', '.join(cells)} FROM read_parquet({literal_path(data)}, hive_partitioning=false)"


def worth_keeping(call: Call, size: int) -> bool:
    """Whether a file is large enough, and there is room for a copy of it."""
    if size < WORTH_BYTES or size * 2 > call.temp_disk_limit or size > _limit(call.setting("cache_limit", "5GB")):
        return False
    try:
        space = os.statvfs(call.scratch)
    except (OSError, AttributeError):
        return False
    return space.f_bavail * space.f_frsize > size * 4


def _limit(value: str) -> int:
    return parse_size(value, "cache_limit")


def keep(engine: Engine, prepared: Prepared, tag: str) -> Prepared:
    """The relation read from a typed copy in the scratch folder instead of from text, written in one pass."""
    target = engine.call.scratch_path(f"{tag}.parquet")
    rows = int(engine.rows(f"COPY ({stored(prepared.scan, prepared.columns)}) TO {quote_text(target)} ({COPY_OPTIONS})")[0][0])
    return kept_copy(prepared, target, rows)


def kept_copy(prepared: Prepared, target: str, rows: int) -> Prepared:
    """`prepared`, reading from the typed copy at `target`."""
    return Prepared(
        _scan(target, prepared.columns, prepared.held),
        prepared.columns,
        prepared.format,
        [*prepared.files, target],
        prepared.with_text,
        prepared.held,
        rows,
        prepared.details,
        prepared.warnings,
    )


def stored(scan: str, columns: list[SourceColumn]) -> str:
    """The SELECT whose rows Parquet holds exactly: what it has no type for is text in it."""
    cells = [
        f"CAST({quote_name(column.name)} AS VARCHAR) AS {quote_name(column.name)}"
        if "HUGEINT" in column.type
        else quote_name(column.name)
        for column in columns
    ]
    return f"SELECT {', '.join(cells)} FROM ({scan})"


def hand_over(engine: Engine, file: InputFile, options: Any, prepared: Prepared, tag: str) -> None:
    """Notes a copy in the scratch folder as an entry for the watchdog to put in place once the call has succeeded."""
    call = engine.call
    data = call.scratch_path(f"{tag}.parquet")
    document = {
        "bytes": os.path.getsize(data),
        "rows": prepared.rows,
        "format": prepared.format,
        "held": sorted(prepared.held) if prepared.held is not None else None,
        "columns": [asdict(column) for column in prepared.columns],
        "details": prepared.details,
        "warnings": [asdict(warning) for warning in prepared.warnings],
    }
    with open(call.scratch_path(f"{tag}.json"), "w", encoding="utf-8") as stream:
        json.dump(document, stream, ensure_ascii=False)
    part = hashlib.sha256(json.dumps(document["held"]).encode()).hexdigest()[:8] if prepared.held is not None else "all"
    call.entries.append((tag, file.path, repr(options), part))


# ---------------------------------------------------------------- in the watchdog


def put_in_place(directory: ArtifactDirectory, scratch: str, tag: str, key: str, limit: int) -> None:
    """Moves an entry from the scratch folder into the cache and drops the entries unused for longest. Never raises."""
    with contextlib.suppress(OSError):
        folder = _folder(directory.root)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        for end in ("parquet", "json"):  # the description last: an entry without it is none
            os.replace(os.path.join(scratch, f"{tag}.{end}"), os.path.join(folder, f"{key}.{end}"))
        _bound(folder, limit)


def touch(directory: ArtifactDirectory, key: str) -> None:
    """Marks an entry as used just now. Never raises."""
    with contextlib.suppress(OSError):
        os.utime(os.path.join(_folder(directory.root), f"{key}.parquet"))


def _bound(folder: str, limit: int) -> None:
    with os.scandir(folder) as scan:
        entries = [
            (entry.stat().st_mtime_ns, entry.stat().st_size, entry.path) for entry in scan if entry.name.endswith(".parquet")
        ]
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= limit:
            break
        for victim in (path.removesuffix(".parquet") + ".json", path):
            with contextlib.suppress(OSError):
                os.unlink(victim)
        total -= size

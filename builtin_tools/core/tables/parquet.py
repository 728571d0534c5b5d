"""Parquet files as one relation: by their own metadata, several with unlike columns by name, partitions kept as text."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from ..artifacts import InputFile
from ..call import current
from ..errors import FileCorrupt, FileEmpty, SqlError
from .engine import Engine, native
from .engine_errors import told
from .prepared import Prepared, SourceColumn
from .result_cells import KEPT_TYPES, NOT_IN_PARQUET
from .sql_text import literal_path, quote_name, quote_text


def partitions(path: str) -> dict[str, str]:
    """What the folders of a path say as `key=value`, as Hive lays tables out; the values are text."""
    from urllib.parse import unquote

    found = {}
    for part in path.split("/")[:-1]:
        key, equals, value = part.partition("=")
        if equals and key and value:
            found[unquote(key)] = unquote(value)
    return found


def prepare_parquet(engine: Engine, files: list[InputFile]) -> Prepared:
    """One relation over Parquet files. Raises FileCorrupt naming the file and its cause, SqlError where types clash."""
    for file in files:
        if file.size == 0:
            raise FileEmpty(f"{file.path!r} is empty: it has 0 bytes.", "Choose a file with data.")
    keys = {key for file in files for key in partitions(file.path)}
    hive = bool(keys) and all(set(partitions(file.path)) == keys for file in files)
    paths = ", ".join(literal_path(file.real) for file in files)
    options = ", union_by_name=true" if len(files) > 1 else ""
    options += ", hive_partitioning=true, hive_types_autocast=false" if hive else ", hive_partitioning=false"
    scan = f"SELECT * FROM read_parquet([{paths}]{options})"
    try:
        described = engine.rows(f"DESCRIBE {scan}")
        groups = engine.rows(f"SELECT sum(num_rows), sum(num_row_groups) FROM parquet_file_metadata([{paths}])")[0]
    except native().Error as problem:
        raise _fault(engine, files, problem) from None
    columns = [SourceColumn(row[0], row[1], row[0]) for row in described]
    if len(files) == 1:
        scan, columns = _with_kept_types(engine, literal_path(files[0].real), scan, columns)
    details: dict[str, Any] = {"row_groups": int(groups[1] or 0)}
    if hive:
        details["partitions"] = sorted(keys)
    return Prepared(scan, columns, "parquet", [file.real for file in files], rows=int(groups[0] or 0), details=details)


def _with_kept_types(engine: Engine, path: str, scan: str, columns: list[SourceColumn]) -> tuple[str, list[SourceColumn]]:
    """The types that a result had when it was written and that Parquet has not: a huge integer is one again.

    Anybody may have written the file, so only types of NOT_IN_PARQUET are taken, over what they are stored as.
    """
    found = engine.rows(f"SELECT value FROM parquet_kv_metadata({path}) WHERE key = {quote_text(KEPT_TYPES)}")
    try:
        kept = json.loads(found[0][0]) if found else {}
    except ValueError:
        kept = {}
    if not isinstance(kept, dict) or not kept:
        return scan, columns
    cells, restored = [], []
    for column in columns:
        kind = kept.get(column.name)
        fits = kind in NOT_IN_PARQUET and column.type in ("VARCHAR", "DECIMAL(38,0)")
        name = quote_name(column.name)
        cells.append(f"CAST({name} AS {kind}) AS {name}" if fits else name)
        restored.append(replace(column, type=str(kind)) if fits else column)
    return f"SELECT {', '.join(cells)} FROM ({scan})", restored


def _fault(engine: Engine, files: list[InputFile], problem: BaseException) -> Exception:
    """The error that names the one bad file among several, or the types that clash."""
    for file in files:
        try:
            engine.rows(f"SELECT num_rows FROM parquet_file_metadata({literal_path(file.real)})")
            engine.rows(f"DESCRIBE SELECT * FROM read_parquet({literal_path(file.real)})")
        except native().Error as cause:
            reason = re.sub(r"'[^']*'|\"[^\"]*\"", "", str(told(cause)["exception_message"]).splitlines()[0])
            return FileCorrupt(
                f"{file.path!r} is no whole Parquet file: {' '.join(reason.split()).strip(' .:!')}.",
                "Get the file again, or leave it out of the pattern.",
                details={"file": file.path},
            )
    types: dict[str, dict[str, str]] = {}
    for file in files:
        for name, kind, *_ in engine.rows(f"DESCRIBE SELECT * FROM read_parquet({literal_path(file.real)})"):
            types.setdefault(name, {}).setdefault(kind, file.path)
    clash = {name: kinds for name, kinds in types.items() if len(kinds) > 1}
    words = "; ".join(
        f"{name}: " + ", ".join(f"{kind} in {path}" for kind, path in kinds.items()) for name, kinds in clash.items()
    )
    message = str(told(problem)["exception_message"]).splitlines()[0]
    return SqlError(
        f"The files do not make one table: {words or message}.",
        "Read the files one by one, and CAST the column to one type in SQL.",
    )


def shapes(paths: list[str]) -> dict[str, tuple[int, int]]:
    """Rows and columns of Parquet files by their paths in the directory, as far as their metadata can be read."""
    call = current()
    engine = Engine.open(call)
    found = {}
    for path in paths:
        try:
            real = literal_path(call.directory.input_file(path).real)
            rows = engine.rows(f"SELECT num_rows FROM parquet_file_metadata({real})")[0][0]
            found[path] = (int(rows), len(engine.rows(f"DESCRIBE SELECT * FROM read_parquet({real}, hive_partitioning=false)")))
        except native().Error:
            continue
    return found

"""The one way in: a path or a pattern of the directory becomes a relation, whatever the files are made of."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any

from ..artifacts import InputFile
from ..call import Call
from ..envelope import Warn
from ..errors import FileEmpty, SqlError, UnsupportedFormat, listed
from . import ingest_cache
from .csv.reader import prepare_csv
from .csv.source import CsvOptions
from .engine import Engine
from .formats import COMPRESSIONS, format_by_content, format_by_name
from .parquet import partitions, prepare_parquet
from .prepared import Prepared, SourceColumn
from .sql_text import quote_name, quote_text

_BINARY = ("pdf", "png", "jpeg", "gif", "duckdb", "sqlite", "arrow", "orc", "avro", "7z", "rar", "program")
_MAX_FILES = 10_000
_JSON_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{\s*[\"}]|\[\s*(?:[\"{\[\]\d-]|true|false|null))")
_JSON_RECORD = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{\s*\"|\[\s*\{\s*\")")


class Sources:
    """Opens the files of one call. Each path is prepared once."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.call = engine.call
        self._prepared: dict[Any, Prepared] = {}
        self._count = 0

    def open(self, path: str, options: CsvOptions | None = None, needed: frozenset[str] | None = None) -> Prepared:
        """The relation of a file, or of all files that a pattern names. The files are noted as inputs of the call.

        `needed`: the names, in small letters, of the columns that will be used, where not all are.
        Raises FileNotFound, PathOutsideArtifacts, UnsupportedFormat, FileCorrupt, FileEmpty, EncodingProblem, SqlError.
        """
        return self.open_all([path], options, needed)

    def open_all(self, paths: list[str], options: CsvOptions | None = None, needed: frozenset[str] | None = None) -> Prepared:
        """The relation of all files that several paths and patterns name, one under another; raises as `open` does."""
        key = (tuple(paths), options, needed)
        if key not in self._prepared:
            files: dict[str, InputFile] = {}
            skipped: list[str] = []
            for path in paths:
                found, left_out = self.call.directory.input_files(path)
                files.update((file.path, file) for file in found)
                skipped += left_out
            if len(files) > _MAX_FILES:
                raise UnsupportedFormat(f"{len(files):,} files match.", f"Match at most {_MAX_FILES:,} files at once.")
            for file in files.values():
                self.call.read(file)
            prepared = self._several(list(files.values()), options or CsvOptions(), needed)
            if skipped:
                prepared.warnings.append(Warn("FILES_LEFT_OUT", f"Left out of {', '.join(paths)}: {listed(skipped, 10)}."))
            self.engine.allow(prepared.files)
            self._prepared[key] = prepared
        return self._prepared[key]

    def _several(self, files: list[InputFile], options: CsvOptions, needed: frozenset[str] | None) -> Prepared:
        kinds = {file.path: kind_of(self.call, file) for file in files}
        if all(kind == "parquet" for kind in kinds.values()):
            return prepare_parquet(self.engine, files)
        if len(files) == 1 and not partitions(files[0].path):
            return self._one(files[0], kinds[files[0].path], options, needed)
        return union(files, [self._one(file, kinds[file.path], options, None) for file in files])

    def _one(self, file: InputFile, kind: str, options: CsvOptions, needed: frozenset[str] | None) -> Prepared:
        if kind == "parquet":
            return prepare_parquet(self.engine, [file])
        kept = ingest_cache.load(self.engine, file, options, needed)
        if kept is not None:
            kept.with_text = lambda columns: self._text_again(file, kind, options, columns)
            return kept
        path, tag, prepared = self._fresh(file, kind, options, needed)
        if not ingest_cache.worth_keeping(self.call, os.path.getsize(path)):
            return prepared
        if not os.path.exists(self.call.scratch_path(f"{tag}.parquet")):
            prepared = ingest_cache.keep(self.engine, prepared, tag)
        ingest_cache.hand_over(self.engine, file, options, prepared, tag)
        return prepared

    def _fresh(self, file: InputFile, kind: str, options: CsvOptions, needed: frozenset[str] | None) -> tuple[str, str, Prepared]:
        """The plain bytes of a file, the tag of its scratch files, and its relation, read anew."""
        if file.size == 0:
            raise FileEmpty(f"{file.path!r} is empty: it has 0 bytes.", "Choose a file with data.")
        self._count += 1
        tag, path, compression = f"in{self._count}", file.real, None
        if kind in COMPRESSIONS:
            from .compression import decompressed

            path, inner, compression = decompressed(self.call, file)
            kind = kind_by(path, inner or file.path, _head(path))
        prepared = prepare_plain(self.engine, path, file.path, kind, options, tag, needed)
        if compression:
            prepared.details = {"compression": compression, **prepared.details}
        return path, tag, prepared

    def _text_again(self, file: InputFile, kind: str, options: CsvOptions, columns: set[str]) -> str:
        """What a kept copy has no more: a scan with columns as the text that stands in the file, read anew."""
        _, _, again = self._fresh(file, kind, options, None)
        self.engine.allow(again.files)
        return again.with_text(columns) if again.with_text else again.scan


def prepare_plain(
    engine: Engine, path: str, name: str, kind: str, options: CsvOptions, tag: str, needed: frozenset[str] | None = None
) -> Prepared:
    """The relation of uncompressed bytes at an absolute path, of a known kind; `name` is what the answer calls it."""
    if kind == "excel":
        from .excel import prepare as prepare_excel

        return prepare_excel(engine.call, path, name)
    if kind in ("json", "ndjson"):
        from .json_table import prepare as prepare_json

        return prepare_json(engine.call, path, name)
    if kind == "parquet":
        return prepare_parquet(engine, [InputFile(name, path, os.path.getsize(path), 0, 0, 0)])
    if kind in _BINARY:
        raise unsupported(name, kind)
    return prepare_csv(engine, path, name, options, tag, needed)


def unsupported(name: str, kind: str) -> UnsupportedFormat:
    """The error for a file that holds no table."""
    other = {"pdf": " read_pdf reads PDFs (content tables for their tables).", "duckdb": " Export its tables to Parquet first."}
    return UnsupportedFormat(
        f"{name!r} is a {kind} file, not a table.",
        "Name a CSV, TSV, Parquet, JSON, NDJSON or Excel file, plain or compressed." + other.get(kind, ""),
    )


def _head(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read(4096)


def kind_of(call: Call, file: InputFile) -> str:
    """What a file is, by its content first: a format of formats.py; text is csv or json."""
    descriptor = call.directory.open_descriptor(file)
    try:
        head = os.read(descriptor, 4096)
    finally:
        os.close(descriptor)
    return kind_by(file.real, file.path, head)


def kind_by(path: str, name: str, head: bytes) -> str:
    """The kind of the bytes at an absolute path, whose first ones are `head`; csv where nothing says otherwise."""
    by_content = format_by_content(head)
    if by_content == "zip":
        from .compression import spreadsheet_kind

        return "excel" if spreadsheet_kind(path) else "zip"
    if by_content is not None:
        return by_content
    by_name = format_by_name(name)
    if by_name in ("json", "ndjson"):
        return by_name
    start = _JSON_START if by_name not in ("csv", "tsv") else _JSON_RECORD
    return "json" if start.match(head) else "csv"


# ---------------------------------------------------------------- several files as one


def union(files: list[InputFile], parts: list[Prepared]) -> Prepared:
    """The files one under another, their columns matched by name; what the folders say as `key=value` are columns too.

    A column whose type differs from file to file stays as it is written where the files are text.
    """
    names: dict[str, SourceColumn] = {}
    for part in parts:
        for column in part.columns:
            names.setdefault(column.name.casefold(), column)
    keys = [key for key in dict.fromkeys(key for file in files for key in partitions(file.path)) if key.casefold() not in names]
    columns = [_unified(key, files, parts) for key in names]
    selects = []
    for file, part in zip(files, parts, strict=True):
        held = {column.name.casefold(): column for column in part.columns}
        as_text = {
            held[column.name.casefold()].name
            for column in columns
            if column.type == "VARCHAR" and column.name.casefold() in held and held[column.name.casefold()].type != "VARCHAR"
        }
        own = partitions(file.path)
        cells = [_cell(column, held.get(column.name.casefold())) for column in columns]
        cells += [f"{quote_text(own[key]) if key in own else 'NULL::VARCHAR'} AS {quote_name(key)}" for key in keys]
        scan = part.with_text(as_text) if as_text and part.with_text else part.scan
        selects.append(f"SELECT {', '.join(cells)} FROM ({scan})")
    rows = [part.rows for part in parts]
    return Prepared(
        scan=" UNION ALL ".join(selects),
        columns=columns + [SourceColumn(key, "VARCHAR", key) for key in keys],
        format=parts[0].format,
        files=[path for part in parts for path in part.files],
        rows=None if None in rows else sum(row or 0 for row in rows),
        details={
            "files": [{"path": file.path, "rows": part.rows, **part.details} for file, part in zip(files, parts, strict=True)]
        },
        warnings=[warning for part in parts for warning in part.warnings],
    )


def _cell(unified: SourceColumn, held: SourceColumn | None) -> str:
    name = quote_name(unified.name)
    return f"CAST({quote_name(held.name) if held else 'NULL'} AS {unified.type}) AS {name}"


def _unified(key: str, files: list[InputFile], parts: list[Prepared]) -> SourceColumn:
    """The column of the union: its type is that of all files, the wider of two decimals, or text."""
    found: list[tuple[SourceColumn, Prepared, InputFile]] = [
        (column, part, file)
        for file, part in zip(files, parts, strict=True)
        for column in part.columns
        if column.name.casefold() == key
    ]
    first = found[0][0]
    kinds = list(dict.fromkeys(column.type for column, _, _ in found if not column.empty)) or ["VARCHAR"]
    if len(kinds) == 1:
        return replace(first, type=kinds[0])
    decimals = [kind for kind in kinds if kind.startswith("DECIMAL(")]
    if len(decimals) == len(kinds) and len({kind.split(",")[1] for kind in kinds}) == 1:
        widest = max(int(kind[8:].split(",")[0]) for kind in kinds)
        return replace(first, type=f"DECIMAL({widest},{kinds[0].split(',')[1]}")
    if all(part.with_text is not None or column.type == "VARCHAR" for column, part, _ in found):
        return replace(first, type="VARCHAR", note=f"kept as text: the files differ in its type ({', '.join(kinds)})")
    words = "; ".join(f"{kind} in {next(file.path for column, _, file in found if column.type == kind)}" for kind in kinds)
    raise SqlError(
        f"The files do not make one table: {first.name} is {words}.",
        "Read the files one by one, and CAST the column to one type in SQL.",
    )


def describe_file(call: Call, scratch_path: str, name: str) -> list[SourceColumn]:
    """The columns of a file that lies in the scratch folder under any name; `name` is the name it will have.

    Raises the errors of `Sources.open`.
    """
    engine = Engine.open(call)
    kind = kind_by(scratch_path, name, _head(scratch_path))
    if kind in COMPRESSIONS:
        from .compression import decompressed

        status = os.stat(scratch_path)
        file = InputFile(name, scratch_path, status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino)
        path, inner, _ = decompressed(call, file)
        scratch_path, kind = path, kind_by(path, inner or name, _head(path))
    return prepare_plain(engine, scratch_path, name, kind, CsvOptions(), "described").columns

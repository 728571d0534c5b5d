"""The tables that a statement names, as views: a file by its path, by its stem, by a reader function with options."""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import replace
from typing import Any

from ..errors import FileNotFound, SqlError, SqlNotAllowed, TableNotFound, UnsupportedFormat, listed, near_names
from .csv.source import CsvOptions
from .engine import Engine
from .formats import TABULAR, format_by_name, stem
from .guard import Checked, Reader
from .pivot import tokens_of
from .prepared import Prepared, SourceColumn
from .sources import Sources
from .sql_text import quote_name

_CSV_OPTIONS = {
    "delim": "delimiter", "sep": "delimiter", "delimiter": "delimiter", "quote": "quote", "header": "header", "skip": "skip_rows",
    "encoding": "encoding", "dateformat": "date_format", "date_format": "date_format", "decimal_separator": "decimal",
    "thousands": "thousands", "nullstr": "null_values", "null": "null_values", "nullstrings": "null_values",
}  # fmt: skip
_NEEDLESS = {
    "auto_detect", "sample_size", "union_by_name", "hive_partitioning", "hive_types_autocast", "compression", "parallel", "strict_mode",
    "null_padding", "max_line_size", "maximum_line_size", "buffer_size", "format", "maximum_object_size", "maximum_sample_files",
    "all_varchar", "columns", "types", "dtypes", "column_types", "new_line", "allow_quoted_nulls", "files_to_sniff", "records",
}  # fmt: skip


class Catalog:
    """Makes the views of a statement, before the engine is locked."""

    def __init__(self, engine: Engine, sources: Sources) -> None:
        self.engine, self.sources = engine, sources
        self.columns: dict[str, list[str]] = {}
        self.prepared: dict[str, Prepared] = {}
        self._stems: dict[str, list[str]] | None = None

    def resolve(self, checked: Checked) -> str:
        """Makes a view for each table that the statement names; the statement with its readers replaced by views."""
        for name in checked.tables:
            self.add(name, self.path(name), checked.needed)
        text = checked.sql.encode()
        for number, reader in sorted(enumerate(checked.readers), key=lambda pair: -pair[1].start):
            name = f"{reader.function}_{number + 1}"
            self._view(name, self._read(reader))
            text = text[: reader.start] + quote_name(name).encode() + text[_end_of_call(text.decode(), reader.start) :]
        return text.decode()

    def add(self, name: str, path: str, needed: frozenset[str] | None = None) -> Prepared:
        """Makes the file at `path` a table by the name `name`; `needed` as for Sources.open."""
        if name not in self.prepared:
            self._view(name, self.sources.open(path, needed=needed))
        return self.prepared[name]

    def _view(self, name: str, prepared: Prepared) -> None:
        if any(known.casefold() == name.casefold() for known in self.prepared):
            raise SqlError(f"Two tables of the statement differ only in case: {name!r}.", "Rename one of the files.")
        self.engine.view(quote_name(name), prepared.scan)
        self.prepared[name] = prepared
        self.columns[name] = [column.name for column in prepared.columns]

    # ---- by name

    def path(self, name: str) -> str:
        """The path that a table's name stands for: itself, or that of the one file with this stem."""
        directory = self.engine.call.directory
        relative = directory.relative(name)
        try:
            directory.input_files(name)
            return name
        except FileNotFound as problem:
            missing: Exception = problem
        except UnsupportedFormat as problem:
            if os.path.splitext(relative)[1]:
                raise
            missing = problem
        stems = self._by_stem()
        found = stems.get(unicodedata.normalize("NFC", name)) or [
            path for known, paths in stems.items() if known.casefold() == name.casefold() for path in paths
        ]
        if len(found) == 1:
            return found[0]
        if found:
            raise TableNotFound(
                f"{name!r} stands for more than one file.",
                f"Name one by its path in quotes: {listed([repr(path) for path in found])}.",
            )
        if re.search(r"[/.*?\[]", name) or isinstance(missing, UnsupportedFormat):
            raise missing
        near = near_names(name, list(stems))
        tables = [f"{known} ({paths[0]})" for known, paths in stems.items()]
        closest = f"Closest: {listed(near)}. " if near else ""
        there = f"Tables: {listed(tables, 15)}." if tables else "The directory holds no tables yet."
        raise TableNotFound(f"There is no table {name[:200]!r}: no file of the directory has this path or stem.", closest + there)

    def _by_stem(self) -> dict[str, list[str]]:
        if self._stems is None:
            self._stems = {}
            paths = self.engine.call.directory.file_names()
            for path in sorted(paths, key=lambda path: (path.startswith("results/"), path)):
                base = path.rpartition("/")[2]
                if format_by_name(base) in (*TABULAR, "text", "gzip", "zstd", "bzip2", "xz", "zip"):
                    self._stems.setdefault(unicodedata.normalize("NFC", stem(base)), []).append(path)
        return self._stems

    # ---- by a reader function

    def _read(self, reader: Reader) -> Prepared:
        prepared = self.sources.open_all(reader.paths, _csv_options(reader))
        if reader.options.get("all_varchar"):
            prepared = _retyped(prepared, {column.name: "VARCHAR" for column in prepared.columns})
        types = reader.options.get("types") or reader.options.get("dtypes") or reader.options.get("column_types")
        if isinstance(types, dict):
            prepared = _retyped(prepared, {str(name): str(kind) for name, kind in types.items()})
        columns = reader.options.get("columns")
        if isinstance(columns, dict):
            prepared = _retyped(
                _renamed(prepared, list(columns), reader), {str(name): str(kind) for name, kind in columns.items()}
            )
        return prepared


def _end_of_call(sql: str, start: int) -> int:
    """Where the call that begins at a byte of the statement ends: behind its closing bracket."""
    called = [token for token in tokens_of(sql) if token.start >= start]
    opened = next(token for token in called if token.word == "(")
    return next(token.end for token in called if token.word == ")" and token.depth == opened.depth)


def _csv_options(reader: Reader) -> CsvOptions:
    known: dict[str, Any] = {}
    for name, value in reader.options.items():
        if name in _CSV_OPTIONS and reader.format == "csv":
            known[_CSV_OPTIONS[name]] = _fit(reader.function, name, _CSV_OPTIONS[name], value)
        elif name not in _NEEDLESS:
            raise SqlNotAllowed(
                f"{reader.function} has no option {name!r} here.",
                f"Options: {', '.join(sorted({*_CSV_OPTIONS, 'columns', 'types', 'all_varchar'}))}.",
            )
    if "null_values" in known:
        marks = known["null_values"]
        known["null_values"] = tuple(mark for mark in (marks if isinstance(marks, list) else [marks]) if mark)
    if not isinstance(known.get("header", True), bool):
        known["header"] = str(known["header"]).lower() in ("1", "true")
    return CsvOptions(**known)


def _fit(function: str, name: str, option: str, value: Any) -> Any:
    """The value of an option of a reader function, where it is of the kind that the option takes."""
    if option == "header":
        return value
    if option == "skip_rows":
        fits, takes = str(value).isascii() and str(value).isdigit() and len(str(value)) < 10, "a whole number from 0"
        value = int(value) if fits else value
    elif option == "null_values":
        fits, takes = (
            all(isinstance(mark, str) for mark in (value if isinstance(value, list) else [value])),
            "a text or a list of texts",
        )
    else:
        fits, takes = isinstance(value, str), "a text"
    if not fits:
        raise SqlError(
            f"The option {name} of {function} takes {takes}, not {str(value)[:60]!r}.", f"Write it as in {_EXAMPLES[option]}."
        )
    return value


_EXAMPLES = {
    "delimiter": "delim = ';'", "quote": "quote = '\"'", "skip_rows": "skip = 2", "encoding": "encoding = 'utf-8'", "decimal": "decimal_separator = ','",
    "date_format": "dateformat = '%d/%m/%Y'", "thousands": "thousands = '.'", "null_values": "nullstr = ['NA', '-']",
}  # fmt: skip
_TYPE = re.compile(r"[A-Za-z_][\w ]*(\(\s*\d+\s*(,\s*\d+\s*)?\))?(\[\d*\])*")


def _retyped(prepared: Prepared, types: dict[str, str]) -> Prepared:
    """The relation with columns cast from the text that stands in the file to the types asked for."""
    by_name = {column.name.casefold(): column for column in prepared.columns}
    for name, kind in types.items():
        if name.casefold() not in by_name:
            raise SqlError(
                f"There is no column {name!r} to give a type.",
                f"Columns: {listed([column.name for column in prepared.columns])}.",
            )
        if not _TYPE.fullmatch(kind):
            raise SqlNotAllowed(f"{kind[:60]!r} is no type.", "Name a type such as VARCHAR, BIGINT or DECIMAL(18,2).")
    wanted = {name.casefold(): kind for name, kind in types.items()}
    named = {column.name for column in prepared.columns if column.name.casefold() in wanted}
    scan = prepared.with_text(named) if prepared.with_text else prepared.scan
    cells, columns = [], []
    for column in prepared.columns:
        kind = wanted.get(column.name.casefold(), column.type)
        name = quote_name(column.name)
        cells.append(f"CAST({name} AS {kind}) AS {name}" if column.name in named else name)
        columns.append(replace(column, type=kind))
    return replace(prepared, scan=f"SELECT {', '.join(cells)} FROM ({scan})", columns=columns)


def _renamed(prepared: Prepared, names: list[str], reader: Reader) -> Prepared:
    if len(names) != len(prepared.columns):
        raise SqlError(
            f"columns of {reader.function} names {len(names)} columns, but the file has {len(prepared.columns)}.",
            f"The file's columns: {listed([column.name for column in prepared.columns])}.",
        )
    aliases = ", ".join(quote_name(name) for name in names)
    old = [column.name for column in prepared.columns]
    columns = [
        SourceColumn(name, column.type, column.original_name) for name, column in zip(names, prepared.columns, strict=True)
    ]

    def with_text(kept: set[str]) -> str:
        back = {old[position] for position, name in enumerate(names) if name in kept}
        inner = prepared.with_text(back) if prepared.with_text else prepared.scan
        return f"SELECT * FROM ({inner}) AS t({aliases})"

    return replace(prepared, scan=with_text(set()), with_text=with_text, columns=columns)

"""A CSV file made ready to be queried: what was found, what was done about it, and a scan that gives typed columns."""

from __future__ import annotations

import contextlib
import mmap
import os
from typing import Any

from ...errors import FileEmpty
from ..encoding import find_encoding, to_utf8
from ..engine import Engine, native
from ..ingest_cache import kept_copy, worth_keeping
from ..prepared import Prepared
from ..sql_text import literal_path, quote_text
from .conversions import Conversion
from .inference import infer
from .layout import usable_names
from .normal import Report, blocks, form_of, line_of_row, normalise, one_ending
from .records import Buffer
from .source import CsvOptions, Source, check, first_values, look
from .told import as_prepared, note_head
from .trials import Typed
from .typed_copy import typed_copy

_DIRECT_BYTES = 256 * 1024  # from this size on DuckDB may parse the file itself, where it is regular


def prepare_csv(
    engine: Engine, path: str, shown: str, options: CsvOptions, tag: str, needed: frozenset[str] | None = None
) -> Prepared:
    """The file at `path` (plain bytes) as a relation; `shown` is its name for the answer, `tag` makes scratch names unique.

    `needed`: the names, in small letters, of the columns that will be used, where not all are.

    Raises FileEmpty, EncodingProblem, InvalidParameters.
    """
    call = engine.call
    check(options)
    if os.path.getsize(path) == 0:
        raise FileEmpty(f"{shown!r} is empty: it has 0 bytes.", "Choose a file with data.")
    encoding = find_encoding(path, options.encoding, shown)
    if encoding.name not in ("utf-8", "ascii"):
        target = call.scratch_path(f"{tag}.utf8")
        to_utf8(path, encoding, target)
        path, skip = target, 0
    else:
        skip = encoding.bom
    with open(path, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        buffer: Buffer = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    source = look(shown, path, encoding, buffer, skip, options)
    prepared = _direct(engine, source, options, tag, needed) if _may_be_direct(source, size) else None
    return prepared or _by_record(engine, source, options, tag, needed)


# ---------------------------------------------------------------- the two ways


def _may_be_direct(source: Source, size: int) -> bool:
    """Whether DuckDB's parser in strict mode can be tried: it then either reads just as `records` does, or refuses."""
    dialect, layout = source.found.dialect, source.layout
    body = source.rows[layout.first_row :]
    if size < _DIRECT_BYTES or not body or layout.comment_sign or len(dialect.delimiter.encode()) > 4:
        return False
    if dialect.escape or dialect.quote is None or len(dialect.quote.encode()) != 1 or dialect.delimiter == " ":
        return False
    if any(row.irregular or len(row.fields) != layout.width for row in body):
        return False
    head = source.rows[: layout.first_row]
    if any(row.lines > 1 for row in head) or source.start > 3 or layout.preamble:
        return False
    return bool(one_ending(source.buffer[source.start : source.rows[-1].end]))


def _lost_lines(source: Source, rows: int) -> bool:
    """Whether DuckDB may have passed over lines without a word: there are more lines than rows, and no quoted line end or a
    blank line can account for them."""
    buffer, first = source.buffer, source.rows[source.layout.first_row].start
    lines = sum(block.count(b"\n") for block in blocks(buffer, first))
    lines += buffer[len(buffer) - 1 :] != b"\n"
    if lines == rows and source.layout.width > 1:
        return False
    quoted = lines == rows or buffer.find((source.found.dialect.quote or "").encode(), first) >= 0
    blank = any(buffer.find(pair, max(0, first - 1)) >= 0 for pair in (b"\n\n", b"\n\r", b"\r\r"))
    return not rows or not quoted or blank


def _direct(engine: Engine, source: Source, options: CsvOptions, tag: str, needed: frozenset[str] | None) -> Prepared | None:
    """The file as DuckDB parses it in strict mode; None where it refuses."""
    dialect, layout = source.found.dialect, source.layout
    ending = "" if b"\r" in source.buffer[: source.rows[0].end] else "\\n"  # told CRLF, it finds no rows
    scan = _scan(source.path, layout.width, dialect.delimiter, dialect.quote or "", layout.first_row, ending, 4 << 20)
    report = Report(header=0 if layout.header is None else 1)
    try:
        prepared = _typed(engine, source, scan, source.names, report, [source.path], options, tag, needed)
    except (native().InvalidInputException, native().ConversionException):
        return None
    if _lost_lines(source, report.rows):
        with contextlib.suppress(OSError):
            os.unlink(engine.call.scratch_path(f"{tag}.parquet"))
        return None
    return prepared


def _by_record(engine: Engine, source: Source, options: CsvOptions, tag: str, needed: frozenset[str] | None) -> Prepared:
    """The file written anew in a plain form, record by record where lines are not as they should be."""
    dialect, layout = source.found.dialect, source.layout
    target = engine.call.scratch_path(f"{tag}.csv")
    start, line = _first_row(source)
    normal = normalise(source.buffer, start, line, dialect, layout, target)
    note_head(normal.report, source)
    names = source.names + [f"extra_{number}" for number in range(1, normal.width - len(source.names) + 1)]
    names, _ = usable_names(names)
    form, longest = form_of(dialect), max(4 << 20, normal.longest + 4096)
    scan = _scan(target, normal.written, form.delimiter, form.quote or "", 0, "\\n", longest)
    return _typed(engine, source, scan, names, normal.report, [target], options, tag, needed)


def _typed(
    engine: Engine,
    source: Source,
    scan: str,
    names: list[str],
    report: Report,
    files: list[str],
    options: CsvOptions,
    tag: str,
    needed: frozenset[str] | None,
) -> Prepared:
    """The text relation `scan` with types: as a typed copy where that is worth while and the first rows keep their promise."""
    sample = first_values(source, len(names), options)
    if worth_keeping(engine.call, len(source.buffer)) and not options.asks_for_conversion:
        target = engine.call.scratch_path(f"{tag}.parquet")
        chosen = [position for position, name in enumerate(names) if needed is None or name.casefold() in needed] or [0]
        copied = typed_copy(engine, scan, sample, target, names, chosen)
        if copied is not None:
            report.rows = copied.rows
            prepared = as_prepared(source, scan, copied.typed, report, names, files)
            if len(chosen) < len(names):
                prepared.held = frozenset(names[position].casefold() for position in chosen)
            return kept_copy(prepared, target, copied.rows)
    report.rows, typed = _types(engine, source, scan, sample, names, options)
    return as_prepared(source, scan, typed, report, names, files)


def _scan(path: str, width: int, delimiter: str, quote: str, skip: int, ending: str, longest: int) -> str:
    columns = ", ".join(f"'c{position}': 'VARCHAR'" for position in range(width))
    new_line = f", new_line='{ending}'" if ending else ""
    return (
        f"SELECT * FROM read_csv({literal_path(path)}, auto_detect=false, header=false, delim={quote_text(delimiter)}, "
        f"quote={quote_text(quote)}, escape={quote_text(quote)}, nullstr='', allow_quoted_nulls=false, strict_mode=true, "
        f"null_padding=false, skip={skip}, max_line_size={longest}, columns={{{columns}}}{new_line})"
    )


def _first_row(source: Source) -> tuple[int, int]:
    """Where the rows begin, and the number of that line: behind what was looked at, where that ends with the header."""
    if source.layout.first_row < len(source.rows):
        first = source.rows[source.layout.first_row]
        return first.start, first.line
    last = source.rows[-1]
    return last.end, last.line + last.lines


def _line_of(source: Source, row: int) -> int:
    start, line = _first_row(source)
    return line_of_row(source.buffer, start, line, source.found.dialect, source.layout, row)


def _types(
    engine: Engine, source: Source, scan: str, sample: list[list[str]], names: list[str], options: CsvOptions
) -> tuple[int, list[Typed]]:
    columns = [f"c{position}" for position in range(len(sample))]
    text = scan
    if options.null_values:
        marks = ", ".join(quote_text(mark) for mark in options.null_values)
        masked = ", ".join(f"CASE WHEN {column} IN ({marks}) THEN NULL ELSE {column} END AS {column}" for column in columns)
        text = f"SELECT {masked} FROM ({scan})"

    def run(sql: str) -> list[tuple[Any, ...]]:
        return engine.rows(f"WITH rows AS ({text}) {sql}")

    total, typed = infer(run, columns, sample)
    if options.decimal or options.thousands or options.date_format:
        told = (options.decimal or ".", options.thousands or "", options.date_format or "")
        typed = Conversion(run, columns, names, lambda row: _line_of(source, row), *told).apply(typed)
    if options.null_values:
        for one in typed:
            one.expression = one.expression.replace("@@", f"CASE WHEN @@ IN ({marks}) THEN NULL ELSE @@ END")
    return total, typed

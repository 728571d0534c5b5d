"""A CSV file made ready to be queried: what was found, what was done about it, and a scan that gives typed columns."""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass, field
from typing import Any

from ...envelope import Warn
from ...errors import FileEmpty, InvalidParameters
from ..encoding import Encoding, find_encoding, to_utf8
from ..engine import Engine, native
from ..ingest_cache import kept_copy, worth_keeping
from ..prepared import Prepared, SourceColumn
from ..sql_text import literal_path, quote_name, quote_text
from .conversions import Conversion
from .dialect import Found, find_dialect
from .inference import infer
from .layout import Layout, find_layout, is_blank, usable_names
from .normal import Normalised, Report, line_of_row, normalise
from .records import Buffer, Record, records
from .trials import Typed
from .typed_copy import typed_copy

_SAMPLE_BYTES = 256 * 1024
_SAMPLE_RECORDS = 1_000
_SAMPLE_VALUES = 300
_DIRECT_BYTES = 256 * 1024  # from this size on DuckDB may parse the file itself, where it is regular


@dataclass(frozen=True)
class CsvOptions:
    """What the caller told of a CSV file; None: find out."""

    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    header: bool | None = None
    skip_rows: int | None = None
    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None
    null_values: tuple[str, ...] = ()

    @property
    def asks_for_conversion(self) -> bool:
        """Whether values are to be read as something else than what they are written as."""
        return bool(self.decimal or self.thousands or self.date_format or self.null_values)


@dataclass
class _Source:
    """A file on its way: its bytes in UTF-8 and what is known of them so far."""

    shown: str
    path: str
    encoding: Encoding
    buffer: Buffer
    start: int
    found: Found
    rows: list[Record]
    whole: bool
    layout: Layout
    names: list[str] = field(default_factory=list)
    originals: list[str] = field(default_factory=list)


def prepare_csv(engine: Engine, path: str, shown: str, options: CsvOptions, tag: str) -> Prepared:
    """The file at `path` (plain bytes) as a relation; `shown` is its name for the answer, `tag` makes scratch names unique.

    Raises FileEmpty, EncodingProblem, InvalidParameters.
    """
    call = engine.call
    _check(options)
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
    source = _look(shown, path, encoding, buffer, skip, options)
    prepared = _direct(engine, source, options, tag) if _may_be_direct(source, size) else None
    return prepared or _by_record(engine, source, options, tag)


def _check(options: CsvOptions) -> None:
    for name, value, most in (
        ("delimiter", options.delimiter, 8),
        ("quote", options.quote, 1),
        ("thousands", options.thousands, 1),
    ):
        if value is not None and (len(value) > most or not value or "\n" in value or "\r" in value):
            raise InvalidParameters(
                f"{name} is {value[:40]!r}, but it takes {'one sign' if most == 1 else 'one to eight signs'}, no line end.",
                'Send for example delimiter ";", quote "\'" or thousands "."; for a tab send "\\t".',
            )
    if options.delimiter and options.delimiter == options.quote:
        raise InvalidParameters("delimiter and quote are the same sign.", "Send two different signs.")
    if options.thousands and options.thousands == (options.decimal or "."):
        raise InvalidParameters("decimal and thousands are the same sign.", 'Send for example decimal "," with thousands ".".')


# ---------------------------------------------------------------- looking at the beginning


def _look(shown: str, path: str, encoding: Encoding, buffer: Buffer, skip: int, options: CsvOptions) -> _Source:
    size = len(buffer)
    end = min(size, skip + _SAMPLE_BYTES)
    if end < size:
        cut = max(buffer.rfind(b"\n", skip, end), buffer.rfind(b"\r", skip, end))
        if cut < skip:
            following = buffer.find(b"\n", end)
            cut = size - 1 if following < 0 else following
        end = cut + 1
    sample = buffer[skip:end]
    whole = end >= size
    if not sample.strip(b" \t\r\n"):
        raise FileEmpty(f"{shown!r} holds nothing but blank lines.", "Choose a file with data.")
    found = find_dialect(sample, whole, _told_delimiter(options.delimiter), options.quote, shown.lower())
    start = skip + found.skip
    rows: list[Record] = []
    for record in records(buffer, start, end, found.dialect, 2 if found.skip else 1):
        rows.append(record)
        if len(rows) >= _SAMPLE_RECORDS:
            break
    if not whole and len(rows) > 2 and rows[-1].end >= end:
        rows.pop()
    layout = find_layout(rows, options.header, options.skip_rows)
    source = _Source(shown, path, encoding, buffer, start, found, rows, whole, layout)
    _name_columns(source)
    return source


def _told_delimiter(told: str | None) -> str | None:
    return {"\\t": "\t", "tab": "\t", "TAB": "\t"}.get(told or "", told)


def _name_columns(source: _Source) -> None:
    layout = source.layout
    if layout.header is None:
        source.originals = [""] * layout.width
        source.names = [f"column{position}" for position in range(layout.width)]
        return
    cells = [(cell or b"").decode("utf-8", "replace") for cell in source.rows[layout.header].fields]
    below = [row for row in source.rows[layout.first_row :] if len(row.fields) > 1 or row.fields[0]]
    if len(cells) > 1 and not cells[-1].strip() and below and all(len(row.fields) < len(cells) for row in below):
        cells.pop()  # the header alone ends in a delimiter
        layout.width -= 1
    source.originals = cells
    source.names, _ = usable_names(cells)


# ---------------------------------------------------------------- the two ways


def _may_be_direct(source: _Source, size: int) -> bool:
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
    first = body[0].start
    buffer = source.buffer
    doubtful = any(row.lines > 1 for row in head) or source.start > 3 or layout.preamble
    return (
        not doubtful and buffer.find(b"\n\n", first) < 0 and buffer.find(b"\n\r", first) < 0 and buffer.find(b"\r\r", first) < 0
    )


def _direct(engine: Engine, source: _Source, options: CsvOptions, tag: str) -> Prepared | None:
    dialect, layout = source.found.dialect, source.layout
    ending = "\\r\\n" if b"\r\n" in source.buffer[: source.rows[0].end] else "\\n"
    scan = _scan(source.path, layout.width, dialect.delimiter, dialect.quote or "", layout.first_row, f"'{ending}'", 4 << 20)
    sample = _sample(source, layout.width, options)
    try:
        if worth_keeping(engine.call, len(source.buffer)) and not options.asks_for_conversion:
            copied = typed_copy(engine, scan, sample, engine.call.scratch_path(f"{tag}.parquet"), source.names)
            if copied is not None:
                report = Report(rows=copied.rows, header=0 if layout.header is None else 1)
                prepared = _prepared(source, scan, copied.typed, report, source.names, [source.path], "DuckDB")
                return kept_copy(prepared, engine.call.scratch_path(f"{tag}.parquet"), copied.rows)
        total, typed = _types(engine, source, scan, sample, source.names, options)
    except (native().InvalidInputException, native().ConversionException):
        return None
    report = Report(rows=total, header=0 if layout.header is None else 1)
    return _prepared(source, scan, typed, report, source.names, [source.path], "DuckDB")


def _by_record(engine: Engine, source: _Source, options: CsvOptions, tag: str) -> Prepared:
    dialect, layout = source.found.dialect, source.layout
    target = engine.call.scratch_path(f"{tag}.csv")
    first = source.rows[layout.first_row] if layout.first_row < len(source.rows) else None
    normal = normalise(
        source.buffer, first.start if first else len(source.buffer), first.line if first else 1, dialect, layout, target
    )
    _note_head(normal.report, source)
    names = source.names + [f"extra_{number}" for number in range(1, normal.width - len(source.names) + 1)]
    names, _ = usable_names(names)
    scan = _scan(target, normal.written, ",", '"', 0, "'\\n'", max(4 << 20, normal.longest + 4096))
    _, typed = _types(engine, source, scan, _sample(source, normal.width, options), names, options)
    return _prepared(source, scan, typed, normal.report, names, [target], "records", normal)


def _scan(path: str, width: int, delimiter: str, quote: str, skip: int, ending: str, longest: int) -> str:
    columns = ", ".join(f"'c{position}': 'VARCHAR'" for position in range(width))
    return (
        f"SELECT * FROM read_csv({literal_path(path)}, auto_detect=false, header=false, delim={quote_text(delimiter)}, "
        f"quote={quote_text(quote)}, escape={quote_text(quote)}, nullstr='', allow_quoted_nulls=false, strict_mode=true, "
        f"null_padding=false, skip={skip}, new_line={ending}, max_line_size={longest}, columns={{{columns}}})"
    )


def _sample(source: _Source, width: int, options: CsvOptions) -> list[list[str]]:
    """The first values of each column that are there, as text."""
    values: list[list[str]] = [[] for _ in range(width)]
    missing = {mark.encode() for mark in options.null_values}
    for record in source.rows[source.layout.first_row :][:_SAMPLE_VALUES]:
        if width > 1 and is_blank(record):
            continue
        for column, cell in zip(values, record.fields, strict=False):
            if cell and cell not in missing:
                column.append(cell.decode("utf-8", "replace"))
    return values


def _line_of(source: _Source, row: int) -> int:
    first = source.rows[source.layout.first_row]
    return line_of_row(source.buffer, first.start, first.line, source.found.dialect, source.layout, row)


def _types(
    engine: Engine, source: _Source, scan: str, sample: list[list[str]], names: list[str], options: CsvOptions
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


def _note_head(report: Report, source: _Source) -> None:
    layout = source.layout
    report.header = 0 if layout.header is None else 1
    for index in layout.preamble:
        (report.preamble if any(source.rows[index].fields) else report.blank).add(source.rows[index].line)
    for index in layout.comments:
        report.comments.add(source.rows[index].line)


# ---------------------------------------------------------------- what is told


def _prepared(
    source: _Source,
    scan: str,
    typed: list[Typed],
    report: Report,
    names: list[str],
    files: list[str],
    parser: str,
    normal: Normalised | None = None,
) -> Prepared:
    originals = source.originals + [""] * (len(names) - len(source.originals))
    columns, selected, texts = [], {}, {}
    for position, (name, kind) in enumerate(zip(names, typed, strict=True)):
        text = f"c{position}" if not kind.empties or kind.type == "VARCHAR" else f"nullif(c{position}, '')"
        selected[name] = f"{kind.expression.replace('@@', text)} AS {quote_name(name)}"
        texts[name] = f"c{position} AS {quote_name(name)}"
        columns.append(SourceColumn(name, kind.type, originals[position], kind.note, empty=kind.empty))
    warnings = _warnings(source, report, names, typed, normal)

    def with_text(kept: set[str]) -> str:
        return f"SELECT {', '.join(texts[name] if name in kept else selected[name] for name in names)} FROM ({scan})"

    return Prepared(
        scan=with_text(set()),
        columns=columns,
        format="tsv" if source.found.dialect.delimiter == "\t" and source.shown.lower().endswith((".tsv", ".tab")) else "csv",
        files=files,
        with_text=with_text,
        rows=report.rows,
        details=_details(source, report, columns, parser),
        warnings=warnings,
    )


def _details(source: _Source, report: Report, columns: list[SourceColumn], parser: str) -> dict[str, Any]:
    dialect, layout = source.found.dialect, source.layout
    told: dict[str, Any] = {
        "encoding": source.encoding.name,
        "delimiter": dialect.delimiter,
        "delimiter_from": source.found.how,
        "quote": dialect.quote,
        "header": layout.header is not None,
    }
    if layout.header is not None:
        told["header_line"] = source.rows[layout.header].line
    if dialect.escape:
        told["escape"] = dialect.escape
    if source.encoding.bom:
        told["byte_order_mark"] = True
    notes = [
        {"column": column.name, "original_name": column.original_name, "type": column.type, "note": column.note}
        for column in columns
        if column.note or column.name != column.original_name
    ]
    details: dict[str, Any] = {"dialect": told, "records": report.document()}
    if notes:
        details["columns"] = notes
    return details


def _warnings(source: _Source, report: Report, names: list[str], typed: list[Typed], normal: Normalised | None) -> list[Warn]:
    warnings = [] if not source.encoding.note else [Warn("ENCODING_ASSUMED", source.encoding.note)]
    shown, layout = source.shown, source.layout
    if report.preamble:
        warnings.append(Warn("LINES_SKIPPED", f"{shown}: {report.preamble.sentence('line')} before the table skipped."))
    if report.comments:
        warnings.append(Warn("COMMENTS_SKIPPED", f"{shown}: {report.comments.sentence('comment')} skipped."))
    if report.padded:
        warnings.append(
            Warn("ROWS_PADDED", f"{shown}: {report.padded.sentence('row')} had fewer fields than columns, padded with NULL.")
        )
    extra = names[len(source.names) :]
    if extra:
        warnings.append(
            Warn(
                "SURPLUS_FIELDS",
                f"{shown}: {report.surplus.sentence('row')} had more fields than the header; the surplus is in the made-up column {', '.join(extra)}.",
            )
        )
    elif report.trailing:
        warnings.append(
            Warn(
                "TRAILING_DELIMITER",
                f"{shown}: {report.trailing.sentence('row')} ended in a delimiter too many, with nothing behind it.",
            )
        )
    if report.other_delimiter:
        warnings.append(
            Warn(
                "OTHER_DELIMITER",
                f"{shown}: {report.other_delimiter.sentence('row')} parted by another delimiter was read by that one.",
            )
        )
    if report.irregular:
        warnings.append(
            Warn(
                "QUOTES_IRREGULAR",
                f"{shown}: {report.irregular.sentence('row')} had quotes out of place; the text was kept as it is written, quotes included.",
            )
        )
    changed = [(original, name) for original, name in zip(source.originals, source.names, strict=True) if original != name]
    if changed and layout.header is not None:
        told = ", ".join(f"{original!r} → {name}" for original, name in changed[:20])
        warnings.append(Warn("COLUMN_NAMES_CHANGED", f"{shown}: names that were blank, double or padded were changed: {told}."))
    if layout.header is None:
        warnings.append(
            Warn(
                "NO_HEADER",
                f"{shown}: the first line is taken as data; the columns are named {source.names[0]} and so on. header true would take it as names.",
            )
        )
    texts = [(name, kind.note) for name, kind in zip(names, typed, strict=True) if kind.note]
    for name, note in texts[:12]:
        warnings.append(Warn("TYPE_KEPT_AS_TEXT", f"{name}: {note}."))
    if len(texts) > 12:
        warnings.append(Warn("TYPE_KEPT_AS_TEXT", f"{len(texts) - 12:,} more columns were kept as text; details say why."))
    warnings += [
        Warn("DATE_ORDER_PROVED", f"{name}: {kind.assumed}.") for name, kind in zip(names, typed, strict=True) if kind.assumed
    ]
    emptied = [
        f"{name} ({kind.empties:,})" for name, kind in zip(names, typed, strict=True) if kind.empties and kind.type != "VARCHAR"
    ]
    if emptied:
        warnings.append(
            Warn("QUOTED_EMPTY_AS_NULL", f"Quoted empty fields are NULL where the column is not text: {', '.join(emptied[:20])}.")
        )
    return warnings

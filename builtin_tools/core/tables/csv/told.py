"""What was found in a CSV file, as a relation and as the details and warnings of an answer."""

from __future__ import annotations

from typing import Any

from ...envelope import Warn
from ..prepared import Prepared, SourceColumn
from ..sql_text import quote_name
from .normal import Report
from .source import Source
from .trials import Typed


def note_head(report: Report, source: Source) -> None:
    layout = source.layout
    report.header = 0 if layout.header is None else 1
    for index in layout.preamble:
        (report.preamble if any(source.rows[index].fields) else report.blank).add(source.rows[index].line)
    for index in layout.comments:
        report.comments.add(source.rows[index].line)


def as_prepared(
    source: Source,
    scan: str,
    typed: list[Typed],
    report: Report,
    names: list[str],
    files: list[str],
) -> Prepared:
    originals = source.originals + [""] * (len(names) - len(source.originals))
    columns, selected, texts = [], {}, {}
    for position, (name, kind) in enumerate(zip(names, typed, strict=True)):
        text = f"c{position}" if not kind.empties or kind.type == "VARCHAR" else f"nullif(c{position}, '')"
        selected[name] = f"{kind.expression.replace('@@', text)} AS {quote_name(name)}"
        texts[name] = f"c{position} AS {quote_name(name)}"
        columns.append(SourceColumn(name, kind.type, originals[position], kind.note, empty=kind.empty))
    warnings = _warnings(source, report, names, typed)

    def with_text(kept: set[str]) -> str:
        return f"SELECT {', '.join(texts[name] if name in kept else selected[name] for name in names)} FROM ({scan})"

    return Prepared(
        scan=with_text(set()),
        columns=columns,
        format="tsv" if source.found.dialect.delimiter == "\t" and source.shown.lower().endswith((".tsv", ".tab")) else "csv",
        files=files,
        with_text=with_text,
        rows=report.rows,
        details=_details(source, report, columns),
        warnings=warnings,
    )


def _details(source: Source, report: Report, columns: list[SourceColumn]) -> dict[str, Any]:
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


def _warnings(source: Source, report: Report, names: list[str], typed: list[Typed]) -> list[Warn]:
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

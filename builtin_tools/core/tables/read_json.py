"""The logic of read_json: a table of the records, or an outline of a document that is no table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..artifacts import InputFile, OutputFile
from ..call import Call, current
from ..envelope import SHOWN, Answer, Artifact, Column, Table, Text
from ..errors import FileCorrupt, InvalidParameters, UnsupportedFormat, listed
from .compression import Plain, decompressed, spreadsheet_kind
from .formats import format_by_content, stem
from .json_path import parse_records_path, pointer
from .json_survey import Survey, note_warnings, survey

FORMATS = {"parquet": "parquet", "pq": "parquet", "csv": "csv", "tsv": "csv", "json": "json", "ndjson": "json", "jsonl": "json"}


def read_json(
    path: str,
    records_path: str | None,
    preview_rows: int,
    offset: int,
    output_path: str | None,
    output_format: str | None,
    overwrite: bool,
) -> Answer:
    """The answer of read_json. A file is written only where output_path or output_format is given.

    Raises FileNotFound, PathOutsideArtifacts, FileCorrupt, FileEmpty, EncodingProblem, UnsupportedFormat,
    InvalidParameters, OutputExists and the limits' errors.
    """
    call = current()
    steps = parse_records_path(records_path or "")
    file = call.read(_the_file(call, path))
    source = decompressed(call, file)
    _refuse_others(source, file)
    wanted = output_path is not None or output_format is not None
    format_name = _format(output_path, output_format)
    output = call.result_output(output_path, overwrite, f"json_{stem(file.name)}", format_name) if wanted else None
    try:
        found = survey(source.path, file.path, steps, offset, call.preview_rows(preview_rows))
    except FileCorrupt as problem:
        raise _told_for_what_it_is(problem, file, source) from None
    if not found.is_table:
        return _outlined(found, source, wanted)
    answer = _table(found, source, offset)
    if output is not None:
        answer.artifacts.append(_write(call, found, output, format_name))
        answer.summary = answer.summary.replace(";", f", all in {output.path};", 1)
    return answer


def _the_file(call: Call, path: str) -> InputFile:
    """The one file that the path, or a pattern, names."""
    files, _ = call.directory.input_files(path)
    if len(files) > 1:
        names = [file.path for file in files]
        raise InvalidParameters(
            f"{path!r} matches {len(files):,} files: {listed(names, 8)}.",
            f"Name one of them; query_table and query_sql read several at once, as in FROM {path!r}.",
        )
    return files[0]


def _table(found: Survey, source: Plain, offset: int) -> Answer:
    """The table, made without an engine."""
    from .json_rows import details, rows

    shown, warnings = rows(found)
    columns = [Column(column.name, column.type) for column in found.columns]
    return Answer(
        summary=f"{_counted(found)}; {SHOWN} shown{f' from row {offset + 1:,} on' if offset else ''}.",
        table=Table(columns, shown, found.rows, offset),
        details=details(found) | _compression(source),
        warnings=found.warnings + warnings,
    )


def _write(call: Call, found: Survey, output: OutputFile, format_name: str) -> Artifact:
    """All rows in a file that waits to be published."""
    from .engine import Engine
    from .json_table import prepared
    from .results import write_result

    ready = prepared(call, found)
    artifact = write_result(Engine.open(call, ready.files), ready.scan, None, output, format_name, 0).artifact
    if artifact is None:
        raise UnsupportedFormat(f"{found.name!r} has no records to write.", "Leave output_path and output_format out.")
    return artifact


def _outlined(found: Survey, source: Plain, wanted: bool) -> Answer:
    """An outline of a document that is no table."""
    from .json_outline import no_table, outline

    if wanted:
        raise no_table(found.path, found.name)
    made = outline(found.path, found.name)
    places = made.best()
    summary = f"{found.name} is one JSON document: {made.root}. Its outline is in text."
    if places and places[0].objects:
        summary += f" To read a table send records_path {listed([pointer(place.steps) for place in places], 5)!r}."
    told: dict[str, Any] = {"layout": found.layout}
    if places:
        told["arrays"] = [{"records_path": pointer(place.steps), "elements": place.count} for place in places[:50]]
    return Answer(
        summary, text=Text(made.text, len(made.text)), details=told | _compression(source), warnings=note_warnings(made.notes)
    )


def _counted(found: Survey) -> str:
    where = f" at {pointer(found.steps)}" if found.steps else ""
    records = "record" if found.rows == 1 else "records"
    columns = "column" if len(found.columns) == 1 else "columns"
    return f"{found.name}{where} has {found.rows:,} {records} in {len(found.columns):,} {columns}"


def _compression(source: Plain) -> dict[str, Any]:
    return {"compression": source.compression} if source.compression else {}


def _format(output_path: str | None, output_format: str | None) -> str:
    """The format to write: as asked, else by the extension of output_path, else parquet. Raises InvalidParameters."""
    if output_format is not None:
        return output_format
    name = (output_path or "").rpartition("/")[2].lower()
    extension = name.rpartition(".")[2] if "." in name else ""
    if extension and extension not in FORMATS:
        raise InvalidParameters(
            f"output_path ends in .{extension[:20]}, which is no format that can be written.",
            "End it in .parquet, .csv or .json, or send output_format as well.",
        )
    return FORMATS.get(extension, "parquet")


# ---------------------------------------------------------------- files that are something else


def _refuse_others(source: Plain, file: InputFile) -> None:
    with Path(source.path).open("rb") as stream:
        kind = format_by_content(stream.read(16))
    if kind == "zip" or kind == "excel":
        kind = "Excel" if spreadsheet_kind(source.path) else kind
    if kind is not None:
        readers = {"pdf": "read_pdf", "parquet": "query_table or describe_table", "Excel": "query_table or describe_table"}
        advice = f"Use {readers[kind]}." if kind in readers else "Name a file of JSON or of lines of JSON."
        raise UnsupportedFormat(f"{file.path!r} is no JSON: its content is {kind}.", advice)


def _told_for_what_it_is(problem: FileCorrupt, file: InputFile, source: Plain) -> FileCorrupt | UnsupportedFormat:
    """The error for text that is no JSON from its first sign on: another tool may read it."""
    with Path(source.path).open("rb") as stream:
        head = stream.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    if problem.details and problem.details.get("line") == 1 and head[:1] not in (b"{", b"[", b'"') and b"\0" not in head:
        return UnsupportedFormat(
            f"{file.path!r} is no JSON: {problem.message.partition(': ')[2]}",
            "If it is delimited text, use read_csv. JSON begins with { or [.",
        )
    return problem

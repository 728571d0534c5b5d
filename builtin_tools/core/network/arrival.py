"""What is told about a file that has come: its kind, where it came from, its columns, and the call to make next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..envelope import Answer, Artifact, Warn, dumps
from ..limits import readable_size
from ..tables.formats import TABULAR
from .columns import Columns
from .kinds import Kind
from .transfer import Received


@dataclass(frozen=True)
class Arrival:
    """A finished download. `encoding` is what was undone; `kept` says that the same content was there already."""

    received: Received
    kind: Kind
    artifact: Artifact
    columns: Columns
    encoding: str | None
    kept: bool


def answer(arrival: Arrival) -> Answer:
    """The answer of download_file."""
    return Answer(
        summary=_summary(arrival), artifacts=[arrival.artifact], details=_details(arrival), warnings=list(_warnings(arrival))
    )


def _summary(arrival: Arrival) -> str:
    artifact, found = arrival.artifact, arrival.columns.found
    what = f"{_format_words(arrival.kind)}, {readable_size(artifact.bytes)}" + (f", {len(found):,} columns" if found else "")
    host = arrival.received.final.host if arrival.received.final else ""
    if arrival.kept:
        first = f"{artifact.path} ({what}) holds exactly what {host} sends already; nothing was written."
    else:
        first = f"Downloaded {artifact.path} ({what}) from {host}."
    step = _next_call(arrival)
    return f"{first} Next: {step}." if step else first


def _format_words(kind: Kind) -> str:
    return f"{kind.format} in {kind.compression}" if kind.compression not in (None, kind.format) else kind.format


def _next_call(arrival: Arrival) -> str:
    """The call that makes use of the file, as an agent would send it; empty where no tool reads its kind."""
    path = f"path={dumps(arrival.artifact.path)}"
    if arrival.artifact.bytes == 0:
        return ""
    if arrival.columns.found:
        return f"query_table {path} (its columns are in details.columns)"
    tools = {"csv": "read_csv", "tsv": "read_csv", "json": "read_json", "pdf": "read_pdf", "text": "read_csv"}
    tool = tools.get(arrival.kind.format, "describe_table" if arrival.kind.format in TABULAR else "")
    if arrival.kind.format == "text":
        return f"{tool} {path}, if it holds rows"
    return f"{tool} {path}" if tool else ""


def _details(arrival: Arrival) -> dict[str, Any]:
    received = arrival.received
    details: dict[str, Any] = {
        "host": received.final.host if received.final else None,
        "status": received.status,
        "content_type": received.headers.get("Content-Type"),
        "last_modified": received.headers.get("Last-Modified"),
        "format": arrival.kind.format,
        "compression": arrival.kind.compression,
        "content_encoding_undone": arrival.encoding,
        "bytes": arrival.artifact.bytes,
        "attempts": received.attempts,
        "redirects": received.redirects,
        "resumed": received.resumed,
        "already_there": arrival.kept,
    }
    details = {key: value for key, value in details.items() if value is not None}
    if arrival.columns.found:
        details["columns"] = [{"name": name, "type": kind} for name, kind in arrival.columns.found]
    return details


def _warnings(arrival: Arrival) -> list[Warn]:
    warnings = []
    if arrival.artifact.bytes == 0:
        warnings.append(Warn("FILE_EMPTY", "The file has no bytes."))
    if arrival.kind.doubt:
        code = "HTML_INSTEAD_OF_DATA" if arrival.kind.format == "html" else "CONTENT_MISMATCH"
        warnings.append(Warn(code, arrival.kind.doubt))
    if arrival.received.total is None:
        text = "The server told no length, so a transfer cut short would not have been noticed."
        warnings.append(Warn("LENGTH_UNKNOWN", text))
    if arrival.received.insecure_hop:
        text = "A redirect led from https to http, so nothing vouches that the file is what its host sent."
        warnings.append(Warn("INSECURE_REDIRECT", text))
    if arrival.columns.problem and arrival.kind.format in TABULAR and arrival.artifact.bytes:
        warnings.append(Warn("COLUMNS_UNKNOWN", f"The columns could not be told: {arrival.columns.problem}."))
    return warnings

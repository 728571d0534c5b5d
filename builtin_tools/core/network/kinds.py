"""What kind of file came: by its content first, then by its name, then by what the server calls it."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

from ..tables.formats import COMPRESSIONS, TABULAR, format_by_content, format_by_name

_HEAD = 8192
_BY_MEDIA_TYPE = {
    "text/csv": "csv", "application/csv": "csv", "text/comma-separated-values": "csv", "text/tab-separated-values": "tsv",
    "application/json": "json", "application/geo+json": "json", "text/json": "json",
    "application/x-ndjson": "ndjson", "application/jsonl": "ndjson", "application/jsonlines": "ndjson",
    "application/vnd.apache.parquet": "parquet", "application/pdf": "pdf", "text/html": "html", "application/xhtml+xml": "html",
    "text/xml": "xml", "application/xml": "xml", "text/markdown": "markdown", "text/plain": "text",
    "application/vnd.ms-excel": "excel", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "excel",
}  # fmt: skip
_BINARY = ("parquet", "excel", "pdf", "png", "jpeg", "gif", "webp", "sqlite", "duckdb", *COMPRESSIONS)


@dataclass(frozen=True)
class Kind:
    """`format` as list_directory calls it; `compression` around it, if any; `doubt` says what does not fit."""

    format: str
    compression: str | None = None
    doubt: str | None = None

    @property
    def may_be_table(self) -> bool:
        return self.format in TABULAR or self.format in COMPRESSIONS


def kind_of(path: str, name: str, media_type: str) -> Kind:
    """The kind of the file at `path` that is to be called `name`; `media_type` is the Content-Type header."""
    with Path(path).open("rb") as stream:
        head = stream.read(_HEAD)
    named = format_by_name(name)
    declared = _BY_MEDIA_TYPE.get(media_type.partition(";")[0].strip().lower())
    content = format_by_content(head)
    if content == "zip":
        content = _zip_kind(path, named)
    if content in COMPRESSIONS:
        inner = named if named in TABULAR and named != "excel" else None
        return Kind(inner or content, content)
    if content is not None:
        fits = named in (None, content) or (content == "excel" and named not in TABULAR)
        return Kind(content, None, None if fits else f"The name says {named}, but the content is {content}.")
    if not head:
        return Kind(named or declared or "text")
    return _text_kind(head, named, declared)


def _text_kind(head: bytes, named: str | None, declared: str | None) -> Kind:
    if _is_html(head) and named not in ("html", "xml", "markdown", "svg"):
        expected = named or (declared if declared != "html" else None)
        hint = "perhaps a page for logging in, an error message or a list of links, not the data itself"
        return Kind(
            "html", None, f"A {expected} file is expected, but the content is an HTML page: {hint}." if expected else None
        )
    if named in _BINARY:
        real = "text" if _is_text(head) else "something else"
        return Kind(real if real == "text" else "binary", None, f"The name says {named}, but the content is {real}.")
    if named in ("csv", "tsv") and declared == "json" and head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        return Kind("json", None, f"The name says {named}, but the content is JSON: perhaps a message instead of the data.")
    return Kind(named or (declared if declared not in _BINARY else None) or ("text" if _is_text(head) else "binary"))


def _is_html(head: bytes) -> bool:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    while start.startswith(b"<!--") and b"-->" in start:
        start = start.partition(b"-->")[2].lstrip()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<script"))


def _is_text(head: bytes) -> bool:
    return b"\0" not in head or head.startswith((b"\xff\xfe", b"\xfe\xff"))


def _zip_kind(path: str, named: str | None) -> str:
    """A workbook is a zip too, by what lies in it; where its directory cannot be read, its name decides."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()[:2000]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, UnicodeError):
        return "zip"
    if any(name in ("xl/workbook.xml", "xl/workbook.bin") for name in names) or (named == "excel" and "content.xml" in names):
        return "excel"
    return "zip"

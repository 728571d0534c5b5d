"""The answer of markdown_to_pdf: the document read, converted, made harmless, laid out by WeasyPrint and published."""

from __future__ import annotations

import re
from typing import Any

from ..artifacts import InputFile
from ..call import Call, current
from ..envelope import Answer
from ..errors import EncodingProblem, FileEmpty, InvalidParameters, UnsupportedFormat
from .layout import Layout, Sheet
from .markdown_html import Converted, converted
from .places import DocumentPlaces
from .sanitizing import sanitized

# What WeasyPrint needs for a table, measured with 5,000 rows of 7 cells on one core of 2024: for one cell.
_SECONDS_A_CELL = 0.0015
_BYTES_A_CELL = 20_000
_SHARE_OF_TIME = 0.8


def markdown_to_pdf(
    markdown: str | None, input_path: str | None, output_path: str | None, title: str | None, sheet: Sheet, overwrite: bool
) -> Answer:
    """The answer of markdown_to_pdf. Raises InvalidParameters, FileNotFound, FileEmpty, UnsupportedFormat,
    EncodingProblem, OutputExists, PathOutsideArtifacts.
    """
    call = current()
    if (markdown is None) == (input_path is None):
        given = "both are given" if markdown is not None else "neither is given"
        raise InvalidParameters(
            f"Exactly one of markdown and input_path is due, and {given}.",
            'Send the text itself, such as {"markdown": "# Report"}, or name a file, such as {"input_path": "report.md"}.',
        )
    file = None if input_path is None else call.directory.input_file(input_path)
    text = _without_front_matter(call, markdown if file is None else _text_of(call, file))
    _within_limit(call, text)
    output = call.result_output(output_path, overwrite, "document", "pdf") if output_path is not None else None
    folder = file.path.rpartition("/")[0] if file is not None else ""
    places = DocumentPlaces(call, folder, output.path.rpartition("/")[0] if output is not None else "results")
    document = converted(text, call.warn)
    _refuse_endless_tables(call, document)
    refused: list[str] = []
    body = _body(document, places, refused, sheet)
    name = " ".join((title or document.first_heading or (file.name.rpartition(".")[0] if file is not None else "")).split())
    layout = Layout(call, places, sheet)
    pages = layout.write(body, name, _language(text), "document.pdf")
    output = output or call.result_output(None, overwrite, "document", "pdf")
    artifact = call.publish("document.pdf", output, "pdf")
    _warn(call, places, refused)
    layout.warn()
    noun = "page" if pages == 1 else "pages"
    details: dict[str, Any] = {"pages": pages, "page_size": sheet.words, "tables": len(document.tables)}
    if name:
        details["title"] = name
    told = f" {len(call.warnings)} warnings tell what was left out or assumed." if call.warnings else ""
    return Answer(f"{pages:,} {noun} written to {output.path}.{told}", artifacts=[artifact], details=details)


# ---------------------------------------------------------------- the input


def _text_of(call: Call, file: InputFile) -> str:
    import os

    with os.fdopen(call.directory.open_descriptor(file), "rb") as stream:
        data = stream.read(200_000_000)
    call.read(file)
    utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    if not utf16 and b"\0" in data[:4096]:
        raise UnsupportedFormat(f"{file.path!r} is no text but a binary file.", "Name a Markdown file.")
    try:
        text = data.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError as problem:
        raise EncodingProblem(
            f"{file.path!r} is not UTF-8 (byte {problem.start:,}).", "Save the document as UTF-8, or send its text as markdown."
        ) from None
    if not text.strip():
        raise FileEmpty(f"{file.path!r} is empty.", "Name a Markdown file with text.")
    return text


def _within_limit(call: Call, text: str) -> None:
    limit = int(call.setting("max_markdown_chars", 5_000_000))
    if len(text) > limit:
        raise InvalidParameters(
            f"The Markdown has {len(text):,} characters, more than the {limit:,} that one document may have.",
            "Split it into several documents. The operator can raise max_markdown_chars.",
        )
    if not text.strip():
        raise InvalidParameters("The Markdown is empty.", 'Send text, such as {"markdown": "# Report"}.')


def _without_front_matter(call: Call, text: str | None) -> str:
    """The text without a block of YAML at its beginning, which is for other programs; told where there was one."""
    text = (text or "").replace("\r\n", "\n").replace("\r", "\n")
    match = re.match(r"---[ ]*\n((?:[A-Za-z_][\w-]*:.*\n|[ -].*\n|\n)+?)(?:---|\.\.\.)[ ]*(?:\n|$)", text)
    if match is None:
        return text
    call.warn(
        "FRONT_MATTER_LEFT_OUT",
        f"The lines between --- at the beginning are not printed: {' / '.join(match[1].split(chr(10)))[:200]}",
    )
    return text[match.end() :]


def _refuse_endless_tables(call: Call, document: Converted) -> None:
    """Raises InvalidParameters early where the tables would take more time or memory than the call has."""
    cells = sum((rows + 1) * columns for _, rows, columns in document.tables)
    seconds = float(call.setting("timeout_seconds", 120)) * _SHARE_OF_TIME
    affordable = int(min(seconds / _SECONDS_A_CELL, call.memory_limit / _BYTES_A_CELL))
    if cells <= affordable or not cells:
        return
    head, rows, columns = max(document.tables, key=lambda table: table[1] * table[2])
    fitting = max(1, affordable // max(1, columns))
    raise InvalidParameters(
        f"The tables have {cells:,} cells, more than can be printed in the time and memory of a call "
        f"(about {affordable:,}); the largest, with the head {head[:80]!r}, has {rows:,} rows of {columns} columns.",
        f"Print fewer rows of that table, about {fitting:,} at most (the first, the largest, totals), "
        "and leave the rest in a data file; or split the document. The operator can raise timeout_seconds and memory_limit.",
        details={"table": head[:200], "rows": rows, "columns": columns, "cells": cells, "cells_that_fit": affordable},
    )


# ---------------------------------------------------------------- the body


def _body(document: Converted, places: DocumentPlaces, refused: list[str], sheet: Sheet) -> str:
    html = document.html
    if sheet.contents and document.contents:
        heading = re.search(r"</h1>", html[:4000])
        at = heading.end() if heading and html.lstrip().startswith("<h1") else 0
        html = html[:at] + document.contents + html[at:]
    return sanitized(html, places, refused.append)


def _language(text: str) -> str:
    """The language whose shapes of Han characters are meant: by the other signs of the script."""
    for low, high, language in ((0xAC00, 0xD7A3, "ko"), (0x3040, 0x30FF, "ja"), (0x4E00, 0x9FFF, "zh")):
        if any(low <= ord(sign) <= high for sign in text):
            return language
    return "en"


def _warn(call: Call, places: DocumentPlaces, refused: list[str]) -> None:
    for address, why in list(places.refused.items())[:30]:
        call.warn("NOT_LOADED", f"{address} was left out: {why}.")
    if len(places.refused) > 30:
        call.warn("NOT_LOADED", f"{len(places.refused) - 30:,} more addresses were left out.")
    if refused:
        kinds = list(dict.fromkeys(refused))
        more = f" and {len(kinds) - 12} more" if len(kinds) > 12 else ""
        call.warn("HTML_LEFT_OUT", f"HTML in the Markdown that is not drawn was left out: {'; '.join(kinds[:12])}{more}.")

"""The answers of read_pdf: the text with page marks in one Markdown file, or the tables in one CSV file each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ..call import Call, current
from ..envelope import Answer, Artifact, Text
from ..errors import FileCorrupt, InvalidParameters
from .pages import chosen_pages, page_ranges
from .pdf_file import PdfFile, open_pdf
from .pdf_text import PageText, page_text, read_page, set_running_lines_aside

_FLAWS = {
    "scan": (
        "NO_TEXT_LAYER",
        "{pages} {has} no text layer, only pictures or drawings (a scan?), so no text could be read there. "
        "Reading it takes optical character recognition, which this tool does not do.",
    ),
    "blank": ("BLANK_PAGE", "{pages} {is} blank: no text and no picture."),
    "damaged": ("PAGE_DAMAGED", "{pages} could not be read and {is} left out: damaged."),
    "undecodable": (
        "TEXT_UNDECODABLE",
        "{pages} {has} a font that does not say which characters its signs stand for, so the text may be garbled.",
    ),
}


def read_pdf(path: str, pages: str | None, content: str, output_path: str | None, overwrite: bool | None) -> Answer:
    """The answer of read_pdf. Raises FileNotFound, FileCorrupt, FileEmpty, UnsupportedFormat, PasswordRequired,
    InvalidParameters (pages), OutputExists, MemoryLimitExceeded.
    """
    call = current()
    if output_path is not None:
        call.directory.output_file(output_path, bool(overwrite))
    pdf = open_pdf(call, path)
    try:
        numbers = chosen_pages(pages, pdf.page_count)
        _within_limit(call, numbers, content)
        if content == "tables":
            from .table_answer import tables_answer

            return tables_answer(call, pdf, numbers, output_path, overwrite)
        return _text_answer(call, pdf, numbers, output_path, overwrite)
    finally:
        pdf.document.close()


def _within_limit(call: Call, numbers: list[int], content: str) -> None:
    name = "max_pages" if content == "text" else "max_table_pages"
    limit = int(call.setting(name, 1000))
    if len(numbers) > limit:
        raise InvalidParameters(
            f"{len(numbers):,} pages are asked for, and one call reads {content} from {limit:,} pages at most.",
            f"Send pages, such as '{numbers[0]}-{numbers[limit - 1]}', and read the rest in further calls. "
            f"The operator can raise {name}.",
            details={"page_count": len(numbers), name: limit},
        )


def _text_answer(call: Call, pdf: PdfFile, numbers: list[int], output_path: str | None, overwrite: bool | None) -> Answer:
    found = [read_page(pdf.document, number, pdf.name) for number in numbers]
    if all(page.flaw == "damaged" for page in found):
        raise FileCorrupt(
            f"{pdf.name!r} is a damaged PDF: none of the {len(found):,} pages asked for can be read.",
            "Get another copy of the document, or ask for other pages.",
        )
    set_running_lines_aside(found)
    whole = "\n".join(page_text(page) for page in found)
    output = call.result_output(output_path, overwrite, "text", "md")
    Path(call.scratch_path("text.md")).write_text(whole, encoding="utf-8", errors="replace", newline="\n")
    artifact = call.publish("text.md", output, "markdown")
    report_flaws(call, found)
    details = {"page_count": pdf.page_count, "pages": page_ranges(numbers), **document_facts(pdf)}
    return Answer(
        summary=_summary(pdf, found, artifact),
        text=Text(whole[: int(call.setting("max_output_chars", 20_000))], len(whole)),
        artifacts=[artifact],
        details=details,
    )


def _summary(pdf: PdfFile, found: list[PageText], artifact: Artifact) -> str:
    read = [page for page in found if page.lines or page.head or page.foot]
    without = [page.number for page in found if page not in read]
    if not read:
        which = "None of the pages read has" if len(found) > 1 else f"Page {found[0].number} has no text: it does not have"
        return f"{which} a text layer (scans or blank pages), so there is nothing to read in {pdf.name}."
    noun = "page" if len(found) == 1 else "pages"
    rest = f" {_pages(without)} without text." if without else ""
    return f"Text of {len(found):,} {noun} of {pdf.page_count:,} in {pdf.name}; the whole is in {artifact.path}.{rest}"


def report_flaws(call: Call, found: list[PageText]) -> None:
    """Warns of the pages with nothing, or nothing sensible, to read."""
    for flaw, (code, message) in _FLAWS.items():
        numbers = [page.number for page in found if page.flaw == flaw]
        if numbers:
            one = len(numbers) == 1
            call.warn(code, message.format(pages=_pages(numbers), has="has" if one else "have", **{"is": "is" if one else "are"}))


def _pages(numbers: list[int]) -> str:
    return ("Page " if len(numbers) == 1 else "Pages ") + page_ranges(numbers)


def document_facts(pdf: PdfFile) -> dict[str, Any]:
    """What the document says about itself: title, author, dates; and whether it is encrypted."""
    import pypdfium2

    try:
        told = pdf.document.get_metadata_dict(skip_empty=True)
    except pypdfium2.PdfiumError:
        told = {}
    facts = {key: re.sub(r"\s+", " ", str(told[name]))[:200] for key, name in _FACTS.items() if told.get(name)}
    return {"document": facts} if facts else {}


_FACTS = {"title": "Title", "author": "Author", "subject": "Subject", "created": "CreationDate", "modified": "ModDate"}

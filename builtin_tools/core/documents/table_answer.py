"""The answer of read_pdf for tables: one CSV file each, cells as printed, and where each was found."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from ..artifacts import OutputFile
from ..call import Call
from ..envelope import Answer, Text
from ..errors import FileCorrupt
from .pages import page_ranges
from .pdf_file import PdfFile
from .pdf_tables import tables_of
from .pdf_text import PageText, read_page
from .reading import document_facts, report_flaws
from .unruled_tables import FoundTable


def tables_answer(call: Call, pdf: PdfFile, numbers: list[int], output_path: str | None, overwrite: bool | None) -> Answer:
    """Searches the pages; every table found is written and listed, and the text shows them one after the other."""
    flawed = [PageText(page.number, flaw=page.flaw) for page in (read_page(pdf.document, number, pdf.name) for number in numbers)]
    readable = [page.number for page in flawed if page.flaw in ("", "undecodable")]
    found: list[tuple[int, int, FoundTable]] = []
    for number, tables in tables_of(pdf, readable):
        if tables is None:
            next(page for page in flawed if page.number == number).flaw = "damaged"
        found += [(number, place, table) for place, table in enumerate(tables or [], 1)]
    if all(page.flaw == "damaged" for page in flawed):
        raise FileCorrupt(f"{pdf.name!r} is a damaged PDF: none of the pages can be read.", "Get another copy of the document.")
    report_flaws(call, flawed)
    artifacts, listing, shown = [], [], []
    for index, (number, place, table) in enumerate(found):
        text = _as_csv(table)
        scratch = f"table{index}.csv"
        Path(call.scratch_path(scratch)).write_text(text, encoding="utf-8", errors="replace", newline="")
        output = _output(call, output_path, overwrite, number, place, len(found))
        artifact = call.publish(scratch, output, "csv", len(table.cells) - 1)
        artifacts.append(artifact)
        listing.append(_entry(number, place, table, artifact.path))
        shown.append(f"Page {number}, table {place}: {artifact.path}\n{text}")
    whole = "\n".join(shown)
    details: dict[str, Any] = {
        "page_count": pdf.page_count,
        "pages": page_ranges(numbers),
        "tables": listing,
        **document_facts(pdf),
    }
    part = Text(whole[: int(call.setting("max_output_chars", 20_000))], len(whole)) if found else None
    return Answer(_summary(pdf, numbers, found), text=part, artifacts=artifacts, details=details)


def _as_csv(table: FoundTable) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(table.cells)
    return stream.getvalue()


def _output(call: Call, output_path: str | None, overwrite: bool | None, number: int, place: int, count: int) -> OutputFile:
    """The name of one table's file. Where a call names one path for several tables, page and place are added to it."""
    if output_path is None:
        return call.result_output(None, overwrite, f"table_p{number}_{place}", "csv")
    if count == 1:
        return call.result_output(output_path, overwrite, "table", "csv")
    head, dot, extension = output_path.rpartition(".")
    base, end = (head, dot + extension) if dot and "/" not in extension else (output_path, "")
    return call.result_output(f"{base}_p{number}_{place}{end}", overwrite, "table", "csv")


def _entry(number: int, place: int, table: FoundTable, path: str) -> dict[str, Any]:
    return {
        "path": path,
        "page": number,
        "table": place,
        "rows": len(table.cells),
        "columns": max(map(len, table.cells)),
        "bounding_box": [round(edge, 1) for edge in table.box],
        "found_by": "lines" if table.ruled else "alignment",
    }


def _summary(pdf: PdfFile, numbers: list[int], found: list[tuple[int, int, FoundTable]]) -> str:
    where = "page" if len(numbers) == 1 else "pages"
    searched = f"{where} {page_ranges(numbers)} of {pdf.name}"
    if not found:
        return f"No table was found on {searched}; content 'text' shows what stands there."
    holding = page_ranges(sorted({number for number, _, _ in found}))
    noun = "table" if len(found) == 1 else "tables"
    pages = "page" if holding.isdigit() else "pages"
    return f"{len(found):,} {noun} found on {searched} ({pages} {holding}), each in a CSV file; details has their places."

"""Tables of PDF pages: those with lines by pdfplumber's finder, those without by how the words stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import FileCorrupt
from .pdf_file import PdfFile
from .unruled_tables import Box, FoundTable, unruled_tables

_TOO_SMALL = 2  # cells: a box around a paragraph is no table


def tables_of(pdf: PdfFile, numbers: list[int]) -> Iterator[tuple[int, list[FoundTable] | None]]:
    """For each page its tables from top to bottom; None for a page that cannot be read."""
    import io

    import pdfplumber
    from pdfminer.pdfexceptions import PDFException
    from pdfplumber.utils.exceptions import MalformedPDFException, PdfminerException

    broken = (
        PDFException,
        MalformedPDFException,
        PdfminerException,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        IndexError,
        AssertionError,
        RecursionError,
    )
    try:
        document = pdfplumber.open(io.BytesIO(pdf.data), password=pdf.password or "")
        pages = document.pages
    except broken:
        raise FileCorrupt(
            f"{pdf.name!r} is a damaged PDF: its pages cannot be searched for tables.", "Try content 'text', which mends more."
        ) from None
    for number in numbers:
        page = pages[number - 1] if number <= len(pages) else None
        try:
            yield number, None if page is None else page_tables(page)
        except broken:  # pdfminer raises whatever a malformed object leads to
            yield number, None
        if page is not None:
            page.close()


def page_tables(page: Any) -> list[FoundTable]:
    """The tables of a pdfplumber page, from top to bottom."""
    ruled = [table for table in map(_ruled, page.find_tables()) if table is not None]
    taken: list[Box] = [table.box for table in ruled]
    found = ruled + unruled_tables(page.extract_words(), taken)
    return sorted(found, key=lambda table: (table.box[1], table.box[0]))


def _ruled(table: Any) -> FoundTable | None:
    """Cells between lines; None where a frame holds no table."""
    cells = [["" if cell is None else " ".join(cell.split()) for cell in row] for row in table.extract()]
    kept = [index for index in range(max(map(len, cells), default=0)) if any(row[index] for row in cells)]
    cells = [[row[index] for index in kept] for row in cells if any(row)]
    if sum(cell != "" for row in cells for cell in row) < _TOO_SMALL or len(kept) < 2:
        return None
    x0, top, x1, bottom = table.bbox
    return FoundTable((x0, top, x1, bottom), cells, True)

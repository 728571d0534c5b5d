"""The text of PDF pages as Markdown with page marks: in reading order, running heads and feet out of the sentences.

A mark stands before each page, `<!-- page 3 -->`. A line at the top or bottom that repeats from page to page is
moved into a comment of its own beside the mark, so that a sentence that goes over the page is not broken by it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from .pdf_glyphs import page_pieces
from .reading_order import Line, lines_in_order

_WIDE_GAP = 1.5  # in heights of the line: pieces further apart on it are set off by two blanks
_NEW_PARAGRAPH = 1.45  # in usual distances of lines
_SEEN_ON = 3  # pages on which a line must repeat to be a running head


@dataclass
class PageText:
    """One page: its lines in reading order, and why there is nothing to read where there is not."""

    number: int
    lines: list[Line] = field(default_factory=list)
    head: str = ""
    foot: str = ""
    flaw: str = ""  # "", "scan" (pictures and no text), "blank", "damaged", "undecodable"


def read_page(document: Any, number: int, name: str) -> PageText:
    """The lines of a page. A page that cannot be loaded comes back with the flaw "damaged"."""
    import pypdfium2

    found = PageText(number)
    try:
        page = document[number - 1]
    except pypdfium2.PdfiumError:
        found.flaw = "damaged"
        return found
    try:
        pieces = page_pieces(page, f"Page {number} of {name!r}")
        if not pieces:
            found.flaw = "scan" if _draws_something(page) else "blank"
        elif _undecodable("".join(piece.text for piece in pieces)):
            found.flaw = "undecodable"
        found.lines = lines_in_order(pieces)
    except pypdfium2.PdfiumError:
        found.flaw = "damaged"
    finally:
        page.close()
    return found


def _draws_something(page: Any) -> bool:
    import pypdfium2.raw as pdfium

    return bool(pdfium.FPDFPage_CountObjects(page) > 0)


def _undecodable(text: str) -> bool:
    """Whether most signs have no meaning: a font without a map to Unicode gives private or replacement characters."""
    signs = text.replace(" ", "")
    odd = sum(sign == "\ufffd" or 0xE000 <= ord(sign) < 0xF900 or ord(sign) < 0x20 for sign in signs)
    return odd * 3 > len(signs)


# ---------------------------------------------------------------- running heads and feet


def set_running_lines_aside(pages: list[PageText]) -> None:
    """Moves the lines that repeat at the top or bottom of pages, page numbers aside, into `head` and `foot`."""
    for place in ("head", "foot"):
        edges = {page.number: edge for page in pages if (edge := _edge(page, place)) is not None}
        seen = Counter(_pattern(line_text(edge)) for edge in edges.values())
        for page in pages:
            edge = edges.get(page.number)
            if edge is None:
                continue
            count = seen[_pattern(line_text(edge))]
            if count >= _SEEN_ON and count * 2 > len(edges):
                setattr(page, place, line_text(edge))
                page.lines = [line for line in page.lines if line is not edge]


def _edge(page: PageText, place: str) -> Line | None:
    """The line at the very top or bottom, where more than the usual distance sets it off from the rest."""
    lines = [line for line in page.lines if not line[0].side]
    if len(lines) < 3:
        return None
    ordered = sorted(lines, key=lambda line: line[0].middle, reverse=place == "foot")
    steps = [abs(after[0].middle - before[0].middle) for before, after in zip(ordered, ordered[1:], strict=False)]
    usual = median([step for step in steps if step > 0.1] or [0.0])
    return ordered[0] if steps[0] > 1.25 * usual and usual else None


def _pattern(text: str) -> str:
    return re.sub(r"\d+|\b[ivxlc]+\b", "#", text.casefold())


# ---------------------------------------------------------------- writing


def page_text(page: PageText) -> str:
    """The page as it stands in the result, its mark first."""
    parts = [f"<!-- page {page.number} -->"]
    if page.head:
        parts.append(f"<!-- head of the page: {_in_comment(page.head)} -->")
    parts.append("")
    parts.append(_paragraphs(page.lines))
    if page.foot:
        parts += ["", f"<!-- foot of the page: {_in_comment(page.foot)} -->"]
    return "\n".join(parts).strip() + "\n"


def _in_comment(text: str) -> str:
    return text.replace("--", "\u2010\u2010").replace(">", "\u203a")


def _paragraphs(lines: list[Line]) -> str:
    """Lines as printed, with an empty line where the page leaves a wider space or goes on elsewhere."""
    steps = [after[0].middle - before[0].middle for before, after in zip(lines, lines[1:], strict=False)]
    usual = median([step for step in steps if step > 0.1] or [0.0])
    written: list[str] = []
    for line, step in zip(lines, [0.0, *steps], strict=False):
        height = line[0].height
        if written and (step > max(_NEW_PARAGRAPH * usual, 1.3 * height) or step < -height):
            written.append("")
        written.append(line_text(line))
    return "\n".join(written)


def line_text(line: Line) -> str:
    """A line's pieces with blanks between: one, or two where they stand far apart."""
    text = line[0].text
    for before, after in zip(line, line[1:], strict=False):
        gap = max(after.x0 - before.x1, before.x0 - after.x1)
        text += ("  " if gap > _WIDE_GAP * before.height else " ") + after.text
    return text

"""The glyphs of a PDF page as pieces of text with a place, in the direction in which the page is read.

Coordinates are points in the frame of the page's main direction of writing: x to the right along the line, y
downwards. A page that is turned, or whose text is, so reads like any other.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

from ..errors import MemoryLimitExceeded

MAX_PAGE_CHARS = 1_000_000
_GAP_OF_PIECES = 1.0  # in heights of the line: what is further apart is another piece
_GAP_OF_WORDS = 0.25
_HYPHENS = (0x02, 0xFFFE)  # what PDFium puts for a hyphen at the end of a line


@dataclass
class Piece:
    """Text that stands together on one line. `side`: it is written in another direction than the page."""

    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    side: bool = False

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


@dataclass
class Glyph:
    """A sign, whether a blank stands before it, its box in the page's own coordinates, and its quarter turns."""

    sign: str
    after_blank: bool
    left: float
    bottom: float
    right: float
    top: float
    turns: int


def page_pieces(page: Any, where: str) -> list[Piece]:
    """The pieces of a pypdfium2 page, in the order of its content. Raises MemoryLimitExceeded for a page without end."""
    textpage = page.get_textpage()
    try:
        glyphs = _glyphs(textpage, where)
    finally:
        textpage.close()
    if not glyphs:
        return []
    main = Counter(glyph.turns for glyph in glyphs).most_common(1)[0][0]
    pieces = _joined([glyph for glyph in glyphs if glyph.turns == main], main)
    for turns in range(4):
        if turns != main:
            aside = _joined([glyph for glyph in glyphs if glyph.turns == turns], turns)
            for piece in aside:
                piece.side = True
            pieces += aside
    return pieces


def _glyphs(textpage: Any, where: str) -> list[Glyph]:
    import ctypes

    import pypdfium2.raw as pdfium

    count = pdfium.FPDFText_CountChars(textpage)
    if count > MAX_PAGE_CHARS:
        raise MemoryLimitExceeded(
            f"{where} holds {count:,} characters, more than the {MAX_PAGE_CHARS:,} that a page may have.",
            "Choose other pages with the argument pages.",
        )
    glyphs: list[Glyph] = []
    box = pdfium.FS_RECTF()
    there = ctypes.byref(box)
    sign_of, box_of, angle_of = pdfium.FPDFText_GetUnicode, pdfium.FPDFText_GetLooseCharBox, pdfium.FPDFText_GetCharAngle
    blank, turns, high = True, 0, 0
    for index in range(count):
        code = sign_of(textpage, index)
        if code in (0x20, 0x0D, 0x0A, 0x09, 0xA0, 0x3000, 0):
            blank = True
            continue
        if 0xD800 <= code < 0xDC00:
            high = code
            continue
        if 0xDC00 <= code < 0xE000:
            code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00) if high else 0xFFFD
        if code in _HYPHENS:
            code = 0x2D
        if not box_of(textpage, index, there):
            continue
        if blank:
            turns = -round(angle_of(textpage, index) / (math.pi / 2)) % 4  # PDFium turns clockwise
        glyphs.append(Glyph(chr(code), blank, box.left, box.bottom, box.right, box.top, turns))
        blank, high = False, 0
    return glyphs


def _joined(glyphs: list[Glyph], turns: int) -> list[Piece]:
    """Neighbouring glyphs of one line made into pieces; a line may run to the right or to the left."""
    pieces: list[Piece] = []
    signs: list[str] = []
    x0 = x1 = top = bottom = last0 = last1 = 0.0
    for glyph in glyphs:
        left, right, up, down = _turned(glyph, turns)
        if signs:
            height = max(bottom - top, 1.0)
            gap = max(left - last1, last0 - right)
            if abs((up + down) / 2 - (top + bottom) / 2) > height / 2 or gap > _GAP_OF_PIECES * height:
                pieces.append(Piece("".join(signs), x0, x1, top, bottom))
                signs = []
            elif glyph.after_blank or gap > _GAP_OF_WORDS * height:
                signs.append(" ")
        if not signs:
            x0, x1, top, bottom = left, right, up, down
        x0, x1, top, bottom = min(x0, left), max(x1, right), min(top, up), max(bottom, down)
        last0, last1 = left, right
        signs.append(glyph.sign)
    if signs:
        pieces.append(Piece("".join(signs), x0, x1, top, bottom))
    return pieces


def _turned(glyph: Glyph, turns: int) -> tuple[float, float, float, float]:
    """A box as (x0, x1, top, bottom) in the frame of a writing that is turned counter-clockwise by quarter turns."""
    if turns == 0:
        return glyph.left, glyph.right, -glyph.top, -glyph.bottom
    if turns == 1:
        return glyph.bottom, glyph.top, glyph.left, glyph.right
    if turns == 2:
        return -glyph.right, -glyph.left, glyph.bottom, glyph.top
    return -glyph.top, -glyph.bottom, -glyph.right, -glyph.left

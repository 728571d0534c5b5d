"""Pieces of text on a page, in the order in which a person reads them: columns from left to right, else line by line.

A page is cut at the pieces that cross a gutter, such as a title over two columns; between them both sides are
read one after the other, if both look like columns of prose. What looks like the cells of a table or like labels
and values is read line by line.
"""

from __future__ import annotations

import unicodedata
from statistics import median

from .pdf_glyphs import Piece

Line = list[Piece]
_MAX_DEPTH = 6


def lines_in_order(pieces: list[Piece]) -> list[Line]:
    """Lines in reading order, each with its pieces from left to right (from right to left where its script is)."""
    upright = [piece for piece in pieces if not piece.side]
    lines = _arranged(upright, 0)
    return lines + [[piece] for piece in pieces if piece.side]


def rows(pieces: list[Piece]) -> list[Line]:
    """Pieces that share a line, from the top down."""
    found: list[Line] = []
    for piece in sorted(pieces, key=lambda piece: (piece.middle, piece.x0)):
        row = found[-1] if found else None
        if row is not None and abs(piece.middle - row[-1].middle) <= min(piece.height, row[-1].height) / 2:
            row.append(piece)
        else:
            found.append([piece])
    for row in found:
        row.sort(key=lambda piece: piece.x0, reverse=_right_to_left(row))
    return found


def _right_to_left(row: Line) -> bool:
    kinds = [unicodedata.bidirectional(sign) for piece in row for sign in piece.text if sign.isalpha()]
    return sum(kind in ("R", "AL") for kind in kinds) * 2 > len(kinds)


def _arranged(pieces: list[Piece], depth: int) -> list[Line]:
    gutter = _gutter(pieces) if depth < _MAX_DEPTH and len(pieces) >= 6 else None
    if gutter is None:
        return rows(pieces)
    crossing = sorted((piece for piece in pieces if piece.x0 < gutter < piece.x1), key=lambda piece: piece.middle)
    ordered: list[Line] = []
    bounds = [*(piece.middle for piece in crossing), float("inf")]
    below = float("-inf")
    waiting: list[Piece] = []
    for bound, piece in zip(bounds, [*crossing, None], strict=True):
        band = [part for part in pieces if below <= part.middle < bound and not part.x0 < gutter < part.x1]
        left = [part for part in band if part.x1 <= gutter]
        right = [part for part in band if part.x0 >= gutter]
        if is_columns(left, right):
            ordered += rows(waiting)
            waiting = []
            for side in (right, left) if _right_to_left(band) else (left, right):
                ordered += _arranged(side, depth + 1)
        else:
            waiting += band
        if piece is not None:
            waiting.append(piece)
        below = bound
    return ordered + rows(waiting)


def _gutter(pieces: list[Piece]) -> float | None:
    """The x that the fewest pieces cross, of those with columns of prose on both sides; None where there is none."""
    left_edge, right_edge = min(piece.x0 for piece in pieces), max(piece.x1 for piece in pieces)
    width = right_edge - left_edge
    starts = sorted({round(piece.x0, 1) for piece in pieces if left_edge + 0.15 * width < piece.x0 < right_edge - 0.1 * width})
    best: tuple[int, float] | None = None
    for start in starts[:400]:
        gutter = start - 0.5
        crossing = sum(piece.x0 < gutter < piece.x1 for piece in pieces)
        begun = sum(abs(piece.x0 - start) < 3 for piece in pieces)
        before = sum(piece.x1 <= gutter for piece in pieces)
        if begun < 3 or before < 3 or crossing * 2 > len(pieces):
            continue
        rank = crossing * 4 - begun
        if best is None or rank < best[0]:
            best = (rank, gutter)
    return best[1] if best is not None else None


def is_columns(left: list[Piece], right: list[Piece]) -> bool:
    """Whether two groups side by side are columns of prose, and no cells of a table."""
    if not left or not right:
        return False
    overlap = min(max(piece.bottom for piece in left), max(piece.bottom for piece in right)) - max(
        min(piece.top for piece in left), min(piece.top for piece in right)
    )
    return overlap > 0 and _is_prose(left) and _is_prose(right)


def _is_prose(side: list[Piece], depth: int = 0) -> bool:
    lines = rows(side)
    if len(lines) < 3:
        return False
    extent = max(piece.x1 for piece in side) - min(piece.x0 for piece in side)
    filled = median(
        (line[-1].x1 - line[0].x0) if len(line) == 1 else max(piece.x1 - piece.x0 for piece in line) for line in lines
    )
    signs = median(sum(len(piece.text) for piece in line) for line in lines)
    digits = sum(sign.isdigit() for piece in side for sign in piece.text)
    if digits * 2 > sum(len(piece.text) for piece in side):
        return False
    if filled >= 0.6 * extent and (signs >= 18 or (len(lines) >= 5 and filled >= 0.85 * extent)):
        return True
    if depth >= 2:
        return False
    gutter = _gutter(side)
    if gutter is None:
        return False
    halves = [[piece for piece in side if piece.x1 <= gutter], [piece for piece in side if piece.x0 >= gutter]]
    return all(_is_prose(half, depth + 1) for half in halves)

"""Tables that are set without lines: neighbouring rows of text whose cells stand under each other.

A row is a line of words with gaps wide enough to part cells; rows that follow each other closely and leave the
same gutters free are a table. Prose in columns is told apart by `reading_order.is_columns`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .pdf_glyphs import Piece
from .reading_order import Line, is_columns, rows

Box = tuple[float, float, float, float]
_GAP_OF_CELLS = 0.9  # in heights of the line
_ROW_DISTANCE = 2.6  # in heights of the line: what is further down belongs to something else
_MAX_CELL = 120  # characters: longer cells in two columns are prose
_MIN_ROWS = 2


@dataclass
class FoundTable:
    """A table on a page: (x0, top, x1, bottom) in points from the upper left corner, cells as printed, "" for none."""

    box: Box
    cells: list[list[str]]
    ruled: bool


def unruled_tables(words: list[dict[str, Any]], taken: list[Box]) -> list[FoundTable]:
    """Tables among the words of a page (as pdfplumber gives them) that lie outside the boxes already taken."""
    free = [word for word in words if not any(_inside(word, box) for box in taken)]
    lines = rows(_cells(free))
    found = []
    for group in _groups(lines):
        table = _table(group)
        if table is not None:
            found.append(table)
    return found


def _inside(word: dict[str, Any], box: Box) -> bool:
    x, y = (word["x0"] + word["x1"]) / 2, (word["top"] + word["bottom"]) / 2
    return bool(box[0] <= x <= box[2] and box[1] <= y <= box[3])


def _cells(words: list[dict[str, Any]]) -> list[Piece]:
    """Words of a line that stand close together, as one piece."""
    pieces: list[Piece] = []
    for line in rows([Piece(word["text"], word["x0"], word["x1"], word["top"], word["bottom"]) for word in words]):
        line.sort(key=lambda piece: piece.x0)
        current: Piece | None = None
        for word in line:
            if current is not None and word.x0 - current.x1 <= _GAP_OF_CELLS * min(word.height, current.height):
                current.text += " " + word.text
                current.x1, current.top, current.bottom = (
                    max(current.x1, word.x1), min(current.top, word.top), max(current.bottom, word.bottom),
                )  # fmt: skip
            else:
                current = word
                pieces.append(word)
    return pieces


def _groups(lines: list[Line]) -> list[list[Line]]:
    """Runs of lines close to each other that all have several cells, or one between two such lines."""
    groups: list[list[Line]] = []
    run: list[Line] = []
    for line in lines:
        if run and line[0].middle - run[-1][0].middle > _ROW_DISTANCE * max(line[0].height, run[-1][0].height):
            groups.append(run)
            run = []
        if len(line) > 1 or (run and _fits_under(line[0], run)):
            run.append(line)
        else:
            groups.append(run)
            run = []
    groups.append(run)
    trimmed = []
    for group in groups:
        while group and len(group[-1]) < 2:
            group.pop()
        if len(group) >= _MIN_ROWS:
            trimmed.append(group)
    return trimmed


def _fits_under(piece: Piece, run: list[Line]) -> bool:
    """Whether a lone piece is a cell of the column above it: it leaves the gutters of the run free."""
    return not any(piece.x0 < low and high < piece.x1 for low, high in _gutters(run))


def _gutters(group: list[Line]) -> list[tuple[float, float]]:
    """The gaps between columns: stretches of x, inside the table, that no cell of the group covers."""
    spans = sorted((piece.x0, piece.x1) for line in group for piece in line)
    gutters = []
    reached = spans[0][1]
    for x0, x1 in spans[1:]:
        if x0 > reached + 2:
            gutters.append((reached, x0))
        reached = max(reached, x1)
    return gutters


def _table(group: list[Line]) -> FoundTable | None:
    gutters = _gutters(group)
    if not gutters:
        return None
    edges = [(low + high) / 2 for low, high in gutters]
    cells = [[""] * (len(edges) + 1) for _ in group]
    for row, line in zip(cells, group, strict=True):
        for piece in line:
            column = sum(piece.x0 >= edge for edge in edges)
            row[column] = f"{row[column]} {piece.text}".strip()
    if sum(sum(cell != "" for cell in row) > 1 for row in cells) < _MIN_ROWS or _prose(group, edges, cells):
        return None
    pieces = [piece for line in group for piece in line]
    box = (
        min(piece.x0 for piece in pieces), min(piece.top for piece in pieces),
        max(piece.x1 for piece in pieces), max(piece.bottom for piece in pieces),
    )  # fmt: skip
    return FoundTable(box, cells, False)


def _prose(group: list[Line], edges: list[float], cells: list[list[str]]) -> bool:
    """Whether these are columns of running text, or words of one line that happen to stand apart."""
    if len(edges) > 2:
        return False
    filled = [cell for row in cells for cell in row if cell]
    if max(len(cell) for cell in filled) > _MAX_CELL:
        return True
    pieces = [piece for line in group for piece in line]
    left = [piece for piece in pieces if piece.x0 < edges[0]]
    right = [piece for piece in pieces if piece.x0 >= edges[0]]
    return len(group) > 4 and is_columns(left, right)

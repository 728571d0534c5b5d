"""Tables of Markdown by GitHub's rules (GFM 0.29, section 4.10): where one begins, its cells, and how it is best set."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement

DELIMITERS = re.compile(r"[ ]*\|?[ ]*:?-+:?[ ]*(?:\|[ ]*:?-+:?[ ]*)*\|?[ ]*$")
_LONG_WORD = 24  # characters: a longer word is broken rather than given a column of its width
_WORD = re.compile(r"[^\s\u3000-\u9fff\uac00-\ud7a3\uff00-\uffef]+")  # scripts that break anywhere aside
_NUMBER = re.compile(r"[-+(]?[$€£¥₩]?\s?\d[\d,. ]*\d?\s?(?:%|[kKMB])?\)?")


def split_row(line: str) -> list[str]:
    """The cells of a table's row. A bar within a code span or after a backslash parts no cells."""
    text = line.strip()
    text = text[1:] if text.startswith("|") else text
    cells, start, at = [], 0, 0
    while at < len(text):
        sign = text[at]
        if sign == "\\":
            at += 2
            continue
        if sign == "`":
            run = len(text[at:]) - len(text[at:].lstrip("`"))
            close = re.search(rf"(?<!`)`{{{run}}}(?!`)", text[at + run :])
            at += run + (close.end() if close else 0)
            continue
        if sign == "|":
            cells.append(text[start:at])
            start = at + 1
        at += 1
    if text[start:].strip() or not cells:
        cells.append(text[start:])
    return [cell.strip().replace("\\|", "|") for cell in cells]


def table_head(lines: list[str], at: int) -> list[str] | None:
    """The head of a table that begins at a line: the next line has a dash for each of its cells."""
    if at + 1 >= len(lines) or "|" not in lines[at] or "-" not in lines[at + 1] or not DELIMITERS.match(lines[at + 1]):
        return None
    if len(lines[at + 1]) < 3 or lines[at].startswith("    "):
        return None
    head = split_row(lines[at])
    return head if len(head) == len(split_row(lines[at + 1])) else None


def add_row(parent: Element, tag: str, cells: list[str], sides: list[str]) -> None:
    row = SubElement(parent, "tr")
    for cell, side in zip(cells, sides, strict=True):
        element = SubElement(row, tag)
        if side:
            element.set("align", side)
        if _longest_word(cell) > _LONG_WORD:
            element.set("class", "long-word")
        element.text = cell


def _longest_word(cell: str) -> int:
    return max(map(len, _WORD.findall(cell)), default=0)


def shape(rows: list[list[str]]) -> str:
    """Classes for the style sheet: whether a table is long, has many columns, or can not give each column its longest word."""
    width = len(rows[0])
    words = sum(min(_LONG_WORD, max(_longest_word(row[column]) for row in rows)) for column in range(width))
    many = "very-wide" if width > 14 else "wide" if width > 8 else ""
    return " ".join(filter(None, ("long" if len(rows) > 300 else "", many, "tight" if words + 2 * width > 85 else "")))


def side_of(mark: str, cells: list[str]) -> str:
    """How a column is aligned: as its mark says, else to the right where all its cells are numbers."""
    if mark.endswith(":"):
        return "center" if mark.startswith(":") else "right"
    filled = [cell.strip("*_ ") for cell in cells if cell.strip("*_ -–—")]
    return "right" if not mark.startswith(":") and filled and all(_NUMBER.fullmatch(cell) for cell in filled) else ""

"""The blocks of a Markdown document as elements, in place of Python-Markdown's own parser of blocks.

Python-Markdown asks for an empty line before a list and for four blanks to nest, and knows fences only at the left
margin; documents are seldom written so. Its inline syntax, footnotes and headings' anchors are used as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import Element, ElementTree, SubElement

from markdown.blockparser import BlockParser
from markdown.util import AtomicString, code_escape

from ..errors import InvalidParameters
from . import markdown_lines as rule
from . import markdown_tables as tables

_MAX_DEPTH = 24
# Signs that Python-Markdown's inline patterns need time in the square of, and how many are fair in one paragraph.
_HEAVY = (
    (r"\[", "opening brackets", 1500), (r"`+", "runs of backticks", 1000),
    (r"<", "signs <", 4000), (r"\(", "opening parentheses", 4000),
)  # fmt: skip
_TASK = re.compile(r"\[(?P<done>[ xX])\][ ]+(?=\S)")


class Blocks(BlockParser):  # type: ignore[misc]
    """Parses lines into elements. `warn(code, message)` is told what a table lost or gained."""

    def __init__(self, md: Any, warn: Callable[[str, str], None]) -> None:
        super().__init__(md)
        self._warn = warn
        self._depth = 0
        self.tables: list[tuple[str, int, int]] = []  # of each: its head, rows, columns

    def parseDocument(self, lines: Any) -> Any:  # noqa: N802
        self.root = Element(self.md.doc_tag)
        self.parse_lines(self.root, list(lines))
        return ElementTree(self.root)

    def parseChunk(self, parent: Element, text: str) -> None:  # noqa: N802
        self.parse_lines(parent, text.split("\n"))

    def parse_lines(self, parent: Element, lines: list[str]) -> None:
        """Adds what the lines hold to the parent. Raises InvalidParameters for nesting without end."""
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise InvalidParameters(
                f"The Markdown nests lists and quotations more than {_MAX_DEPTH} deep.",
                "Use fewer levels of lists and quotations.",
            )
        at = 0
        while at < len(lines):
            at = self._block(parent, lines, at) if lines[at].strip() else at + 1
        self._depth -= 1

    def _block(self, parent: Element, lines: list[str], at: int) -> int:
        """Adds the block that begins at a line and gives the line after it."""
        for read in (
            self._fence,
            self._code,
            self._heading,
            self._rule,
            self._quote,
            self._list,
            self._table,
            self._html,
            self._definition,
        ):
            end = read(parent, lines, at)
            if end is not None:
                return end
        return self._paragraph(parent, lines, at)

    # ---- leaves

    def _fence(self, parent: Element, lines: list[str], at: int) -> int | None:
        match = rule.FENCE.match(lines[at])
        if match is None:
            return None
        closing = re.compile(rf" {{0,3}}{re.escape(match['fence'][0])}{{{len(match['fence'])},}} *$")
        end = at + 1
        while end < len(lines) and not closing.match(lines[end]):
            end += 1
        indent = len(match["indent"])
        body = [line[min(indent, rule.indent_of(line)) :] for line in lines[at + 1 : end]]
        _add_code(parent, body)
        return end + 1

    def _code(self, parent: Element, lines: list[str], at: int) -> int | None:
        if rule.indent_of(lines[at]) < 4:
            return None
        end = at
        while end < len(lines) and (rule.indent_of(lines[end]) >= 4 or not lines[end].strip()):
            end += 1
        body = [line[4:] for line in lines[at:end]]
        while body and not body[-1].strip():
            body.pop()
        _add_code(parent, body)
        return end

    def _heading(self, parent: Element, lines: list[str], at: int) -> int | None:
        match = rule.HEADING.match(lines[at])
        if match is None:
            return None
        self._add_heading(parent, len(match["marks"]), _without_closing_marks(match["text"] or ""))
        return at + 1

    @staticmethod
    def _add_heading(parent: Element, level: int, text: str) -> None:
        heading = SubElement(parent, f"h{level}")
        named = rule.ID.search(text)
        if named:
            heading.set("id", named["id"])
            text = text[: named.start()]
        heading.text = weighed(text.strip())

    def _rule(self, parent: Element, lines: list[str], at: int) -> int | None:
        if not rule.RULE.match(lines[at]):
            return None
        SubElement(parent, "hr")
        return at + 1

    def _html(self, parent: Element, lines: list[str], at: int) -> int | None:
        end = rule.html_block_end(lines, at)
        if end is not None:
            paragraph = SubElement(parent, "p")
            paragraph.text = self.md.htmlStash.store("\n".join(lines[at:end]))
        return end

    def _definition(self, parent: Element, lines: list[str], at: int) -> int | None:
        note = rule.FOOTNOTE.match(lines[at])
        if note is not None:
            end = at + 1
            while end < len(lines) and not (
                lines[end].strip() and rule.indent_of(lines[end]) < 2 and self._ends_note(lines, end)
            ):
                end += 1
            text = [note["text"], *(line[min(4, rule.indent_of(line)) :] for line in lines[at + 1 : end])]
            self.md.builtin_footnotes.setFootnote(note["id"], "\n".join(text).strip())
            return end
        link = rule.REFERENCE.match(lines[at])
        if link is None:
            return None
        self.md.references.setdefault(re.sub(r"\s+", " ", link["id"]).strip().lower(), (link["link"], link["title"]))
        return at + 1

    @staticmethod
    def _ends_note(lines: list[str], at: int) -> bool:
        return not lines[at - 1].strip() or rule.interrupts(lines, at)

    def _paragraph(self, parent: Element, lines: list[str], at: int) -> int:
        end = at + 1
        while end < len(lines):
            underline = rule.UNDERLINE.match(lines[end])
            if underline:
                self._add_heading(parent, 1 if underline["first"] else 2, " ".join(line.strip() for line in lines[at:end]))
                return end + 1
            if rule.interrupts(lines, end):
                break
            end += 1
        text = "\n".join(line.lstrip(" ") for line in lines[at:end]).rstrip()
        paragraph = SubElement(parent, "p")
        paragraph.text = weighed(re.sub(r"(?<!\\)\\\n", "  \n", text))
        return end

    # ---- containers

    def _quote(self, parent: Element, lines: list[str], at: int) -> int | None:
        if not rule.QUOTE.match(lines[at]):
            return None
        body, end = [], at
        while end < len(lines) and (rule.QUOTE.match(lines[end]) or not rule.interrupts(lines, end)):
            body.append(rule.QUOTE.sub("", lines[end], count=1))
            end += 1
        self.parse_lines(SubElement(parent, "blockquote"), body)
        return end

    def _list(self, parent: Element, lines: list[str], at: int) -> int | None:
        first = rule.item(lines[at])
        if first is None:
            return None
        container = SubElement(parent, "ul" if first.number is None else "ol")
        if first.number not in (None, 1):
            container.set("start", str(first.number))
        bodies: list[list[str]] = []
        loose = False
        begun: rule.Item | None = first
        while begun is not None and begun.kind == first.kind and begun.indent < first.indent + 2:
            body, at = _item_body(begun, lines, at)
            blank = not body[-1].strip() and len(body) > 1
            while body and not body[-1].strip():
                body.pop()
            bodies.append(body)
            begun = rule.item(lines[at]) if at < len(lines) and not rule.RULE.match(lines[at]) else None
            loose = loose or (blank and begun is not None and begun.kind == first.kind) or _has_loose_blank(body)
        for body in bodies:
            entry = SubElement(container, "li")
            _take_task(entry, body)
            self.parse_lines(entry, body)
            if not loose:
                _tighten(entry)
        return at

    def _table(self, parent: Element, lines: list[str], at: int) -> int | None:
        head = tables.table_head(lines, at)
        if head is None:
            return None
        marks = tables.split_row(lines[at + 1])
        end = at + 2
        rows: list[list[str]] = []
        while end < len(lines) and "|" in lines[end] and lines[end].strip():
            weighed(lines[end])
            rows.append(self._fitted(tables.split_row(lines[end]), len(head), lines[end]))
            end += 1
        sides = [tables.side_of(mark, [row[column] for row in rows]) for column, mark in enumerate(marks)]
        self.tables.append((" | ".join(head), len(rows), len(head)))
        table = SubElement(parent, "table")
        if classes := tables.shape([head, *rows]):
            table.set("class", classes)
        tables.add_row(SubElement(table, "thead"), "th", head, sides)
        body = SubElement(table, "tbody")
        for row in rows:
            tables.add_row(body, "td", row, sides)
        return end

    def _fitted(self, cells: list[str], width: int, line: str) -> list[str]:
        if len(cells) > width:
            self._warn(
                "TABLE_ROW_TOO_LONG",
                f"A table row has more cells than its head; the last cell took the rest: {line.strip()[:120]}",
            )
            cells = [*cells[: width - 1], " | ".join(cells[width - 1 :])]
        return cells + [""] * (width - len(cells))


def _without_closing_marks(text: str) -> str:
    kept = text.rstrip().rstrip("#")
    return kept if not kept or kept.endswith(" ") else text


def weighed(text: str) -> str:
    """The text of one paragraph, heading or row. Raises InvalidParameters where its inline syntax would take minutes."""
    for sign, name, most in _HEAVY:
        if len(text) > most and (count := len(re.findall(sign, text))) > most:
            raise InvalidParameters(
                f"A paragraph of the Markdown, {text[:30]!r}…, has {count:,} {name}; more than {most:,} take too long to read.",
                "Split the paragraph with empty lines, or put such text into a fenced code block.",
            )
    return text


def _add_code(parent: Element, body: list[str]) -> None:
    code = SubElement(SubElement(parent, "pre"), "code")
    code.text = AtomicString(code_escape("\n".join(body) + "\n"))


def _item_body(begun: rule.Item, lines: list[str], at: int) -> tuple[list[str], int]:
    """The lines of a list item without their indent, and the line after it."""
    body = [begun.text]
    enough = begun.indent + 2
    fence: str | None = None
    at += 1
    while at < len(lines):
        line = lines[at]
        indent = rule.indent_of(line)
        if line.strip() and indent < enough:
            lazy = body[-1].strip() and fence is None and not rule.interrupts(lines, at) and rule.item(line) is None
            if not lazy or not _ends_in_paragraph(body):
                break
        stripped = line[min(indent, begun.content) :]
        opened = rule.FENCE.match(stripped)
        if opened and fence is None:
            fence = opened["fence"]
        elif opened and fence is not None and opened["fence"].startswith(fence) and not opened["info"].strip():
            fence = None
        body.append(stripped)
        at += 1
    return body, at


def _ends_in_paragraph(body: list[str]) -> bool:
    last = body[-1]
    return not (rule.FENCE.match(last) or rule.HEADING.match(last) or rule.RULE.match(last))


def _has_loose_blank(body: list[str]) -> bool:
    """Whether an empty line parts two paragraphs of an item, so that the list is set with space."""
    for before, blank, after in zip(body, body[1:], body[2:], strict=False):
        if before.strip() and not blank.strip() and after.strip() and rule.indent_of(after) == 0:
            plain = not (rule.FENCE.match(after) or rule.item(after) or rule.FENCE.match(before))
            if plain:
                return True
    return False


def _take_task(entry: Element, body: list[str]) -> None:
    """Turns `[ ] ` and `[x] ` at the beginning of an item into a box."""
    match = _TASK.match(body[0]) if body else None
    if match is not None:
        entry.set("class", "task")
        body[0] = ("\u2610 " if match["done"] == " " else "\u2611 ") + body[0][match.end() :]


def _tighten(entry: Element) -> None:
    if len(entry) and entry[0].tag == "p":
        entry.text = entry[0].text
        entry.remove(entry[0])

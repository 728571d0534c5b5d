"""What a line of Markdown begins: a fence, a list item, a quotation, a heading, a rule, a block of HTML, a table.

The rules are CommonMark's (0.31, sections 4 and 5) and GitHub's for tables, eased where people and language models
write otherwise: a list or a table may follow a paragraph at once, and two blanks are enough to nest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .markdown_tables import table_head

FENCE = re.compile(r"(?P<indent> {0,3})(?P<fence>`{3,}|~{3,})[ ]*(?P<info>[^`\n]*)$")
HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})(?:[ ]+(?P<text>.*))?$")
RULE = re.compile(r" {0,3}(?:(?:\*[ ]*){3,}|(?:-[ ]*){3,}|(?:_[ ]*){3,})$")
UNDERLINE = re.compile(r" {0,3}(?:(?P<first>=+)|-{2,})[ ]*$")
QUOTE = re.compile(r" {0,3}>[ ]?")
REFERENCE = re.compile(r" {0,3}\[(?P<id>[^\]\[^][^\]\[]*)\]:[ ]*<?(?P<link>[^\s>]+)>?[ ]*(?:[\"'(](?P<title>.*)[\"')])?[ ]*$")
FOOTNOTE = re.compile(r" {0,3}\[\^(?P<id>[^\]\s]+)\]:[ ]*(?P<text>.*)$")
ID = re.compile(r"[ ]*\{#(?P<id>[\w-]+)\}[ ]*$")
_ITEM = re.compile(r"(?P<indent> *)(?P<marker>[-*+]|(?P<number>\d{1,9})[.)])(?P<blanks> +|$)(?P<text>.*)$")
_HTML_WHOLE = re.compile(r" {0,3}<(?P<name>script|style|pre|textarea)\b", re.I)
_HTML_BLOCK = re.compile(
    r" {0,3}</?(?:address|article|aside|base"
    r"|blockquote|body|caption|center|col|colgroup|dd|details|dialog|div|dl|dt|embed|fieldset"
    r"|figcaption"
    r"|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|math|menu|meta|nav|noframes"
    r"|object|ol|optgroup|option|p|param|picture|search|section|source|summary|svg|table|tbody|td|template|tfoot|th|thead|title|tr|track"
    r"|ul|video|audio|canvas)(?=[\s/>]|$)",
    re.I,
)


@dataclass
class Item:
    """The first line of a list item: the column of its marker, that of its content, its kind and its text."""

    indent: int
    content: int
    kind: str  # the bullet, or "." or ")"
    number: int | None
    text: str


def item(line: str) -> Item | None:
    """The list item that a line begins. A rule such as `* * *` is none."""
    match = _ITEM.match(line)
    if match is None or RULE.match(line.strip()):
        return None
    marker, blanks = match["marker"], len(match["blanks"])
    indent = len(match["indent"])
    text = match["text"]
    if blanks > 4:  # CommonMark 5.2, rule 2: what follows is indented code
        text, blanks = " " * (blanks - 1) + text, 1
    number = int(match["number"]) if match["number"] else None
    return Item(indent, indent + len(marker) + max(1, blanks), marker[-1], number, text)


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def html_block_end(lines: list[str], at: int) -> int | None:
    """Where the block of HTML that begins at a line ends (the line after it); None where none begins."""
    whole = _HTML_WHOLE.match(lines[at])
    if whole or lines[at].lstrip(" ").startswith("<!--"):
        ending = f"</{whole['name']}".lower() if whole else "-->"
        for end in range(at, len(lines)):
            if ending in lines[end].lower():
                return end + 1
        return len(lines)
    if not _HTML_BLOCK.match(lines[at]):
        return None
    end = at
    while end < len(lines) and lines[end].strip():
        end += 1
    return end


def interrupts(lines: list[str], at: int) -> bool:
    """Whether a line ends the paragraph before it."""
    line = lines[at]
    if not line.strip() or FENCE.match(line) or HEADING.match(line) or RULE.match(line) or QUOTE.match(line):
        return True
    begun = item(line)
    if begun is not None and begun.indent < 4 and begun.text.strip() and begun.number in (None, 0, 1):
        return True
    return table_head(lines, at) is not None or html_block_end(lines, at) is not None or bool(FOOTNOTE.match(line))

"""Markdown to HTML: Python-Markdown with blocks as people write them, strike-through, bare links, footnotes, anchors."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidParameters

_NOT_OF_LINKS = r"\s<>|`\[\]\x02\x03\u3000-\u303f\uac00-\ud7a3"
_BARE = rf"(?:https?://|\bwww\.)[^{_NOT_OF_LINKS}]*[^{_NOT_OF_LINKS}.,;:!?)]"


@dataclass
class Converted:
    """HTML that is still to be sanitized, the table of contents ("" where none is due), and the tables (head, rows, columns)."""

    html: str
    contents: str
    first_heading: str
    tables: list[tuple[str, int, int]]


def converted(text: str, warn: Callable[[str, str], None]) -> Converted:
    """Converts a document. Raises InvalidParameters where its inline syntax or nesting would keep the parser for ever."""
    import markdown
    from markdown.extensions.footnotes import FootnoteExtension
    from markdown.extensions.toc import TocExtension

    from .markdown_blocks import Blocks

    footnotes = FootnoteExtension(BACKLINK_TEXT="\u21a9\ufe0e")
    toc = TocExtension(slugify=slug, toc_depth="1-3", marker="[TOC]")
    engine: Any = markdown.Markdown(extensions=[footnotes, toc], output_format="html")
    engine.builtin_footnotes = footnotes
    engine.preprocessors.deregister("html_block")
    blocks = Blocks(engine, warn)
    engine.parser = blocks
    _add_inline(engine)
    try:
        html = engine.convert(re.sub(r"(?im)^ {0,3}\[toc\] *$", "\n[TOC]\n", text))
    except RecursionError:
        raise InvalidParameters("The Markdown is nested too deeply.", "Use fewer levels of emphasis, links and lists.") from None
    tokens = engine.toc_tokens
    contents = engine.toc if tokens and '<div class="toc">' not in html else ""
    first = next((token["name"] for token in tokens), "")
    return Converted(html, contents, re.sub(r"<[^>]*>", "", first), blocks.tables)


def _add_inline(engine: Any) -> None:
    from xml.etree.ElementTree import Element

    from markdown.inlinepatterns import InlineProcessor, SimpleTagInlineProcessor
    from markdown.util import AtomicString

    class BareLink(InlineProcessor):  # type: ignore[misc]
        """`https://example.org/a` without brackets; punctuation at its end is not part of it."""

        def handleMatch(self, match: Any, data: str) -> tuple[Any, int, int]:  # noqa: N802
            address = match[0].rstrip(".,;:!?'\"*_~")
            if address.endswith(")") and address.count("(") < address.count(")"):
                address = address.rstrip(")")
            link = Element("a", href=address if "://" in address else "https://" + address)
            link.text = AtomicString(address)
            return link, match.start(0), match.start(0) + len(address)

    engine.inlinePatterns.register(
        BareLink(_BARE, engine),
        "bare_link",
        85,
    )
    engine.inlinePatterns.register(SimpleTagInlineProcessor(r"(~~)(?=\S)(.+?)(?<=\S)~~", "del"), "strike", 65)
    engine.ESCAPED_CHARS += ["~", "|", "<", ">", "$", "%", "&", "'", '"', ",", "/", ":", ";", "=", "?", "@", "^"]


def slug(text: str, separator: str) -> str:
    """The anchor of a heading as GitHub makes it, so that links written for GitHub meet their headings."""
    kept = re.sub(r"[^\w\- ]", "", unicodedata.normalize("NFC", text).strip().lower())
    return kept.replace(" ", separator)

"""HTML from Markdown made harmless: an allow-list of elements and attributes, links and pictures only where they may lead.

The HTML is parsed once, by the parser that WeasyPrint itself uses; what is not on the lists is left out, with its
content where that is no text for a reader, and each refusal is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Protocol
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

_KEPT = {
    "a", "abbr", "b", "blockquote", "br", "caption", "center", "cite", "code", "col", "colgroup", "dd", "del", "details",
    "dfn", "div", "dl", "dt", "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins",
    "kbd", "li", "mark", "ol", "p", "pre", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "summary", "sup",
    "table", "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul", "var", "wbr",
}  # fmt: skip
_WITH_CONTENT = {
    "applet", "audio", "base", "button", "canvas", "embed", "frame", "frameset", "iframe", "input", "link", "map", "math",
    "meta", "noframes", "noscript", "object", "param", "picture", "script", "select", "source", "style", "svg", "template",
    "textarea", "title", "track", "video",
}  # fmt: skip
_ATTRIBUTES = {
    "*": {"id", "title", "lang", "dir"},
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "td": {"align", "colspan", "rowspan"},
    "th": {"align", "colspan", "rowspan"},
    "ol": {"start"},
    "p": {"align"},
    "div": {"align"},
}
_OWN_CLASSES = {
    "footnote", "footnote-backref", "footnote-ref", "long", "long-word", "task", "tight", "toc", "very-wide", "wide",
}  # fmt: skip
_SPAN_LIMIT = 1000
_MAX_DEPTH = 150


class Places(Protocol):
    """What an address in a document means: the address to use in the PDF, or None, after which it is left out."""

    def link(self, address: str) -> str | None: ...

    def picture(self, address: str) -> str | None: ...


def sanitized(html: str, places: Places, refuse: Callable[[str], None]) -> str:
    """The harmless HTML of a body. `refuse(what)` is told every element and attribute that was left out."""
    import tinyhtml5  # type: ignore[import-untyped]

    from ..errors import InvalidParameters

    root = tinyhtml5.parse(f"<!DOCTYPE html><body>{html}", namespace_html_elements=False)
    body = root.find("body")
    if body is None:
        return ""
    cleaner = _Cleaner(places, refuse)
    for outside in [part for part in root if part is not body]:
        for part in outside:  # what HTML moves into the head
            if isinstance(part.tag, str):
                refuse(f"<{part.tag}>{_told(part)}")
    try:
        cleaner.children(body, 0)
    except RecursionError:
        raise InvalidParameters("The HTML in the Markdown is nested too deeply.", "Use plain Markdown.") from None
    return "".join(ElementTree.tostring(part, encoding="unicode", method="html") for part in body)


class _Cleaner:
    def __init__(self, places: Places, refuse: Callable[[str], None]) -> None:
        self._places, self._refuse = places, refuse

    def children(self, parent: Element, depth: int) -> None:
        """Cleans what lies in an element; a part that is refused gives way to its content or to nothing."""
        at = 0
        if depth > _MAX_DEPTH:
            self._refuse(f"elements nested more than {_MAX_DEPTH} deep")
            for part in list(parent):
                parent.remove(part)
            return
        while at < len(parent):
            part = parent[at]
            name = part.tag.rpartition("}")[2].lower() if isinstance(part.tag, str) else None
            if name in _KEPT:
                self._attributes(part, name)
                if name == "img" and not part.get("src"):
                    _replace(parent, at, part, part.get("alt", ""), [])
                    continue
                self.children(part, depth + 1)
                at += 1
            elif name is None:
                _replace(parent, at, part, "", [])  # a comment
            else:
                self._refuse(f"<{name}>{_told(part)}")
                keep = name not in _WITH_CONTENT
                _replace(parent, at, part, (part.text or "") if keep else "", list(part) if keep else [])

    def _attributes(self, part: Element, name: str) -> None:
        allowed = _ATTRIBUTES["*"] | _ATTRIBUTES.get(name, set())
        for key in list(part.attrib):
            value = part.attrib[key]
            plain = str(key).lower()
            if plain == "class":
                kept = " ".join(word for word in value.split() if word in _OWN_CLASSES)
                if kept:
                    part.set("class", kept)
                else:
                    del part.attrib[key]
            elif plain not in allowed:
                del part.attrib[key]
                if plain not in ("target", "rel", "name", "loading", "border", "valign"):
                    self._refuse(f"the attribute {plain} of <{name}>: {value[:80]}")
            elif plain in ("colspan", "rowspan", "start", "width", "height"):
                _keep_number(part, key, value)
        if name == "a":
            self._address(part, "href", self._places.link)
        if name == "img":
            self._address(part, "src", self._places.picture)

    @staticmethod
    def _address(part: Element, key: str, resolve: Callable[[str], str | None]) -> None:
        value = part.get(key)
        if value is None:
            return
        address = resolve(re.sub(r"[\x00-\x20]+", " ", value).strip())
        if address is None:
            del part.attrib[key]
        else:
            part.set(key, address)


def _keep_number(part: Element, key: str, value: str) -> None:
    match = re.fullmatch(r"\s*(\d{1,4})(px|%)?\s*", value)
    if match is None or int(match[1]) > _SPAN_LIMIT and key.endswith("span"):
        del part.attrib[key]
    elif key.endswith("span") or key == "start":
        part.set(key, match[1])


def _told(part: Any) -> str:
    """The addresses that an element and what lies in it would have fetched, for a warning."""
    found = []
    for inner in part.iter():
        for key, value in inner.attrib.items():
            if str(key).rpartition("}")[2].lower() in ("src", "href", "data", "action", "poster"):
                found.append(value)
        found += re.findall(r"url\(\s*[\"']?([^\"')]+)", inner.text or "") if isinstance(inner.text, str) else []
    return f" ({', '.join(found[:3])[:200]})" if found else ""


def _replace(parent: Element, at: int, part: Element, text: str, inner: list[Element]) -> None:
    """Puts text and elements in the place of a part, whose tail stays."""
    tail = part.tail or ""
    parent.remove(part)
    for offset, element in enumerate(inner):
        parent.insert(at + offset, element)
    if inner:
        inner[-1].tail = (inner[-1].tail or "") + tail
        tail = ""
    if at == 0:
        parent.text = (parent.text or "") + text + tail
    else:
        parent[at - 1].tail = (parent[at - 1].tail or "") + text + tail

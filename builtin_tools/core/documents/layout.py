"""Pages from harmless HTML: WeasyPrint with the house's style sheet, a fenced fetcher, and an ear for what it misses."""

from __future__ import annotations

import html
import logging
import mimetypes
import re
import tempfile
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..call import Call
from .places import BASE, DocumentPlaces

_SIZES = {
    "A3": "A3", "A4": "A4", "A5": "A5", "A6": "105mm 148mm", "B4": "B4", "B5": "B5",
    "Letter": "letter", "Legal": "legal", "Tabloid": "11in 17in",
}  # fmt: skip
_MAX_TOLD = 12
_OF_THE_DOCUMENT = re.compile(
    r"Ignored|Invalid|Unknown|Unsupported|Parse error|Expected|No anchor|Missing|Nested|This stylesheet", re.I
)


@dataclass
class Sheet:
    """How a call wants its pages: size, orientation, a table of contents, and CSS of its own."""

    size: str
    landscape: bool
    contents: bool
    stylesheet: str | None

    @property
    def words(self) -> str:
        return self.size + (" landscape" if self.landscape else "")

    @property
    def css(self) -> str:
        size = _SIZES[self.size]
        if self.landscape:
            size = " ".join(reversed(size.split())) if " " in size else f"{size} landscape"
        return f"@page {{ size: {size} }}"


class Layout:
    """One document laid out. `write` makes the PDF, `warn` tells what was missing or not understood."""

    def __init__(self, call: Call, places: DocumentPlaces, sheet: Sheet) -> None:
        self._call, self._places, self._sheet = call, places, sheet
        self._told = _Ear()
        self._missing: set[int] = set()

    def write(self, body: str, title: str, language: str, scratch_name: str) -> int:
        """Writes the PDF into the scratch folder and gives the number of its pages."""
        tempfile.tempdir = self._call.scratch  # WeasyPrint's temporary files; nothing else may be written
        logger = logging.getLogger("weasyprint")
        logger.handlers, logger.propagate = [self._told], False
        mimetypes.knownfiles.clear()  # tables of the machine, which the worker may not read
        import weasyprint

        fetcher = _fetcher(self._places)
        page = (
            f'<!DOCTYPE html><html lang="{language}"><head><title>{html.escape(title)}</title></head><body>{body}</body></html>'
        )
        own = (Path(__file__).with_name("print.css")).read_text("utf-8") + self._sheet.css
        sheets = [weasyprint.CSS(string=own, url_fetcher=fetcher)]
        if self._sheet.stylesheet:
            base = BASE + (self._places.folder + "/" if self._places.folder else "")
            sheets.append(weasyprint.CSS(string=self._sheet.stylesheet, base_url=base, url_fetcher=fetcher))
        document = weasyprint.HTML(string=page, url_fetcher=fetcher).render(stylesheets=sheets)
        document.write_pdf(self._call.scratch_path(scratch_name))
        for font in document.fonts.values():
            self._missing |= set(font.missing)
        return len(document.pages)

    def warn(self) -> None:
        """Adds the warnings: signs without a font, style rules that were ignored, links to anchors that are not there."""
        signs = sorted({sign for code in self._missing if (sign := chr(code)).isprintable() and not _invisible(sign)})
        if signs:
            shown = "".join(signs[:60]) + (f" and {len(signs) - 60:,} more" if len(signs) > 60 else "")
            scripts = sorted({unicodedata.name(sign, "UNKNOWN").split()[0].capitalize() for sign in signs})
            self._call.warn(
                "GLYPHS_MISSING",
                f"No installed font has these {len(signs):,} signs ({', '.join(scripts[:6])}), which show as boxes: {shown}. "
                "The operator can install a font that has them, such as Noto Sans CJK or Nanum.",
            )
        messages = list(dict.fromkeys(self._told.messages))
        for message in messages[:_MAX_TOLD]:
            self._call.warn(_code_of(message), message)
        if len(messages) > _MAX_TOLD:
            self._call.warn("STYLE_IGNORED", f"{len(messages) - _MAX_TOLD:,} more messages of the same kinds.")


def _invisible(sign: str) -> bool:
    """Joiners, variation selectors and blanks: nothing is lost where a font has no picture of them."""
    return unicodedata.category(sign) in ("Cf", "Zs", "Mn", "Cc")


class _Ear(logging.Handler):
    """Keeps what WeasyPrint reports about the document, without the addresses that the fetcher reports itself."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = " ".join(record.getMessage().replace(BASE, "").split())[:240]
        if _OF_THE_DOCUMENT.match(message) and len(self.messages) < 1000:
            self.messages.append(message)


def _code_of(message: str) -> str:
    return "LINK_WITHOUT_TARGET" if "anchor" in message.lower() else "STYLE_IGNORED"


def _fetcher(places: DocumentPlaces) -> Any:
    from weasyprint.urls import URLFetcher, URLFetcherResponse

    class DirectoryFetcher(URLFetcher):  # type: ignore[misc]
        """Serves what `places` resolves. It has no handler for any protocol."""

        def __init__(self) -> None:
            super().__init__(allowed_protocols=())
            self.handlers.clear()
            self.handle_open.clear()

        def fetch(self, url: str, headers: Any = None) -> Any:
            data, media_type = places.content(url)
            return URLFetcherResponse(url, data, {"Content-Type": media_type})

    return DirectoryFetcher()

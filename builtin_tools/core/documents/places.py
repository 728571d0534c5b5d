"""What links, pictures and style sheets in a document may lead to: files of the artifact directory, and nothing else.

Pictures and sheets get addresses below a host that does not exist, and the fetcher given to WeasyPrint serves
only those, each resolved through the directory. It never opens a connection or a path of its own accord.
"""

from __future__ import annotations

import base64
import binascii
import os
import posixpath
import re
from urllib.parse import quote, unquote, urlsplit

from ..artifacts import InputFile
from ..call import Call
from ..errors import FileNotFound, InvalidParameters, PathOutsideArtifacts, UnsupportedFormat

BASE = "https://artifacts.invalid/"
_PICTURES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "svg": "image/svg+xml",
}
_OTHERS = {"css": "text/css", "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf"}
_INLINE = re.compile(r"data:(image/(?:png|jpeg|gif|webp));base64,(.*)", re.S)
_LINKS = {"http", "https", "mailto", "tel"}
_MAX_FILE = 50_000_000


class DocumentPlaces:
    """Addresses of one document, seen from its folder; `output_folder` is where the PDF will lie."""

    def __init__(self, call: Call, folder: str, output_folder: str) -> None:
        self._call, self.folder, self._output_folder = call, folder, output_folder
        self.refused: dict[str, str] = {}  # what was asked for, and why it is not there

    def refuse(self, address: str, why: str) -> None:
        self.refused.setdefault(address[:200], why)

    # ---- links

    def link(self, address: str) -> str | None:
        """A web address or an anchor as it is; a file of the directory relative to the PDF; all else is refused."""
        if address.startswith("#"):
            return address
        scheme = _scheme(address)
        if scheme in _LINKS:
            return address
        if scheme is not None or address.startswith(("/", "\\")) or "\\" in address[:3]:
            self.refuse(address, "a link may lead to the web, to an address of mail, or to a file by its relative path")
            return None
        path, mark, anchor = address.partition("#")
        try:
            inside = self._call.directory.relative(posixpath.join(self.folder, unquote(path)))
        except (PathOutsideArtifacts, InvalidParameters):
            self.refuse(address, "the link leads out of the artifact directory")
            return None
        return quote(posixpath.relpath(inside or ".", self._output_folder or ".")) + mark + anchor

    # ---- pictures and what style sheets name

    def picture(self, address: str) -> str | None:
        """The address under which the fetcher serves a picture of the directory; None where it may or can not."""
        if _INLINE.match(address):
            return address
        file = self._file(address, self.folder)
        return None if file is None else BASE + quote(file.path)

    def content(self, address: str) -> tuple[bytes, str]:
        """Bytes and media type for the fetcher. Raises ValueError, which WeasyPrint takes for 'not there'."""
        inline = _INLINE.match(address)
        if inline:
            try:
                return base64.b64decode(unquote(inline[2]), validate=False), inline[1]
            except (binascii.Error, ValueError):
                self.refuse(address[:60], "its base64 cannot be read")
                raise ValueError("not base64") from None
        if not address.startswith(BASE):
            self.refuse(address, "only files of the artifact directory are loaded, and nothing from the network")
            raise ValueError("refused")
        file = self._file(address[len(BASE) :].split("?")[0].split("#")[0], "", already_quoted=True)
        if file is None:
            raise ValueError("refused")
        self._call.read(file)
        with os.fdopen(self._call.directory.open_descriptor(file), "rb") as stream:
            return stream.read(), _media_type(file.path) or ""

    def _file(self, address: str, folder: str, already_quoted: bool = False) -> InputFile | None:
        if _scheme(address) is not None or address.startswith(("//", "\\")):
            self.refuse(address, "only files of the artifact directory are loaded, and nothing from the network")
            return None
        plain = unquote(address)
        for spelling in dict.fromkeys([plain] if already_quoted else [address, plain, address.split("?")[0]]):
            try:
                file = self._call.directory.input_file(posixpath.join(folder, spelling))
            except FileNotFound:
                continue
            except (PathOutsideArtifacts, UnsupportedFormat, InvalidParameters) as problem:
                self.refuse(address, problem.message.rpartition(": ")[2].rstrip("."))
                return None
            if _media_type(file.path) is None:
                self.refuse(address, "it is no picture: PNG, JPEG, GIF, WebP and SVG are drawn")
                return None
            if file.size > _MAX_FILE:
                self.refuse(address, f"it has {file.size:,} bytes, more than {_MAX_FILE:,}")
                return None
            return self._call.read(file)
        self.refuse(address, "there is no such file" + (f" in {folder}" if folder else " in the artifact directory"))
        return None


def _scheme(address: str) -> str | None:
    """The scheme that an address begins with, however it is spelt; None for a path."""
    match = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", re.sub(r"[\x00-\x20]+", "", unquote(address)))
    if match is None:
        return None
    try:
        return urlsplit(address).scheme.lower() or match[1].lower()
    except ValueError:
        return match[1].lower()


def _media_type(path: str) -> str | None:
    extension = path.rpartition(".")[2].lower()
    return _PICTURES.get(extension) or _OTHERS.get(extension)

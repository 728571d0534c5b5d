"""The name of a downloaded file: what the server proposes, else the URL's last segment, made safe for every system."""

from __future__ import annotations

import email.errors
import email.header
import re
import unicodedata
from collections.abc import Mapping
from urllib.parse import unquote_to_bytes

from ..tables.formats import format_by_name
from .urls import Target

MAX_NAME_BYTES = 255
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³")}
_PROGRAMS = ("php", "asp", "aspx", "jsp", "cgi", "do", "action", "ashx", "pl", "py")
_PARAMETER = re.compile(r';\s*([\w!#$%&\'*+.^`|~-]+)\s*=\s*("(?:\\.|[^"\\])*"|[^;]*)')
_EXTENSIONS = {
    "csv": "csv", "tsv": "tsv", "json": "json", "ndjson": "ndjson", "parquet": "parquet", "excel": "xlsx", "pdf": "pdf",
    "html": "html", "gzip": "gz", "zstd": "zst", "bzip2": "bz2", "xz": "xz", "zip": "zip", "png": "png", "jpeg": "jpg",
    "gif": "gif", "xml": "xml", "sqlite": "sqlite", "duckdb": "duckdb", "markdown": "md",
}  # fmt: skip


def proposed_name(headers: Mapping[str, str], targets: list[Target]) -> str:
    """The safe name for what came from the targets (first the URL that was asked, then where redirects led)."""
    disposed = safe_name(name_of_disposition(headers.get("Content-Disposition", "")) or "")
    if disposed:
        return disposed
    segments = [safe_name(_bytes_text(unquote_to_bytes(_last_segment(target)))) for target in targets]
    for fits in (format_by_name, _extension, bool):
        for segment in segments:
            if segment and fits(segment):
                return segment
    return "download"


def with_extension(name: str, format_name: str) -> str:
    """The name with the extension of its format where it has none, or only that of a program such as .php."""
    extension = _EXTENSIONS.get(format_name)
    own = _extension(name)
    if extension is None or (own and own not in _PROGRAMS):
        return name
    return safe_name(f"{name}.{extension}")


def name_of_disposition(header: str) -> str | None:
    """The file name of a Content-Disposition header (RFC 6266), as servers really write it.

    `filename*` goes before `filename`; raw UTF-8 or EUC-KR, percent escapes and RFC 2047 words are read too.
    """
    found: dict[str, str] = {}
    for key, value in _PARAMETER.findall(";" + header.partition(";")[2]):
        found.setdefault(key.lower(), value.strip())
    extended = re.fullmatch(r"([\w-]+)'[^']*'(.+)", found.get("filename*", "").strip('"'))
    if extended:
        try:
            return unquote_to_bytes(extended[2]).decode(extended[1])
        except (UnicodeDecodeError, LookupError):
            pass
    plain = found.get("filename")
    if not plain:
        return None
    if plain.startswith('"'):
        plain = re.sub(r'\\(["\\])', r"\1", plain[1:-1])
    return _decoded(plain)


def _decoded(text: str) -> str:
    """A header's text, which was read as Latin-1, as what its bytes, escapes or encoded words stand for."""
    if re.search(r"=\?[\w-]+\?[BbQq]\?", text):
        try:
            return str(email.header.make_header(email.header.decode_header(text)))
        except (email.errors.HeaderParseError, LookupError, UnicodeError):
            return text
    if re.search(r"%[0-9A-Fa-f]{2}", text):
        try:
            return unquote_to_bytes(text).decode("utf-8")
        except UnicodeDecodeError:
            return text
    try:
        return _bytes_text(text.encode("latin-1"))
    except UnicodeEncodeError:
        return text


def _bytes_text(data: bytes) -> str:
    for charset in ("utf-8", "euc_kr"):
        try:
            return data.decode(charset)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def _last_segment(target: Target) -> str:
    return target.path.partition("?")[0].rstrip("/").rpartition("/")[2]


def _extension(name: str) -> str:
    """The extension in lower case; empty where there is none or what follows the last dot is no word (`v1.2`)."""
    head, _, last = name.rpartition(".")
    return last.lower() if head and re.fullmatch(r"[A-Za-z][A-Za-z0-9]{0,9}|7z", last) else ""


def safe_name(name: str) -> str:
    """The name as one harmless file name, in NFC, of at most 255 bytes; empty where nothing of it is left."""
    name = re.split(r"[/\\]", unicodedata.normalize("NFC", name).rstrip("/\\ "))[-1]
    name = "".join(sign for sign in name if unicodedata.category(sign) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
    name = re.sub(r'[<>:"|?*]', "_", re.sub(r"\s+", " ", name)).lstrip(". ~-").rstrip(". ")
    if name.partition(".")[0].rstrip(" ").lower() in _RESERVED:
        name = "_" + name
    return _bounded(name)


def _bounded(name: str) -> str:
    """The name cut to 255 bytes in its stem, so that its extension stays."""
    if len(name.encode()) <= MAX_NAME_BYTES:
        return name
    tail = re.search(r"(\.[A-Za-z0-9]{1,10}){1,2}$", name)
    extension = tail[0] if tail else ""
    stem = name[: len(name) - len(extension)].encode()[: MAX_NAME_BYTES - len(extension)]
    return stem.decode("utf-8", "ignore").rstrip(". ") + extension

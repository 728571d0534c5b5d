"""What the workbook reader does not tell of an xlsx file: how large it unpacks, and which cells hold errors."""

from __future__ import annotations

import re
import zipfile
import zlib
from html import unescape

_BLOCK = 1 << 20
_LONGEST_CELL = 4096
_ERROR = re.compile(rb'<c\b[^>]*\bt="e"[^>]*>')
_PLACE = re.compile(rb'\br="([A-Z]{1,3}[0-9]{1,7})"')
_VALUE = re.compile(rb"<v>([^<]{1,20})</v>")
_NAMED = 12


def unpacked_size(path: str) -> int:
    """The bytes that a zipped workbook says it unpacks to; 0 for other files and for damaged ones."""
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return 0


def error_cells(path: str, sheet: str) -> tuple[int, list[str]]:
    """How many cells of a sheet of an xlsx file hold an error such as #N/A, and the first of them as `E4 #N/A`."""
    try:
        with zipfile.ZipFile(path) as archive:
            part = _part_of(archive, sheet)
            return _errors(archive, part) if part is not None else (0, [])
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, KeyError, RuntimeError, NotImplementedError, EOFError):
        return 0, []


def _part_of(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """The member that holds a sheet, by way of the workbook and its relationships (ECMA-376, part 1, section 18.2.19)."""
    if "xl/workbook.xml" not in archive.namelist():
        return None
    book = archive.read("xl/workbook.xml").decode("utf-8", "replace")
    links = archive.read("xl/_rels/workbook.xml.rels").decode("utf-8", "replace")
    for element in re.findall(r"<(?:\w+:)?sheet\b[^>]*>", book):
        name, link = re.search(r'\bname="([^"]*)"', element), re.search(r'\b\w+:id="([^"]*)"', element)
        if name and link and unescape(name[1]) == sheet:
            for relation in re.findall(r"<(?:\w+:)?Relationship\b[^>]*>", links):
                target = re.search(r'\bTarget="([^"]*)"', relation)
                if f'Id="{link[1]}"' in relation and target:
                    return target[1].lstrip("/") if target[1].startswith("/") else f"xl/{target[1]}"
    return None


def _errors(archive: zipfile.ZipFile, part: str) -> tuple[int, list[str]]:
    count, named, kept = 0, list[str](), b""
    with archive.open(part) as stream:
        while block := stream.read(_BLOCK):
            text = kept + block
            safe = max(0, len(text) - _LONGEST_CELL) if len(block) == _BLOCK else len(text)
            used = 0
            for match in _ERROR.finditer(text):
                if match.start() >= safe:
                    break
                used = match.end()
                count += 1
                place, value = _PLACE.search(match[0]), _VALUE.search(text, match.end(), match.end() + 400)
                if len(named) < _NAMED and place:
                    named.append(place[1].decode() + (f" {value[1].decode('ascii', 'replace')}" if value else ""))
            kept = text[max(safe, used) :]
    return count, named

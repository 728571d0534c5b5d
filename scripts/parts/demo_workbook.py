"""A small workbook (Office Open XML) written by hand, so that the demo data needs no library and comes out the same each time."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

Cell = str | int | float | None
Sheets = dict[str, list[list[Cell]]]

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def write_workbook(path: Path, sheets: Sheets) -> None:
    """Writes one sheet for each entry, in order. Text is stored in the cell itself, numbers as numbers."""
    numbers = range(1, len(sheets) + 1)
    parts = {
        "[Content_Types].xml": _content_types(numbers),
        "_rels/.rels": _relationships([("rId1", "officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": _workbook(list(sheets)),
        "xl/_rels/workbook.xml.rels": _relationships([(f"rId{n}", "worksheet", f"worksheets/sheet{n}.xml") for n in numbers]),
    }
    for number, rows in enumerate(sheets.values(), 1):
        parts[f"xl/worksheets/sheet{number}.xml"] = _sheet(rows)
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, _HEAD + text, zipfile.ZIP_STORED)


def _content_types(numbers: range) -> str:
    sheets = "".join(f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{_TYPE}.worksheet+xml"/>' for n in numbers)
    return (
        f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>{sheets}</Types>'
    )


def _relationships(entries: list[tuple[str, str, str]]) -> str:
    lines = "".join(f'<Relationship Id="{key}" Type="{_OFFICE}/{kind}" Target="{target}"/>' for key, kind, target in entries)
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{lines}</Relationships>'


def _workbook(names: list[str]) -> str:
    sheets = "".join(f'<sheet name="{escape(name)}" sheetId="{n}" r:id="rId{n}"/>' for n, name in enumerate(names, 1))
    return f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{sheets}</sheets></workbook>'


def _sheet(rows: list[list[Cell]]) -> str:
    lines = []
    for number, row in enumerate(rows, 1):
        cells = "".join(_cell(f"{chr(64 + column)}{number}", value) for column, value in enumerate(row, 1))
        lines.append(f'<row r="{number}">{cells}</row>')
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>'


def _cell(place: str, value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{place}"><v>{value!r}</v></c>'

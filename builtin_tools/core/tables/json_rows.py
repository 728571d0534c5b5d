"""The rows of a JSON file as an answer shows them, made without an engine."""

from __future__ import annotations

import re
from decimal import Context, Decimal
from typing import Any

from ..envelope import Warn
from .json_decoding import decoder, plain
from .json_path import pointer
from .json_survey import JsonColumn, Survey, number_text

HALVES = re.compile("[\ud800-\udfff]")
_EXACT = Context(prec=100)


def details(found: Survey) -> dict[str, Any]:
    """What an answer tells of the file."""
    encoding = found.encoding.replace("-sig", " with a byte order mark")
    told: dict[str, Any] = {"layout": found.layout, "encoding": encoding, "rows": found.rows}
    if found.steps:
        told["records_path"] = pointer(found.steps)
    notes = {column.name: column.note for column in found.columns if column.note}
    originals = {column.name: column.key for column in found.columns if column.key not in (None, column.name)}
    return told | ({"column_notes": notes} if notes else {}) | ({"original_names": originals} if originals else {})


def rows(found: Survey) -> tuple[list[list[Any]], list[Warn]]:
    """The rows of the records that the survey kept, as Python values, and warnings about them."""
    decode = decoder(found.notes, written=found.as_written, long_integers=True).decode
    shown, halves = [], 0
    for text in found.kept:
        cells = [
            None if part is None else _cell(part, column)
            for column, part in zip(found.columns, cells_of(decode(text), found), strict=True)
        ]
        if found.half_pairs:
            cells, count = whole_text(cells)
            halves += count
        shown.append(cells)
    return shown, half_pair_warnings(halves)


def cells_of(record: Any, found: Survey) -> list[Any]:
    """The values of a record in the order of the columns."""
    if record is None:
        return [None] * len(found.columns)
    return [record if column.key is None else record.get(column.key) for column in found.columns]


def _cell(value: Any, column: JsonColumn) -> Any:
    """A value of a column as an answer takes it."""
    if column.type == "VARCHAR":
        return number_text(value)
    value = plain(value)
    if column.type == "DOUBLE":
        return float(value)
    if column.type.startswith("DECIMAL("):
        scale = int(column.type[8:-1].partition(",")[2])
        return Decimal(number_text(value)).quantize(Decimal(1).scaleb(-scale), context=_EXACT)
    return value


def whole_text(value: Any) -> tuple[Any, int]:
    """The value with halves of surrogate pairs replaced, and how many there were."""
    if isinstance(value, str):
        return HALVES.subn("\ufffd", value)
    if isinstance(value, list):
        pairs = [whole_text(part) for part in value]
        return [part for part, _ in pairs], sum(count for _, count in pairs)
    if isinstance(value, dict):
        made, total = {}, 0
        for key, part in value.items():
            (made_key, of_key), (made_part, of_part) = whole_text(key), whole_text(part)
            made[made_key] = made_part
            total += of_key + of_part
        return made, total
    return value, 0


def half_pair_warnings(count: int) -> list[Warn]:
    """The warning for halves of surrogate pairs, which are no characters."""
    if not count:
        return []
    return [Warn("CHARACTER_REPLACED", f"{count:,} halves of surrogate pairs, which are no characters, were replaced by U+FFFD.")]

"""A PDF file of the directory, opened: known by its content, its password tried, its bombs turned away.

PDFium has no limits of its own, so the sizes that compressed streams unpack to are added up before it sees
them. It runs in a worker whose memory is bounded, and may end that worker by an abort.
"""

from __future__ import annotations

import os
import re
import zlib
from dataclasses import dataclass
from typing import Any

from ..artifacts import InputFile
from ..call import Call
from ..errors import FileCorrupt, FileEmpty, MemoryLimitExceeded, PasswordRequired, UnsupportedFormat
from ..kernel import limit_memory
from ..limits import readable_size

_HEADER_WITHIN = 1024  # ISO 32000-1, annex H.3.4.1: readers take a header anywhere in the first 1,024 bytes
_MAX_STREAM = 256 << 20
_MAX_TEXT_OPERATORS = 1_000_000
_STREAM = re.compile(rb"stream\r?\n")
_BLOCK = 1 << 20
_ENOUGH_MEMORY = 1_200_000_000  # what PDFium may take beside the file; forms drawn within forms have no other bound
_NO_PASSWORD_FITS = 4  # FPDF_ERR_PASSWORD of PDFium's fpdfview.h


@dataclass
class PdfFile:
    """An open PDF. `document` is a pypdfium2.PdfDocument, `password` the one that opened it."""

    file: InputFile
    data: bytes
    document: Any
    password: str | None
    page_count: int

    @property
    def name(self) -> str:
        return self.file.path


def open_pdf(call: Call, path: str) -> PdfFile:
    """Opens the PDF that `path` names, with the operator's `pdf_password` where it needs one.

    Raises FileNotFound, FileEmpty, UnsupportedFormat (no PDF), FileCorrupt, PasswordRequired, MemoryLimitExceeded.
    """
    file = call.directory.input_file(path)
    data = _bytes_of(call, file)
    call.read(file)
    weigh_streams(data, file.path)
    limit_memory(min(call.memory_limit + 500_000_000, _ENOUGH_MEMORY + len(data)))
    document, password = _unlocked(data, file, call.setting("pdf_password"))
    count = len(document)
    if count < 1:
        raise _corrupt(file, "it has no pages")
    return PdfFile(file, data, document, password, count)


def _bytes_of(call: Call, file: InputFile) -> bytes:
    if file.size == 0:
        raise FileEmpty(f"{file.path!r} is empty.", "Name a PDF file with content.")
    if file.size > call.memory_limit // 2:
        raise MemoryLimitExceeded(
            f"{file.path!r} has {readable_size(file.size)}, more than half of the memory limit.",
            "Split the document; or the operator can raise memory_limit.",
        )
    with os.fdopen(call.directory.open_descriptor(file), "rb") as stream:
        data = stream.read()
    if b"%PDF-" not in data[:_HEADER_WITHIN]:
        raise UnsupportedFormat(
            f"{file.path!r} is no PDF: its content does not begin like one.",
            "Name a PDF file. Tables are read by read_csv, query_table and describe_table, JSON by read_json.",
        )
    return data


def weigh_streams(data: bytes, name: str) -> None:
    """Raises MemoryLimitExceeded where a deflated stream of the file unpacks to more than a page can need."""
    for match in _STREAM.finditer(data):
        begin = match.end()
        head = data[begin : begin + 2]
        if len(head) < 2 or head[0] & 0x0F != 8 or (head[0] << 8 | head[1]) % 31:
            continue  # not zlib (RFC 1950, section 2.2): another filter, or encrypted
        total, operators = _unpacked(data, begin)
        if total > _MAX_STREAM or operators > _MAX_TEXT_OPERATORS:
            what = f"{readable_size(total)} or more" if total > _MAX_STREAM else "more than a million pieces of text"
            raise MemoryLimitExceeded(
                f"{name!r} holds a stream that unpacks to {what}, which no page needs.",
                "The file is damaged or made to exhaust its reader; get another copy of the document.",
            )


def _unpacked(data: bytes, begin: int) -> tuple[int, int]:
    """The bytes a deflated stream unpacks to and the text operators in them, up to a little past the limits."""
    unpacker = zlib.decompressobj()
    total = operators = 0
    end = data.find(b"endstream", begin)
    rest = memoryview(data)[begin : end if end >= 0 else len(data)]
    waiting: Any = rest
    while len(waiting) and total <= _MAX_STREAM and operators <= _MAX_TEXT_OPERATORS:
        try:
            block = unpacker.decompress(waiting, _BLOCK)
        except zlib.error:
            break
        total += len(block)
        operators += block.count(b"Tj") + block.count(b"TJ")
        waiting = unpacker.unconsumed_tail
    return total, operators


def _unlocked(data: bytes, file: InputFile, password: str | None) -> tuple[Any, str | None]:
    """The document and the password that opened it; the empty one is tried first."""
    import pypdfium2

    for attempt in (None, password):
        try:
            return pypdfium2.PdfDocument(data, password=attempt), attempt
        except pypdfium2.PdfiumError as problem:
            if getattr(problem, "err_code", None) != _NO_PASSWORD_FITS:
                raise _corrupt(file, "its structure cannot be read") from None
        if password is None:
            break
    given = "the operator's pdf_password does not open it" if password else "no pdf_password is set"
    raise PasswordRequired(
        f"{file.path!r} is encrypted and needs a password; {given}.",
        "The operator must set the user parameter pdf_password to the document's password.",
    )


def _corrupt(file: InputFile, why: str) -> FileCorrupt:
    return FileCorrupt(f"{file.path!r} is a damaged PDF: {why}.", "Get another copy of the document, or have it repaired.")

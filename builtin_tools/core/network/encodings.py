"""Undoes a Content-Encoding that the server used though none was asked for (RFC 9110, section 8.4)."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import BinaryIO

from ..errors import FileCorrupt, UnsupportedFormat
from .transfer import too_large
from .urls import Target

_BLOCK = 1 << 17
_KNOWN = ("gzip", "x-gzip", "deflate")


def encodings_of(header: str) -> list[str]:
    """The encodings in the order in which they were applied, `identity` left out."""
    return [word for word in (part.strip().lower() for part in header.split(",")) if word not in ("", "identity")]


def decode(path: str, encodings: list[str], target: Target, max_bytes: int) -> None:
    """Replaces the file by what it was before it was encoded.

    Raises UnsupportedFormat for an encoding not known here, FileCorrupt for a stream that breaks off, and
    NetworkError with RESPONSE_TOO_LARGE where the decoded file would pass the limit.
    """
    for encoding in reversed(encodings):
        if encoding not in _KNOWN:
            raise UnsupportedFormat(
                f"{target.host} sent the file with the content encoding {encoding[:40]!r}, though none was asked for.",
                "Find another link to the file; gzip and deflate are understood.",
            )
        decoded = path + ".decoded"
        with Path(path).open("rb") as source, Path(decoded).open("wb") as result:
            try:
                _inflate(source, result, encoding, target, max_bytes)
            except zlib.error:
                raise FileCorrupt(
                    f"The file from {target.host} is not the {encoding} stream that its header says.",
                    "Send the same call again; if it fails each time, find another link to the file.",
                ) from None
        os.replace(decoded, path)


def _inflate(source: BinaryIO, result: BinaryIO, encoding: str, target: Target, max_bytes: int) -> None:
    head = source.read(2)
    source.seek(0)
    raw_deflate = encoding == "deflate" and not (len(head) == 2 and head[0] & 15 == 8 and int.from_bytes(head) % 31 == 0)
    window = -15 if raw_deflate else 47  # 47: gzip or zlib, by the header
    stream, size = zlib.decompressobj(window), 0
    data = source.read(_BLOCK)
    while data:
        if stream.eof:  # another gzip member follows
            stream = zlib.decompressobj(window)
        block = stream.decompress(data, _BLOCK)
        size += len(block)
        if size > max_bytes:
            raise too_large(target, None, max_bytes)
        result.write(block)
        data = (stream.unused_data if stream.eof else stream.unconsumed_tail) or source.read(_BLOCK)
    if size and not stream.eof:
        raise zlib.error("the stream breaks off")

"""Decoding a file to its last byte, in bounded memory, and where it stops decoding."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

READ_BYTES = 1 << 20
SLICE_BYTES = 1 << 15  # texts of a slice stay below malloc's threshold for fresh pages; twice as fast as a megabyte


@dataclass(frozen=True)
class BadByte:
    """Where a text stops being what it should be: offset from the start of the file, line from 1, bytes in hex."""

    offset: int
    line: int
    hex: str

    def __str__(self) -> str:
        return f"byte offset {self.offset:,} (line {self.line:,}, bytes {self.hex})"

    def document(self) -> dict[str, int | str]:
        return {"offset": self.offset, "line": self.line, "bytes": self.hex}


class UndecodableError(Exception):
    """A byte that does not decode: its offset from the start of the file and what stands there."""

    def __init__(self, offset: int, bytes_there: bytes) -> None:
        super().__init__(offset)
        self.offset = offset
        self.bytes_there = bytes_there


def decoded(source: BinaryIO, codec: str, start: int) -> Iterator[str | bytes]:
    """The text from byte `start` on, piece by piece; a piece in ASCII alone comes as its bytes. Raises UndecodableError."""
    source.seek(start)
    decode, pending = _decode_function(codec)
    plain = not codec.startswith(("utf-16", "utf-32", "iso2022", "hz")) and _holds_ascii(codec)
    offset = start
    try:
        while block := source.read(READ_BYTES):
            view = memoryview(block)
            for first in range(0, len(block), SLICE_BYTES):
                piece = bytes(view[first : first + SLICE_BYTES])
                offset += len(piece)
                yield piece if plain and piece.isascii() and not pending() else decode(piece, False)
        yield decode(b"", True)
    except UnicodeDecodeError as problem:
        there = problem.object[problem.start : problem.end][:8]
        raise UndecodableError(offset - len(problem.object) + problem.start, there) from None


def _decode_function(codec: str) -> tuple[Callable[[bytes, bool], str], Callable[[], bytes]]:
    """A function that decodes piece after piece, and one that gives the bytes it holds back of a character cut in two.

    The decoder of UTF-8 in the library copies every piece once more.
    """
    if codec != "utf-8":
        decoder = codecs.getincrementaldecoder(codec)("strict")
        return decoder.decode, lambda: decoder.getstate()[0]
    rest = b""

    def decode(piece: bytes, final: bool) -> str:
        nonlocal rest
        data = rest + piece if rest else piece
        text, used = codecs.utf_8_decode(data, "strict", final)
        rest = data[used:]
        return text

    return decode, lambda: rest


def _holds_ascii(codec: str) -> bool:
    every = bytes(range(128))
    try:
        return every.decode(codec) == every.decode("ascii")
    except UnicodeDecodeError:
        return False


def _assigned(codec: str) -> bytes:
    """The bytes that are characters of an encoding of one byte a character; empty for every other encoding.

    Looking for other bytes is five times as fast as decoding.
    """
    if not codec.startswith(("cp8", "cp12", "iso-8859-", "koi8-", "mac-")):
        return b""
    return bytes(byte for byte in range(256) if len(bytes([byte]).decode(codec, "ignore")) == 1)


def undecodable(path: str, codec: str, start: int) -> BadByte | None:
    """The first byte from `start` on that does not decode, or None where the whole file does."""
    assigned = _assigned(codec)
    with Path(path).open("rb") as source:
        if assigned and not any(block.translate(None, assigned) for block in iter(lambda: source.read(READ_BYTES), b"")):
            return None
        try:
            for _ in decoded(source, codec, start):
                pass
        except UndecodableError as problem:
            return bad_byte(path, codec, problem)
    return None


def has_c1_controls(path: str) -> bool:
    """Whether a byte from 0x80 to 0x9F stands in the file."""
    others = bytes(range(0x80)) + bytes(range(0xA0, 0x100))
    with Path(path).open("rb") as source:
        return any(block.translate(None, others) for block in iter(lambda: source.read(READ_BYTES), b""))


def bad_byte(path: str, codec: str, problem: UndecodableError) -> BadByte:
    line_end = "\n".encode(codec) if codec.startswith(("utf-16-", "utf-32-")) else b"\n"
    return BadByte(problem.offset, line_of(path, problem.offset, line_end), problem.bytes_there.hex(" ").upper())


def line_of(path: str, offset: int, line_end: bytes = b"\n") -> int:
    """The line, from 1, in which the byte at `offset` stands; lines end in LF, or in CR where a file has no LF before it."""
    feeds = returns = 0
    with Path(path).open("rb") as source:
        left = offset
        while left and (block := source.read(min(READ_BYTES, left))):
            left -= len(block)
            feeds += block.count(line_end)
            returns += block.count(b"\r")
    return 1 + (feeds or (returns if line_end == b"\n" else 0))

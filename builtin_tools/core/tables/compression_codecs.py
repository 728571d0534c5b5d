"""Decoders of gzip, zstd, bzip2 and xz with one face: each gives at most a block, and says what it has not used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ConfigurationError


class _Bounded:
    """bz2's and lzma's decompressors, and that of Python 3.14 for zstd: they keep what they have not used."""

    def __init__(self, codec: Any) -> None:
        self._codec = codec

    eof = property(lambda self: self._codec.eof)
    unused_data = property(lambda self: self._codec.unused_data)
    needs_input = property(lambda self: self._codec.needs_input)

    def decompress(self, data: bytes, limit: int) -> bytes:
        plain: bytes = self._codec.decompress(data, limit)
        return plain

    def pending(self) -> bytes:
        return b""


class _Zlib:
    """zlib's decompressor, which hands back what it has not used."""

    needs_input = True

    def __init__(self) -> None:
        import zlib

        self._codec = zlib.decompressobj(wbits=31)

    eof = property(lambda self: self._codec.eof)
    unused_data = property(lambda self: self._codec.unused_data)

    def decompress(self, data: bytes, limit: int) -> bytes:
        return self._codec.decompress(data, limit)

    def pending(self) -> bytes:
        return self._codec.unconsumed_tail


class _Zstandard(_Bounded):
    """The package zstandard, whose decoder uses all it is given at once."""

    needs_input = True

    def decompress(self, data: bytes, limit: int) -> bytes:
        plain: bytes = self._codec.decompress(data)
        return plain


def codec_of(kind: str) -> tuple[Callable[[], Any], tuple[type[BaseException], ...]]:
    """A maker of decoders for a compression, and what they raise for damaged data."""
    if kind == "gzip":
        import zlib

        return _Zlib, (zlib.error,)
    if kind == "bzip2":
        import bz2

        return lambda: _Bounded(bz2.BZ2Decompressor()), (OSError, EOFError, ValueError)
    if kind == "xz":
        import lzma

        return lambda: _Bounded(lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=256 << 20)), (lzma.LZMAError, EOFError)
    return _zstd_codec()


def _zstd_codec() -> tuple[Callable[[], Any], tuple[type[BaseException], ...]]:
    from importlib import import_module

    try:
        module: Any = import_module("compression.zstd")  # Python 3.14 and later
        return lambda: _Bounded(module.ZstdDecompressor()), (module.ZstdError, EOFError)
    except ImportError:
        pass
    try:
        module = import_module("zstandard")
    except ImportError:
        raise ConfigurationError(
            "Reading zstd needs the package zstandard, which is not installed.",
            'The operator must install it: pip install "zstandard==0.25.0" (or Python 3.14, which has it built in).',
        ) from None
    return lambda: _Zstandard(module.ZstdDecompressor().decompressobj()), (module.ZstdError,)

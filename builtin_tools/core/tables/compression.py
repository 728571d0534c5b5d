"""Compressed files as plain bytes: gzip, zstd, bzip2, xz and a zip of one file, told by content.

The plain bytes go to the call's scratch folder under a name of this program's own, never one taken from an archive.
They are bounded by `max_uncompressed_bytes` and `temp_disk_limit`, and a file that grows out of all proportion to its
size is stopped well before. An Excel or OpenDocument file is a zip too and is left as it is.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ..artifacts import InputFile
from ..call import Call
from ..errors import DiskLimitExceeded, FileCorrupt, FileEmpty, PasswordRequired, UnsupportedFormat, listed
from ..limits import parse_size, readable_size
from .compression_codecs import codec_of
from .formats import COMPRESSIONS, format_by_content

_BLOCK = 1 << 20
_ZSTD_INPUT = 4096  # a zstd block of 4 bytes may hold 128 KiB, and its decoder knows no bound on what it gives
_MAX_RATIO = 500
_MAX_DEPTH = 2
_NOT_DATA = ("__MACOSX/", ".DS_Store", "Thumbs.db")
_EXTENSIONS = {"gzip": ".gz", "zstd": ".zst", "bzip2": ".bz2", "xz": ".xz", "zip": ".zip"}


class Plain(NamedTuple):
    """A file's plain bytes: an absolute path, the name without the compression's ending, and the compression if any."""

    path: str
    name: str
    compression: str | None


class _Bound:
    """How many plain bytes may be written, which option says so, and when a file is taken for a bomb."""

    def __init__(self, call: Call, shown: str, packed: int) -> None:
        whole = parse_size(call.setting("max_uncompressed_bytes", "20GB"), "max_uncompressed_bytes")
        disk = max(0, call.temp_disk_limit - _folder_size(call.scratch))
        self.option = "max_uncompressed_bytes" if whole <= disk else "temp_disk_limit"
        self.limit = min(whole, disk)
        self.shown, self.packed, self.whole = shown, max(packed, 1), whole

    def check(self, written: int) -> None:
        """Raises DiskLimitExceeded once the bytes written are too many, or too many for so small a file."""
        if written > self.limit:
            raise DiskLimitExceeded(
                f"{self.shown!r} unpacks to more than {readable_size(self.limit)}, the limit ({self.option}).",
                f"Choose a smaller file. The operator can raise {self.option}.",
            )
        if written > self.whole // 20 and written > self.packed * _MAX_RATIO:
            raise DiskLimitExceeded(
                f"{self.shown!r} has {readable_size(self.packed)} and unpacks to more than {readable_size(written)}: "
                "it looks like a decompression bomb and was stopped.",
                "Choose another file. If it is sound, the operator can raise max_uncompressed_bytes.",
            )


def decompressed(call: Call, file: InputFile) -> Plain:
    """The plain bytes of a file, in the scratch folder where it is compressed, else the file itself.

    Raises FileCorrupt (damaged or cut short), FileEmpty, UnsupportedFormat (a zip of several files, more than two
    layers), PasswordRequired, DiskLimitExceeded, ConfigurationError (a package is missing).
    """
    plain = Plain(file.real, file.name, None)
    for depth in range(_MAX_DEPTH + 1):
        kind = compression_of(plain.path)
        if kind is None:
            return plain
        if depth == _MAX_DEPTH:
            break
        inner = _unpack(call, plain, kind, file, depth)
        plain = Plain(inner.path, inner.name, f"{plain.compression}+{kind}" if plain.compression else kind)
    raise UnsupportedFormat(
        f"{file.path!r} is compressed more than {_MAX_DEPTH} times over.", "Unpack it, and name the file that was in it."
    )


def compression_of(path: str) -> str | None:
    """The compression of a file by its content (gzip, zstd, bzip2, xz, zip), None for plain files and for spreadsheets."""
    with Path(path).open("rb") as stream:
        head = stream.read(16)
    kind = "zstd" if _is_skippable(head) else format_by_content(head)
    if kind not in COMPRESSIONS or (kind == "zip" and spreadsheet_kind(path) is not None):
        return None
    return kind


def spreadsheet_kind(path: str) -> str | None:
    """`xlsx`, `xlsb`, `ods` or `xls` where the content is such a workbook, else None."""
    with Path(path).open("rb") as stream:
        head = stream.read(16)
    if format_by_content(head) == "excel":
        return "xls"
    if not head.startswith(b"PK"):
        return None
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            for member, kind in (("xl/workbook.xml", "xlsx"), ("xl/workbook.bin", "xlsb")):
                if member in names:
                    return kind
            if "mimetype" in names and "content.xml" in names:
                with archive.open("mimetype") as stream:
                    return "ods" if stream.read(100).strip().endswith(b"opendocument.spreadsheet") else None
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, ValueError):
        return None
    return "xlsx" if "[Content_Types].xml" in names and any(name.startswith("xl/") for name in names) else None


# ---------------------------------------------------------------- unpacking


def _unpack(call: Call, plain: Plain, kind: str, file: InputFile, depth: int) -> Plain:
    """One layer taken off. The same layer of the same file is taken off once in a call."""
    target = call.scratch_path(f"plain-{file.device}-{file.inode}-{file.modified_ns}-{depth}")
    name = plain.name
    if name.lower().endswith(_EXTENSIONS[kind]):
        name = name[: -len(_EXTENSIONS[kind])]
    if kind == "zip":
        name = _zip_member(plain.path, file.path).filename.rpartition("/")[2]
    if not os.path.exists(target):
        bound = _Bound(call, file.path, os.path.getsize(plain.path))
        blocks = _zip_blocks(plain.path, file.path) if kind == "zip" else _stream_blocks(plain.path, kind, file.path)
        _write(target, blocks, bound)
    return Plain(target, name, kind)


def _write(target: str, blocks: Iterator[bytes], bound: _Bound) -> None:
    unfinished = target + "-unfinished"
    written = 0
    try:
        with Path(unfinished).open("wb") as stream:
            for block in blocks:
                written += len(block)
                bound.check(written)
                stream.write(block)
    except OSError as problem:
        if problem.filename is not None or problem.errno is None:
            raise
        raise DiskLimitExceeded(
            f"{bound.shown!r} could not be unpacked: {problem.strerror}.", "Free space on the disk, then send the call again."
        ) from None
    os.rename(unfinished, target)


def _stream_blocks(path: str, kind: str, shown: str) -> Iterator[bytes]:
    """The plain bytes of gzip, zstd, bzip2 and xz: every member or frame, one after the other."""
    make, failures = codec_of(kind)
    step = _ZSTD_INPUT if kind == "zstd" else 1 << 16
    with Path(path).open("rb") as stream:
        data = stream.read(step)
        while data:
            codec = make()
            try:
                data = yield from _member(codec, data, stream, step)
            except failures as problem:
                raise _damaged(shown, kind, str(problem)) from None
            if not codec.eof:
                raise _damaged(shown, kind, "it ends before its data does (cut short)")
            data = data or stream.read(step)
            if not data.strip(b"\0"):  # padding to a whole block, as tape and disk tools leave it
                data = _after_padding(stream, step)
            head = data if len(data) >= 16 else data + stream.read(16 - len(data))
            data = head
            if head and format_by_content(head) != kind and not (kind == "zstd" and _is_skippable(head)):
                raise _damaged(shown, kind, "bytes that are no part of it follow after its end")


def _member(codec: Any, data: bytes, stream: BinaryIO, step: int) -> Generator[bytes, None, bytes]:
    """Yields the plain bytes of one member; returns the input that was read and not used."""
    while True:
        yield codec.decompress(data, _BLOCK)
        if codec.eof:
            unused: bytes = codec.unused_data
            return unused
        data = codec.pending()
        if not data and codec.needs_input and not (data := stream.read(step)):
            return b""


def _after_padding(stream: BinaryIO, step: int) -> bytes:
    while data := stream.read(step):
        if kept := data.lstrip(b"\0"):
            return kept
    return b""


def _is_skippable(head: bytes) -> bool:
    """Whether this begins a frame without data (RFC 8878, section 3.1.2)."""
    return len(head) >= 4 and 0x50 <= head[0] <= 0x5F and head[1:4] == b"\x2a\x4d\x18"


def _damaged(shown: str, kind: str, cause: str) -> FileCorrupt:
    return FileCorrupt(
        f"{shown!r} is damaged {kind} data: {cause.strip().rstrip('.')}.", "Get the file again; what it holds cannot be told."
    )


# ---------------------------------------------------------------- zip


def _zip_member(path: str, shown: str) -> Any:
    """The one file in a zip. Raises UnsupportedFormat for several, FileEmpty for none, FileCorrupt, PasswordRequired."""
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            every = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as problem:
        raise _damaged(shown, "zip", str(problem)) from None
    members = [member for member in every if not member.is_dir() and not _is_rubbish(member.filename)]
    if not members:
        raise FileEmpty(f"{shown!r} is a zip that holds no file.", "Name another file.")
    if len(members) > 1:
        names = [member.filename for member in members]
        raise UnsupportedFormat(
            f"{shown!r} is a zip of {len(names):,} files: {listed(names[:200], 12)}.",
            "A zip is read where it holds one file. Unpack it, and name the file you want.",
            details={"members": names[:200]},
        )
    if members[0].flag_bits & 1:
        raise PasswordRequired(f"{shown!r} is a zip with a password.", "It must be unpacked with its password first.")
    return members[0]


def _is_rubbish(name: str) -> bool:
    return name.startswith(_NOT_DATA[0]) or name.rpartition("/")[2] in _NOT_DATA[1:]


def _zip_blocks(path: str, shown: str) -> Iterator[bytes]:
    import lzma
    import zipfile
    import zlib

    member = _zip_member(path, shown)
    try:
        with zipfile.ZipFile(path) as archive, archive.open(member) as stream:
            while block := stream.read(_BLOCK):
                yield block
    except NotImplementedError as problem:
        raise UnsupportedFormat(f"{shown!r} is a zip of a kind that is not read: {problem}.", "Pack it with deflate.") from None
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError) as problem:
        raise _damaged(shown, "zip", str(problem) or "it ends before its data does") from None


def _folder_size(folder: str) -> int:
    with os.scandir(folder) as scan:
        return sum(entry.stat(follow_symlinks=False).st_size for entry in scan if entry.is_file(follow_symlinks=False))

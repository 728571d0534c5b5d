"""Compressed files by content, bounded, and damage told."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builtin_tools.core.artifacts import ArtifactDirectory
from builtin_tools.core.call import Call
from builtin_tools.core.errors import DiskLimitExceeded, FileCorrupt, FileEmpty, PasswordRequired, UnsupportedFormat
from builtin_tools.core.tables.compression import Plain, compression_of, decompressed, spreadsheet_kind

PLAIN = b"id,city\n1,Oslo\n2,Bergen\n" * 40


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstd": lambda data: zstandard.ZstdCompressor().compress(data),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zip": lambda data: zipped({"inner.csv": data}),
}


@pytest.fixture
def unpack(tmp_path: Path) -> Callable[..., tuple[Plain, bytes]]:
    def call(content: bytes, name: str = "data.csv.bin", **limits: str) -> tuple[Plain, bytes]:
        return unpacked(tmp_path, content, name, **limits)

    return call


def unpacked(folder: Path, content: bytes, name: str = "data.csv.bin", **limits: str) -> tuple[Plain, bytes]:
    (folder / "scratch").mkdir(exist_ok=True)
    (folder / name).write_bytes(content)
    call = Call("test", SimpleNamespace(**limits), {}, ArtifactDirectory(str(folder)), str(folder / "scratch"))
    plain = decompressed(call, call.directory.input_file(name))
    return plain, Path(plain.path).read_bytes()


@pytest.mark.parametrize("kind", PACKERS)
def test_every_compression_is_told_by_its_content(unpack: Callable[..., tuple[Plain, bytes]], kind: str) -> None:
    plain, content = unpack(PACKERS[kind](PLAIN))
    assert (content, plain.compression) == (PLAIN, kind)


@pytest.mark.parametrize("kind", ["gzip", "zstd", "bzip2", "xz"])
def test_members_one_after_the_other_are_one_file(unpack: Callable[..., tuple[Plain, bytes]], kind: str) -> None:
    pack = PACKERS[kind]
    assert unpack(pack(b"a\n1\n") + pack(b"") + pack(b"2\n"))[1] == b"a\n1\n2\n"


@pytest.mark.parametrize("kind", PACKERS)
def test_data_that_is_cut_short_or_changed_is_corrupt(unpack: Callable[..., tuple[Plain, bytes]], kind: str) -> None:
    whole = PACKERS[kind](os.urandom(5000))
    for content in (whole[:-5], whole[: len(whole) // 2], whole[:1000] + bytes([whole[1000] ^ 1]) + whole[1001:]):
        if kind == "zstd" and len(content) == len(whole):
            continue  # a frame without a checksum
        with pytest.raises(FileCorrupt, match="damaged"):
            unpack(content)


@pytest.mark.parametrize("kind", ["gzip", "zstd", "bzip2", "xz"])
def test_bytes_behind_the_data_are_told_and_padding_is_not(unpack: Callable[..., tuple[Plain, bytes]], kind: str) -> None:
    assert unpack(PACKERS[kind](PLAIN) + bytes(1024))[1] == PLAIN
    with pytest.raises(FileCorrupt, match="follow after its end"):
        unpack(PACKERS[kind](PLAIN) + b"something else that is long enough")


def test_a_zstd_frame_without_data_is_passed_over(unpack: Callable[..., tuple[Plain, bytes]]) -> None:
    frame = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
    plain, content = unpack(frame + PACKERS["zstd"](PLAIN) + frame)
    assert (content, plain.compression) == (PLAIN, "zstd")


def test_a_compression_in_a_zip_is_taken_off_too_and_a_third_layer_is_not(unpack: Callable[..., tuple[Plain, bytes]]) -> None:
    twice = zipped({"deep/inner.csv.gz": gzip.compress(PLAIN)})
    plain, content = unpack(twice, "a.zip")
    assert (content, plain.name, plain.compression) == (PLAIN, "inner.csv", "zip+gzip")
    with pytest.raises(UnsupportedFormat, match="times over"):
        unpack(gzip.compress(twice), "b.gz")


def test_a_zip_of_several_files_names_them(unpack: Callable[..., tuple[Plain, bytes]]) -> None:
    with pytest.raises(UnsupportedFormat, match=r"a\.csv, b\.csv"):
        unpack(zipped({"a.csv": b"1", "b.csv": b"2"}))
    assert unpack(zipped({"a.csv": PLAIN, "__MACOSX/._a.csv": b"x", "folder/": b""}))[1] == PLAIN
    with pytest.raises(FileEmpty):
        unpack(zipped({"folder/": b""}))


def test_a_zip_with_a_password_is_told(unpack: Callable[..., tuple[Plain, bytes]]) -> None:
    content = bytearray(zipped({"a.csv": PLAIN}))
    for magic, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(magic) + place] |= 1
    with pytest.raises(PasswordRequired):
        unpack(bytes(content))


def test_a_name_in_an_archive_is_no_path(unpack: Callable[..., tuple[Plain, bytes]], tmp_path: Path) -> None:
    plain, content = unpack(zipped({"../../outside/evil.csv": PLAIN}))
    assert content == PLAIN and plain.name == "evil.csv" and Path(plain.path).parent == tmp_path / "scratch"


@pytest.mark.parametrize("kind", PACKERS)
@pytest.mark.parametrize("limits", [{"max_uncompressed_bytes": "3MB"}, {"temp_disk_limit": "3MB"}])
def test_what_unpacks_beyond_a_limit_is_stopped_and_the_option_named(
    unpack: Callable[..., tuple[Plain, bytes]], kind: str, limits: dict[str, str], tmp_path: Path
) -> None:
    with pytest.raises(DiskLimitExceeded) as problem:
        unpack(PACKERS[kind](bytes(40_000_000)), **limits)
    assert next(iter(limits)) in problem.value.guidance
    assert sum(path.stat().st_size for path in (tmp_path / "scratch").iterdir()) < 4_000_000


def test_growth_out_of_all_proportion_is_stopped_before_the_limit(unpack: Callable[..., tuple[Plain, bytes]]) -> None:
    with pytest.raises(DiskLimitExceeded, match="bomb"):
        unpack(bz2.compress(bytes(40_000_000)), max_uncompressed_bytes="200MB")


def test_a_workbook_is_no_zip_to_be_unpacked(tmp_path: Path) -> None:
    cases = {
        "xlsx": {"[Content_Types].xml": b"", "xl/workbook.xml": b"<workbook/>"},
        "xlsb": {"[Content_Types].xml": b"", "xl/workbook.bin": b""},
        "ods": {"mimetype": b"application/vnd.oasis.opendocument.spreadsheet", "content.xml": b""},
    }
    for kind, members in cases.items():
        path = tmp_path / f"{kind}.zip"
        path.write_bytes(zipped(members, zipfile.ZIP_STORED))
        assert (spreadsheet_kind(str(path)), compression_of(str(path))) == (kind, None)
    path.write_bytes(zipped({"book.csv": PLAIN}))
    assert (spreadsheet_kind(str(path)), compression_of(str(path))) == (None, "zip")


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(["gzip", "zstd", "bzip2", "xz"]), st.lists(st.binary(max_size=300), min_size=1, max_size=4))
def test_any_bytes_come_back_from_any_number_of_members(
    tmp_path_factory: pytest.TempPathFactory, kind: str, parts: list[bytes]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    whole = b"x" + b"".join(parts)
    content = PACKERS[kind](b"x") + b"".join(map(PACKERS[kind], parts))
    assert unpacked(folder, content)[1] == whole

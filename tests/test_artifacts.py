"""The artifact directory: what a path means, where it may lead, and which files a pattern names."""

from __future__ import annotations

import os
import socket
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builtin_tools.core.artifacts import ArtifactDirectory
from builtin_tools.core.errors import (
    ConfigurationError,
    FileNotFound,
    InvalidParameters,
    OutputExists,
    PathOutsideArtifacts,
    ToolError,
    UnsupportedFormat,
)


@pytest.fixture
def directory(tmp_path: Path) -> ArtifactDirectory:
    """A directory with a few files, beside a folder with a secret."""
    root = tmp_path / "root"
    (root / "data").mkdir(parents=True)
    (root / ".artifacts").mkdir()
    (root / ".artifacts" / "log.jsonl").write_text("{}")
    for name in ("a.csv", "b.csv", "data/c.csv", "data/[1].csv", "data/1.csv"):
        (root / name).write_text(name)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.csv").write_text("secret")
    return ArtifactDirectory.open(str(root))


# ---- opening


def test_the_directory_comes_from_the_operator_then_the_environment_then_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    for folder in (one, two, three):
        folder.mkdir()
    monkeypatch.chdir(three)
    monkeypatch.setenv("ARTIFACT_DIR", str(two))
    assert ArtifactDirectory.open(str(one)).root == str(one)
    assert ArtifactDirectory.open(None).root == str(two)
    monkeypatch.delenv("ARTIFACT_DIR")
    assert ArtifactDirectory.open(None).root == str(three)


def test_a_directory_that_is_missing_or_a_file_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for wrong in (tmp_path / "missing", tmp_path / "file"):
        with pytest.raises(ConfigurationError) as caught:
            ArtifactDirectory.open(str(wrong))
        assert str(tmp_path) not in caught.value.message + caught.value.guidance


# ---- what leads outside


@pytest.mark.parametrize(
    "path",
    [
        "..", "../outside/secret.csv", "data/../../outside/secret.csv", "/etc/passwd", "/proc/self/environ", "~", "~root/x",
        "~/x.csv", "file:///etc/passwd", "file:a.csv", "http://example.com/a.csv", "s3://bucket/a", "a.csv\0", "\0",
        ".artifacts", ".artifacts/log.jsonl", "./.artifacts/log.jsonl", "data/../.artifacts/log.jsonl", ".ARTIFACTS/log.jsonl",
    ],
)  # fmt: skip
def test_a_path_that_leads_outside_is_refused_for_reading_and_writing(directory: ArtifactDirectory, path: str) -> None:
    for use in (directory.input_file, directory.input_files, lambda p: directory.output_file(p, True), directory.folder):
        with pytest.raises(PathOutsideArtifacts) as caught:
            use(path)
        assert directory.root not in caught.value.message


@pytest.mark.parametrize("target", ["../outside/secret.csv", "/etc/passwd", "../outside/missing.csv", ".artifacts/log.jsonl"])
def test_a_link_that_leads_outside_is_refused(directory: ArtifactDirectory, target: str) -> None:
    os.symlink(target, os.path.join(directory.root, "link.csv"))
    with pytest.raises(PathOutsideArtifacts):
        directory.input_file("link.csv")
    with pytest.raises(PathOutsideArtifacts):
        directory.output_file("link.csv", True)


def test_a_folder_that_is_a_link_to_outside_is_refused_on_the_way(directory: ArtifactDirectory) -> None:
    os.symlink("../outside", os.path.join(directory.root, "away"))
    for use in (directory.input_file, lambda p: directory.output_file(p, True)):
        with pytest.raises(PathOutsideArtifacts):
            use("away/secret.csv")
    with pytest.raises(PathOutsideArtifacts):
        directory.input_files("away/*.csv")


def test_a_link_that_stays_inside_is_read_and_never_written(directory: ArtifactDirectory) -> None:
    os.symlink("data/c.csv", os.path.join(directory.root, "link.csv"))
    assert directory.input_file("link.csv").real == os.path.join(directory.root, "data/c.csv")
    with pytest.raises(PathOutsideArtifacts):
        directory.output_file("link.csv", True)


def test_an_absolute_path_is_taken_only_where_it_lies_inside(directory: ArtifactDirectory) -> None:
    assert directory.input_file(f"{directory.root}/data/c.csv").path == "data/c.csv"
    assert directory.input_file(f"{directory.root}/data/../a.csv").path == "a.csv"
    for outside in (f"{directory.root}x/a.csv", f"{directory.root}/../outside/secret.csv"):
        with pytest.raises(PathOutsideArtifacts):
            directory.input_file(outside)


def test_a_directory_whose_name_begins_with_that_of_the_root_is_outside(directory: ArtifactDirectory) -> None:
    os.mkdir(directory.root + "-twin")
    os.symlink(directory.root + "-twin", os.path.join(directory.root, "twin"))
    with pytest.raises(PathOutsideArtifacts):
        directory.folder("twin")


names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
parts = st.sampled_from(["..", ".", "", "data", "a.csv", ".artifacts", "away", "~", "*", "[1].csv"]) | names


@given(st.lists(parts, max_size=6).map("/".join), st.sampled_from(["", "/", "//", "./", "file:"]))
def test_no_spelling_of_a_path_reads_or_writes_outside(tmp_path_factory: pytest.TempPathFactory, path: str, prefix: str) -> None:
    base = tmp_path_factory.getbasetemp() / "spellings"
    if not base.exists():
        for folder in ("root/data", "root/.artifacts", "outside"):
            (base / folder).mkdir(parents=True)
        for file in ("root/a.csv", "root/data/[1].csv", "root/.artifacts/log", "outside/a.csv"):
            (base / file).write_text(file)
        (base / "root" / "away").symlink_to("../outside")
    directory = ArtifactDirectory.open(str(base / "root"))
    try:
        found = [file.real for file in directory.input_files(prefix + path)[0]]
    except ToolError:
        found = []
    try:
        output = directory.output_file(prefix + path, True).path
        found.append(os.path.realpath(os.path.join(directory.root, output)))
    except ToolError:
        pass
    for real in found:
        relative = os.path.relpath(real, directory.root)
        assert relative.split(os.sep)[0] not in ("..", ".artifacts"), f"{prefix + path!r} leads to {real}"


# ---- which file a path names


def test_a_path_names_that_very_file_before_it_is_a_pattern(directory: ArtifactDirectory) -> None:
    assert [file.path for file in directory.input_files("data/[1].csv")[0]] == ["data/[1].csv"]
    os.unlink(os.path.join(directory.root, "data/[1].csv"))
    assert [file.path for file in directory.input_files("data/[1].csv")[0]] == ["data/1.csv"]


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=20))
def test_a_file_of_any_name_is_found_by_its_name(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    root = tmp_path_factory.mktemp("names")
    if name in (".", "..") or name.startswith("~") or name.casefold() == ".artifacts" or name.startswith("file:"):
        return
    (root / name).write_text("here")
    found = ArtifactDirectory.open(str(root)).input_file(name)
    assert Path(found.real).read_text() == "here" and found.name == name


@pytest.mark.parametrize(("written", "asked"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_names_are_matched_nfc_or_nfd_alike(tmp_path: Path, written: str, asked: str) -> None:
    folder, name = "데이터", "Zürich é.csv"
    spelled = [unicodedata.normalize(written, part) for part in (folder, name)]  # type: ignore[arg-type]
    (tmp_path / spelled[0]).mkdir()
    (tmp_path / spelled[0] / spelled[1]).write_text("x")
    directory = ArtifactDirectory.open(str(tmp_path))
    wanted = unicodedata.normalize(asked, f"{folder}/{name}")  # type: ignore[arg-type]
    assert directory.input_file(wanted).size == 1
    assert len(directory.input_files(wanted.replace("Z", "?"))[0]) == 1
    with pytest.raises(OutputExists):
        directory.output_file(wanted, False)


def test_patterns_cross_folders_only_by_two_stars_and_pass_over_hidden_files(directory: ArtifactDirectory) -> None:
    Path(directory.root, ".hidden.csv").write_text("")
    Path(directory.root, "data", "deep").mkdir()
    Path(directory.root, "data", "deep", "d.csv").write_text("")
    assert directory.glob("*.csv") == ["a.csv", "b.csv"]
    assert directory.glob("*/c.csv") == ["data/c.csv"]
    assert directory.glob("**/d.csv") == ["data/deep/d.csv"]
    assert directory.glob(".*.csv") == [".hidden.csv"]
    assert directory.glob("[ab].csv") == ["a.csv", "b.csv"] and directory.glob("?.csv") == ["a.csv", "b.csv"]


def test_matches_that_lead_outside_are_left_out_and_told(directory: ArtifactDirectory) -> None:
    os.symlink("../outside/secret.csv", os.path.join(directory.root, "link.csv"))
    found, skipped = directory.input_files("*.csv")
    assert [file.path for file in found] == ["a.csv", "b.csv"]
    assert len(skipped) == 1 and skipped[0].startswith("link.csv")


def test_a_missing_file_is_answered_with_the_nearest_names(directory: ArtifactDirectory) -> None:
    with pytest.raises(FileNotFound) as caught:
        directory.input_file("data/cc.csv")
    assert "Closest: data/c.csv" in caught.value.guidance
    with pytest.raises(FileNotFound) as caught:
        directory.input_file("c.csv")
    assert "data/c.csv" in caught.value.guidance and "log.jsonl" not in caught.value.guidance


def test_folders_pipes_and_sockets_are_refused_as_files(directory: ArtifactDirectory) -> None:
    os.mkfifo(os.path.join(directory.root, "pipe.csv"))
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(directory.root, os.O_RDONLY)
        try:
            listener.bind(f"/proc/self/fd/{here}/s.csv")  # a short name for a long path
        finally:
            os.close(here)
        for name in ("pipe.csv", "s.csv", "data"):
            with pytest.raises(UnsupportedFormat):
                directory.input_file(name)


def test_a_file_is_opened_without_following_a_link_that_took_its_place(directory: ArtifactDirectory) -> None:
    file = directory.input_file("a.csv")
    descriptor = directory.open_descriptor(file)
    assert os.read(descriptor, 99) == b"a.csv"
    os.close(descriptor)
    os.unlink(file.real)
    os.symlink("../outside/secret.csv", file.real)
    with pytest.raises(FileNotFound):
        directory.open_descriptor(file)


# ---- writing


def test_an_output_that_exists_needs_overwrite(directory: ArtifactDirectory) -> None:
    with pytest.raises(OutputExists) as caught:
        directory.output_file("a.csv", False)
    assert "overwrite" in caught.value.guidance
    assert directory.output_file("a.csv", True).overwrite
    assert directory.output_file("new/deep/out.csv", False).path == "new/deep/out.csv"
    assert not Path(directory.root, "new").exists(), "checking makes nothing"


@pytest.mark.parametrize("path", ["", ".", "out/", "a.csv/out.csv", "data"])
def test_an_output_that_cannot_be_a_file_is_refused(directory: ArtifactDirectory, path: str) -> None:
    with pytest.raises((InvalidParameters, OutputExists)):
        directory.output_file(path, True)


def test_the_walk_is_in_the_order_of_names_and_passes_over_the_own_folder(directory: ArtifactDirectory) -> None:
    assert [path for path, _ in directory.walk()] == ["a.csv", "b.csv", "data", "data/1.csv", "data/[1].csv", "data/c.csv"]
    assert directory.file_names() == ["a.csv", "b.csv", "data/1.csv", "data/[1].csv", "data/c.csv"]

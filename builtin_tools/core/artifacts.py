"""The artifact directory: one rule for what a path means and where it may lead, for every tool and for SQL.

A path that an agent sends is relative to the directory and uses `/`. It names that very file, whatever signs
stand in it; only where no such file exists is it a glob pattern. Nothing resolves to a place outside the
directory, to the tools' own folder, or to something other than a regular file or a folder.
"""

from __future__ import annotations

import fnmatch
import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from .errors import (
    ConfigurationError,
    FileNotFound,
    InvalidParameters,
    OutputExists,
    PathOutsideArtifacts,
    UnsupportedFormat,
    listed,
    near_names,
)

OWN_FOLDER = ".artifacts"
_MAX_NAME_BYTES = 255
_MAX_WALKED = 20_000


@dataclass(frozen=True)
class InputFile:
    """A regular file of the directory: `path` as an agent writes it, `real` with every link resolved."""

    path: str
    real: str
    size: int
    modified_ns: int
    device: int
    inode: int

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class OutputFile:
    """Where a result goes: relative to the directory, checked, and whether it may take the place of a file."""

    path: str
    overwrite: bool
    named_by_call: bool


class ArtifactDirectory:
    """The one directory that a call may read and write. Construct it with `open`."""

    def __init__(self, root: str) -> None:
        self.root = root

    @classmethod
    def open(cls, configured: str | None) -> ArtifactDirectory:
        """The directory the operator named, else the environment's ARTIFACT_DIR, else the working directory.

        Raises ConfigurationError where it does not exist or is no directory.
        """
        named = configured or os.environ.get("ARTIFACT_DIR") or os.getcwd()
        try:
            root = os.path.realpath(named, strict=True)
            is_directory = os.path.isdir(root)
        except (OSError, ValueError):
            is_directory = False
        if not is_directory:
            raise ConfigurationError(
                "The artifact directory does not exist or is not a directory.",
                "The operator must name an existing directory in the user parameter artifact_dir "
                "or in the environment variable ARTIFACT_DIR.",
            )
        return cls(root)

    # ---- what a path means

    def relative(self, path: str) -> str:
        """The path relative to the directory, without `.` and `..`, by its spelling alone ("" is the directory)."""
        if "\0" in path:
            raise self._outside(path, "it holds a NUL byte")
        if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://|file:", path):
            raise self._outside(path, "it is an address, not a path; download_file brings a file into the directory")
        if path.startswith("~"):
            raise self._outside(path, "a path does not begin with ~")
        if os.name == "nt":
            path = path.replace("\\", "/")
        if os.path.isabs(path):
            path = self._inside_of_absolute(path)
        parts: list[str] = []
        for part in path.split("/"):
            if part == "..":
                if not parts:
                    raise self._outside(path, "it climbs out of the directory")
                parts.pop()
            elif part not in ("", "."):
                if len(os.fsencode(part)) > _MAX_NAME_BYTES:
                    raise InvalidParameters(
                        f"A name in the path {path[:60]!r}… has more than {_MAX_NAME_BYTES} bytes.", "Send a shorter path."
                    )
                parts.append(part)
        if parts and unicodedata.normalize("NFC", parts[0]).casefold() == OWN_FOLDER:
            raise self._outside(path, f"{OWN_FOLDER} belongs to the tools")
        return "/".join(parts)

    def _inside_of_absolute(self, path: str) -> str:
        normal = os.path.normpath(path)
        for candidate in (normal, os.path.join(os.path.realpath(os.path.dirname(normal)), os.path.basename(normal))):
            if candidate == self.root:
                return ""
            if candidate.startswith(self.root.rstrip("/") + os.sep):
                return candidate[len(self.root.rstrip("/")) + 1 :].replace(os.sep, "/")
        raise self._outside(path, "it is an absolute path that does not lie inside")

    @staticmethod
    def _outside(path: str, why: str) -> PathOutsideArtifacts:
        shown = path if len(path) < 120 and not os.path.isabs(path) and "\0" not in path else path.replace("\0", "\\0")[-40:]
        return PathOutsideArtifacts(
            f"The path {shown!r} is not within the artifact directory: {why}.",
            "Send a path relative to the artifact directory, such as 'data/sales.csv'; list_directory shows what there is.",
        )

    def _real(self, relative: str) -> str | None:
        """The absolute path with links resolved; None where nothing is there; an error where it leads outside."""
        if self._own_spelling(relative) is None:
            return None
        try:
            real = os.path.realpath(os.path.join(self.root, self._own_spelling(relative) or ""), strict=True)
        except (OSError, ValueError):
            loose = os.path.realpath(os.path.join(self.root, relative))
            if not self._holds(loose):
                raise self._outside(relative, "it is a link that leads outside") from None
            return None
        if not self._holds(real):
            raise self._outside(relative, "it is a link, or passes a link, that leads outside")
        return real

    def _holds(self, real: str) -> bool:
        base = self.root.rstrip("/")
        own = os.path.join(base or "/", OWN_FOLDER)
        inside = real == self.root or real.startswith(base + os.sep)
        return inside and real != own and not real.startswith(own + os.sep)

    def _own_spelling(self, relative: str) -> str | None:
        """The path as the file system spells it, names being matched NFC or NFD alike; None where it is not there."""
        if os.path.lexists(os.path.join(self.root, relative)):
            return relative
        if relative.isascii():
            return None
        here = ""
        for part in relative.split("/"):
            step = f"{here}/{part}" if here else part
            if not os.path.lexists(os.path.join(self.root, step)):
                wanted = unicodedata.normalize("NFC", part)
                try:
                    names = os.listdir(os.path.join(self.root, here))
                except OSError:
                    return None
                same = [name for name in names if unicodedata.normalize("NFC", name) == wanted]
                if not same:
                    return None
                step = f"{here}/{same[0]}" if here else same[0]
            here = step
        return here

    # ---- reading

    def input_file(self, path: str) -> InputFile:
        """The one regular file that the path names, by its very name. Raises FileNotFound with near names."""
        relative = self.relative(path)
        found = self._regular(relative)
        if found is None:
            raise self.not_found(path)
        return found

    def input_files(self, path: str) -> tuple[list[InputFile], list[str]]:
        """The files that a path or a pattern names, in the order of their names, and those left out, with the reason.

        Left out are matches that are links to outside or no regular files. A folder is refused.
        """
        relative = self.relative(path)
        exact = self._regular(relative)
        if exact is not None:
            return [exact], []
        if not re.search(r"[*?\[]", relative):
            raise self.not_found(path)
        found: list[InputFile] = []
        skipped: list[str] = []
        for match in self.glob(relative):
            try:
                file = self._regular(match)
            except (PathOutsideArtifacts, UnsupportedFormat) as problem:
                if not os.path.isdir(os.path.join(self.root, match)):
                    skipped.append(f"{match} ({problem.message.rpartition(': ')[2].rstrip('.')})")
                continue
            if file is not None:
                found.append(file)
        if not found:
            if skipped:
                raise self._outside(path, f"all that matches was left out: {listed(skipped, 5)}")
            raise self.not_found(path)
        return found, skipped

    def _regular(self, relative: str) -> InputFile | None:
        real = self._real(relative)
        if real is None:
            return None
        status = os.stat(real, follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode):
            inside = [f"{relative}/{name}" if relative else name for name in self._names(real)][:8]
            raise UnsupportedFormat(
                f"{relative or '.'!r} is a directory, not a file.",
                f"Name a file in it, or a pattern such as {self._pattern_below(relative)!r}."
                + (f" It holds: {listed(inside)}." if inside else ""),
            )
        if not stat.S_ISREG(status.st_mode):
            raise UnsupportedFormat(
                f"{relative!r} is not a regular file: a pipe, a socket or a device.", "Name a regular file of the directory."
            )
        return InputFile(relative, real, status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino)

    def _pattern_below(self, relative: str) -> str:
        """A pattern that matches the files of the kind that is commonest in a folder, or in the folders below it."""
        from .tables.formats import TABULAR, format_by_name

        counts: dict[tuple[bool, str], int] = {}
        for number, (found, entry) in enumerate(self.walk(relative)):
            if number >= _MAX_WALKED:
                break
            if format_by_name(entry.name) in TABULAR and entry.is_file(follow_symlinks=False):
                deeper = found.count("/") > (relative.count("/") + 1 if relative else 0)
                key = (deeper, entry.name.rpartition(".")[2])
                counts[key] = counts.get(key, 0) + 1
        deeper, extension = max(counts, key=lambda key: (not key[0], counts[key])) if counts else (False, "csv")
        return (relative + "/" if relative else "") + ("**/" if deeper else "") + f"*.{extension}"

    def folder(self, path: str) -> tuple[str, str]:
        """A folder as (relative path, real path). Raises FileNotFound or UnsupportedFormat."""
        relative = self.relative(path)
        real = self._real(relative)
        if real is None:
            raise self.not_found(path)
        if not os.path.isdir(real):
            raise UnsupportedFormat(f"{relative!r} is a file, not a directory.", "Name a directory, or leave path out.")
        return relative, real

    @staticmethod
    def _names(folder: str) -> list[str]:
        try:
            return sorted(name for name in os.listdir(folder) if name != OWN_FOLDER)
        except OSError:
            return []

    def open_descriptor(self, file: InputFile) -> int:
        """A descriptor on the very file, opened step by step without following links. The caller closes it."""
        parts = os.path.relpath(file.real, self.root).split(os.sep)
        if os.name == "nt":
            return os.open(file.real, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        here = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in parts[:-1]:
                step = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here)
                os.close(here)
                here = step
            return os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=here)
        except OSError as problem:
            if isinstance(problem, PermissionError):
                raise FileNotFound(f"{file.path!r} may not be read.", "Choose a file that the tools may read.") from None
            raise FileNotFound(
                f"{file.path!r} went away or changed while it was opened.", "List the directory and try again."
            ) from None
        finally:
            os.close(here)

    # ---- finding

    def walk(self, start: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
        """Every entry below a folder of the directory, in the order of names, links not followed, own folder left out."""
        try:
            with os.scandir(os.path.join(self.root, start)) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            if not start and entry.name.casefold() == OWN_FOLDER:
                continue
            relative = f"{start}/{entry.name}" if start else entry.name
            yield relative, entry
            if entry.is_dir(follow_symlinks=False):
                yield from self.walk(relative)

    def glob(self, pattern: str) -> list[str]:
        """The paths below the directory that match, sorted. `*` stays within a name, `**` crosses folders."""
        found: set[str] = set()
        self._glob("", pattern.split("/"), found)
        return sorted(found)

    def _glob(self, here: str, parts: list[str], found: set[str]) -> None:
        part, rest = parts[0], parts[1:]
        if part == "**":
            if rest:
                self._glob(here, rest, found)
            for relative, entry in self.walk(here):
                if entry.is_dir(follow_symlinks=False):
                    if rest:
                        self._glob(relative, rest, found)
                elif not rest:
                    found.add(relative)
            return
        if not re.search(r"[*?\[]", part):
            step = f"{here}/{part}" if here else part
            if self._real(step) is not None:
                self._glob(step, rest, found) if rest else found.add(step)
            return
        folder = self._real(here) if here else self.root
        wanted = unicodedata.normalize("NFC", part)
        for name in self._names(folder) if folder else []:
            if name.startswith(".") and not part.startswith("."):
                continue
            if not fnmatch.fnmatchcase(unicodedata.normalize("NFC", name), wanted):
                continue
            step = f"{here}/{name}" if here else name
            if not rest:
                found.add(step)
            elif os.path.isdir(os.path.join(self.root, step)):
                try:
                    self._glob(step, rest, found)
                except PathOutsideArtifacts:
                    found.add(step)

    def file_names(self) -> list[str]:
        """The relative paths of the directory's files, up to a bound that keeps an error cheap."""
        names = []
        for count, (relative, entry) in enumerate(self.walk()):
            if count >= _MAX_WALKED:
                break
            if not entry.is_dir(follow_symlinks=False):
                names.append(relative)
        return names

    def not_found(self, path: str) -> FileNotFound:
        """The error for a path that is not there, with the nearest names and what there is."""
        names = self.file_names()
        base = path.rstrip("/").rpartition("/")[2].casefold()
        same = [name for name in names if name.rpartition("/")[2].casefold() == base]
        by_base: dict[str, list[str]] = {}
        for name in names:
            by_base.setdefault(name.rpartition("/")[2], []).append(name)
        near = near_names(path, names) + [full for hit in near_names(base, list(by_base)) for full in by_base[hit]]
        folders = (
            [relative for relative, entry in self.walk() if entry.is_dir(follow_symlinks=False)]
            if len(names) < _MAX_WALKED
            else []
        )
        closest = list(dict.fromkeys([*same, *near, *near_names(path, folders)]))[:5]
        hint = f"Closest: {listed(closest)}. " if closest else ""
        names.sort(key=lambda name: (name.startswith("results/"), name))
        there = f"Files: {listed(names, 12)}." if names else "The directory holds no files yet."
        what = "matches nothing" if re.search(r"[*?\[]", path) else "does not exist"
        return FileNotFound(f"{path[:200]!r} {what} in the artifact directory.", hint + there)

    # ---- writing

    def output_file(self, path: str, overwrite: bool) -> OutputFile:
        """Checks where a result may go; nothing is made yet. Raises OutputExists, PathOutsideArtifacts, InvalidParameters."""
        relative = self.relative(path)
        if not relative or path.endswith("/"):
            raise InvalidParameters(f"output_path {path!r} names a directory.", "Name a file, such as 'results/out.parquet'.")
        parent = relative.rpartition("/")[0]
        self._check_parent(parent)
        full = os.path.join(self.root, self._own_spelling(relative) or relative)
        try:
            status = os.lstat(full)
        except FileNotFoundError:
            return OutputFile(relative, overwrite, False)
        except (OSError, ValueError):
            raise InvalidParameters(f"output_path {path[:80]!r} cannot be a file here.", "Name a file in a folder.") from None
        if stat.S_ISLNK(status.st_mode):
            raise self._outside(path, "an output path may not be a link")
        if not stat.S_ISREG(status.st_mode):
            raise OutputExists(f"{relative!r} exists and is not a regular file.", "Choose another output_path.")
        if not overwrite:
            raise OutputExists(
                f"{relative!r} exists already.", "Choose another output_path, or send overwrite true to take its place."
            )
        return OutputFile(os.path.relpath(full, self.root).replace(os.sep, "/"), overwrite, False)

    def _check_parent(self, parent: str) -> None:
        """The folder of an output must lie inside; where it is not there yet, the part that is there must."""
        while parent:
            full = os.path.join(self.root, parent)
            if os.path.lexists(full):
                if not self._holds(os.path.realpath(full)):
                    raise self._outside(parent, "the folder is a link that leads outside")
                if not os.path.isdir(full):
                    raise InvalidParameters(
                        f"{parent!r} is a file, so nothing can be put below it.", "Choose another output_path."
                    )
                return
            parent = parent.rpartition("/")[0]

"""Scratch folders and the step that makes a finished file appear: whole or not at all, also when a process is killed.

A scratch folder lies in `.artifacts/tmp` and is held by a file lock for as long as its call lives, so that a
later call can tell a stale one (its lock is free) from a living one. The lock of a dead process is free by itself.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
import time
from typing import Any

from .artifacts import OWN_FOLDER, ArtifactDirectory
from .digests import State, remember
from .errors import ConfigurationError, DiskLimitExceeded, OutputExists, PathOutsideArtifacts

_LOCK = "lock"
_STALE_SECONDS = 60.0


def _lock(descriptor: int) -> bool:
    """Takes the lock of an open file without waiting; False where a living process holds it."""
    if os.name == "nt":
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class Scratch:
    """A folder for one call, on the same file system as the results. `close` removes it whatever happened."""

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def make(cls, directory: ArtifactDirectory) -> Scratch:
        base = own_folder(directory, "tmp")
        sweep(base)
        path = os.path.join(base, f"{os.getpid()}-{secrets.token_hex(6)}")
        try:
            descriptor = _locked_folder(path)
        except OSError as problem:
            raise _unwritable(problem) from None
        return cls(path, descriptor)

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.close(self._descriptor)


def _locked_folder(path: str) -> int:
    """Makes a folder and its lock file, and gives the descriptor that holds the lock.

    The file gets its name once it is locked: a sweeper never finds one that it could lock before its owner does. Where the
    clock jumps while the folder is made, a sweeper may take it for a stale one; it is made again then.
    """
    for attempt in range(3):
        os.mkdir(path, 0o700)
        draft, lock = os.path.join(path, f"{_LOCK}-in-the-making"), os.path.join(path, _LOCK)
        if os.name == "nt":
            draft = lock  # an open file cannot be renamed there
        descriptor = -1
        try:
            descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            _lock(descriptor)
            os.replace(draft, lock)
            return descriptor
        except OSError as problem:
            if descriptor >= 0:
                os.close(descriptor)
            shutil.rmtree(path, ignore_errors=True)
            if attempt == 2 or not isinstance(problem, FileNotFoundError):
                raise
    raise AssertionError("the last attempt returns or raises")


def own_folder(directory: ArtifactDirectory, name: str) -> str:
    """A folder of the tools' own below the directory, made where it is missing; never through a link."""
    path = directory.root
    for part in (OWN_FOLDER, name):
        path = os.path.join(path, part)
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                raise ConfigurationError(
                    f"{OWN_FOLDER} in the artifact directory is not the tools' own folder.",
                    f"The operator must remove what lies at {OWN_FOLDER}.",
                ) from None
        except OSError as problem:
            raise _unwritable(problem) from None
    return path


def _unwritable(problem: OSError) -> ConfigurationError:
    return ConfigurationError(
        f"Nothing can be written in the artifact directory ({problem.strerror}).",
        "The operator must give the tools write access to the directory, and free space on its disk.",
    )


def sweep(base: str) -> None:
    """Removes the scratch folders of calls that were killed; those of living calls are left alone."""
    with contextlib.suppress(OSError), os.scandir(base) as scan:
        for entry in scan:
            with contextlib.suppress(OSError):
                if time.time() - entry.stat(follow_symlinks=False).st_mtime < _STALE_SECONDS and not _dead(entry.path):
                    continue
                if _dead(entry.path, or_unlocked=True):
                    shutil.rmtree(entry.path, ignore_errors=True)


def _dead(path: str, or_unlocked: bool = False) -> bool:
    """Whether no living call holds this scratch folder. One without a lock file may be in the making."""
    try:
        descriptor = os.open(os.path.join(path, _LOCK), os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return or_unlocked
    try:
        return _lock(descriptor)
    finally:
        os.close(descriptor)


def put_in_place(directory: ArtifactDirectory, scratch: str, pending: dict[str, Any]) -> None:
    """Moves a finished scratch file to its final name in one step, after its bytes are on the disk.

    Raises OutputExists where another file has taken the name meanwhile and may not be replaced.
    """
    source = os.path.join(scratch, pending["scratch_name"])
    folder, _, name = str(pending["path"]).rpartition("/")
    try:
        _sync(source)
        with contextlib.suppress(OSError):
            os.chmod(source, 0o666 & ~_umask())
        here = _folder_descriptor(directory.root, folder)
        try:
            _place(source, name, here, pending)
            os.fsync(here)
            state = State.of(os.stat(name, dir_fd=here, follow_symlinks=False))
            remember(directory.root, state, pending["artifact"]["sha256"], settled=True)
        finally:
            os.close(here)
    except OSError as problem:
        if problem.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskLimitExceeded(
                "The disk is full.", "Free space in the artifact directory, then send the call again."
            ) from None
        if problem.errno in (errno.ELOOP, errno.ENOTDIR):
            raise PathOutsideArtifacts(f"{pending['path']!r} passes a link.", "Choose another output_path.") from None
        raise _unwritable(problem) from None


def _place(source: str, name: str, here: int, pending: dict[str, Any]) -> None:
    if pending["overwrite"] or pending["named_by_call"]:
        try:
            kind = os.lstat(name, dir_fd=here).st_mode
        except FileNotFoundError:
            kind = stat.S_IFREG
        if not stat.S_ISREG(kind):
            raise OutputExists(f"{pending['path']!r} is not a regular file.", "Choose another output_path.")
        os.rename(source, name, dst_dir_fd=here)
        return
    try:
        os.link(source, name, dst_dir_fd=here, follow_symlinks=False)
    except FileExistsError:
        raise OutputExists(
            f"{pending['path']!r} exists already.", "Choose another output_path, or send overwrite true to take its place."
        ) from None
    except OSError as problem:
        if problem.errno not in (errno.EPERM, errno.ENOTSUP, errno.EXDEV):
            raise
        _rename_exclusively(source, name, here, pending)  # a file system without hard links


def _rename_exclusively(source: str, name: str, here: int, pending: dict[str, Any]) -> None:
    """The step on a file system without hard links. Where the kernel cannot refuse to take a name that is taken, the name
    is held by an empty file for a moment."""
    if _renamed_without_replacing(source, name, here):
        return
    try:
        os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600, dir_fd=here))
    except FileExistsError:
        raise OutputExists(f"{pending['path']!r} exists already.", "Choose another output_path.") from None
    try:
        os.rename(source, name, dst_dir_fd=here)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=here)
        raise


def _renamed_without_replacing(source: str, name: str, here: int) -> bool:
    """Linux's renameat2 with RENAME_NOREPLACE; False where it did not do it, for whatever reason."""
    import ctypes

    try:
        function = ctypes.CDLL(None).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    at_fdcwd, no_replace = -100, 1
    return bool(function(at_fdcwd, os.fsencode(source), here, os.fsencode(name), no_replace) == 0)


def _folder_descriptor(root: str, folder: str) -> int:
    """A descriptor on a folder below the root, its parts made where missing; a link on the way must stay inside."""
    here = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in folder.split("/") if folder else []:
        with contextlib.suppress(FileExistsError):
            os.mkdir(part, 0o777, dir_fd=here)
        try:
            step = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here)
        except OSError:
            step = _through_link(root, here, part)
        os.close(here)
        here = step
    return here


def _through_link(root: str, here: int, part: str) -> int:
    """Opens a linked folder, and keeps it only where what was opened lies below the root."""
    step = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=here)
    above = os.open("..", os.O_RDONLY | os.O_DIRECTORY, dir_fd=step)
    wanted = os.stat(root)
    while True:
        status, parent = os.fstat(above), os.open("..", os.O_RDONLY | os.O_DIRECTORY, dir_fd=above)
        inside = (status.st_dev, status.st_ino) == (wanted.st_dev, wanted.st_ino)
        top = (os.fstat(parent).st_dev, os.fstat(parent).st_ino) == (status.st_dev, status.st_ino)
        os.close(above)
        above = parent
        if inside or top:
            os.close(parent)
            break
    if not inside:
        os.close(step)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return step


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

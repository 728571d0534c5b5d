"""Says which layers of protection are active on this machine, and whether what the tools need is there.

Every layer is tried, not only asked for: a worker is fenced and reaches for a file outside, a child is left by its parent, an
engine is locked and asked for a file. Exit status 0 where all layers hold, 1 where one does not.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from builtin_tools.core.artifacts import ArtifactDirectory
from builtin_tools.core.call import Call
from builtin_tools.core.errors import ToolError
from builtin_tools.core.kernel import Fence, die_with_parent, fence_files, landlock_version, limit_files, limit_memory
from builtin_tools.core.limits import processors, readable_size
from scripts.parts.printing_needs import can_print, missing_packages

PACKAGES = ("pydantic", "duckdb", "python-calamine", "zstandard", "charset-normalizer", "pypdf", "pypdfium2", "pdfplumber", "markdown", "weasyprint", "urllib3")  # fmt: skip


@dataclass
class Finding:
    """One line of the report. `layer`: whether the exit status depends on it."""

    name: str
    holds: bool
    told: str
    layer: bool = True


def in_child(work: Callable[[], bool]) -> bool:
    """What a function gives in a process of its own, which it may confine as it likes."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        held = False
        try:
            held = work()
        finally:
            os._exit(0 if held else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def refused(attempt: Callable[[], Any], *kinds: type[BaseException]) -> bool:
    """Whether an attempt ends in one of these errors."""
    try:
        attempt()
    except kinds:
        return True
    return False


# ---------------------------------------------------------------- the layers


def landlock(folder: Path) -> Finding:
    """The fence around files, tried on a file outside and on one that may only be read."""

    def work() -> bool:
        inside, scratch, outside = folder / "in", folder / "scratch", folder / "out"
        if not fence_files(Fence((str(inside),), (str(scratch),))):
            return False
        (scratch / "x").write_text("x")
        reads = (inside / "a.csv").read_text() == "a\n1\n"
        return reads and all(
            refused(attempt, PermissionError)
            for attempt in (lambda: (outside / "secret").read_text(), lambda: (inside / "new").write_text("x"))
        )

    version, holds = landlock_version(), in_child(work)
    words = {0: "not offered by this kernel", 1: "files", 2: "files, moves", 3: "files, truncation"}
    told = words.get(
        version, "files, TCP" + (", devices" if version >= 5 else "") + (", signals, abstract sockets" if version >= 6 else "")
    )
    return Finding("Landlock", holds, f"version {version}: {told}")


def memory() -> Finding:
    """RLIMIT_DATA, tried behind the fence by the allocation of more than it allows, in Python and in the engine."""

    def work() -> bool:
        fence_files(Fence((), ()))
        bounded = limit_memory(700_000_000)
        from builtin_tools.core.tables.engine import native

        connection = native().connect(":memory:", False, {"memory_limit": "100MB", "threads": "1"})
        by_engine = refused(lambda: connection.execute("SELECT length(repeat('ab', 400000000))").fetchall(), native().Error)
        return bounded and by_engine and refused(lambda: bytearray(900_000_000), MemoryError)

    return Finding("memory limit", in_child(work), "RLIMIT_DATA ends what outgrows memory_limit, in the engine too")


def file_size(folder: Path) -> Finding:
    """RLIMIT_FSIZE, tried by a file that is too large."""

    def work() -> bool:
        return limit_files(1000) and refused(lambda: (folder / "scratch" / "large").write_bytes(b"x" * 5000), OSError)

    return Finding("file size limit", in_child(work), "RLIMIT_FSIZE ends a file that outgrows temp_disk_limit")


def death_with_parent() -> Finding:
    """PR_SET_PDEATHSIG, tried on a child whose parent ends."""

    def work() -> bool:
        reader, writer = os.pipe()
        parent = os.fork()
        if parent == 0:
            me = os.getpid()
            if os.fork() == 0:
                die_with_parent(me)
                os.write(writer, b"%d" % os.getpid())
                time.sleep(10)
                os._exit(0)
            time.sleep(0.2)
            os._exit(0)
        pid = int(os.read(reader, 20))
        os.waitpid(parent, 0)
        deadline = time.monotonic() + 2
        while time.monotonic() < deadline:
            if not Path(f"/proc/{pid}").exists() or ") Z" in Path(f"/proc/{pid}/stat").read_text():
                return True
            time.sleep(0.01)
        return False

    return Finding(
        "death with the parent", sys.platform.startswith("linux") and in_child(work), "a worker ends when its watchdog does"
    )


def engine(folder: Path) -> list[Finding]:
    """The guard and the lock of the engine, each tried by itself."""

    def call() -> Call:
        directory = ArtifactDirectory.open(str(folder / "in"))
        return Call("doctor", SimpleNamespace(memory_limit="200MB", threads=1), {}, directory, str(folder / "scratch"))

    def locked() -> bool:
        from builtin_tools.core.tables.engine import Engine, native

        held = Engine.open(call(), [])
        attempts = (
            f"FROM read_text('{folder}/out/secret')",
            "SET enable_external_access = true",
            f"COPY (SELECT 1) TO '{folder}/in/x.csv'",
        )
        return all(refused(lambda sql=sql: held.rows(sql), native().Error) for sql in attempts)  # type: ignore[misc]

    def guarded() -> bool:
        from builtin_tools.core.tables.engine import Engine
        from builtin_tools.core.tables.guard import check

        held = Engine.open(call())
        attempts = (
            "FROM read_text('x')",
            "SELECT current_setting('threads')",
            "COPY (SELECT 1) TO 'x'",
            "SELECT 1; SELECT 2",
            "FROM glob('*')",
        )
        return bool(check(held, "SELECT 1")) and all(refused(lambda sql=sql: check(held, sql), ToolError) for sql in attempts)  # type: ignore[misc]

    return [
        Finding("engine lock", in_child(locked), "settings are fixed; only allowed files are opened"),
        Finding("SQL guard", in_child(guarded), "only one statement that reads is run"),
    ]


# ---------------------------------------------------------------- what else is needed


def packages() -> list[Finding]:
    """The versions of what the tools import."""
    found = []
    for name in PACKAGES:
        try:
            found.append(Finding(name, True, importlib.metadata.version(name), layer=False))
        except importlib.metadata.PackageNotFoundError:
            found.append(Finding(name, False, "not installed", layer=False))
    return found


def machine() -> list[Finding]:
    """The system, its limits, and what PDFs need."""
    own = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC)]
    shown = ["unlimited" if value == resource.RLIM_INFINITY else f"{value:,}" for value in own]
    missing = missing_packages()
    fonts = not any("fonts" in package for package in missing)
    return [
        Finding("system", True, f"{platform.system()} {platform.release()}, Python {platform.python_version()}", layer=False),
        Finding(
            "open files, processes", own[0] == resource.RLIM_INFINITY or own[0] >= 256, f"{shown[0]}, {shown[1]}", layer=False
        ),
        Finding("processors", True, str(processors()), layer=False),
        Finding("memory of the control group", True, group_memory(), layer=False),
        Finding(
            "Pango",
            can_print(),
            "markdown_to_pdf can lay pages out" if can_print() else "markdown_to_pdf cannot work",
            layer=False,
        ),
        Finding(
            "fonts with Hangul, Kana and Han", fonts, "found" if fonts else f"missing; install {' '.join(missing)}", layer=False
        ),
    ]


def group_memory() -> str:
    """How much memory the control group around us allows."""
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(name).read_text().strip()
        except OSError:
            continue
        if text.isdigit() and int(text) < 1 << 60:
            return readable_size(int(text))
    return "not limited, or not told"


def directory(named: str) -> Finding:
    """Whether the tools can work in an artifact directory: a file is locked, written, linked to its name and removed."""
    from builtin_tools.core.publishing import Scratch, put_in_place

    name = f".doctor-{os.getpid()}"
    try:
        opened = ArtifactDirectory.open(named)
        scratch = Scratch.make(opened)
        try:
            Path(scratch.path, "made").write_text("x")
            pending = {
                "scratch_name": "made",
                "path": name,
                "overwrite": False,
                "named_by_call": False,
                "artifact": {"sha256": ""},
            }
            put_in_place(opened, scratch.path, pending)
        finally:
            scratch.close()
            Path(opened.root, name).unlink(missing_ok=True)
    except ToolError as problem:
        return Finding("artifact directory", False, problem.message)
    free = shutil.disk_usage(opened.root).free
    return Finding("artifact directory", True, f"writable, {readable_size(free)} free")


def findings(named: str | None) -> list[Finding]:
    """Everything that is looked at, in the order of the report."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made).resolve()
        for name in ("in", "out", "scratch"):
            (folder / name).mkdir()
        (folder / "in" / "a.csv").write_text("a\n1\n")
        (folder / "out" / "secret").write_text("secret")
        layers = [landlock(folder), memory(), file_size(folder), death_with_parent(), *engine(folder)]
        return [*layers, directory(named or str(folder / "in")), *packages(), *machine()]


def main() -> int:
    """Prints the report; the exit status says whether all layers hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("artifact_directory", nargs="?", help="a directory to try; by default a temporary one")
    found = findings(parser.parse_args().artifact_directory)
    for finding in found:
        print(f"{'ok  ' if finding.holds else 'FAIL' if finding.layer else 'miss'}  {finding.name}: {finding.told}")
    broken = [finding.name for finding in found if finding.layer and not finding.holds]
    print(f"Not all layers hold: {', '.join(broken)}." if broken else "All layers hold.")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

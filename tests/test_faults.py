"""What the machine may do to a call: full disks, refused access, files that vanish, clocks that jump, signals that come twice.

Each fault is made as it happens where that can be done here, else at the call into the system that would tell it.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from builtin_tools.core import publishing, run_log
from builtin_tools.core.artifacts import ArtifactDirectory
from builtin_tools.core.digests import WORTH_BYTES, State, known, remember
from builtin_tools.core.errors import ConfigurationError, DiskLimitExceeded, OutputExists
from builtin_tools.core.publishing import Scratch, put_in_place, sweep
from tests.harness import ROOT, Answer, Runner, strict
from tests.security_calls import Call, broken_lines, changes, leftovers, tree, warm
from tests.test_protocol import OddTool, odd
from tests.test_sources import Here, here

__all__ = ["here", "odd"]
NOBODY = 65534


@pytest.fixture
def directory(tmp_path: Path) -> ArtifactDirectory:
    return ArtifactDirectory.open(str(tmp_path))


def pending(directory: ArtifactDirectory, scratch: Scratch, path: str = "out.csv", overwrite: bool = False) -> dict[str, Any]:
    """A finished file of the scratch folder that waits to be put in place."""
    Path(scratch.path, "made.csv").write_text("new")
    artifact = {"sha256": "0" * 64}
    return {"scratch_name": "made.csv", "path": path, "overwrite": overwrite, "named_by_call": False, "artifact": artifact}


# ---------------------------------------------------------------- scratch folders


def test_a_sweeper_never_takes_a_scratch_folder_that_is_just_being_made(
    directory: ArtifactDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = publishing.own_folder(directory, "tmp")
    swept: list[bool] = []

    def beside(step: Any) -> Any:
        def with_a_sweeper(*arguments: Any, **named: Any) -> Any:
            result = step(*arguments, **named)
            if not swept or swept[-1]:
                swept.append(False)  # a sweeper is at work, and its own steps are not followed by another
                sweep(base)
                swept[-1] = True
            return result

        return with_a_sweeper

    for name in ("mkdir", "open", "replace"):
        monkeypatch.setattr(os, name, beside(getattr(os, name)))
    monkeypatch.setattr(publishing, "_lock", beside(publishing._lock))
    monkeypatch.setattr(publishing, "sweep", lambda base: None)
    scratch = Scratch.make(directory)
    monkeypatch.undo()
    assert len(swept) >= 4 and os.listdir(scratch.path) == ["lock"]
    scratch.close()


def test_a_sweeper_leaves_a_living_call_alone_however_old_its_folder_is(directory: ArtifactDirectory) -> None:
    living = Scratch.make(directory)
    os.utime(living.path, (1, 1))
    Scratch.make(directory).close()
    assert os.path.isdir(living.path)
    os.close(living._descriptor)  # as the end of a killed process does
    Scratch.make(directory).close()
    assert not os.path.exists(living.path)


@pytest.mark.parametrize("jump", [-400 * 86400, 400 * 86400])
def test_a_clock_that_jumps_costs_a_living_call_nothing_and_keeps_no_dead_one(
    directory: ArtifactDirectory, monkeypatch: pytest.MonkeyPatch, jump: int
) -> None:
    living, dead = Scratch.make(directory), Scratch.make(directory)
    os.close(dead._descriptor)
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + jump)
    Scratch.make(directory).close()
    assert os.path.isdir(living.path) and not os.path.exists(dead.path)
    living.close()


def test_a_folder_that_a_sweeper_took_in_the_making_is_made_again(
    directory: ArtifactDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []
    make = os.mkdir

    def mkdir(path: str, *rest: Any, **named: Any) -> None:
        make(path, *rest, **named)
        if os.path.basename(os.path.dirname(path)) == "tmp" and not taken:
            taken.append(path)
            os.rmdir(path)

    monkeypatch.setattr(os, "mkdir", mkdir)
    scratch = Scratch.make(directory)
    assert taken and os.listdir(scratch.path) == ["lock"]
    scratch.close()


# ---------------------------------------------------------------- the run log


def test_the_beginning_of_a_line_whose_writer_was_killed_is_taken_back(directory: ArtifactDirectory) -> None:
    run_log.append(directory, {"tool": "one"})
    log = Path(directory.root, ".artifacts", "log.jsonl")
    with log.open("ab") as stream:
        stream.write(b'{"tool": "killed", "parameters": "' + b"x" * 100_000)
    run_log.append(directory, {"tool": "two"})
    assert [strict(line)["tool"] for line in log.read_text().splitlines()] == ["one", "two"]


def test_a_line_that_a_full_disk_cuts_short_is_taken_back(directory: ArtifactDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    run_log.append(directory, {"tool": "one"})
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:5]))
    with pytest.raises(OSError, match="No space left"):
        run_log.append(directory, {"tool": "cut"})
    monkeypatch.undo()
    run_log.append(directory, {"tool": "two"})
    assert broken_lines(Path(directory.root)) == []


def test_a_process_that_was_stopped_while_it_held_the_log_stops_no_other(
    directory: ArtifactDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")
    run_log.append(directory, {"tool": "one"})
    monkeypatch.setattr(run_log, "_PATIENCE", 0.1)
    with Path(directory.root, ".artifacts", "log.jsonl").open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        run_log.append(directory, {"tool": "two"})
    assert broken_lines(Path(directory.root)) == []


def test_a_call_is_answered_where_the_log_cannot_be_written(run: Runner) -> None:
    (run.directory / ".artifacts" / "log.jsonl").mkdir(parents=True)
    answer = run.tool("list_directory")
    assert answer.ok and "run log could not be written" in answer.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_in_the_place_of_the_log_stops_nobody(run: Runner) -> None:
    (run.directory / ".artifacts").mkdir()
    os.mkfifo(run.directory / ".artifacts" / "log.jsonl")
    assert run.tool("list_directory").ok


# ---------------------------------------------------------------- putting in place


@pytest.mark.parametrize(
    ("step", "number", "error"),
    [
        ("fsync", errno.ENOSPC, DiskLimitExceeded),
        ("link", errno.ENOSPC, DiskLimitExceeded),
        ("link", errno.EDQUOT, DiskLimitExceeded),
        ("link", errno.EACCES, ConfigurationError),
        ("link", errno.EROFS, ConfigurationError),
    ],
)
def test_a_step_that_the_system_refuses_leaves_no_file(
    directory: ArtifactDirectory, monkeypatch: pytest.MonkeyPatch, step: str, number: int, error: type[Exception]
) -> None:
    scratch = Scratch.make(directory)
    waiting = pending(directory, scratch)

    def refused(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, step, refused)
    with pytest.raises(error):
        put_in_place(directory, scratch.path, waiting)
    assert not Path(directory.root, "out.csv").exists()
    scratch.close()


@pytest.mark.parametrize("kernel_can", [True, False])
def test_without_hard_links_a_file_appears_whole_and_takes_the_place_of_none(
    directory: ArtifactDirectory, monkeypatch: pytest.MonkeyPatch, kernel_can: bool
) -> None:
    scratch, target = Scratch.make(directory), Path(directory.root, "out.csv")

    def refused(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refused)
    if not kernel_can:
        monkeypatch.setattr(publishing, "_renamed_without_replacing", lambda *_: False)
    put_in_place(directory, scratch.path, pending(directory, scratch))
    assert target.read_text() == "new"
    target.write_text("old")
    with pytest.raises(OutputExists):
        put_in_place(directory, scratch.path, pending(directory, scratch))
    assert target.read_text() == "old"
    target.unlink()
    waiting = pending(directory, scratch)
    monkeypatch.setattr(publishing, "_renamed_without_replacing", lambda *_: False)
    monkeypatch.setattr(os, "rename", refused)
    with pytest.raises(ConfigurationError):
        put_in_place(directory, scratch.path, waiting)
    assert not target.exists(), "the name is given back"
    scratch.close()


def test_an_overwritten_file_keeps_its_contents_where_the_step_fails(
    directory: ArtifactDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch, target = Scratch.make(directory), Path(directory.root, "out.csv")
    target.write_text("old")

    def refused(*_: Any, **__: Any) -> None:
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(os, "rename", refused)
    with pytest.raises(ConfigurationError):
        put_in_place(directory, scratch.path, pending(directory, scratch, overwrite=True))
    assert target.read_text() == "old"
    scratch.close()


# ---------------------------------------------------------------- full disks


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Runner]:
    """Runs tools in a directory that is a disk of 3 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("a small disk can be mounted by root only")
    try:
        yield Runner(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)


BIG = "SELECT range AS n, md5(range::VARCHAR) AS h FROM range(300000)"


@pytest.mark.parametrize("asked", ["parquet", "csv", "json"])
def test_a_result_that_the_disk_cannot_hold_is_told_and_leaves_nothing(small_disk: Runner, asked: str) -> None:
    small_disk.write("a.csv", "x\n1\n")
    answer = small_disk.tool("query_sql", sql=BIG, output_path=f"big.{asked}")
    assert (answer.code, answer.exit_status) == ("DISK_LIMIT_EXCEEDED", 0), answer.raw
    assert "disk" in answer.words.lower()
    assert sorted(os.listdir(small_disk.directory)) == [".artifacts", "a.csv"] and leftovers(small_disk.directory) == []
    assert small_disk.tool("query_sql", sql="FROM 'a.csv'").rows == [[1]], "the next call has the room again"


def test_a_disk_that_is_full_to_the_last_byte_is_told_by_every_tool_that_writes(small_disk: Runner) -> None:
    small_disk.write("a.csv", "x\n1\n")
    assert small_disk.tool("list_directory").ok
    with (small_disk.directory / "filler").open("wb", buffering=0) as stream:
        try:
            while stream.write(b"\0" * 4096):
                pass
        except OSError as problem:
            assert problem.errno == errno.ENOSPC
    for tool, parameters in (
        ("query_sql", {"sql": "FROM 'a.csv'"}),
        ("query_table", {"path": "a.csv"}),
        ("markdown_to_pdf", {"markdown": "# x"}),
    ):
        answer = small_disk.tool(tool, **parameters)  # type: ignore[arg-type]
        assert answer.code in ("DISK_LIMIT_EXCEEDED", "CONFIGURATION_ERROR"), answer.raw
        assert "full" in answer.words or "space" in answer.words
    assert broken_lines(small_disk.directory) == [] and leftovers(small_disk.directory) == []
    (small_disk.directory / "filler").unlink()
    assert small_disk.tool("query_table", path="a.csv").rows == [[1]]


# ---------------------------------------------------------------- refused access


@pytest.fixture
def as_nobody() -> Iterator[Runner]:
    """Runs tools in a directory of another user, without root's rights."""
    if os.geteuid() != 0:
        pytest.skip("only root can be somebody else")
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield Runner(folder)
    shutil.rmtree(folder)


def nobody(run: Runner, tool: str, **parameters: Any) -> Answer:
    (answer,) = warm(run.directory, [Call(tool, json.dumps(parameters), user_id=NOBODY)])
    return answer


def test_a_directory_that_may_not_be_written_is_the_operators_to_mend(as_nobody: Runner) -> None:
    as_nobody.write("a.csv", "x\n1\n")
    answer = nobody(as_nobody, "read_csv", path="a.csv")
    assert answer.code == "CONFIGURATION_ERROR" and "write access" in answer.words


def test_a_file_that_may_not_be_read_and_a_folder_that_may_not_be_written_are_told(as_nobody: Runner) -> None:
    as_nobody.directory.chmod(0o777)
    as_nobody.write("a.csv", "x\n1\n").chmod(0o000)
    as_nobody.write("closed/b.csv", "x\n1\n").parent.chmod(0o555)
    for tool, parameters in (("read_csv", {"path": "a.csv"}), ("query_sql", {"sql": "FROM 'a.csv'"})):
        answer = nobody(as_nobody, tool, **parameters)
        assert answer.code == "FILE_NOT_FOUND" and "may not be read" in answer.words
    assert nobody(as_nobody, "query_sql", sql="SELECT 1", output_path="closed/x.csv").code == "CONFIGURATION_ERROR"
    assert sorted(os.listdir(as_nobody.directory / "closed")) == ["b.csv"]


# ---------------------------------------------------------------- files that vanish or change


def test_a_file_that_vanishes_before_it_is_opened_is_told(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    path = here.write("a.csv", "x\n1\n")
    original = ArtifactDirectory.open_descriptor

    def late(self: ArtifactDirectory, file: Any) -> int:
        path.unlink(missing_ok=True)
        return original(self, file)

    monkeypatch.setattr(ArtifactDirectory, "open_descriptor", late)
    for tool, parameters in (("read_csv", {"path": "a.csv"}), ("query_sql", {"sql": "FROM 'a.csv'"})):
        path.write_text("x\n1\n")
        assert here.tool(tool, **parameters).code == "FILE_NOT_FOUND"  # type: ignore[arg-type]


@pytest.mark.parametrize("content", [None, b"", b"x\n", b"\xff\xfe\x00", b"x,y,z\n1,2,3\n4,5\n" * 50])
def test_a_file_that_vanishes_or_changes_while_it_is_read_is_an_error_of_the_file(
    here: Here, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    from builtin_tools.core.tables.engine import Engine

    path = here.write("a.csv", "x\n" + "1\n" * 100)
    lock = Engine.lock

    def late(self: Engine) -> None:
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content)
        lock(self)

    monkeypatch.setattr(Engine, "lock", late)
    answer = here.tool("query_sql", sql="SELECT sum(x) FROM 'a.csv'")
    if content is None:  # what is open already is read to its end
        assert answer.code in ("FILE_NOT_FOUND", "SQL_ERROR") or answer.rows == [[100]]
    else:
        assert answer.code in ("ok", "FILE_CORRUPT", "FILE_NOT_FOUND", "SQL_ERROR", "ENCODING_ERROR"), answer.document


def test_a_folder_that_becomes_a_link_to_outside_is_not_followed(directory: ArtifactDirectory, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "a.csv").write_text("secret")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.csv").write_text("x")
    file = directory.input_file("sub/a.csv")
    output = directory.output_file("sub/new.csv", False)
    shutil.rmtree(tmp_path / "sub")
    (tmp_path / "sub").symlink_to(outside)
    with pytest.raises(Exception, match="went away or changed"):
        directory.open_descriptor(file)
    scratch = Scratch.make(directory)
    with pytest.raises(Exception, match="passes a link"):
        put_in_place(directory, scratch.path, pending(directory, scratch, output.path))
    assert os.listdir(outside) == ["a.csv"]
    scratch.close()


# ---------------------------------------------------------------- digests


@pytest.mark.parametrize("jump", [-400 * 86400, 0])
def test_the_hash_of_a_file_that_may_change_unseen_is_not_kept(
    directory: ArtifactDirectory, monkeypatch: pytest.MonkeyPatch, jump: int
) -> None:
    path = Path(directory.root, "a.csv")
    path.write_bytes(b"\0" * WORTH_BYTES)
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + jump * 10**9)
    remember(directory.root, State.of(path.stat()), "0" * 64)
    assert known(directory.root, State.of(path.stat())) == ""


def test_a_hash_whose_writer_was_killed_is_no_hash_and_does_not_stay(directory: ArtifactDirectory) -> None:
    path = Path(directory.root, "a.csv")
    path.write_bytes(b"\0" * WORTH_BYTES)
    state = State.of(path.stat())
    remember(directory.root, state, "0" * 64, settled=True)
    folder = Path(directory.root, ".artifacts", "cache", "digests")
    (entry,) = folder.iterdir()
    draft = folder / f"{entry.name}.00000000"
    draft.write_text("0" * 10)
    entry.write_text("0" * 10)
    assert known(directory.root, state) == ""
    os.utime(draft, (1, 1))
    remember(directory.root, state, "1" * 64, settled=True)
    assert known(directory.root, state) == "1" * 64 and not draft.exists()


# ---------------------------------------------------------------- the clock and signals


def test_the_log_tells_how_long_a_call_took_whatever_the_clock_on_the_wall_does(
    run: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = (
        "import sys, time, runpy\nwall, calls = time.time, []\n"
        "def jumping():\n    calls.append(1)\n    return wall() - 1000 * len(calls)\n"
        "time.time = jumping\nsys.argv = sys.argv[1:]\nrunpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    script = str(ROOT / "builtin_tools" / "list_directory" / "tool.py")
    answer = run.argv("-c", program, script, "--user-params", json.dumps({"artifact_dir": str(run.directory)}))
    assert answer.ok and 0 < run.log()[0]["seconds"] < 30


def test_a_second_signal_does_not_cost_the_answer(odd: OddTool) -> None:
    call = subprocess.Popen([sys.executable, *odd.command("sleep")], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 10
    while not any((odd.run.directory / ".artifacts" / "tmp").glob("*/lock")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(0.2)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        call.send_signal(number)
        time.sleep(0.001)
    output, errors = call.communicate(timeout=20)
    document = strict(output.decode().removeprefix("tool_output "))
    assert document["error"]["code"] == "INTERNAL_ERROR" and document["error"]["retryable"] is True
    assert b"Traceback" not in errors and leftovers(odd.run.directory) == []
    assert len(odd.run.log()) == 1


def test_a_call_whose_input_is_swapped_for_a_pipe_ends_by_its_limit(here: Here) -> None:
    before = tree(here.directory)
    os.mkfifo(here.directory / "a.csv")
    assert here.tool("read_csv", path="a.csv").code == "UNSUPPORTED_FORMAT"
    (here.directory / "a.csv").unlink()
    assert changes(before, tree(here.directory)) == []

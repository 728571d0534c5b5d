"""Calls forked from one warm process: all of a call but the interpreter's start, so that thousands of them are cheap.

A driver (torture, fuzz, the attack table) is a process of its own without threads. It loads the tools' modules once,
and `start` forks a child that is the call: it runs the very `tool.py` as its own `__main__`, with its own watchdog,
worker, fence and log.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import importlib
import json
import os
import runpy
import signal
import stat
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from tests.harness import ROOT, Answer, strict

LIMITS: dict[str, Any] = {"timeout_seconds": 30, "memory_limit": "512MB"}
GRACE = 4.0  # seconds past its limit within which a call must have answered
AGENT = {
    "INVALID_PARAMETERS", "FILE_NOT_FOUND", "PATH_OUTSIDE_ARTIFACTS", "UNSUPPORTED_FORMAT", "FILE_CORRUPT", "FILE_EMPTY",
    "ENCODING_ERROR", "TABLE_NOT_FOUND", "COLUMN_NOT_FOUND", "SQL_SYNTAX_ERROR", "SQL_NOT_ALLOWED", "SQL_ERROR",
    "OUTPUT_EXISTS", "TIMEOUT", "MEMORY_LIMIT_EXCEEDED", "DISK_LIMIT_EXCEEDED", "INVALID_URL", "HOST_NOT_ALLOWED",
    "DNS_FAILURE", "CONNECTION_REFUSED", "NOT_FOUND", "RESPONSE_TOO_LARGE",
}  # fmt: skip
OPERATOR = {
    "CONFIGURATION_ERROR", "INTERNAL_ERROR", "PASSWORD_REQUIRED", "UNAUTHORIZED", "FORBIDDEN", "SSL_CERTIFICATE_ERROR",
    "CONNECTION_TIMEOUT", "RATE_LIMITED", "SERVER_ERROR", "SERVICE_UNAVAILABLE",
}  # fmt: skip
_MODULES = (
    "json", "hashlib", "pkgutil", "encodings.ascii", "encodings.latin_1", "fcntl", "select", "resource", "shutil", "runpy", "tempfile", "csv", "ssl", "secrets", "decimal", "difflib", "_duckdb", "urllib3", "markdown", "weasyprint", "pypdf", "pypdfium2",
    "pdfplumber", "python_calamine", "zstandard", "charset_normalizer", "lzma", "bz2", "zipfile", "ctypes",
)  # fmt: skip


_HEAVY = {
    "weasyprint": "markdown_to_pdf",
    "markdown": "markdown_to_pdf",
    "pdfplumber": "read_pdf",
    "pypdf": "read_pdf",
    "pypdfium2": "read_pdf",
}


def preload(tools: set[str] | None = None) -> None:
    """Loads what the tools load, so that a forked call finds it there. A package that is not installed is left out."""
    for name in _MODULES:
        if tools is not None and _HEAVY.get(name, next(iter(tools))) not in tools:
            continue
        with contextlib.suppress(ImportError, OSError):
            importlib.import_module(name)
    core = ROOT / "builtin_tools"
    for path in sorted(core.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if "__init__" not in name:
            with contextlib.suppress(ImportError, OSError):
                importlib.import_module(name)
    gc.freeze()  # what is there is not looked through in every fork


@dataclass
class Running:
    """A call on its way. `output` and `errors` are the files that its standard output and standard error go to."""

    pid: int
    output: Path
    errors: Path
    began: float

    def workers(self) -> list[int]:
        """The processes that the call has started, by their ids."""
        try:
            return [int(word) for word in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()]
        except OSError:
            return []

    def kill(self) -> None:
        """Ends the call and all that it started."""
        for pid in [*self.workers(), self.pid]:
            for send in (os.killpg, os.kill):
                with contextlib.suppress(OSError):
                    send(pid, signal.SIGKILL)

    def wait(self, seconds: float) -> int | None:
        """The status of the ended call as a shell tells it (a signal as a negative number); None where it still runs."""
        deadline = self.began + seconds
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > deadline:
                return None
            time.sleep(0.002)


@dataclass
class Call:
    """What is asked: `text` stands for the tool's parameters as it is; `user` is added to the user parameters of `LIMITS`."""

    tool: str
    text: str
    user: dict[str, Any] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    user_id: int = 0

    @property
    def settings(self) -> dict[str, Any]:
        return LIMITS | self.user


def start(call: Call, directory: Path, folder: Path, name: str = "call") -> Running:
    """Forks a call. `folder` is where its output is kept, under this name."""
    output, errors = folder / f"{name}.stdout", folder / f"{name}.stderr"
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        _be_the_call(call, directory, output, errors)
    return Running(pid, output, errors, began)


def _be_the_call(call: Call, directory: Path, output: Path, errors: Path) -> NoReturn:
    try:
        os.setsid()
        for number, path in ((1, output), (2, errors)):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(descriptor, number)
            os.close(descriptor)
        if call.user_id:
            os.setgroups([])
            os.setresgid(call.user_id, call.user_id, call.user_id)
            os.setresuid(call.user_id, call.user_id, call.user_id)
        os.environ.update(call.env)
        os.environ.pop("ARTIFACT_DIR", None)
        script = ROOT / "builtin_tools" / call.tool / "tool.py"
        settings = json.dumps({"artifact_dir": str(directory)} | call.settings)
        sys.argv = [str(script), "--user-params", settings, "--tool-params", call.text]
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
        runpy.run_path(str(script), run_name="__main__")
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(70)


def answer(running: Running, limit: float) -> Answer:
    """The answer of a call that must end within its limit and the grace. Raises AssertionError where it is no fair answer."""
    status = running.wait(limit + GRACE)
    if status is None:
        running.kill()
        os.waitpid(running.pid, 0)
        raise AssertionError(f"no answer {GRACE:g} s past its limit of {limit:g} s")
    return judged(running.output.read_bytes(), running.errors.read_text("utf-8", "replace"), status)


def judged(output: bytes, errors: str, status: int) -> Answer:
    """The envelope in these bytes, held to the contract: one line, strict JSON, a documented code, the status that goes with it."""
    assert output.startswith(b"tool_output ") and output.endswith(b"\n"), f"no answer: {output[:200]!r} {errors[-600:]}"
    assert output.count(b"\n") == 1, f"more than one line: {output[:300]!r}"
    raw = output[len(b"tool_output ") : -1].decode("utf-8")
    document = strict(raw)
    found = Answer(document, status, errors, raw)
    if found.ok:
        assert status == 0 and found.summary, f"status {status} with a success"
        return found
    error = document["error"]
    assert document.keys() == {"ok", "error"} and error["message"] and error["guidance"], f"an incomplete error: {raw[:300]}"
    assert isinstance(error["retryable"], bool)
    assert found.code in AGENT | OPERATOR, f"{found.code} is no documented code"
    assert status == (1 if found.code in OPERATOR else 0), f"status {status} with {found.code}"
    assert "Traceback" not in raw + errors, errors[-600:]
    return found


def ask(call: Call, directory: Path, folder: Path) -> Answer:
    """One call from start to end."""
    return answer(start(call, directory, folder), float(call.settings["timeout_seconds"]))


def warm(directory: Path, calls: list[Call], processes: int = 2) -> list[Answer]:
    """Makes calls from warm processes of their own, in any order; for tests whose process has threads. The answers in order."""
    with tempfile.TemporaryDirectory() as folder:
        running = []
        for number in range(min(processes, len(calls))):
            share = [asdict(call) for call in calls[number::processes]]
            Path(folder, str(number)).mkdir()
            task = {"directory": str(directory), "folder": f"{folder}/{number}", "calls": share}
            Path(folder, f"{number}.json").write_text(json.dumps(task), "utf-8")
            with Path(folder, f"{number}.json").open("rb") as stream:
                argv = [sys.executable, "-m", "tests.security_calls"]
                running.append(subprocess.Popen(argv, stdin=stream, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT))
        made: list[list[Answer]] = []
        for one in running:
            output, errors = one.communicate()
            assert one.returncode == 0, errors.decode("utf-8", "replace")[-2000:]
            made.append([Answer(**part) for part in json.loads(output)])
    return [made[position % processes][position // processes] for position in range(len(calls))]


def main() -> None:
    """Makes the calls that standard input names, and prints the answers."""
    task = json.load(sys.stdin)
    preload({part["tool"] for part in task["calls"]})
    made = []
    for part in task["calls"]:
        try:
            made.append(asdict(ask(Call(**part), Path(task["directory"]), Path(task["folder"]))))
        except AssertionError as problem:
            error = {"code": "NO_FAIR_ANSWER", "message": str(problem), "guidance": ""}
            made.append(asdict(Answer({"ok": False, "error": error}, -1, "", "")))
    json.dump(made, sys.stdout)


# ---------------------------------------------------------------- what lies around


def tree(folder: Path, leave_out: tuple[Path, ...] = (), contents: bool = True) -> dict[str, tuple[Any, ...]]:
    """Everything below a folder: kind and mode, the target of a link, the size, time and hash of a file."""
    found: dict[str, tuple[Any, ...]] = {}
    for here, names, files in os.walk(folder):
        names[:] = [name for name in names if Path(here, name) not in leave_out]
        for name in [*names, *files]:
            path = Path(here, name)
            told = path.lstat()
            what: tuple[Any, ...] = (stat.filemode(told.st_mode),)
            if stat.S_ISLNK(told.st_mode):
                what += (os.readlink(path),)
            elif stat.S_ISREG(told.st_mode):
                what += (told.st_size, told.st_mtime_ns, told.st_ino)
                what += (hashlib.sha256(path.read_bytes()).hexdigest(),) if contents else ()
            found[path.relative_to(folder).as_posix()] = what
    return found


def changes(before: dict[str, tuple[Any, ...]], after: dict[str, tuple[Any, ...]]) -> list[str]:
    """The names of what was made, changed or removed."""
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))


def broken_lines(directory: Path) -> list[bytes]:
    """The lines of the run log that are no whole JSON object."""
    path = directory / ".artifacts" / "log.jsonl"
    data = path.read_bytes() if path.exists() else b""
    broken = []
    for line in data.split(b"\n")[:-1]:
        try:
            strict(line.decode())["tool"]
        except (ValueError, KeyError, TypeError):
            broken.append(line)
    return broken + ([data.rpartition(b"\n")[2]] if data and not data.endswith(b"\n") else [])


def leftovers(directory: Path) -> list[str]:
    """What lies in the tools' own folder and is neither log nor a finished entry of a cache."""
    own = directory / ".artifacts"
    found = [f"tmp/{path.name}" for path in (own / "tmp").glob("*")]
    found += [f"digests/{path.name}" for path in (own / "cache" / "digests").glob("*.*")]
    tables = {path.name for path in (own / "cache" / "tables").glob("*")}
    return found + [f"tables/{name}" for name in tables if not name.endswith((".parquet", ".json"))]


if __name__ == "__main__":
    main()

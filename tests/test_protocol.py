"""One call from its command line to its one line: invocation, standard output, exit status, limits, the run log.

Most of it is tried on a tool made for it, whose `run_tool` does whatever the argument `act` says.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.harness import ROOT, Answer, Runner, strict

ODD_TOOL = '''
"""A tool that behaves as it is told to."""
import os, sys, time
from typing import Optional
from pydantic import BaseModel, Field

class UserParameters(BaseModel):
    artifact_dir: Optional[str] = None
    timeout_seconds: float = 20
    memory_limit: str = "300MB"
    max_output_chars: int = 20000
    max_cell_chars: int = 500
    api_token: Optional[str] = None

class ToolParameters(BaseModel):
    act: str = Field(description="What to do.")

def run_tool(config, args):
    from builtin_tools.core.call import current
    from builtin_tools.core.envelope import Answer
    from builtin_tools.core.errors import FileNotFound, OutputExists
    call = current()
    if args.act == "print":
        print("noise on standard output")
        os.write(1, b"noise by the descriptor\\n")
    elif args.act == "sleep":
        time.sleep(60)
    elif args.act == "crash":
        raise ZeroDivisionError("/a/secret/path")
    elif args.act == "leak":
        raise FileNotFound(f"{call.directory.root}/a.csv with {config.api_token}", f"not {config.api_token}")
    elif args.act == "memory":
        held = [b"x" * 50_000_000 for _ in range(40)]
    elif args.act == "die":
        os.kill(os.getpid(), 9)
    elif args.act == "exit":
        os._exit(3)
    elif args.act == "quit":
        sys.exit("quitting")
    elif args.act == "recurse":
        return run_tool(config, args)
    elif args.act == "write":
        with open(call.scratch_path("made.txt"), "w") as stream:
            stream.write("made")
        call.publish("made.txt", call.result_output(None, None, "made", "txt"), "text")
    elif args.act == "write and fail":
        with open(call.scratch_path("made.txt"), "w") as stream:
            stream.write("made")
        call.publish("made.txt", call.result_output("half.txt", None, "made", "txt"), "text")
        raise OutputExists("no", "no")
    elif args.act == "outside":
        open(os.path.join(call.directory.root, "..", "escaped.txt"), "w")
    elif args.act == "signs":
        return Answer("\\ud800 \\x00 \\u2028 서울 🚀")
    return Answer("done", artifacts=[pending.artifact for pending in call.pending])

if __name__ == "__main__":
    sys.path[0] = ROOT
    from builtin_tools.core.protocol import main
    main(__file__, UserParameters, ToolParameters, run_tool)
'''


class OddTool:
    """Starts the odd tool in the directory of a runner."""

    def __init__(self, run: Runner) -> None:
        self.run = run
        self.script = run.directory.parent / "odd" / "tool.py"
        self.script.parent.mkdir()
        self.script.write_text(ODD_TOOL.replace("ROOT", repr(str(ROOT))), "utf-8")

    def command(self, act: str, user: dict[str, Any] | None = None) -> list[str]:
        settings = {"artifact_dir": str(self.run.directory)} | (user or {})
        return [str(self.script), "--user-params", json.dumps(settings), "--tool-params", json.dumps({"act": act})]

    def __call__(self, act: str, user: dict[str, Any] | None = None, env: dict[str, str] | None = None) -> Answer:
        return self.run.argv(*self.command(act, user), env=env)


@pytest.fixture
def odd(run: Runner) -> OddTool:
    return OddTool(run)


def leftovers(run: Runner) -> list[str]:
    """What a call left behind in the folder for temporary files."""
    return sorted(entry.name for entry in (run.directory / ".artifacts" / "tmp").iterdir())


# ---- invocation


LISTING = str(ROOT / "builtin_tools" / "list_directory" / "tool.py")


def test_a_tool_runs_by_its_path_from_anywhere_and_as_a_module(run: Runner, tmp_path: Path) -> None:
    run.write("a.csv", "")
    user = json.dumps({"artifact_dir": str(run.directory)})
    by_path = run.argv(LISTING, "--user-params", user, cwd=tmp_path)
    as_module = run.argv("-m", "builtin_tools.list_directory.tool", "--user-params", user, cwd=ROOT)
    assert by_path.document["table"] == as_module.document["table"]


def test_both_values_may_be_left_out(run: Runner) -> None:
    run.write("a.csv", "")
    assert run.argv(LISTING, env={"ARTIFACT_DIR": str(run.directory)}).column("path") == ["a.csv"]
    assert run.argv(LISTING, cwd=run.directory).column("path") == ["a.csv"]


def test_a_value_may_come_from_a_file_or_from_standard_input(run: Runner, tmp_path: Path) -> None:
    run.write("a.csv", "")
    (tmp_path / "user.json").write_text(json.dumps({"artifact_dir": str(run.directory)}), "utf-8-sig")
    answer = run.argv(LISTING, "--user-params", f"@{tmp_path}/user.json", "--tool-params", "-", stdin=b'{"pattern": "*.csv"}')
    assert answer.column("path") == ["a.csv"]
    assert run.argv(LISTING, f"--user-params=@{tmp_path}/user.json").column("path") == ["a.csv"]


@pytest.mark.parametrize(
    ("arguments", "code", "status"),
    [
        (["--tool-params"], "INVALID_PARAMETERS", 0),
        (["--tool-param", "{}"], "INVALID_PARAMETERS", 0),
        (["--tool-params", "{"], "INVALID_PARAMETERS", 0),
        (["--tool-params", "@/nowhere.json"], "INVALID_PARAMETERS", 0),
        (["--user-params", "-", "--tool-params", "-"], "INVALID_PARAMETERS", 0),
        (["--user-params", "{"], "CONFIGURATION_ERROR", 1),
        (["--user-params", "@/nowhere.json"], "CONFIGURATION_ERROR", 1),
        (["--user-params", '{"limit": 1}'], "CONFIGURATION_ERROR", 1),
        (["--user-params", '{"memory_limit": "much"}'], "CONFIGURATION_ERROR", 1),
        (["--user-params", '{"artifact_dir": "/nowhere"}'], "CONFIGURATION_ERROR", 1),
    ],
)
def test_a_wrong_command_line_is_answered_in_one_line_too(
    run: Runner, tmp_path: Path, arguments: list[str], code: str, status: int
) -> None:
    answer = run.argv(LISTING, *arguments, cwd=tmp_path)
    assert (answer.code, answer.exit_status) == (code, status)
    assert bool(answer.stderr) == bool(status), "what the operator must mend stands on standard error too"
    if status:
        assert answer.stderr.strip() == answer.document["error"]["message"]
    assert "Traceback" not in answer.stderr and "/nowhere" not in answer.document["error"]["message"]


def test_bytes_that_are_no_utf_8_are_refused(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "call.json").write_bytes(b'{"path": "\xff"}')
    assert run.argv(LISTING, "--tool-params", f"@{tmp_path}/call.json", cwd=tmp_path).code == "INVALID_PARAMETERS"


# ---- standard output


def test_standard_output_has_the_one_line_whatever_is_printed(odd: OddTool) -> None:
    answer = odd("print")
    assert answer.ok
    assert sorted(answer.stderr.splitlines()) == ["noise by the descriptor", "noise on standard output"]


@pytest.mark.parametrize("env", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "ascii"}])
def test_the_line_is_utf_8_whatever_the_locale(odd: OddTool, env: dict[str, str]) -> None:
    summary = odd("signs", env=env).summary
    assert summary.endswith(" \x00 \u2028 서울 🚀") and set(summary.split()[0]) == {"\ufffd"}


def test_a_reader_that_went_away_does_not_make_a_traceback(odd: OddTool) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, *odd.command("done")], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert done.stderr == b"" and done.returncode == 0


def test_warnings_of_the_interpreter_stay_off_standard_output(odd: OddTool) -> None:
    assert odd("done", env={"PYTHONWARNINGS": "always", "PYTHONDEVMODE": "1"}).ok


# ---- failures


def test_a_fault_inside_is_an_internal_error_without_its_innards(odd: OddTool) -> None:
    answer = odd("crash")
    assert (answer.code, answer.exit_status) == ("INTERNAL_ERROR", 1)
    assert "secret" not in answer.raw + answer.stderr and "Traceback" not in answer.stderr


def test_a_traceback_is_shown_on_standard_error_to_who_asks_for_it(odd: OddTool) -> None:
    answer = odd("crash", env={"BUILTIN_TOOLS_DEBUG": "1"})
    assert "Traceback" in answer.stderr and "ZeroDivisionError" in answer.stderr
    assert "Traceback" not in answer.raw


@pytest.mark.parametrize("act", ["exit", "quit", "recurse"])
def test_a_worker_that_ends_without_an_answer_is_an_internal_error(odd: OddTool, act: str) -> None:
    answer = odd(act)
    assert (answer.code, answer.exit_status) == ("INTERNAL_ERROR", 1)
    assert leftovers(odd.run) == []


@pytest.mark.parametrize("act", ["memory", "die"])
def test_a_worker_that_outgrows_its_memory_or_is_killed_for_it_says_so(odd: OddTool, act: str) -> None:
    answer = odd(act, user={"memory_limit": "64MB"})
    assert (answer.code, answer.exit_status) == ("MEMORY_LIMIT_EXCEEDED", 0)
    assert "64.0 MB" in answer.document["error"]["message"]


def test_a_call_past_its_time_is_stopped_and_can_be_mended(odd: OddTool) -> None:
    started = time.monotonic()
    answer = odd("sleep", user={"timeout_seconds": 0.8})
    assert time.monotonic() - started < 5
    assert (answer.code, answer.exit_status, answer.document["error"]["retryable"]) == ("TIMEOUT", 0, False)
    assert leftovers(odd.run) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_worker_and_is_answered(odd: OddTool, number: signal.Signals) -> None:
    call = subprocess.Popen([sys.executable, *odd.command("sleep")], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 10
    while not (odd.run.directory / ".artifacts" / "tmp").exists() or not leftovers(odd.run):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.2)
    call.send_signal(number)
    output, _ = call.communicate(timeout=10)
    document = strict(output.decode().removeprefix("tool_output "))
    assert document["error"]["code"] == "INTERNAL_ERROR" and document["error"]["retryable"] is True
    assert call.returncode == 1 and leftovers(odd.run) == []


def test_what_a_failed_call_wrote_is_not_published(odd: OddTool) -> None:
    assert odd("write and fail").code == "OUTPUT_EXISTS"
    assert [entry.name for entry in odd.run.directory.iterdir()] == [".artifacts"]
    assert leftovers(odd.run) == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Landlock is Linux's")
def test_the_kernel_refuses_a_file_outside_the_directory(odd: OddTool) -> None:
    from builtin_tools.core.kernel import landlock_version

    if landlock_version() < 1:
        pytest.skip("this kernel has no Landlock")
    assert odd("outside").code == "INTERNAL_ERROR"
    assert not (odd.run.directory.parent / "escaped.txt").exists()


# ---- the run log


def test_every_call_has_a_line_in_the_log_whatever_became_of_it(odd: OddTool) -> None:
    for act in ("done", "write", "crash", "sleep"):
        odd(act, user={"timeout_seconds": 1.5})
    entries = odd.run.log()
    assert [entry["parameters"]["act"] for entry in entries] == ["done", "write", "crash", "sleep"]
    assert [entry.get("code", "ok") for entry in entries] == ["ok", "ok", "INTERNAL_ERROR", "TIMEOUT"]
    assert all(entry["tool"] == "odd" and entry["time"].endswith("Z") and entry["seconds"] > 0 for entry in entries)
    (output,) = entries[1]["outputs"]
    assert (odd.run.directory / output["path"]).read_text() == "made" and output["bytes"] == 4 and len(output["sha256"]) == 64


def test_arguments_that_could_not_be_read_are_logged_as_they_came(odd: OddTool) -> None:
    odd.run.argv(*odd.command("done")[:-1], "{broken")
    assert odd.run.log()[0]["parameters"] == {"unparsed": "{broken"}


def test_neither_secrets_nor_absolute_paths_are_told_or_logged(odd: OddTool) -> None:
    answer = odd("leak", user={"api_token": "hunter2-hunter2"})
    log = (odd.run.directory / ".artifacts" / "log.jsonl").read_text()
    for text in (answer.raw, answer.stderr, log):
        assert "hunter2" not in text and str(odd.run.directory) not in text
    assert answer.document["error"]["message"] == "a.csv with ***"


def test_calls_side_by_side_keep_their_lines_whole(odd: OddTool) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: odd("write"), range(8)))
    assert all(answer.ok for answer in answers)
    assert len({answer.document["artifacts"][0]["path"] for answer in answers}) == 1
    assert len(odd.run.log()) == 8 and leftovers(odd.run) == []

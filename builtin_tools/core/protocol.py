"""From the command line to the one line of standard output: argv, parameters, worker, published files, log, envelope.

Standard output belongs to the envelope: descriptor 1 is kept aside at the start, and whatever a library
prints goes to standard error.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

OUTPUT_KEY = "tool_output"


def main(
    tool_file: str,
    user_model: Any,
    tool_model: Any,
    run_tool: Callable[[Any, Any], Any],
    *,
    network: bool = False,
    fonts: bool = False,
) -> None:
    """Runs one call as described by sys.argv and ends the process. `network` and `fonts`: what the tool needs to reach."""
    started = time.time()
    voice = _Voice()
    run = _Run(Path(tool_file).resolve().parent.name, user_model, tool_model, run_tool, started, network, fonts)
    line, status = run.answer()
    voice.say(line)
    sys.stderr.flush()
    if run.uncompiled and not sys.dont_write_bytecode:
        from .bytecode import write

        write(run.uncompiled)
    os._exit(status)


class _Voice:
    """The only writer to the real standard output."""

    def __init__(self) -> None:
        self._descriptor = os.dup(1)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=lambda: os.close(self._descriptor))  # a worker has no way to the real one
        os.dup2(2, 1)
        try:
            sys.stdout.flush()  # what was printed before this moment goes to standard error too
        except (OSError, ValueError):
            pass

    def say(self, payload: str) -> None:
        data = f"{OUTPUT_KEY} {payload}\n".encode("utf-8", "replace")
        while data:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BrokenPipeError:
                return


class _Stopped(BaseException):
    """The operator ended the call by a signal."""


class _RelayedError(Exception):
    """A failure that the worker told; it holds the document as it came."""

    def __init__(self, told: dict[str, Any]) -> None:
        super().__init__(told["error"]["message"])
        self._error: dict[str, Any] = told["error"]
        self.exit_status: int = told["exit_status"]
        self.inputs: list[dict[str, Any]] = told["inputs"]

    def document(self) -> dict[str, Any]:
        return self._error


class _Run:
    """One call, from its argv to its line and exit status."""

    def __init__(
        self, tool: str, user_model: Any, tool_model: Any, run_tool: Any, started: float, network: bool, fonts: bool
    ) -> None:
        self.tool, self.user_model, self.tool_model, self.run_tool = tool, user_model, tool_model, run_tool
        self.started, self.network, self.fonts = started, network, fonts
        self.deadline_base = time.monotonic()
        self.budget = 20_000
        self.directory: Any = None
        self.parameters: Any = None
        self.secrets: list[str] = []
        self.uncompiled: list[str] = []

    def answer(self) -> tuple[str, int]:
        from .envelope import render_failure
        from .errors import InternalError, ToolError

        log: dict[str, Any] = {}
        try:
            line, log = self._work()
            status = 0
        except (ToolError, _RelayedError) as problem:
            line, status, log = self._failure(problem)
        except (_Stopped, KeyboardInterrupt):
            line, status, log = self._failure(
                InternalError("The call was ended by a signal before it was done.", "Send the call again.", retryable=True)
            )
        except Exception as problem:
            self._trace(problem)
            line, status, log = self._failure(_internal(problem))
        _let_signals_be()  # the work is over: what is left is to log and to answer
        try:
            self._log(log)
        except ToolError as problem:
            line, status = render_failure(problem.document(), self.budget), problem.exit_status
        return line, status

    # ---- the way of a call

    def _work(self) -> tuple[str, dict[str, Any]]:
        from .artifacts import ArtifactDirectory
        from .errors import ConfigurationError, InvalidParameters
        from .parameters import parse_document, validated

        user_text, tool_text = _arguments(sys.argv[1:])
        try:
            given_user = parse_document(user_text, "--user-params") if user_text.strip() else {}
        except InvalidParameters as problem:
            raise ConfigurationError(problem.message.split(", near")[0], "The operator must mend --user-params.") from None
        config = validated(self.user_model, given_user, operator=True)
        self.secrets = _secrets(config)
        self.budget = config.max_output_chars
        self.directory = ArtifactDirectory.open(config.artifact_dir)
        self.parameters = {"unparsed": tool_text[:500]}
        given = parse_document(tool_text, "--tool-params")
        self.parameters = given
        arguments = validated(self.tool_model, given)
        return self._run_worker(config, arguments)

    def _run_worker(self, config: Any, arguments: Any) -> tuple[str, dict[str, Any]]:
        from .digests import State, remember
        from .limits import parse_size
        from .publishing import Scratch, put_in_place
        from .watchdog import Watchdog

        memory = parse_size(config.memory_limit, "memory_limit")
        timeout = float(config.timeout_seconds)
        watchdog = Watchdog(self.deadline_base + timeout, timeout, memory)
        _stop_on_signals(watchdog)
        scratch = Scratch.make(self.directory)
        try:
            outcome = watchdog.run(lambda parent: self._in_worker(config, arguments, scratch.path, memory, parent))
            if outcome.error is not None or outcome.document is None:
                raise outcome.error or _internal(None)
            document = outcome.document
            self.uncompiled = document.get("uncompiled", [])
            if "error" in document:
                raise _RelayedError(document)
            self._distrust(document)
            for pending in document["publish"]:
                put_in_place(self.directory, scratch.path, pending)
            for state, digest in document["hashed"]:
                remember(self.directory.root, State(*state), digest)
            self._keep_entries(config, scratch.path, document)
        finally:
            scratch.close()
        return document["line"], {
            "inputs": document["inputs"],
            "outputs": document["outputs"],
            "rows": document["rows"],
            "ok": True,
        }

    def _distrust(self, document: dict[str, Any]) -> None:
        """Takes from a worker only names that it may give: it has seen hostile input, and could be its instrument."""
        names = [(pending["path"], pending["scratch_name"]) for pending in document["publish"]]
        names += [("entry", tag) for tag, *_ in document["entries"]]
        for path, scratch_name in names:
            if self.directory.relative(path) != path or Path(scratch_name).name != scratch_name:
                raise _internal(None)

    def _keep_entries(self, config: Any, scratch: str, document: dict[str, Any]) -> None:
        """Puts what the worker made for the ingest cache in place, and marks what it used."""
        if not document["entries"] and not document["used_entries"]:
            return
        from .limits import parse_size
        from .tables import ingest_cache

        limit = parse_size(getattr(config, "cache_limit", "5GB"), "cache_limit")
        for tag, digest, path, options, part in document["entries"]:
            if digest:
                key = f"{ingest_cache.key_of(digest, path, options)}-{part}"
                ingest_cache.put_in_place(self.directory, scratch, tag, key, limit)
        for key in document["used_entries"]:
            ingest_cache.touch(self.directory, key)

    # ---- inside the worker

    def _in_worker(self, config: Any, arguments: Any, scratch: str, memory: int, parent: int) -> dict[str, Any]:
        from . import call as calls
        from .bytecode import uncached
        from .envelope import render
        from .errors import ToolError
        from .kernel import Fence, die_with_parent, fence_files, limit_files, limit_memory
        from .watchdog import WORKER_SHARE, memory_error

        asked = arguments.model_dump(exclude_none=True)
        call = calls.Call(self.tool, config, asked, self.directory, scratch, self.deadline_base + config.timeout_seconds)
        calls.activate(call)
        try:
            call.layers = {
                "dies_with_parent": die_with_parent(parent),
                "memory_bound": limit_memory(memory + WORKER_SHARE),
                "files_bounded": limit_files(call.temp_disk_limit),
                "landlock": fence_files(Fence((self.directory.root,), (scratch,), self.network, self.fonts)),
            }
            _require_layers(config, call.layers)
            os.chdir(self.directory.root)
            answer = self.run_tool(config, arguments)
            answer.warnings[:0] = call.warnings
            answer.details["sandbox"] = _layers_in_words(call.layers)
            line = render(answer, config.max_output_chars, config.max_cell_chars)
            return {
                "line": line,
                "publish": [pending.document() for pending in call.pending],
                "rows": answer.table.total_rows if answer.table is not None else None,
                "inputs": _input_entries(call),
                "hashed": call.hashed,
                "entries": [(tag, call.digest(path), path, options, part) for tag, path, options, part in call.entries],
                "used_entries": call.used_entries,
                "uncompiled": uncached("builtin_tools"),
                "outputs": [pending.artifact.document() for pending in call.pending],
            }
        except ToolError as problem:
            return _told(problem, call)
        except MemoryError:
            return _told(memory_error(memory), call)
        except OSError as problem:
            self._trace(problem)
            return _told(_of_system(problem), call)
        except Exception as problem:
            self._trace(problem)
            return _told(_internal(problem), call)

    # ---- failures

    def _failure(self, problem: Any) -> tuple[str, int, dict[str, Any]]:
        from .envelope import render_failure

        document = self._without_secrets(problem.document())
        if problem.exit_status:
            print(document["message"], file=sys.stderr)
        log = {"ok": False, "code": document["code"], "message": document["message"], "inputs": getattr(problem, "inputs", [])}
        return render_failure(document, self.budget), problem.exit_status, log

    def _without_secrets(self, document: dict[str, Any]) -> dict[str, Any]:
        import json
        import re

        text = json.dumps(document, ensure_ascii=False)
        text = re.sub(r'://[^\s/?#"\\]+@', "://***@", text)  # user names and passwords in addresses
        hidden = "token|key|secret|sig|password|passwd|auth|credential|session"
        text = re.sub(rf'(?i)([?&][^=&"\\\s]*(?:{hidden})[^=&"\\\s]*=)[^&#"\\\s]+', r"\1***", text)
        for secret in self.secrets:
            text = text.replace(json.dumps(secret, ensure_ascii=False)[1:-1], "***")
        if self.directory is not None:
            text = text.replace(json.dumps(self.directory.root, ensure_ascii=False)[1:-1] + "/", "")
        cleaned: dict[str, Any] = json.loads(text)
        return cleaned

    @staticmethod
    def _trace(problem: BaseException) -> None:
        if os.environ.get("BUILTIN_TOOLS_DEBUG") == "1":
            import traceback

            traceback.print_exception(problem)

    # ---- the log

    def _log(self, log: dict[str, Any]) -> None:
        if self.directory is None:
            return
        from .run_log import append, loggable, timestamp

        entry = {
            "time": timestamp(self.started),
            "seconds": round(time.monotonic() - self.deadline_base, 4),
            "tool": self.tool,
            "parameters": loggable(self.parameters),
            "pid": os.getpid(),
            **{key: value for key, value in log.items() if value is not None},
        }
        try:
            append(self.directory, self._without_secrets(entry))
        except OSError as problem:
            print(f"The run log could not be written: {problem.strerror}", file=sys.stderr)


def _arguments(argv: list[str]) -> tuple[str, str]:
    """The texts of --user-params and --tool-params, read from a file or from standard input where so asked."""
    from .errors import ConfigurationError, InvalidParameters, ToolError

    values = {"--user-params": "{}", "--tool-params": "{}"}
    position, from_stdin = 0, 0
    while position < len(argv):
        flag, equals, value = argv[position].partition("=")
        if flag not in values:
            raise InvalidParameters(
                f"There is no option {argv[position][:80]!r}.",
                "A tool is started as: tool.py --user-params JSON --tool-params JSON. Either may be @FILE, one may be -.",
            )
        if not equals:
            position += 1
            if position >= len(argv):
                raise InvalidParameters(f"{flag} has no value.", f"Give JSON after {flag}, or @FILE, or -.")
            value = argv[position]
        position += 1
        failure: type[ToolError] = ConfigurationError if flag == "--user-params" else InvalidParameters
        if value == "-":
            from_stdin += 1
            if from_stdin > 1:
                raise InvalidParameters("Only one of the two values can come from standard input.", "Give the other as @FILE.")
        values[flag] = _text_of(value, flag, failure)
    return values["--user-params"], values["--tool-params"]


def _text_of(value: str, flag: str, failure: Any) -> str:
    try:
        if value == "-":
            return sys.stdin.buffer.read().decode("utf-8-sig")
        if value.startswith("@"):
            return Path(value[1:]).read_text("utf-8-sig")
        return os.fsencode(value).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise failure(f"{flag} is not UTF-8 (byte {problem.start}).", "Send the JSON in UTF-8.") from None
    except OSError as problem:
        raise failure(f"The file given for {flag} cannot be read ({problem.strerror}).", "Name a file that exists.") from None


def _secrets(config: Any) -> list[str]:
    """The values of user parameters that must be shown nowhere."""
    found: list[str] = []
    for name, value in config:
        if name in ("artifact_dir", "memory_limit", "temp_disk_limit"):
            continue
        if name == "headers" and isinstance(value, dict):
            for header in value.values():
                found += [str(header), *str(header).split()]
        elif isinstance(value, str) and any(word in name for word in ("password", "token", "secret", "key")):
            found.append(value)
    return sorted({secret for secret in found if len(secret) >= 4}, key=len, reverse=True)


def _require_layers(config: Any, layers: dict[str, Any]) -> None:
    if getattr(config, "require_kernel_sandbox", False) and not (layers["landlock"] and layers["memory_bound"]):
        from .errors import ConfigurationError

        raise ConfigurationError(
            "The kernel of this machine offers no Landlock, and require_kernel_sandbox asks for it.",
            "The operator must run the tools on Linux 5.13 or later, or leave require_kernel_sandbox out.",
        )


def _layers_in_words(layers: dict[str, Any]) -> str:
    """Which layers of the kernel confine the call, for its details."""
    landlock = f"Landlock {layers['landlock']}" if layers["landlock"] else "no Landlock"
    return f"{landlock}, {'memory bounded' if layers['memory_bound'] else 'memory not bounded'}"


def _input_entries(call: Any) -> list[dict[str, Any]]:
    entries = []
    for path, file in call.inputs.items():
        entry: dict[str, Any] = {"path": path, "bytes": file.size}
        if digest := call.digest(path):
            entry["sha256"] = digest
        entries.append(entry)
    return entries


def _told(problem: Any, call: Any) -> dict[str, Any]:
    """A failure as the worker sends it to the watchdog."""
    return {
        "error": problem.document(),
        "exit_status": problem.exit_status,
        "inputs": [{"path": path, "bytes": file.size} for path, file in call.inputs.items()],
    }


def _of_system(problem: OSError) -> Any:
    """The error for what the system refused: a full disk, a file past its limit; else an internal one."""
    import errno

    from .errors import DiskLimitExceeded

    if problem.errno == errno.EFBIG:
        return DiskLimitExceeded(
            "A file of this call grew past temp_disk_limit.", "Ask for less at once. The operator can raise temp_disk_limit."
        )
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskLimitExceeded("The disk is full.", "Free space in the artifact directory, then send the call again.")
    return _internal(problem)


def _internal(problem: BaseException | None) -> Any:
    from .errors import InternalError

    kind = f" ({type(problem).__name__})" if problem is not None else ""
    return InternalError(
        f"Something went wrong inside the tool{kind}.",
        "No other argument mends this. The operator sees more with BUILTIN_TOOLS_DEBUG=1 on standard error.",
    )


def _stop_on_signals(watchdog: Any) -> None:
    import signal

    def stop(*_: Any) -> None:
        _let_signals_be()
        watchdog.kill()
        raise _Stopped

    for number in _ending_signals():
        signal.signal(number, stop)


def _let_signals_be() -> None:
    """From here on the call ends by itself, and a second signal must not cost it its answer."""
    import signal

    for number in _ending_signals():
        signal.signal(number, _nothing)  # not SIG_IGN: Python reports a signal on standard error that is ignored so late


def _nothing(*_: Any) -> None:
    """The answer to a signal that needs none."""


def _ending_signals() -> list[Any]:
    import signal

    return [getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)]

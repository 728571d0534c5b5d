"""One call of one tool: its directory, its limits, its scratch folder, what it read and what it will publish.

The protocol makes a Call before it starts the worker; the logic of a tool asks for it with `current()`.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import threading
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from .artifacts import ArtifactDirectory, InputFile, OutputFile
from .digests import WORTH_BYTES, State, known
from .envelope import Artifact, Warn
from .errors import InvalidParameters
from .limits import parse_size, processors

# Arguments that change what is shown or where it is put, and not which rows a result has.
_NOT_OF_THE_RESULT = {"preview_rows", "output_path", "overwrite"}
_BLOCK = 1 << 20


@dataclass
class Pending:
    """A finished file in the scratch folder that waits to be published."""

    scratch_name: str
    output: OutputFile
    artifact: Artifact

    def document(self) -> dict[str, Any]:
        return {
            "scratch_name": self.scratch_name,
            "path": self.output.path,
            "overwrite": self.output.overwrite,
            "named_by_call": self.output.named_by_call,
            "artifact": self.artifact.document(),
        }


class _Digest(threading.Thread):
    """The sha256 of an input, taken beside the work; hashlib lets other threads run meanwhile."""

    def __init__(self, descriptor: int, state: State) -> None:
        super().__init__(daemon=True)
        self._descriptor = descriptor
        self.state = state
        self.value = ""
        self.start()

    def run(self) -> None:
        digest = hashlib.sha256()
        try:
            offset = 0
            while block := os.pread(self._descriptor, _BLOCK, offset):
                digest.update(block)
                offset += len(block)
            self.value = digest.hexdigest()
        except OSError:
            self.value = ""
        finally:
            os.close(self._descriptor)


def _digest_at_once(descriptor: int) -> str:
    try:
        return hashlib.sha256(os.read(descriptor, _BLOCK)).hexdigest()
    finally:
        os.close(descriptor)


@dataclass
class Call:
    """What a tool's logic works with. `scratch` is a folder of this call alone, removed when it ends.

    `deadline`, in seconds of time.monotonic(), is when the watchdog ends the call.
    """

    tool: str
    config: Any
    arguments: dict[str, Any]
    directory: ArtifactDirectory
    scratch: str
    deadline: float = math.inf
    inputs: dict[str, InputFile] = field(default_factory=dict)
    pending: list[Pending] = field(default_factory=list)
    warnings: list[Warn] = field(default_factory=list)
    layers: dict[str, Any] = field(default_factory=dict)
    hashed: list[tuple[State, str]] = field(default_factory=list)
    entries: list[tuple[str, str, str, str]] = field(default_factory=list)  # of the ingest cache: tag, input, options, part
    used_entries: list[str] = field(default_factory=list)
    without_cache: bool = False
    _digests: dict[str, _Digest | str] = field(default_factory=dict)

    # ---- limits

    def setting(self, name: str, default: Any = None) -> Any:
        """A user parameter, or the default where this tool has none of that name."""
        value = getattr(self.config, name, None)
        return default if value is None else value

    @property
    def memory_limit(self) -> int:
        return parse_size(self.setting("memory_limit", "2GB"), "memory_limit")

    @property
    def temp_disk_limit(self) -> int:
        return parse_size(self.setting("temp_disk_limit", "10GB"), "temp_disk_limit")

    @property
    def threads(self) -> int:
        return int(self.setting("threads", processors()))

    def preview_rows(self, asked: int | None) -> int:
        """How many rows to show: what the agent asked, by default 20, never more than the operator allows."""
        return min(20 if asked is None else asked, int(self.setting("max_preview_rows", 200)))

    # ---- inputs

    def read(self, file: InputFile, *, whole: bool = True) -> InputFile:
        """Notes a file as an input of this call. Its hash is taken unless only its metadata is read."""
        if file.path not in self.inputs:
            self.inputs[file.path] = file
        if whole and file.path not in self._digests:
            descriptor = self.directory.open_descriptor(file)
            state = State.of(os.fstat(descriptor))
            digest = known(self.directory.root, state) if state.size >= WORTH_BYTES else ""
            if digest:
                os.close(descriptor)
                self._digests[file.path] = digest
            elif state.size < _BLOCK:
                self._digests[file.path] = _digest_at_once(descriptor)
            else:
                self._digests[file.path] = _Digest(descriptor, state)
        return file

    def digest(self, path: str) -> str:
        """The sha256 of an input; empty where only its metadata was read."""
        held = self._digests.get(path, "")
        if isinstance(held, _Digest):
            held.join()
            self._digests[path] = held.value
            self.hashed.append((held.state, held.value))
            return held.value
        return held

    def digest_at_hand(self, path: str) -> str:
        """The sha256 of an input where it is known by now; else ""."""
        held = self._digests.get(path, "")
        return held if isinstance(held, str) else ""

    # ---- outputs

    def scratch_path(self, name: str) -> str:
        return os.path.join(self.scratch, name)

    def result_output(self, output_path: str | None, overwrite: bool | None, stem: str, extension: str) -> OutputFile:
        """Where the result goes: where the agent said, else under `results/` by a name of the call and its inputs."""
        if output_path is not None:
            output = self.directory.output_file(output_path, bool(overwrite))
            self._refuse_input_as_output(output)
            return output
        return OutputFile(f"results/{stem}_{self.fingerprint()}.{extension}", False, True)

    def _refuse_input_as_output(self, output: OutputFile) -> None:
        full = os.path.join(self.directory.root, output.path)
        if not os.path.exists(full):
            return
        status = os.stat(full)
        for file in self.inputs.values():
            if (file.device, file.inode) == (status.st_dev, status.st_ino):
                raise InvalidParameters(
                    f"output_path {output.path!r} is an input of this very call, and inputs are never changed.",
                    "Choose another output_path.",
                )

    def fingerprint(self) -> str:
        """Twelve hex digits of this call and the contents of its inputs: the same call on the same inputs has the same."""
        asked = {key: part for key, part in self.arguments.items() if key not in _NOT_OF_THE_RESULT}
        state = [(path, self.digest(path) or self.inputs[path].size) for path in sorted(self.inputs)]
        text = json.dumps([self.tool, asked, state], sort_keys=True, ensure_ascii=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def publish(self, scratch_name: str, output: OutputFile, format_name: str, rows: int | None = None) -> Artifact:
        """Hands over a finished file of the scratch folder; it is put in place after the worker has ended well."""
        digest = hashlib.sha256()
        size = 0
        with open(self.scratch_path(scratch_name), "rb") as stream:
            flushing = threading.Thread(target=os.fsync, args=(stream.fileno(),), daemon=True)
            flushing.start()  # the disk and the hash at once; the watchdog makes sure of the first
            while block := stream.read(_BLOCK):
                digest.update(block)
                size += len(block)
            flushing.join()
        artifact = Artifact(output.path, format_name, size, digest.hexdigest(), rows)
        self.pending.append(Pending(scratch_name, output, artifact))
        return artifact

    def warn(self, code: str, message: str) -> None:
        self.warnings.append(Warn(code, message))


_current: ContextVar[Call] = ContextVar("call")


def activate(call: Call) -> None:
    """Makes this the call that `current` gives."""
    _current.set(call)


def current() -> Call:
    """The call that is being worked on."""
    return _current.get()

"""Starts tools as agents' hosts do, each call a process, and holds every answer to the one-line contract."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TOOLS = tuple(sorted(path.parent.name for path in (ROOT / "builtin_tools").glob("*/tool.py")))
_KEY = b"tool_output "


@dataclass
class Answer:
    """One envelope, with the exit status and what went to standard error."""

    document: dict[str, Any]
    exit_status: int
    stderr: str
    raw: str

    @property
    def ok(self) -> bool:
        return bool(self.document["ok"])

    @property
    def code(self) -> str:
        """The error's code; of a success `ok`."""
        return "ok" if self.ok else str(self.document["error"]["code"])

    @property
    def words(self) -> str:
        """Message and guidance of a failure."""
        return f"{self.document['error']['message']} {self.document['error']['guidance']}"

    @property
    def summary(self) -> str:
        return str(self.document["summary"])

    @property
    def rows(self) -> list[list[Any]]:
        rows: list[list[Any]] = self.document["table"]["rows"]
        return rows

    def column(self, name: str) -> list[Any]:
        at = [column["name"] for column in self.document["table"]["columns"]].index(name)
        return [row[at] for row in self.rows]


def strict(text: str) -> Any:
    """JSON by RFC 8259: NaN and Infinity are refused, which Python's parser takes by itself."""

    def refuse(word: str) -> Any:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


class Runner:
    """Runs tools in one artifact directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def write(self, name: str, content: str | bytes) -> Path:
        """A file of the directory; folders on the way are made."""
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def tool(self, name: str, user: dict[str, Any] | None = None, env: dict[str, str] | None = None, **parameters: Any) -> Answer:
        """One call with these tool parameters. `user` is added to the user parameters, where None takes one away."""
        settings = {"artifact_dir": str(self.directory), "timeout_seconds": 60} | (user or {})
        settings = {key: value for key, value in settings.items() if value is not None}
        texts = ("--user-params", json.dumps(settings), "--tool-params", json.dumps(parameters))
        return self.argv(str(ROOT / "builtin_tools" / name / "tool.py"), *texts, env=env)

    def argv(self, *arguments: str, env: dict[str, str] | None = None, stdin: bytes = b"", cwd: Path | None = None) -> Answer:
        """One call with these very arguments of the interpreter."""
        surroundings = {key: value for key, value in os.environ.items() if key != "ARTIFACT_DIR"} | (env or {})
        done = subprocess.run(
            [sys.executable, *arguments], input=stdin, capture_output=True, env=surroundings, cwd=cwd, timeout=120, check=False
        )
        stderr = done.stderr.decode("utf-8", "replace")
        assert done.stdout.startswith(_KEY), f"no answer: {done.stdout[:200]!r}\n{stderr}"
        assert done.stdout.count(b"\n") == 1 and done.stdout.endswith(b"\n"), f"more than one line: {done.stdout[:400]!r}"
        raw = done.stdout[len(_KEY) : -1].decode("utf-8")
        document = strict(raw)
        assert isinstance(document["ok"], bool)
        assert document.keys() <= {"ok", "summary", "table", "text", "artifacts", "details", "warnings", "error"}
        assert None not in document.values(), "absent parts are left out"
        return Answer(document, done.returncode, stderr, raw)

    def log(self) -> list[dict[str, Any]]:
        """The entries of the run log, oldest first."""
        path = self.directory / ".artifacts" / "log.jsonl"
        return [strict(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []

"""Paths and patterns become tables: what a file is by its content, several files as one, what is refused.

`Here` is also what the other tests of the table tools run: a call of a tool in this very process.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from builtin_tools.core.artifacts import ArtifactDirectory
from builtin_tools.core.call import Call, activate
from builtin_tools.core.envelope import render
from builtin_tools.core.errors import ToolError
from builtin_tools.core.parameters import validated
from builtin_tools.core.publishing import put_in_place
from tests.harness import Answer, Runner, strict


class Here(Runner):
    """Calls in this process: all of a tool but its argv, worker and log. `threads` is 1, so that tests stay cheap."""

    def call(self, tool: str = "test", config: Any = None, arguments: dict[str, Any] | None = None) -> Call:
        """A call with a scratch folder of its own, made the current one."""
        scratch = tempfile.mkdtemp(dir=self.directory.parent)
        directory = ArtifactDirectory.open(str(self.directory))
        config = config or validated(importlib.import_module("builtin_tools.query_sql.tool").UserParameters, {"threads": 1})
        call = Call(tool, config, arguments or {}, directory, scratch)
        activate(call)
        return call

    def tool(self, name: str, user: dict[str, Any] | None = None, env: dict[str, str] | None = None, **parameters: Any) -> Answer:
        """As Runner's, but within this process; `env` is not taken."""
        assert env is None
        module = importlib.import_module(f"builtin_tools.{name}.tool")
        config = validated(module.UserParameters, {"threads": 1} | (user or {}))
        try:
            arguments = validated(module.ToolParameters, parameters)
            call = self.call(name, config, arguments.model_dump(exclude_none=True))
            answer = module.run_tool(config, arguments)
            answer.warnings[:0] = call.warnings
            raw = render(answer, config.max_output_chars, config.max_cell_chars)
            for pending in call.pending:
                put_in_place(call.directory, call.scratch, pending.document())
        except ToolError as problem:
            return Answer({"ok": False, "error": problem.document()}, problem.exit_status, "", "")
        return Answer(strict(raw), 0, "", raw)


@pytest.fixture
def here(tmp_path: Path) -> Here:
    """Calls within this process, in a fresh artifact directory."""
    directory = tmp_path / "artifacts"
    directory.mkdir()
    return Here(directory)

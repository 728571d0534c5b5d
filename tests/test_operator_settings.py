"""One set of the operator's settings serves all tools, and a setting that no tool has is an error."""

import importlib
from pathlib import Path

from builtin_tools.core.parameters import OPERATOR_SETTINGS

TOOLS = sorted(path.parent.name for path in Path(__file__).parents[1].glob("builtin_tools/*/tool.py"))


def test_the_settings_that_other_tools_pass_over_are_just_those_that_not_every_tool_has() -> None:
    fields = [set(importlib.import_module(f"builtin_tools.{tool}.tool").UserParameters.model_fields) for tool in TOOLS]
    assert set.union(*fields) - set.intersection(*fields) == OPERATOR_SETTINGS

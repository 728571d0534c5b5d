"""Every tool.py as Agent Studio sees it: parsed and never imported, its parameters rebuilt from their fields alone."""

from __future__ import annotations

import ast
import importlib
import typing
from collections import defaultdict
from pathlib import Path
from typing import Any

import pydantic
import pytest

from tests.harness import ROOT, TOOLS

MOST_LINES = 80
INTERFACE = {"OUTPUT_KEY", "UserParameters", "ToolParameters", "run_tool"}
COMMON = {"artifact_dir", "timeout_seconds", "memory_limit", "max_output_chars", "max_cell_chars"}


def tool_file(tool: str) -> Path:
    return ROOT / "builtin_tools" / tool / "tool.py"


def parsed(tool: str) -> ast.Module:
    return ast.parse(tool_file(tool).read_text("utf-8"))


def model(tool: str, name: str) -> type[pydantic.BaseModel]:
    found: type[pydantic.BaseModel] = getattr(importlib.import_module(f"builtin_tools.{tool}.tool"), name)
    return found


def rebuilt(tool: str, name: str) -> type[pydantic.BaseModel]:
    """The model made of the annotated fields alone, with the names of typing and pydantic and no others in scope."""
    written = next(node for node in parsed(tool).body if isinstance(node, ast.ClassDef) and node.name == name)
    fields = [ast.unparse(node) for node in written.body if isinstance(node, ast.AnnAssign)]
    source = f"class {name}(BaseModel):\n" + "".join(f"    {field}\n" for field in fields)
    scope: dict[str, Any] = {key: getattr(typing, key) for key in typing.__all__}
    scope |= {"BaseModel": pydantic.BaseModel, "Field": pydantic.Field, "__name__": "rebuilt"}
    exec(compile(source, name, "exec", dont_inherit=True), scope)  # without this module's own future import
    found: type[pydantic.BaseModel] = scope[name]
    return found


@pytest.mark.parametrize("name", ["ToolParameters", "UserParameters"])
@pytest.mark.parametrize("tool", TOOLS)
def test_a_model_rebuilt_from_its_fields_has_the_schema_of_the_real_one(tool: str, name: str) -> None:
    assert rebuilt(tool, name).model_json_schema() == model(tool, name).model_json_schema()


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_file_holds_the_interface_and_nothing_else(tool: str) -> None:
    names = set()
    for node in parsed(tool).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    assert names == INTERFACE
    assert importlib.import_module(f"builtin_tools.{tool}.tool").OUTPUT_KEY == "tool_output"
    assert len(tool_file(tool).read_text("utf-8").splitlines()) < MOST_LINES


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_describes_itself_and_each_of_its_parameters(tool: str) -> None:
    assert len(ast.get_docstring(parsed(tool)) or "") > 100
    for name in ("ToolParameters", "UserParameters"):
        nameless = [key for key, info in model(tool, name).model_fields.items() if not info.description]
        assert nameless == []


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_imports_only_typing_and_pydantic_before_it_runs(tool: str) -> None:
    imports = [node for node in parsed(tool).body if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert {node.module if isinstance(node, ast.ImportFrom) else node.names[0].name for node in imports} <= {"typing", "pydantic"}


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_has_requirements_that_the_project_pins_and_a_readme_with_an_example(tool: str) -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    lines = (tool_file(tool).with_name("requirements.txt")).read_text("utf-8").split()
    assert "pydantic" in " ".join(lines)
    assert [line for line in lines if f'"{line}"' not in project] == []
    assert "```console\n$ python builtin_tools/" in tool_file(tool).with_name("README.md").read_text("utf-8")


def test_a_user_parameter_of_several_tools_has_one_default_and_one_text() -> None:
    seen: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for tool in TOOLS:
        for name, schema in model(tool, "UserParameters").model_json_schema()["properties"].items():
            seen[name][repr(sorted(schema.items()))].append(tool)
    differing = {name: dict(forms) for name, forms in seen.items() if len(forms) > 1}
    assert differing == {}


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_takes_the_common_user_parameters(tool: str) -> None:
    assert model(tool, "UserParameters").model_fields.keys() >= COMMON

"""The examples of the README and of each tool's README, run as a reader would run them.

A ```console block holds commands after `$ ` and below each what it prints; `...` stands for anything within a line.
All blocks of a page run in their order, in one copy of artifacts_demo beside a link to the tools. Where no output is
shown, the answer must be a success. Blocks of other languages are not run.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness import ROOT

PAGES = sorted(str(path.relative_to(ROOT)) for path in [ROOT / "README.md", *(ROOT / "builtin_tools").glob("*/README.md")])


def examples(page: str) -> list[tuple[str, list[str]]]:
    """Pairs of a command and the lines shown below it."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif found:
                found[-1][1].append(line)
    return found


def fits(shown: str, printed: str) -> bool:
    """Whether a printed line is what the page shows, `...` standing for anything."""
    return re.fullmatch(".*".join(map(re.escape, shown.split("..."))), printed) is not None


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a copy of the demo's files and a link to the tools."""
    (tmp_path / "builtin_tools").symlink_to(ROOT / "builtin_tools")
    shutil.copytree(ROOT / "artifacts_demo", tmp_path / "artifacts_demo", ignore=shutil.ignore_patterns(".artifacts", "results"))
    return tmp_path


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_answer_as_it_shows(page: str, place: Path) -> None:
    found = examples((ROOT / page).read_text("utf-8"))
    assert found, f"{page} has no ```console block"
    environment = {key: value for key, value in os.environ.items() if key != "ARTIFACT_DIR"}
    for command, shown in found:
        words = shlex.split(command)
        assert words[0] == "python", f"{page}: an example begins with `$ python`: {command}"
        done = subprocess.run(
            [sys.executable, *words[1:]],
            cwd=place,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=120,
        )
        printed = done.stdout.splitlines()
        assert len(printed) == 1, f"{command}\n{done.stdout}{done.stderr}"
        if shown:
            assert len(shown) == 1 and fits(shown[0], printed[0]), f"{page}: {command}\nshown:   {shown}\nprinted: {printed[0]}"
        else:
            assert json.loads(printed[0].removeprefix("tool_output "))["ok"], f"{command}\n{printed[0]}"


def test_the_readme_links_to_nothing_that_is_missing() -> None:
    for page in [*PAGES, "artifacts_demo/README.md", "docs/tools.md"]:
        text = (ROOT / page).read_text("utf-8")
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"


def test_dots_stand_for_anything_within_a_line() -> None:
    assert fits('{"a": 1, ... "z": 2}', '{"a": 1, "b": [], "z": 2}')
    assert not fits('{"a": 1}', '{"a": 12}') and not fits("a.c", "abc")

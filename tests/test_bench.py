"""The benchmarks' own workings: costs of a process and its children, and the page they are written to."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.parts.bench import report
from scripts.parts.bench.cold import CALLS
from scripts.parts.bench.measure import compare, cost_of, modules_of, tool_command
from tests.harness import ROOT, TOOLS


def test_every_tool_has_a_cold_benchmark() -> None:
    assert set(CALLS) == set(TOOLS)


def test_the_cost_of_a_process_includes_its_children(tmp_path: Path) -> None:
    busy = "import time\nend = time.process_time() + 0.4\nwhile time.process_time() < end: pass"
    alone = cost_of(["-c", "pass"], tmp_path)
    parent = cost_of(["-c", f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {busy!r}])"], tmp_path)
    assert parent.cpu > alone.cpu + 0.3 and parent.peak > 1_000_000


def test_a_command_that_fails_is_not_measured(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="went wrong"):
        cost_of(["-c", "import sys; sys.exit('went wrong')"], tmp_path)
    with pytest.raises(RuntimeError, match="FILE_NOT_FOUND"):
        cost_of(tool_command("list_directory", tmp_path, {"path": "missing"}), tmp_path)


def test_modules_are_counted_from_the_start_of_the_interpreter(tmp_path: Path) -> None:
    none = modules_of(["-c", "pass"], tmp_path)
    assert none > 10 and modules_of(["-c", "import colorsys"], tmp_path) == none + 1


def test_a_section_of_the_page_takes_the_place_of_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "PAGE", tmp_path / "benchmarks.md")
    pair = compare("x", ["-c", "pass"], ["-c", "pass"], tmp_path, 1)
    for content in ("first", report.pairs_table([pair])):
        report.write_section("cold", "Cold", content)
        report.write_section("write", "Write", "other")
    text = (tmp_path / "benchmarks.md").read_text("utf-8")
    assert text.count("## Cold") == text.count("## Write") == 1 and "first" not in text and "| `x` |" in text
    assert text.startswith("# Benchmarks") and (ROOT / "docs").is_dir()

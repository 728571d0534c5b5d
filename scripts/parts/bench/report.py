"""Measurements as Markdown, and their place in docs/benchmarks.md."""

from __future__ import annotations

import os
import platform
import re
from datetime import date
from importlib.metadata import version

from scripts.parts.bench.measure import ROOT, Pair
from scripts.parts.docs import table

PAGE = ROOT / "docs" / "benchmarks.md"
_HEAD = "# Benchmarks\n\nWritten by `scripts/bench SUBCOMMAND --write-docs`; each section says where and when it was measured.\n"


def pairs_table(pairs: list[Pair]) -> str:
    """Tool against floor, one row each; a ratio is tool by floor."""
    rows = []
    for pair in pairs:
        tool, floor = pair.tool, pair.floor
        rows.append(
            [
                f"`{pair.name}`",
                f"{tool.cpu * 1000:,.0f} / {floor.cpu * 1000:,.0f} ms",
                f"**{tool.cpu / floor.cpu:.2f}**",
                f"{tool.wall * 1000:,.0f} / {floor.wall * 1000:,.0f} ms",
                f"{tool.wall / floor.wall:.2f}",
                f"{tool.peak / 1e6:,.0f} / {floor.peak / 1e6:,.0f} MB",
                f"{pair.tool_modules:,} / {pair.floor_modules:,}",
            ]
        )
    return table(["tool", "CPU, tool / floor", "ratio", "wall", "ratio", "peak memory", "modules"], rows)


def surroundings() -> str:
    """Where and when: the machine, the versions, the date."""
    return (
        f"{date.today()}, {platform.system()} {platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}, "
        f"DuckDB {version('duckdb')}, pydantic {version('pydantic')}."
    )


def write_section(name: str, title: str, content: str) -> None:
    """Puts a section into the page, in the place of an earlier one of that name."""
    text = PAGE.read_text("utf-8") if PAGE.exists() else _HEAD
    section = f"<!-- {name} -->\n\n## {title}\n\n{surroundings()}\n\n{content}\n<!-- end of {name} -->\n"
    pattern = re.compile(rf"<!-- {name} -->\n.*?<!-- end of {name} -->\n", re.DOTALL)
    text = pattern.sub(lambda _: section, text) if pattern.search(text) else f"{text}\n{section}"
    PAGE.write_text(text, "utf-8")

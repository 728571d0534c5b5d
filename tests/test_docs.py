"""The generated pages: up to date, complete, and in the words of the schemas."""

from __future__ import annotations

import pytest

from builtin_tools.core.errors import NETWORK_EXIT_STATUS
from scripts.parts.docs import MEANINGS, between_marks, codes, pages, table, tools, type_words
from tests.harness import ROOT, TOOLS


def test_the_generated_pages_are_up_to_date() -> None:
    stale = [str(path.relative_to(ROOT)) for path, text in pages().items() if path.read_text("utf-8") != text]
    assert stale == [], "run scripts/docs"


def test_every_tool_and_every_parameter_is_in_the_pages() -> None:
    page = (ROOT / "docs" / "tools.md").read_text("utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    assert {tool.name for tool in tools()} == set(TOOLS)
    for tool in tools():
        assert f"\n## {tool.name}\n" in page and f"[`{tool.name}`]" in readme
        assert all(f"| `{name}` |" in page for name in [*tool.parameters["properties"], *tool.user_parameters["properties"]])


def test_every_code_has_a_meaning_and_no_meaning_lacks_its_code() -> None:
    assert codes().keys() == MEANINGS.keys()
    assert codes()["FILE_NOT_FOUND"] == (0, "agent") and codes()["PASSWORD_REQUIRED"] == (1, "operator")
    assert all(codes()[code][0] == status for code, status in NETWORK_EXIT_STATUS.items())


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string"}, "text"),
        ({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]}, "integer ≥ 0"),
        ({"type": "array", "items": {"type": "string"}}, "list of text"),
        ({"anyOf": [{"type": "object"}, {"type": "array", "items": {}}]}, "object or list"),
        ({"enum": ["a", "b"], "type": "string"}, "one of `a`, `b`"),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 9}, "number > 0, ≤ 9"),
    ],
)
def test_types_are_told_in_words(schema: dict[str, object], words: str) -> None:
    assert type_words(schema) == words


def test_a_bar_in_a_cell_does_not_end_it() -> None:
    assert table(["a"], [["x|y"]]) == "| a |\n| --- |\n| x\\|y |\n"


def test_a_page_without_its_marks_is_refused() -> None:
    assert between_marks("<!-- tools: x -->\nold\n<!-- end of tools -->", "tools", "new").split() == [
        "<!--", "tools:", "x", "-->", "new", "<!--", "end", "of", "tools", "-->",
    ]  # fmt: skip
    with pytest.raises(SystemExit, match="codes"):
        between_marks("nothing", "codes", "new")

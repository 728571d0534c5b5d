"""Paths and patterns become tables: what a file is by its content, several files as one, what is refused.

`Here` is also what the other tests of the table tools run: a call of a tool in this very process.
"""

from __future__ import annotations

import importlib
import tempfile
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


# ---------------------------------------------------------------- what a path stands for


def test_a_path_names_that_very_file_before_it_is_a_pattern(here: Here) -> None:
    here.write("data[1].csv", "v\n1\n")
    here.write("data1.csv", "v\n2\n")
    here.write('it\'s, "odd".csv', "v\n3\n")
    assert here.tool("query_table", path="data[1].csv").rows == [[1]]
    assert here.tool("query_table", path="data[12].csv").rows == [[2]]
    assert here.tool("query_table", path='it\'s, "odd".csv').rows == [[3]]
    assert here.tool("query_sql", sql="SELECT v FROM 'it''s, \"odd\".csv'").rows == [[3]]
    assert here.tool("query_sql", sql="SELECT v FROM 'data[1].csv' UNION ALL SELECT v FROM 'data1.csv' ORDER BY v").rows == [
        [1],
        [2],
    ]


def test_names_are_matched_composed_or_not(here: Here) -> None:
    here.write("cafe\u0301.csv", "v\n1\n")
    assert here.tool("query_table", path="caf\u00e9.csv").rows == [[1]]


def test_several_files_are_one_table_with_columns_by_name(here: Here) -> None:
    here.write("p/a.csv", "id,x\n1,p\n")
    here.write("p/b.csv", "y,id\n2.5,2\n")
    answer = here.tool("query_table", path="p/*.csv", order_by=["id"], columns=["id", "x", "y"])
    assert answer.rows == [[1, "p", None], [2, None, 2.5]]
    assert answer.document["details"]["source"]["rows"] == 2


def test_a_column_whose_type_differs_from_file_to_file_is_the_text_of_both(here: Here) -> None:
    here.write("p/a.csv", "id,v\n1,7\n")
    here.write("p/b.csv", "id,v\n2,007\n")
    here.write("p/c.csv", "id,v\n3,\n")
    answer = here.tool("query_table", path="p/*.csv", order_by=["id"])
    assert answer.rows == [[1, "7"], [2, "007"], [3, None]]


def test_decimals_of_unlike_width_widen_and_of_unlike_scale_stay_text(here: Here) -> None:
    here.write("p/a.csv", "v\n1.50\n")
    here.write("p/b.csv", "v\n100.25\n")
    answer = here.tool("query_table", path="p/*.csv", order_by=["v"])
    assert answer.document["table"]["columns"] == [{"name": "v", "type": "DECIMAL(5,2)"}] and answer.rows == [[1.5], [100.25]]
    here.write("p/c.csv", "v\n2.5\n")
    assert sorted(here.tool("query_table", path="p/*.csv").column("v")) == ["1.50", "100.25", "2.5"]


def test_partitions_of_text_files_are_columns(here: Here) -> None:
    here.write("s/year=2024/a.csv", "v\n1\n")
    here.write("s/year=2025/b.csv", "v\n2\n")
    assert here.tool("query_table", path="s/*/*.csv", order_by=["v"]).rows == [[1, "2024"], [2, "2025"]]


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("a.txt", b"id\tname\n1\tx\n2\ty\n", [[1, "x"], [2, "y"]]),
        ("b.data", b"id;name\n1;x\n", [[1, "x"]]),
        ("noext", b'{"id": 1, "name": "x"}\n{"id": 2, "name": "y"}\n', [[1, "x"], [2, "y"]]),
        ("a.json", b'[{"id": 1, "name": "x"}]', [[1, "x"]]),
    ],
)
def test_a_file_is_what_its_content_says(here: Here, name: str, content: bytes, rows: list[list[Any]]) -> None:
    here.write(name, content)
    answer = here.tool("query_table", path=name)
    assert answer.rows == rows


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.pdf", b"%PDF-1.7\n", "UNSUPPORTED_FORMAT"),
        ("a.csv", b"\x89PNG\r\n\x1a\n", "UNSUPPORTED_FORMAT"),
        ("a.csv", b"SQLite format 3\0", "UNSUPPORTED_FORMAT"),
        ("a.csv", b"\x7fELF\2\1\1", "UNSUPPORTED_FORMAT"),
        ("a.csv", b"", "FILE_EMPTY"),
        ("a.csv", b" \n\n \t\n", "FILE_EMPTY"),
        ("a.csv", b"\xef\xbb\xbf", "FILE_EMPTY"),
        ("a.parquet", b"PAR1", "FILE_CORRUPT"),
        ("a.csv.gz", b"\x1f\x8b\x08\0\0\0\0\0", "FILE_CORRUPT"),
        ("a.xlsx", b"PK\x03\x04garbage", "FILE_CORRUPT"),
    ],
)
def test_what_holds_no_table_is_refused_by_name(here: Here, name: str, content: bytes, code: str) -> None:
    here.write(name, content)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("query_table", {"path": name}),
        ("query_sql", {"sql": f"FROM '{name}'"}),
        ("describe_table", {"path": name}),
    ]
    for tool, parameters in calls:
        answer = here.tool(tool, **parameters)
        assert answer.code == code and name in answer.words and str(here.directory) not in answer.words


def test_a_folder_a_pattern_without_matches_and_a_missing_file_say_what_there_is(here: Here) -> None:
    here.write("data/sales.csv", "v\n1\n")
    assert here.tool("query_table", path="data").code == "UNSUPPORTED_FORMAT"
    for path in ("*.parquet", "sales.csv", "data/sale.csv"):
        answer = here.tool("query_table", path=path)
        assert answer.code == "FILE_NOT_FOUND" and "data/sales.csv" in answer.words


def test_links_inside_are_taken_and_links_outside_left_out(here: Here) -> None:
    here.write("../outside.csv", "v\n666\n")
    here.write("a.csv", "v\n1\n")
    (here.directory / "b.csv").symlink_to("a.csv")
    (here.directory / "c.csv").symlink_to(here.directory.parent / "outside.csv")
    assert here.tool("query_table", path="b.csv").rows == [[1]]
    assert here.tool("query_table", path="c.csv").code == "PATH_OUTSIDE_ARTIFACTS"
    answer = here.tool("query_table", path="*.csv")
    assert answer.rows == [[1], [1]] and "c.csv" in str(answer.document["warnings"])


def test_an_input_that_several_names_stand_for_is_read_once(here: Here) -> None:
    here.write("a.csv", "v\n1\n2\n")
    answer = here.tool("query_sql", sql="SELECT count(*) FROM 'a.csv' x, a y, read_csv('a.csv')")
    assert answer.rows == [[8]]

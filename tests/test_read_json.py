"""read_json started as a process: tables, outlines, files written, and what it says of files that are damaged."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

TOOL = Path(__file__).resolve().parents[1] / "builtin_tools" / "read_json" / "tool.py"
Read = Callable[..., dict[str, Any]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Calls the tool on files of a fresh directory: `read({"a.json": "[1]"}, path="a.json")`."""

    def call(files: dict[str, str | bytes], user: dict[str, Any] | None = None, **arguments: Any) -> dict[str, Any]:
        for name, content in files.items():
            (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        arguments.setdefault("path", next(iter(files), ""))
        settings = {"artifact_dir": str(tmp_path), **(user or {})}
        command = [sys.executable, str(TOOL), "--user-params", json.dumps(settings), "--tool-params", json.dumps(arguments)]
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
        assert done.stdout.startswith(b"tool_output "), done.stderr.decode()
        document: dict[str, Any] = json.loads(done.stdout[len(b"tool_output ") :])
        return document

    return call


def names_and_types(answer: dict[str, Any]) -> dict[str, str]:
    return {column["name"]: column["type"] for column in answer["table"]["columns"]}


def codes(answer: dict[str, Any]) -> list[str]:
    return [warning["code"] for warning in answer.get("warnings", [])]


def test_every_digit_of_every_number_is_in_the_answer(read: Read) -> None:
    text = (
        '[{"a": 18446744073709551615, "b": 0.1, "c": 12345678901234567.89, "d": 1e400, "e": 123456789012345678901234567890},'
        ' {"a": 1, "b": 2, "c": 1, "d": 1.10, "e": -1}]'
    )
    answer = read({"n.json": text})
    assert answer["table"]["rows"] == [
        ["18446744073709551615", 0.1, "12345678901234567.89", "1e400", "123456789012345678901234567890"],
        [1, 2.0, 1, "1.10", -1],
    ]
    assert names_and_types(answer) == {"a": "UBIGINT", "b": "DOUBLE", "c": "DECIMAL(19,2)", "d": "VARCHAR", "e": "DECIMAL(38,0)"}
    assert "TYPE_KEPT_AS_TEXT" in codes(answer)


def test_keys_that_differ_only_in_case_are_two_columns(read: Read) -> None:
    answer = read({"k.json": '[{"id": 1, "ID": "x", "": true}, {"ID_1": 4}]'})
    assert list(names_and_types(answer)) == ["id", "ID_2", "column3", "ID_1"]
    assert answer["table"]["rows"] == [[1, "x", True, None], [None, None, None, 4]]
    assert answer["details"]["original_names"] == {"ID_2": "ID", "column3": ""} and "COLUMN_RENAMED" in codes(answer)


def test_of_a_key_given_twice_the_last_value_counts_and_that_is_told(read: Read) -> None:
    answer = read({"d.ndjson": '{"a": 1, "a": 2}\n{"a": 3}\n'})
    assert answer["table"]["rows"] == [[2], [3]]
    assert "'a'" in next(warning["message"] for warning in answer["warnings"] if warning["code"] == "DUPLICATE_KEY")


def test_a_column_of_several_types_holds_each_value_as_it_is_written(read: Read) -> None:
    answer = read({"m.json": '[{"v": 1.50, "w": 1}, {"v": "text", "w": {"x": 1}}, {"v": true, "w": "s"}, {"v": null, "w": [2]}]'})
    assert names_and_types(answer) == {"v": "VARCHAR", "w": "JSON"}
    assert answer["table"]["rows"] == [["1.50", 1], ["text", {"x": 1}], ["true", "s"], [None, [2]]]
    assert "TYPES_MIXED" in codes(answer)


def test_records_that_are_no_objects_are_one_column(read: Read) -> None:
    assert read({"s.json": "[1, 2, 3]"})["table"]["rows"] == [[1], [2], [3]]
    assert names_and_types(read({"l.json": "[[1], [2, 3]]"})) == {"value": "BIGINT[]"}
    empty = read({"e.json": "[]"})["table"]
    assert (empty["rows"], empty["total_rows"], [column["name"] for column in empty["columns"]]) == ([], 0, ["value"])


@pytest.mark.parametrize(
    "place", ["/data/1/items", "$.data[1].items", "$['data'][1]['items']", "data[1].items", "$.data[1].items[*]"]
)
def test_a_records_path_is_taken_in_all_its_spellings(read: Read, place: str) -> None:
    document = {"data": [{"items": [{"n": 9}]}, {"items": [{"n": 1}, {"n": 2}]}], "after": {"deep": [[1]]}}
    answer = read({"p.json": json.dumps(document)}, records_path=place)
    assert (answer["table"]["rows"], answer["details"]["records_path"]) == ([[1], [2]], "/data/1/items")


def test_a_records_path_that_leads_nowhere_names_what_is_near(read: Read) -> None:
    error = read({"w.json": '{"meta": 1, "items": [{"n": 1}]}'}, records_path="/item")["error"]
    assert error["code"] == "INVALID_PARAMETERS" and "/items" in error["guidance"] and "meta" in error["guidance"]
    error = read({"a.json": '[{"n": 1}]'}, records_path="$.n")["error"]
    assert "leave records_path out" in error["guidance"] and "/0/n" in error["guidance"]
    assert "0 to 0" in read({"a.json": '[{"n": 1}]'}, records_path="/5")["error"]["guidance"]


def test_a_document_that_is_no_table_is_outlined_with_the_places_of_its_tables(read: Read) -> None:
    document = {"name": "demo", "limits": {"rows": 10}, "hosts": ["a", "b"], "orders": [{"id": 1, "lines": [{"sku": "x"}]}] * 3}
    answer = read({"o.json": json.dumps(document)})
    assert "table" not in answer and answer["text"]["content"].splitlines() == [
        "$: object with 4 keys",
        '  name: VARCHAR "demo"',
        "  limits: object with 1 key",
        "    rows: BIGINT 10",
        "  hosts: array of 2 elements",
        '  orders: array of 3 objects — a table: records_path "/orders"',
        "    id: BIGINT",
        "    lines: array of 1 object",
        "      sku: VARCHAR",
    ]
    assert "/orders" in answer["summary"]
    refused = read({"o.json": json.dumps(document)}, output_path="o.parquet")["error"]
    assert refused["code"] == "UNSUPPORTED_FORMAT" and "/orders" in refused["guidance"]


def test_no_file_is_written_unless_one_is_asked_for(read: Read, tmp_path: Path) -> None:
    assert "artifacts" not in read({"a.json": '[{"n": 1}]'})
    named = read({"a.json": '[{"n": 1}]'}, output_format="csv")["artifacts"][0]
    assert named["path"].startswith("results/") and named["path"].endswith(".csv") and named["rows"] == 1
    assert read({"a.json": '[{"n": 1}]'}, output_format="csv")["artifacts"][0] == named
    written = read({"a.json": '[{"n": 1}]'}, output_path="out.parquet")["artifacts"][0]
    assert pyarrow.parquet.read_table(tmp_path / written["path"]).to_pylist() == [{"n": 1}]
    assert read({"a.json": "[]"}, output_path="out.parquet")["error"]["code"] == "OUTPUT_EXISTS"


def test_what_is_written_holds_what_is_shown(read: Read, tmp_path: Path) -> None:
    text = '[{"n": 18446744073709551615, "t": "007", "j": [1, "a"]}, {"n": -1, "t": "2024-01-01", "j": {"x": null}}]'
    answer = read({"a.json": text}, output_path="out.parquet")
    assert answer["table"]["rows"] == [["18446744073709551615", "007", [1, "a"]], [-1, "2024-01-01", {"x": None}]]
    rows = pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [(str(row["n"]), row["t"], json.loads(row["j"])) for row in rows] == [
        ("18446744073709551615", "007", [1, "a"]),
        ("-1", "2024-01-01", {"x": None}),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[{"a": 1}, // two\n{"a": 2}]', ["comment", "line 1"]),
        ('[{"a": 1},\n]', ["comma before the closing bracket", "line 2, column 1"]),
        ('{"a": 1}\n{"a": 2\n{"a": 3}\n', ["line 2"]),
        ('{"a": 1}\n{"a": 2} tail\n', ["line 2", "column 10"]),
        ("[{'a': 1}]", ["single quotes"]),
        ('[{"a": None}]', ["None", "null"]),
        ('[{"a": "x', ["no closing quote"]),
        ('{"a": [1, 2', ["the end of the file"]),
        ('[{"a": "tab\there"}]', ["invalid control character"]),
        ("[1] [", ["line 1"]),
    ],
)
def test_damage_is_named_by_place_and_reason(read: Read, text: str, words: list[str]) -> None:
    error = read({"bad.json": text})["error"]
    assert error["code"] == "FILE_CORRUPT" and "bad.json" in error["message"]
    assert all(word in error["message"] for word in words), error["message"]


@pytest.mark.parametrize("text", ["[" * 2_000_000, '{"a":' * 500_000, '[{"a": ' + "[" * 100_000 + "]" * 100_000 + "}]"])
def test_nesting_without_end_is_refused_at_once(read: Read, text: str) -> None:
    error = read({"deep.json": text}, user={"timeout_seconds": 5, "memory_limit": "512MB"})["error"]
    assert error["code"] == "FILE_CORRUPT" and "nested" in error["message"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
def test_the_encodings_that_json_may_have_are_told_apart(read: Read, encoding: str) -> None:
    assert read({"e.json": '[{"név": "ő\\u00e9"}]'.encode(encoding)})["table"]["rows"] == [["őé"]]


def test_bytes_in_another_encoding_are_named_by_line(read: Read) -> None:
    error = read({"l.ndjson": '{"a": "x"}\n{"a": "é"}\n'.encode("latin-1")})["error"]
    assert error["code"] == "ENCODING_ERROR" and "line 2" in error["message"] and "0xE9" in error["message"]


def test_files_that_are_no_json_are_sent_to_the_tool_that_reads_them(read: Read) -> None:
    error = read({"t.csv": "id,name\n1,a\n"})["error"]
    assert error["code"] == "UNSUPPORTED_FORMAT" and "read_csv" in error["guidance"]
    assert "read_pdf" in read({"p.json": b"%PDF-1.7 ..."})["error"]["guidance"]
    assert read({"b.json": " \n"})["error"]["code"] == "FILE_EMPTY"


def test_compressed_files_are_read_by_content(read: Read) -> None:
    answer = read({"z.bin": gzip.compress(b'{"a":1}\n') + gzip.compress(b'{"a":2}\n')})
    assert (answer["table"]["rows"], answer["details"]["compression"]) == ([[1], [2]], "gzip")


def test_paging_shows_every_row_once(read: Read) -> None:
    lines = "".join(f'{{"n": {number}}}\n' for number in range(7))
    pages = [read({"n.ndjson": lines}, offset=offset, preview_rows=3)["table"] for offset in (0, 3, 6, 9)]
    assert [[row[0] for row in page["rows"]] for page in pages] == [[0, 1, 2], [3, 4, 5], [6], []]
    assert all(page["total_rows"] == 7 and page["truncated"] for page in pages)


def test_halves_of_surrogate_pairs_and_nul_signs_do_no_harm(read: Read) -> None:
    answer = read({"s.json": '[{"a": "x\\ud83d", "b": "\\u0000", "\\udc00": 1}]'}, output_path="s.parquet")
    assert answer["table"]["rows"] == [["x\ufffd", "\0", 1]] and "CHARACTER_REPLACED" in codes(answer)


def test_a_small_file_is_read_without_an_engine() -> None:
    modules = ", ".join(f"builtin_tools.core.tables.{name}" for name in ("read_json", "json_table", "json_outline"))
    heavy = "{'_duckdb', 'duckdb', 'pyarrow', 'pandas', 'numpy'}"
    code = f"import sys, {modules}; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=TOOL.parents[2], env={**os.environ}
    )
    assert done.stdout == "[]\n"


def test_a_pattern_must_match_one_file(read: Read) -> None:
    assert read({"one.json": "[1]"}, path="o*.json")["table"]["rows"] == [[1]]
    error = read({"two.json": "[2]"}, path="*.json")["error"]
    assert error["code"] == "INVALID_PARAMETERS" and "one.json" in error["message"] and "query_sql" in error["guidance"]

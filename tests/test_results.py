"""Results: every row in a file that reads back to the same values, the first rows and the exact count in the answer."""

from __future__ import annotations

import csv
import json
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.harness import Answer, Runner, strict
from tests.test_sources import Here, here

__all__ = ["here"]
FORMATS = ["parquet", "csv", "json"]
TEXT = (
    st.none()
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
    | st.sampled_from(
        ["", "NULL", "null", "NaN", "007", "1e5", '"', "\r", "\n", ",", "'", "\\", " x ", "true", "2024-01-01", "[1]", "\ufeff"]
    )
)
RECORDS = st.fixed_dictionaries(
    {
        "n": st.none() | st.integers(-(2**63), 2**63 - 1),
        "s": TEXT,
        "d": st.none() | st.decimals(-(10**7), 10**7, places=2),
        "f": st.none() | st.floats(),
        "day": st.none() | st.dates(date(1, 1, 1), date(9999, 12, 31)),
        "at": st.none() | st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)),
        "b": st.none() | st.booleans(),
        "l": st.none() | st.lists(TEXT, max_size=3),
    }
)
SCHEMA = pa.schema(
    [
        ("n", pa.int64()), ("s", pa.string()), ("d", pa.decimal128(10, 2)), ("f", pa.float64()), ("day", pa.date32()),
        ("at", pa.timestamp("us")), ("b", pa.bool_()), ("l", pa.list_(pa.string())),
    ]
)  # fmt: skip


def artifact(here: Runner, answer: Answer) -> Any:
    return here.directory / answer.document["artifacts"][0]["path"]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(RECORDS, min_size=1, max_size=5))
def test_a_result_reads_back_to_the_same_values_from_each_format(here: Here, records: list[dict[str, Any]]) -> None:
    pq.write_table(pa.Table.from_pylist(records, SCHEMA), here.directory / "in.parquet")
    answers = {name: here.tool("query_table", path="in.parquet", output_format=name) for name in FORMATS}
    assert answers["csv"].rows == answers["parquet"].rows == answers["json"].rows
    assert all(answer.document["table"]["total_rows"] == len(records) for answer in answers.values())

    kept = pq.read_table(artifact(here, answers["parquet"]))
    assert kept.schema.types == SCHEMA.types
    assert repr(kept.to_pylist()) == repr(pq.read_table(here.directory / "in.parquet").to_pylist())

    with open(artifact(here, answers["csv"]), encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    found = strict(artifact(here, answers["json"]).read_text("utf-8"))
    assert len(lines) == len(found) == len(records)
    for line, one, record in zip(lines, found, records, strict=True):
        assert [one["n"], one["s"], one["b"], one["l"]] == [record["n"], record["s"], record["b"], record["l"]]
        assert line["s"] == (record["s"] or "") and line["n"] == ("" if record["n"] is None else str(record["n"]))
        assert line["d"] == ("" if record["d"] is None else f"{record['d']:.2f}")
        assert line["day"] == ("" if record["day"] is None else record["day"].isoformat())
        assert record["f"] is None or repr(float(line["f"])) == repr(float(one["f"])) == repr(record["f"])
        assert record["at"] is None or datetime.fromisoformat(line["at"]) == datetime.fromisoformat(one["at"]) == record["at"]
        assert json.loads(line["l"] or "null") == record["l"]
    written = answers["csv"].document["artifacts"][0]["path"]
    again = here.tool("query_sql", sql=f"SELECT s, s IS NULL FROM read_csv('{written}', all_varchar = true)")
    assert again.rows == [[record["s"], record["s"] is None] for record in records], "NULL and '' stay apart"


@pytest.mark.parametrize("name", FORMATS)
def test_a_wide_or_odd_value_is_kept_whole(here: Here, name: str) -> None:
    sql = """SELECT 170141183460469231731687303715884105727::HUGEINT AS h, 340282366920938463463374607431768211455::UHUGEINT AS u,
        99999999999999999999999999999999999999::DECIMAL(38,0) AS d, '\\x00\\xFF'::BLOB AS b, INTERVAL '1 month 2 days' AS i,
        TIMESTAMPTZ '2024-01-01 09:00:00+09' AS tz, TIMESTAMP_NS '2024-01-01 00:00:00.123456789' AS ns, MAP {'k': 1} AS m,
        {'a': [1, NULL], 'b': 'x"'} AS st, uuid '00000000-0000-0000-0000-000000000001' AS id"""
    answer = here.tool("query_sql", sql=sql, output_format=name)
    shown = dict(zip([column["name"] for column in answer.document["table"]["columns"]], answer.rows[0], strict=True))
    assert shown == {
        "h": str(2**127 - 1), "u": str(2**128 - 1), "d": "9" * 38, "b": "hex:00ff", "i": "1 month 2 days",
        "tz": "2024-01-01T00:00:00+00:00", "ns": "2024-01-01T00:00:00.123456789", "m": {"k": 1},
        "st": {"a": [1, None], "b": 'x"'}, "id": "00000000-0000-0000-0000-000000000001",
    }  # fmt: skip
    path = answer.document["artifacts"][0]["path"]
    back = here.tool("query_sql", sql=f"SELECT h::VARCHAR, u::VARCHAR, d::VARCHAR, i::VARCHAR, id::VARCHAR FROM '{path}'")
    assert back.rows == [[str(2**127 - 1), str(2**128 - 1), "9" * 38, "1 month 2 days", shown["id"]]]


def test_nan_and_infinity_are_null_free_words_in_json_and_numbers_elsewhere(here: Here) -> None:
    sql = "SELECT unnest(['NaN'::DOUBLE, 'Infinity', '-Infinity', 0.5, -0.0]) AS f"
    for name in FORMATS:
        assert here.tool("query_sql", sql=sql, output_format=name).rows == [["NaN"], ["Infinity"], ["-Infinity"], [0.5], [-0.0]]
    made = strict(artifact(here, here.tool("query_sql", sql=sql, output_format="json")).read_text())
    assert [row["f"] for row in made] == ["NaN", "Infinity", "-Infinity", 0.5, 0.0]


@pytest.mark.parametrize("value", ["['NaN'::DOUBLE, 1.5]", "{'a': 'Infinity'::DOUBLE}"])
def test_nested_nan_is_strict_json_too(here: Here, value: str) -> None:
    answer = here.tool("query_sql", sql=f"SELECT {value} AS v", output_format="json")
    strict(artifact(here, answer).read_text())


def test_a_nested_huge_integer_is_kept_in_parquet(here: Here) -> None:
    answer = here.tool("query_sql", sql="SELECT {'h': 170141183460469231731687303715884105727::HUGEINT} AS v")
    assert answer.ok and answer.rows == [[{"h": str(2**127 - 1)}]]


def test_a_list_of_instants_is_a_list_in_the_preview_of_a_csv_file(here: Here) -> None:
    answer = here.tool("query_sql", sql="SELECT [TIMESTAMPTZ '2024-01-01 00:00:00+00'] AS v", output_format="csv")
    assert isinstance(answer.rows[0][0], list)


@pytest.mark.parametrize("name", FORMATS)
def test_a_row_value_is_json(here: Here, name: str) -> None:
    assert not isinstance(here.tool("query_sql", sql="SELECT row(1, 'x') AS v", output_format=name).rows[0][0], str)


def test_that_one_column_of_csv_cannot_hold_null_and_the_empty_string_apart_is_told(here: Here) -> None:
    answer = here.tool("query_sql", sql="SELECT unnest(['a', '', NULL]) AS v", output_format="csv")
    assert answer.rows[0] == ["a"] and len(answer.rows) == 3
    assert [warning["code"] for warning in answer.document["warnings"]] == ["NULL_AS_EMPTY"]


def test_one_column_of_csv_has_a_line_for_every_row(here: Here) -> None:
    answer = here.tool("query_sql", sql="SELECT unnest([1, NULL, 3]) AS v", output_format="csv")
    with open(artifact(here, answer), newline="") as stream:
        assert [row["v"] for row in csv.DictReader(stream)] == ["1", "", "3"]
    assert answer.rows == [[1], [None], [3]]


def test_two_columns_of_one_name_get_two_names(here: Here) -> None:
    answer = here.tool("query_sql", sql="SELECT 1 AS a, 2 AS A, 3 AS a")
    assert [column["name"] for column in answer.document["table"]["columns"]] == ["a", "A_2", "a_3"]
    assert answer.rows == [[1, 2, 3]] and answer.document["warnings"][0]["code"] == "COLUMN_NAMES_CHANGED"
    assert pq.read_table(artifact(here, answer)).column_names == ["a", "A_2", "a_3"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_result_without_rows_keeps_its_columns(here: Here, name: str) -> None:
    answer = here.tool("query_sql", sql="SELECT 1 AS a, 'x' AS b WHERE false", output_format=name)
    assert (answer.rows, answer.document["table"]["total_rows"]) == ([], 0) and "No rows" in answer.summary
    assert [column["name"] for column in answer.document["table"]["columns"]] == ["a", "b"]
    content = artifact(here, answer).read_bytes()
    assert {"parquet": content[:4] == b"PAR1", "csv": content == b"a,b\n", "json": content.split() == [b"[", b"]"]}[name]


@pytest.mark.parametrize(
    ("path", "asked", "expected"),
    [
        ("a.csv", None, "csv"),
        ("a.PQ", None, "parquet"),
        ("a.json", None, "json"),
        ("a.dat", None, "parquet"),
        ("a.dat", "json", "json"),
    ],
)
def test_the_format_is_the_one_asked_for_else_that_of_the_extension(
    here: Here, path: str, asked: str | None, expected: str
) -> None:
    more: dict[str, Any] = {"output_format": asked} if asked else {}
    answer = here.tool("query_sql", sql="SELECT 1 AS a", output_path=path, **more)
    assert answer.document["artifacts"][0]["format"] == expected and (here.directory / path).exists()


@pytest.mark.parametrize("path", ["a.xlsx", "a.tsv", "a.csv.gz", "a.ndjson"])
def test_a_format_that_is_not_written_is_refused_with_those_that_are(here: Here, path: str) -> None:
    answer = here.tool("query_sql", sql="SELECT 1 AS a", output_path=path)
    assert answer.code == "INVALID_PARAMETERS" and "parquet" in answer.words and not (here.directory / path).exists()


def test_the_rows_shown_are_the_first_rows_of_the_file(here: Here) -> None:
    answer = here.tool("query_sql", sql="SELECT range AS n FROM range(100_000) ORDER BY hash(range)", preview_rows=7)
    kept = pq.read_table(artifact(here, answer)).column("n").to_pylist()
    assert answer.column("n") == kept[:7] and len(kept) == answer.document["table"]["total_rows"] == 100_000
    assert answer.document["table"]["truncated"] and "100,000 rows; 7 shown" in answer.summary


def test_a_line_longer_than_the_engines_buffer_is_written_and_shown(here: Here) -> None:
    for name in FORMATS:
        answer = here.tool("query_sql", sql="SELECT repeat('x', 20_000_000) AS long, 1 AS n", output_format=name)
        assert answer.ok and answer.rows[0][1] == 1 and answer.rows[0][0].endswith("… [20,000,000 chars]")


def test_the_same_call_has_the_same_name_and_other_rows_another(run: Runner) -> None:
    run.write("in.csv", "n\n1\n2\n")
    first = run.tool("query_table", path="in.csv")
    path = artifact(run, first)
    second = run.tool("query_table", path="in.csv", preview_rows=1)
    assert second.document["artifacts"] == first.document["artifacts"]
    run.write("in.csv", "n\n1\n3\n")
    third = run.tool("query_table", path="in.csv")
    assert path.exists() and artifact(run, third) != path and third.rows == [[1], [3]]


def test_an_output_that_exists_is_kept_unless_told_and_an_input_is_never_an_output(here: Here) -> None:
    here.write("in.csv", "n\n1\n")
    here.write("out.csv", "mine")
    refused = here.tool("query_table", path="in.csv", output_path="out.csv")
    assert refused.code == "OUTPUT_EXISTS" and (here.directory / "out.csv").read_text() == "mine"
    assert here.tool("query_table", path="in.csv", output_path="out.csv", overwrite=True).ok
    assert (here.directory / "out.csv").read_text() == "n\n1\n"
    assert here.tool("query_table", path="in.csv", output_path="in.csv", overwrite=True).code == "INVALID_PARAMETERS"
    assert (here.directory / "in.csv").read_text() == "n\n1\n"


def test_decimals_keep_their_digits_in_each_format(here: Here) -> None:
    value = Decimal("12345678901234567.89")
    for name in FORMATS:
        answer = here.tool("query_sql", sql=f"SELECT {value}::DECIMAL(22,2) AS d", output_format=name)
        assert answer.rows == [[str(value)]]
        again = here.tool("query_sql", sql=f"SELECT d::VARCHAR FROM '{answer.document['artifacts'][0]['path']}'")
        assert again.rows == [[str(value)]]


def test_a_format_that_the_extension_contradicts_is_refused(here: Here) -> None:
    answer = here.tool("query_sql", sql="SELECT 1 AS a", output_path="a.json", output_format="csv")
    assert answer.document["error"]["code"] == "INVALID_PARAMETERS" and "output_format" in answer.document["error"]["guidance"]

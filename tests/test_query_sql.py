"""query_sql: files as tables by path and stem, parameters, and errors that say what to write instead."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.harness import Runner
from tests.test_sources import Here, here

__all__ = ["here"]
SHOP = "id,region,amount\n1,EU,10.50\n2,US,20.25\n3,EU,5.25\n"


@pytest.fixture
def shop(here: Here) -> Here:
    here.write("data/shop.csv", SHOP)
    here.write("bosses.json", '[{"region": "EU", "boss": "Ida"}, {"region": "US", "boss": "Ole"}]')
    pq.write_table(pa.table({"id": [1, 3], "v": [5, 7]}), here.write("extra.parquet", b""))
    return here


@pytest.mark.parametrize(
    "table",
    [
        "'data/shop.csv'",
        '"data/shop.csv"',
        "shop",
        "SHOP",
        "'data/*.csv'",
        "read_csv('data/shop.csv')",
        "'./data/../data/shop.csv'",
    ],
)
def test_a_file_is_a_table_by_its_path_its_stem_and_a_reader(shop: Here, table: str) -> None:
    assert shop.tool("query_sql", sql=f"SELECT sum(amount) FROM {table}").rows == [[36]]


def test_files_of_every_format_join(shop: Here) -> None:
    sql = "SELECT s.id, boss, v FROM shop s JOIN bosses USING (region) LEFT JOIN 'extra.parquet' e ON e.id = s.id ORDER BY s.id"
    answer = shop.tool("query_sql", sql=sql)
    assert answer.rows == [[1, "Ida", 5], [2, "Ole", None], [3, "Ida", 7]]
    assert answer.document["details"]["tables"] == {"shop": "csv", "bosses": "json", "extra.parquet": "parquet"}


def test_a_stem_of_two_files_is_refused_with_both(shop: Here) -> None:
    shop.write("other/shop.json", "[]")
    answer = shop.tool("query_sql", sql="FROM shop")
    assert answer.code == "TABLE_NOT_FOUND" and "data/shop.csv" in answer.words and "other/shop.json" in answer.words
    assert len(shop.tool("query_sql", sql="FROM 'data/shop.csv'").rows) == 3


@pytest.mark.parametrize(
    ("sql", "parameters", "rows"),
    [
        ("SELECT id FROM shop WHERE region = $where AND amount > $least", {"where": "EU", "least": 6}, [[1]]),
        ("SELECT id FROM shop WHERE region = ? AND amount < ?", ["EU", 6], [[3]]),
        ("SELECT $1 || $2", ["a", "b"], [["ab"]]),
        ("SELECT $x", {"x": "it's; -- $y"}, [["it's; -- $y"]]),
        ("SELECT $x::VARCHAR", {"x": None}, [[None]]),
        ("SELECT id FROM shop WHERE id IN (SELECT unnest($ids)) ORDER BY id", {"ids": [1, 3]}, [[1], [3]]),
        ("SELECT $n + 2", {"n": 9007199254740993}, [["9007199254740995"]]),
    ],
)
def test_parameters_are_bound(shop: Here, sql: str, parameters: Any, rows: list[list[Any]]) -> None:
    assert shop.tool("query_sql", sql=sql, parameters=parameters).rows == rows
    assert shop.tool("query_sql", sql=sql, parameters=json.dumps(parameters)).rows == rows


def test_a_parameter_that_is_missing_or_not_asked_for_is_named(shop: Here) -> None:
    missing = shop.tool("query_sql", sql="SELECT id FROM shop WHERE region = $where")
    assert missing.code == "SQL_ERROR" and "where" in missing.words and "parameters" in missing.words
    extra = shop.tool("query_sql", sql="SELECT $a", parameters={"a": 1, "b": 2})
    assert extra.code == "SQL_ERROR" and "b" in extra.words


@pytest.mark.parametrize(
    ("sql", "code", "words"),
    [
        ("SELECT * FROM shopp", "TABLE_NOT_FOUND", ["shopp", "shop (data/shop.csv)"]),
        ("SELECT * FROM 'data/shopp.csv'", "FILE_NOT_FOUND", ["data/shop.csv"]),
        ("SELECT * FROM data", "UNSUPPORTED_FORMAT", ["data/shop.csv"]),
        ("SELECT amout FROM shop", "COLUMN_NOT_FOUND", ["'amout'", "amount", "region"]),
        ("SELECT s.amout FROM shop s", "COLUMN_NOT_FOUND", ["amount"]),
        ("SELECT region, sum(amount) FROM shop", "SQL_ERROR", ["GROUP BY"]),
        ("SELECT CAST(region AS INTEGER) FROM shop", "SQL_ERROR", ["EU", "TRY_CAST"]),
        ("SELECT sum(region) FROM shop", "SQL_ERROR", ["sum", "CAST"]),
        ("SELECT no_such(id) FROM shop", "SQL_ERROR", ["no_such"]),
        ("SELECT id FROM shop a, shop b", "SQL_ERROR", ["Qualify"]),
        ("SELEC id FROM shop", "SQL_SYNTAX_ERROR", ["SELEC"]),
        ("SELECT id FROM shop WHERE", "SQL_SYNTAX_ERROR", []),
        ("SELECT 1/0::INT, 2147483647::INT + 1::INT", "SQL_ERROR", ["range"]),
        ("SELECT list_filter([1], x -> x > 0)", "SQL_ERROR", ["lambda x:"]),
        ("SELECT DATE_FORMAT(id, '%Y') FROM shop", "SQL_ERROR", ["strftime"]),
        ("SELECT TO_CHAR(id, 'YYYY') FROM shop", "SQL_ERROR", ["strftime"]),
        ("SELECT NVL(id, 0) FROM shop", "SQL_ERROR", ["coalesce"]),
        ("SELECT TOP 3 id FROM shop", "SQL_SYNTAX_ERROR", ["LIMIT"]),
        ("SELECT id FROM shop LIMIT 1, 2", "SQL_SYNTAX_ERROR", ["OFFSET"]),
    ],
)
def test_errors_name_the_fault_and_what_to_write_instead(shop: Here, sql: str, code: str, words: list[str]) -> None:
    answer = shop.tool("query_sql", sql=sql)
    assert answer.code == code and all(word in answer.words for word in words), answer.document
    assert str(shop.directory) not in answer.words and "{" not in answer.document["error"]["message"]


def test_names_that_need_quotes_are_shown_quoted(here: Here) -> None:
    here.write("n.csv", 'order date,"say ""hi""",größe\n2024-01-01,2,5\n')
    answer = here.tool("query_sql", sql="SELECT order date FROM n")
    assert not answer.ok and '"order date"' in answer.words
    assert here.tool("query_sql", sql='SELECT "order date", "say ""hi""", größe FROM n').rows == [["2024-01-01", 2, 5]]


def test_a_table_may_be_named_like_a_keyword_a_function_or_a_view(here: Here) -> None:
    for name in ("select", "read_csv", "duckdb_settings", "order", "main", "a b"):
        here.write(f"{name}.csv", "v\n1\n")
        assert here.tool("query_sql", sql=f'SELECT v FROM "{name}"').rows == [[1]], name


def test_a_common_table_expression_hides_a_file_only_where_it_stands(shop: Here) -> None:
    sql = "SELECT (WITH shop AS (SELECT 9 AS id) SELECT max(id) FROM shop) AS inner_id, max(id) AS outer_id FROM shop"
    assert shop.tool("query_sql", sql=sql).rows == [[9, 3]]


def test_options_of_readers_are_those_of_the_csv_tool(here: Here) -> None:
    here.write("odd.txt", "x\n1;NA\n2;1,5\n")
    sql = "FROM read_csv('odd.txt', delim = ';', header = false, skip = 1, nullstr = 'NA', decimal_separator = ',')"
    assert here.tool("query_sql", sql=sql).rows == [[1, None], [2, 1.5]]
    wrong = here.tool("query_sql", sql="FROM read_csv('odd.txt', colour = 'red')")
    assert wrong.code == "SQL_NOT_ALLOWED" and "colour" in wrong.words and "delim" in wrong.words
    types = here.tool(
        "query_sql", sql="FROM read_csv('odd.txt', delim = ';', header = false, skip = 1, types = {'column9': 'INT'})"
    )
    assert types.code == "SQL_ERROR" and "column0" in types.words


def test_pivot_looks_up_its_values_and_quotes_them(here: Here) -> None:
    here.write("p.csv", 'é,v\n"O\'N",1\n,2\n"""q""",3\n')
    answer = here.tool("query_sql", sql="PIVOT p ON é USING sum(v)")
    assert dict(zip([column["name"] for column in answer.document["table"]["columns"]], answer.rows[0], strict=True)) == {
        "O'N": 1,
        '"q"': 3,
    }
    refused = here.tool("query_sql", sql="PIVOT p ON é IN (SELECT é FROM p) USING sum(v)")
    assert refused.code == "SQL_NOT_ALLOWED" and "leave IN out" in refused.words


def test_integers_beyond_a_double_are_text_also_within_lists(here: Here) -> None:
    assert here.tool("query_sql", sql="SELECT 9007199254740993 AS a, 9007199254740992 AS b, [9007199254740993, 1] AS l").rows == [
        ["9007199254740993", 9007199254740992, ["9007199254740993", 1]]
    ]


def test_the_whole_call_as_a_process_in_another_time_zone(run: Runner) -> None:
    run.write("t.csv", "moment\n2024-01-01T00:00:00Z\n")
    answer = run.tool(
        "query_sql", env={"TZ": "Asia/Seoul"}, sql="SELECT moment, moment::DATE AS day, strftime(moment, '%H') AS hour FROM t"
    )
    assert answer.rows == [["2024-01-01T00:00:00+00:00", "2024-01-01", "00"]]
    stored = answer.document["artifacts"][0]["path"]
    assert run.tool("query_sql", sql=f"SELECT day FROM '{stored}'").rows == [["2024-01-01"]]

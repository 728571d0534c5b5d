"""query_table: columns, groups, aggregates, order and limits as an agent writes them, checked against pandas."""

from __future__ import annotations

import io
import random
from typing import Any

import pandas as pd
import pytest

from tests.harness import Runner
from tests.test_sources import Here, here

__all__ = ["here"]
CHANCE = random.Random(11)
TRADES = "id,market,kind,qty,price,day\n" + "".join(
    f"{n},{CHANCE.choice(['north', 'south', 'east', ''])},{CHANCE.choice('xyz')},{CHANCE.choice([CHANCE.randrange(50), ''])},"
    f"{CHANCE.randrange(10_000) / 100:.2f},2024-{CHANCE.randrange(1, 13):02d}-01\n"
    for n in range(400)
)


@pytest.fixture
def trades(here: Here) -> Here:
    here.write("trades.csv", TRADES)
    return here


def frame() -> pd.DataFrame:
    return pd.read_csv(io.StringIO(TRADES), dtype={"market": "object"})


def rounded(rows: list[list[Any]]) -> list[list[Any]]:
    return [[round(cell, 9) if isinstance(cell, float) else cell for cell in row] for row in rows]


def test_groups_agree_with_pandas(trades: Here) -> None:
    functions = ["count", "sum", "mean", "min", "max", "median", "std", "nunique"]
    answer = trades.tool(
        "query_table", path="trades.csv", group_by=["market"], order_by=["market"],
        aggregates=[{"function": function, "column": "qty", "alias": function} for function in functions],
    )  # fmt: skip
    wanted = frame().groupby("market", dropna=False)["qty"].agg(functions).reset_index()
    expected = [[None if pd.isna(cell) else cell for cell in row] for row in wanted.itertuples(index=False)]
    assert rounded(answer.rows) == rounded(expected) and [row[0] for row in expected] == ["east", "north", "south", None]


def test_without_groups_the_whole_table_is_one(trades: Here) -> None:
    answer = trades.tool(
        "query_table",
        path="trades.csv",
        aggregates=[{"function": "COUNT", "column": "*"}, {"function": "total", "column": "price"}],
    )
    assert [column["name"] for column in answer.document["table"]["columns"]] == ["count", "sum_price"]
    assert answer.rows == [[400, round(float(frame()["price"].sum()), 2)]]


def test_groups_alone_are_the_distinct_values(trades: Here) -> None:
    answer = trades.tool("query_table", path="trades.csv", group_by="kind")
    assert answer.rows == [["x"], ["y"], ["z"]]


def test_filters_order_limit_and_offset_agree_with_pandas(trades: Here) -> None:
    answer = trades.tool(
        "query_table", path="trades.csv", columns=["id", "qty"], order_by=["qty desc", {"column": "id", "direction": "ASC"}],
        filters=[{"column": "market", "op": "in", "value": ["north", "south"]}, {"column": "price", "op": "between", "value": [10, 60]}],
        limit=7, offset=3,
    )  # fmt: skip
    table = frame()
    table = table[table.market.isin(["north", "south"]) & table.price.between(10, 60)]
    table = table.sort_values(["qty", "id"], ascending=[False, True], na_position="last")[["id", "qty"]][3:10]
    assert answer.rows == [[int(row.id), int(row.qty)] for row in table.itertuples()]
    assert answer.document["table"]["total_rows"] == 7 and not answer.document["table"]["truncated"]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("v", [3, 1, 2]),
        ("v desc", [1, 3, 2]),
        (["V DESC"], [1, 3, 2]),
        ("desc", [2, 1, 3]),
        ("desc desc", [3, 1, 2]),
        ("a,b", [1, 2, 3]),
        ("a,b descending", [3, 2, 1]),
        ("v desc, id", [1, 3, 2]),
        ("w, id desc", [3, 2, 1]),
        ([{"column": "v", "direction": "descending"}], [1, 3, 2]),
        ([{"column": "v"}, "v desc"], [3, 1, 2]),
        ('["v desc", "id"]', [1, 3, 2]),
    ],
)
def test_orders_are_taken_as_agents_write_them_nulls_last(here: Here, order: Any, expected: list[int]) -> None:
    here.write("o.csv", 'id,v,desc,"a,b",w\n1,9,b,1,k\n2,,a,2,k\n3,5,c,3,k\n')
    assert here.tool("query_table", path="o.csv", order_by=order, columns=["id"]).column("id") == expected


def test_ties_fall_the_same_way_whatever_the_threads(here: Here) -> None:
    here.write("t.csv", "g,v\n" + "".join(f"g{n % 9},{n % 2}\n" for n in range(9_000)))
    asked: dict[str, Any] = {
        "path": "t.csv",
        "group_by": ["g"],
        "aggregates": [{"function": "count", "alias": "n"}],
        "order_by": ["n desc"],
        "limit": 3,
    }
    found = [here.tool("query_table", {"threads": threads}, **asked).rows for threads in (1, 2, 4)]
    assert found == [[["g0", 1000], ["g1", 1000], ["g2", 1000]]] * 3


def test_limit_preview_and_total_are_different_things(trades: Here) -> None:
    answer = trades.tool("query_table", path="trades.csv", limit=10, preview_rows=4)
    table = answer.document["table"]
    assert (table["shown_rows"], table["total_rows"], table["truncated"]) == (4, 10, True)
    assert trades.tool("query_table", path="trades.csv", limit=0).document["table"]["total_rows"] == 0
    assert trades.tool("query_table", path="trades.csv", offset=400).rows == []
    assert len(trades.tool("query_table", {"max_preview_rows": 5}, path="trades.csv", preview_rows=100).rows) == 5


@pytest.mark.parametrize(
    "name", ["order date", "a.b", 'say "hi"', "desc", "3point", "größe", "select", "two\nlines", "x'y", "$p1", "?"]
)
def test_any_column_name_can_be_selected_filtered_grouped_and_ordered(here: Here, name: str) -> None:
    header = '"' + name.replace('"', '""') + '"'
    here.write("n.csv", f"{header},v\nq,1\nr,2\n")
    assert here.tool("query_table", path="n.csv", columns=[name], filters=[{"column": name, "op": "=", "value": "r"}]).rows == [
        ["r"]
    ]
    grouped = here.tool(
        "query_table",
        path="n.csv",
        group_by=[name],
        aggregates=[{"function": "max", "column": "v"}],
        order_by=[{"column": name, "direction": "desc"}],
    )
    assert grouped.rows == [["r", 2], ["q", 1]]
    counted = here.tool("query_table", path="n.csv", aggregates=[{"function": "count_distinct", "column": name, "alias": name}])
    assert counted.rows == [[2]] and counted.document["table"]["columns"][0]["name"] == name


def test_an_alias_may_be_the_name_of_a_column(here: Here) -> None:
    here.write("a.csv", "g,v\n1,5\n1,7\n2,9\n")
    answer = here.tool(
        "query_table", path="a.csv", group_by=["g"], filters=[{"column": "v", "op": "<", "value": 9}],
        aggregates=[{"function": "sum", "column": "v", "alias": "v"}], order_by=["v desc"],
    )  # fmt: skip
    assert answer.rows == [[1, 12]]


def test_the_sql_of_the_answer_gives_the_same_rows(trades: Here) -> None:
    answer = trades.tool(
        "query_table", path="trades.csv", columns=["id", "kind"], order_by=["id desc"], limit=5,
        filters=[{"column": "kind", "op": "contains", "value": "x"}, {"column": "price", "op": "<", "value": 50.5}, {"column": "market", "op": "is_null"}],
    )  # fmt: skip
    details = answer.document["details"]
    again = trades.tool("query_sql", sql=details["sql"], parameters=details["parameters"])
    assert again.rows == answer.rows and len(again.rows) == 5
    assert "50.5" not in details["sql"], "values are bound"


@pytest.mark.parametrize(
    ("parameters", "code", "words"),
    [
        ({"columns": ["qtty"]}, "COLUMN_NOT_FOUND", ["qtty", "qty", "market"]),
        ({"group_by": ["qtty"]}, "COLUMN_NOT_FOUND", ["qty"]),
        ({"order_by": ["qtty desc"]}, "COLUMN_NOT_FOUND", ["'qtty'", "qty"]),
        ({"aggregates": [{"function": "sum", "column": "qtty"}]}, "COLUMN_NOT_FOUND", ["Aggregate 1", "qty"] if False else ["qty"]),
        ({"group_by": ["kind"], "order_by": ["price"]}, "COLUMN_NOT_FOUND", ["grouped result", "kind"]),
        ({"group_by": ["kind"], "columns": ["price"]}, "INVALID_PARAMETERS", ["group_by"]),
        ({"aggregates": [{"function": "sum"}]}, "INVALID_PARAMETERS", ["needs a column"]),
        ({"aggregates": [{"function": "summ", "column": "qty"}]}, "INVALID_PARAMETERS", ["Did you mean sum"]),
        ({"aggregates": [{"column": "qty"}]}, "INVALID_PARAMETERS", ["function"]),
        ({"aggregates": [{"function": "sum", "column": "kind"}]}, "INVALID_PARAMETERS", ["text", "TRY_CAST"]),
        ({"aggregates": [{"function": "max", "column": "qty", "alias": "A"}, {"function": "min", "column": "qty", "alias": "a"}]}, "INVALID_PARAMETERS", ["alias"]),
        ({"order_by": [{"column": "qty", "direction": "up"}]}, "INVALID_PARAMETERS", ["asc"]),
        ({"order_by": [{"name": "qty"}]}, "INVALID_PARAMETERS", ["column"]),
        ({"limit": -1}, "INVALID_PARAMETERS", ["limit"]),
        ({"filter": []}, "INVALID_PARAMETERS", ["filters"]),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_explained(trades: Here, parameters: dict[str, Any], code: str, words: list[str]) -> None:
    answer = trades.tool("query_table", path="trades.csv", **parameters)
    assert answer.code == code and all(word in answer.words for word in words), answer.document
    assert not (trades.directory / "results").exists()


def test_values_that_look_like_sql_are_values(trades: Here) -> None:
    for value in ("x' OR '1'='1", '"; DROP TABLE t; --', "$p1", "%"):
        for op in ("=", "contains", "in"):
            assert (
                trades.tool("query_table", path="trades.csv", filters=[{"column": "kind", "op": op, "value": value}]).rows == []
            )


def test_a_sum_beyond_64_bits_keeps_its_digits(here: Here) -> None:
    here.write("big.csv", "v\n9223372036854775807\n9223372036854775807\n")
    assert here.tool("query_table", path="big.csv", aggregates=[{"function": "sum", "column": "v"}]).rows == [
        ["18446744073709551614"]
    ]


def test_nested_columns_can_be_grouped_ordered_and_counted(here: Here) -> None:
    here.write("n.json", '[{"l": [2], "s": {"a": 1}}, {"l": [1], "s": {"a": 1}}, {"l": [1], "s": null}]')
    grouped = here.tool(
        "query_table",
        path="n.json",
        group_by=["l"],
        aggregates=[{"function": "count", "column": "s", "alias": "n"}],
        order_by=["n desc", "l"],
    )
    assert grouped.rows == [[[1], 1], [[2], 1]]
    assert here.tool("query_table", path="n.json", aggregates=[{"function": "count_distinct", "column": "l"}]).rows == [[2]]


def test_the_whole_call_as_a_process(run: Runner) -> None:
    run.write("trades.csv", TRADES)
    answer = run.tool(
        "query_table",
        path="trades.csv",
        filters='[{"column": "market", "op": "eq", "value": "north"}]',
        limit="3",
        preview_rows="null",
    )
    assert len(answer.rows) == 3 and {row[1] for row in answer.rows} == {"north"}
    assert answer.summary.endswith(f"all in {answer.document['artifacts'][0]['path']}.") and run.log()[0]["rows"] == 3

"""The envelope: values as strict JSON holds them exactly, and answers within their budget."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builtin_tools.core.envelope import Answer, Artifact, Column, Table, Text, Warn, cut_cell, json_value, render, render_failure
from tests.harness import strict


def table(rows: list[list[Any]], names: list[str] | None = None, total: int | None = None, offset: int = 0) -> Table:
    names = names or [f"c{at}" for at in range(len(rows[0]) if rows else 1)]
    return Table([Column(name, "VARCHAR") for name in names], rows, len(rows) if total is None else total, offset)


def rendered(answer: Answer, budget: int = 20_000, cell: int = 500) -> dict[str, Any]:
    text = render(answer, budget, cell)
    assert len(text) <= budget, f"{len(text)} characters for a budget of {budget}"
    assert "\n" not in text
    document: dict[str, Any] = strict(text)
    return document


# ---- values


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (2**53, 2**53), (2**53 + 1, "9007199254740993"), (-(2**53) - 1, "-9007199254740993"), (2**60, 2**60), (10**30, "1" + "0" * 30),
        (Decimal("12.50"), 12.5), (Decimal("0.1"), 0.1), (Decimal("3.00"), 3), (Decimal("1E+2"), 100),
        (Decimal("12345678901234567.89"), "12345678901234567.89"), (Decimal("NaN"), "NaN"), (Decimal("-Infinity"), "-Infinity"),
        (math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity"), (1e300, 1e300), (True, True), (None, None),
        (date(2026, 1, 2), "2026-01-02"), (time(1, 2, 3), "01:02:03"), (datetime(2026, 1, 2, 3, 4, tzinfo=UTC), "2026-01-02T03:04:00+00:00"),
        (b"\x00\xff", "hex:00ff"), ((1, [math.nan]), [1, ["NaN"]]), ({1: Decimal("1.5")}, {"1": 1.5}),
    ],
)  # fmt: skip
def test_a_value_is_a_number_only_where_a_double_holds_it(value: Any, shown: Any) -> None:
    found = json_value(value)
    assert found == shown and type(found) is type(shown)


@given(st.integers() | st.decimals(allow_nan=False, allow_infinity=False) | st.floats(allow_nan=False, allow_infinity=False))
def test_no_number_is_changed_by_a_parser_that_reads_doubles(value: Any) -> None:
    text = json.dumps(json_value(value), allow_nan=False)
    read = json.loads(text, parse_int=float)
    exact = Decimal(read) if isinstance(read, str) else read
    if isinstance(value, Decimal) and not isinstance(read, str):
        assert Decimal(repr(read)) == value
    else:
        assert exact == value


@given(st.text(max_size=80), st.integers(10, 40))
def test_a_cut_cell_tells_its_true_length(text: str, limit: int) -> None:
    shown, cut = cut_cell(text, limit)
    assert cut == (len(text) > limit)
    assert shown == (f"{text[:limit]}… [{len(text):,} chars]" if cut else text)


# ---- tables


def test_a_table_that_fits_is_whole() -> None:
    part = rendered(Answer("{shown} rows", table([["a", 1], ["b", None]])))["table"]
    assert part["rows"] == [["a", 1], ["b", None]]
    assert (part["shown_rows"], part["total_rows"], part["truncated"]) == (2, 2, False)


def test_a_summary_tells_how_many_rows_were_shown_in_the_end() -> None:
    document = rendered(Answer("{shown} of 1,000", table([["x" * 90]] * 1000)), 2000)
    assert document["summary"] == f"{document['table']['shown_rows']} of 1,000"
    assert 0 < document["table"]["shown_rows"] < 1000 and document["table"]["truncated"]


def test_a_cut_cell_makes_the_table_truncated_though_all_rows_are_there() -> None:
    part = rendered(Answer("s", table([["x" * 600]])))["table"]
    assert part["rows"][0][0].endswith("… [600 chars]") and part["truncated"] and part["shown_rows"] == part["total_rows"] == 1


def test_rows_past_the_offset_are_all_there_is_to_show_of_a_larger_total() -> None:
    part = rendered(Answer("s", table([["z"]], total=5, offset=4)))["table"]
    assert (part["shown_rows"], part["total_rows"], part["truncated"]) == (1, 5, True)


@pytest.mark.parametrize("width", [1, 40, 400, 5000])
def test_one_row_at_least_is_shown_however_wide(width: int) -> None:
    part = rendered(Answer("s", table([["value " * 60] * width] * 3, [f"column_{at}" for at in range(width)])), 3000)
    assert part["table"]["shown_rows"] >= 1 and part["table"]["truncated"] == (width > 1)
    assert len(part["table"]["rows"][0]) == len(part["table"]["columns"])
    if width == 5000:
        assert any(warning["code"] == "COLUMNS_CUT" for warning in part["warnings"])


# ---- text, details, warnings


def test_text_is_cut_to_the_budget_and_tells_its_length() -> None:
    part = rendered(Answer("s", text=Text('"\n' * 9000, 18_000)), 1500)["text"]
    assert part["truncated"] and part["total_chars"] == 18_000 and len(part["content"]) > 300
    assert rendered(Answer("s", text=Text("short", 5)))["text"] == {"content": "short", "total_chars": 5, "truncated": False}


def test_absent_parts_are_left_out() -> None:
    assert rendered(Answer("done")) == {"ok": True, "summary": "done"}


def test_long_warnings_and_details_leave_room_for_rows() -> None:
    warnings = [Warn("ODD", f"line {at} is odd " * 10) for at in range(2000)]
    details = {"lines": list(range(50_000)), "note": "n" * 50_000}
    document = rendered(Answer("s", table([[at, "x"] for at in range(50)]), details=details, warnings=warnings), 5000)
    assert document["table"]["shown_rows"] >= 5
    assert any(warning["code"] == "WARNINGS_CUT" for warning in document["warnings"])


def test_a_failure_fits_its_budget_too() -> None:
    error = {"code": "X", "message": "m" * 9000, "guidance": "g" * 9000, "retryable": False, "details": {"all": "d" * 9000}}
    document = strict(text := render_failure(error, 1000))
    assert len(text) <= 1000 and document["error"]["message"].endswith("… [9,000 chars]")


def test_half_of_a_surrogate_pair_is_replaced() -> None:
    assert "\ufffd" in render(Answer("a\ud800b"), 1000, 100)


cells = (
    st.none() | st.integers() | st.floats() | st.text(max_size=700) | st.binary(max_size=20) | st.lists(st.integers(), max_size=5)
)


@settings(max_examples=150)
@given(st.data(), st.integers(1, 30), st.integers(1, 30), st.integers(1000, 4000), st.integers(10, 600))
def test_any_answer_is_strict_json_within_its_budget(
    data: st.DataObject, width: int, height: int, budget: int, cell: int
) -> None:
    row = data.draw(st.lists(cells, min_size=width, max_size=width))
    warnings = [Warn("W", data.draw(st.text(max_size=300)))] * data.draw(st.integers(0, 40))
    details = data.draw(st.dictionaries(st.text(max_size=20), cells, max_size=20))
    artifacts = [Artifact("results/a.parquet", "parquet", 1, "0" * 64, height)]
    answer = Answer("{shown} rows", table([row] * height, [f"c{at}" for at in range(width)]), None, artifacts, details, warnings)
    document = rendered(answer, budget, cell)
    part = document["table"]
    assert part["total_rows"] == height and part["shown_rows"] == len(part["rows"]) >= min(1, height)
    assert part["truncated"] or part["shown_rows"] == height
    assert document["artifacts"][0]["path"] == "results/a.parquet"


def test_a_table_without_rows_keeps_to_the_budget_however_many_its_columns() -> None:
    rendered(Answer("no rows", table([], [f"column_{at}" for at in range(3000)])), 5000)

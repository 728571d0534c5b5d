"""Arguments as agents send them: what is mended, what is refused, and what the refusal says."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Literal, Optional, Union

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from builtin_tools.core.errors import ConfigurationError, InvalidParameters
from builtin_tools.core.parameters import mend, parse_document, validated


class Arguments(BaseModel):
    path: str = Field(description="File to read.", examples=["a.csv"])
    limit: Optional[int] = Field(None, ge=0, description="Rows at most.", examples=[10])
    share: float = Field(0.5, description="A share.")
    exact: bool = Field(False, description="Whether it is exact.")
    columns: Optional[List[str]] = Field(None, description="Columns.", examples=[["a"]])
    filters: Optional[List[Dict[str, Any]]] = Field(None, description="Conditions.")
    order_by: Optional[List[Union[str, Dict[str, Any]]]] = Field(None, description="Order.")
    values: Optional[Union[Dict[str, Any], List[Any]]] = Field(None, description="Values.")
    shape: Literal["parquet", "csv"] = Field("parquet", description="Format.")


def given_as(**arguments: Any) -> Arguments:
    return validated(Arguments, {"path": "a.csv"} | arguments)


# ---- what is mended


@pytest.mark.parametrize("nothing", [None, "", "null", "None"])
def test_nothing_in_any_spelling_means_not_given(nothing: Any) -> None:
    assert given_as(limit=nothing, exact=nothing, columns=nothing, shape=nothing, share=nothing) == Arguments.model_validate(
        {"path": "a.csv"}
    )


@pytest.mark.parametrize("nothing", [None, "", "null", "None"])
def test_nothing_for_a_required_argument_is_refused_by_its_name(nothing: Any) -> None:
    with pytest.raises(InvalidParameters, match="'path' is empty"):
        validated(Arguments, {"path": nothing})


@pytest.mark.parametrize(
    ("name", "sent", "meant"),
    [
        ("limit", "10", 10), ("limit", " 10 ", 10), ("limit", 10.0, 10), ("limit", "10.0", 10),
        ("share", "0.25", 0.25), ("share", 1, 1.0),
        ("exact", "false", False), ("exact", "True", True), ("exact", 0, False), ("exact", "no", False),
        ("columns", "a", ["a"]), ("columns", '["a", "b"]', ["a", "b"]), ("columns", [1, "b"], ["1", "b"]), ("columns", "[odd", ["[odd"]),
        ("filters", '[{"column": "a"}]', [{"column": "a"}]), ("filters", {"column": "a"}, [{"column": "a"}]), ("filters", ['{"column": "a"}'], [{"column": "a"}]),
        ("order_by", "a desc", ["a desc"]), ("order_by", {"column": "a"}, [{"column": "a"}]), ("order_by", '[{"column": "a"}, "b"]', [{"column": "a"}, "b"]),
        ("values", '{"x": 1}', {"x": 1}), ("values", "[1, 2]", [1, 2]),
        ("shape", "CSV", "csv"), ("shape", " Parquet ", "parquet"),
        ("path", 2024, "2024"),
    ],
)  # fmt: skip
def test_what_is_plainly_meant_is_understood(name: str, sent: Any, meant: Any) -> None:
    assert getattr(given_as(**{name: sent}), name) == meant


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("limit", "many"), ("limit", -1), ("limit", 1.5), ("limit", True), ("limit", [1]), ("exact", 2), ("exact", "maybe"),
        ("share", "half"), ("columns", 5), ("columns", [["a"]]), ("filters", "region = EU"), ("shape", "xlsx"), ("path", ["a.csv"]), ("path", {}),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_the_field_the_value_and_what_it_takes(name: str, sent: Any) -> None:
    with pytest.raises(InvalidParameters) as caught:
        given_as(**{name: sent})
    assert name in caught.value.message and f"{name} takes" in caught.value.guidance
    assert str(sent if not isinstance(sent, (list, dict, bool)) else "")[:4] in caught.value.message


def test_a_choice_is_refused_with_the_words_it_takes() -> None:
    with pytest.raises(InvalidParameters) as caught:
        given_as(shape="xlsx")
    assert "'parquet', 'csv'" in caught.value.guidance


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3), max_leaves=5
    )
)
def test_mending_never_fails_and_leaves_what_fits_alone(value: Any) -> None:
    for name, info in Arguments.model_fields.items():
        once = mend(value, info.annotation)
        try:
            taken = getattr(Arguments.model_validate({"path": "a", name: value}, strict=True), name)
        except ValueError:
            continue
        assert name == "share" or once == taken or isinstance(value, (str, list)), f"{name}: {value!r} became {once!r}"


# ---- names and documents


def test_an_unknown_argument_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InvalidParameters) as caught:
        given_as(colums=["a"])
    assert "'colums'" in caught.value.message and "Did you mean columns " in caught.value.guidance


def test_a_mistake_of_the_operator_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="no user parameter 'limmit'"):
        validated(Arguments, {"path": "a", "limmit": 1}, operator=True)
    with pytest.raises(ConfigurationError):
        validated(Arguments, {"path": "a", "limit": "much"}, operator=True)


def test_several_mistakes_are_told_at_once() -> None:
    with pytest.raises(InvalidParameters) as caught:
        validated(Arguments, {"limit": "x", "exact": "maybe"})
    assert all(name in caught.value.message for name in ("path", "limit", "exact"))


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "{path: 1}", "[]", "1", "null", '"text"', '{"a": NaN}', '{"a": -Infinity}', '{"a": 1, "a": 2}',
        '{"x": {"a": 1, "a": 1}}', '{"x": [{"a": 1, "a": 1}]}', '{"a": "\\ud800"}', "[" * 100_000, '{"a": 1} {"b": 2}',
    ],
)  # fmt: skip
def test_what_is_not_one_clean_json_object_is_refused(text: str) -> None:
    with pytest.raises(InvalidParameters):
        parse_document(text, "--tool-params")


def test_a_document_inside_a_json_string_is_parsed() -> None:
    assert parse_document(json.dumps('{"a": "é"}'), "x") == {"a": "é"}


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8"), max_size=5),
        st.none() | st.integers() | st.text(st.characters(codec="utf-8")),
        max_size=4,
    )
)
def test_every_clean_document_is_read_back_exactly(document: dict[str, Any]) -> None:
    for ascii_only in (True, False):
        assert parse_document(json.dumps(document, ensure_ascii=ascii_only), "x") == document

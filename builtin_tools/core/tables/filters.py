"""Filters as an agent writes them, as SQL conditions with bound values. All of them must hold."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR, Context, Decimal, InvalidOperation
from typing import Any

from ..errors import ColumnNotFound, InvalidParameters, listed, near_names
from ..parameters import mend
from .engine import Engine
from .prepared import SourceColumn
from .sql_text import quote_name

OPERATORS = (
    "=", "!=", "<", "<=", ">", ">=", "in", "not_in", "between", "contains", "starts_with", "ends_with", "like",
    "is_null", "is_not_null",
)  # fmt: skip
_SPELLINGS = {
    "=": "= == eq equals equal equal_to is", "!=": "!= <> ne neq not_equal not_equals not_equal_to is_not",
    "<": "< lt less less_than before", "<=": "<= lte le less_or_equal less_than_or_equal less_than_or_equal_to at_most",
    ">": "> gt greater greater_than after", ">=": ">= gte ge greater_or_equal greater_than_or_equal greater_than_or_equal_to at_least",
    "in": "in one_of any_of is_in", "not_in": "not_in nin none_of not_one_of is_not_in notin", "between": "between range",
    "contains": "contains has includes substring", "starts_with": "starts_with startswith begins_with prefix",
    "ends_with": "ends_with endswith suffix", "like": "like matches_like", "is_null": "is_null isnull null is_empty empty is_none",
    "is_not_null": "is_not_null not_null notnull isnotnull is_not_empty not_empty exists",
}  # fmt: skip
_BY_SPELLING = {word: op for op, words in _SPELLINGS.items() for word in words.split()}
_INTEGERS = {
    f"{'U' if low == 0 else ''}{name}": (low, high)
    for name, bits in (("TINYINT", 8), ("SMALLINT", 16), ("INTEGER", 32), ("BIGINT", 64), ("HUGEINT", 128))
    for low, high in ((-(2 ** (bits - 1)), 2 ** (bits - 1) - 1), (0, 2**bits - 1))
}  # least and most
_WIDE = Context(prec=2_000)
_EXAMPLES = {
    "VARCHAR": '"north"', "DATE": '"2024-01-31"', "BOOLEAN": "true", "TIME": '"23:59:00"', "TIMESTAMP": '"2024-01-31T12:00:00"',
    "TIMESTAMP WITH TIME ZONE": '"2024-01-31T12:00:00+00:00"',
} | dict.fromkeys(_INTEGERS, "12")  # fmt: skip
_MANY = 30  # from so many values on a list is bound as one value


@dataclass
class Conditions:
    """A WHERE clause: its SQL ("" without filters), the values bound by name, and what is to be told of it."""

    sql: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    notes: list[tuple[str, str]] = field(default_factory=list)


def find_column(name: Any, columns: list[SourceColumn], table: str, where: str) -> SourceColumn:
    """The column of this name; case and blanks around it aside where no name is just so. Raises ColumnNotFound."""
    if not isinstance(name, str):
        raise InvalidParameters(
            f"{where} has {json.dumps(name, default=str)[:80]} for a column.",
            'Send the name of a column as text, such as "amount".',
        )
    for column in columns:
        if column.name == name:
            return column
    loose = [column for column in columns if column.name.strip().casefold() == name.strip().casefold()]
    if len(loose) == 1:
        return loose[0]
    names = [column.name for column in columns]
    near = near_names(name, names)
    closest = f"Closest: {listed(near)}. " if near else ""
    raise ColumnNotFound(f"{table} has no column {name[:200]!r}.", f"{closest}Columns: {listed(names, 60)}.")


def operator(word: Any) -> str:
    """The operator that a spelling stands for. Raises InvalidParameters with the list of them."""
    key = re.sub(r"[\s-]+", "_", str(word).strip().casefold())
    if key not in _BY_SPELLING:
        near = near_names(key, list(_BY_SPELLING), 1)
        hint = f"Did you mean {near[0]}? " if near else ""
        raise InvalidParameters(f"There is no filter op {str(word)[:80]!r}.", f"{hint}Ops: {', '.join(OPERATORS)}.")
    return _BY_SPELLING[key]


def build(engine: Engine, filters: list[dict[str, Any]], columns: list[SourceColumn], table: str) -> Conditions:
    """The condition of all filters together. Raises ColumnNotFound, InvalidParameters."""
    made = Conditions()
    parts = []
    for number, given in enumerate(filters, 1):
        unknown = set(given) - {"column", "op", "value", "operator"}
        if unknown or "column" not in given or not ({"op", "operator"} & set(given)):
            raise InvalidParameters(
                f"Filter {number} is {json.dumps(given, ensure_ascii=False, default=str)[:120]}; it needs column, op and value.",
                'Send for example {"column": "amount", "op": ">", "value": 100}.',
            )
        column = find_column(given["column"], columns, table, f"Filter {number}")
        op = operator(given.get("op", given.get("operator")))
        if op in ("is_null", "is_not_null") and given.get("value") not in (None, True, "", "true", "null"):
            raise InvalidParameters(
                f"Filter {number} on {column.name!r} has a value with {op}, which takes none.",
                "Leave value out; is_null and is_not_null are each other's opposite.",
            )
        if op not in ("is_null", "is_not_null") and "value" not in given:
            raise InvalidParameters(
                f"Filter {number} on {column.name!r} has no value.", f'Send a value with op "{op}", or use is_null.'
            )
        parts.append(_One(engine, made, column, op, given.get("value")).sql())
    made.sql = " AND ".join(parts)
    return made


class _One:
    """One filter on its way to SQL."""

    def __init__(self, engine: Engine, made: Conditions, column: SourceColumn, op: str, value: Any) -> None:
        self.engine, self.made, self.column, self.op, self.value = engine, made, column, op, value
        self.name = quote_name(column.name)

    def sql(self) -> str:
        if self.op == "is_null":
            return f"{self.name} IS NULL"
        if self.op == "is_not_null":
            return f"{self.name} IS NOT NULL"
        if self.op in ("in", "not_in"):
            return self._membership()
        if self.op == "between":
            return self._between()
        if self.value is None:
            null_op = "is_not_null" if self.op == "!=" else "is_null"
            raise InvalidParameters(
                f"The filter on {self.column.name!r} compares with null by {self.op}.", f'Use op "{null_op}" without a value.'
            )
        if self.op in ("contains", "starts_with", "ends_with", "like"):
            return self._text_match()
        if self.op == "!=":
            self._tell_of_nulls()
        self._tell_of_numbers_as_text([self.value] if self.op in ("=", "!=") else [])
        return self._compared(self.op, self.value, _number(self.value) is not None)

    def _membership(self) -> str:
        parsed = mend(self.value, list)
        given = parsed if isinstance(parsed, list) else [parsed]
        values = [value for value in given if value is not None]
        with_null = len(values) < len(given)
        if not values and not with_null:
            raise InvalidParameters(f"The filter on {self.column.name!r} has an empty list.", "Send at least one value.")
        if self.op == "not_in":
            self._tell_of_nulls()
        self._tell_of_numbers_as_text(values)
        if self.exact:
            values = [_exact(number) for number in map(self._as_number, values) if self._holds(number)]
        if not values:
            return self._constant(self.op == "not_in") if not with_null or self.op == "not_in" else f"{self.name} IS NULL"
        members = self._many(values) if len(values) > _MANY else ", ".join(self._bind(value) for value in values)
        condition = f"{self.name} {'NOT IN' if self.op == 'not_in' else 'IN'} ({members})"
        if with_null and self.op == "in":
            return f"({condition} OR {self.name} IS NULL)"
        return condition

    def _tell_of_numbers_as_text(self, values: list[Any]) -> None:
        numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
        if numbers and self.column.type == "VARCHAR":
            self.made.notes.append(
                (
                    "COMPARED_AS_TEXT",
                    f"{self.column.name} is text, so {numbers[0]} was compared as the text '{_text(numbers[0])}'; "
                    "values written otherwise, such as with leading zeros, are not equal to it.",
                )
            )

    def _many(self, values: list[Any]) -> str:
        """A long list as one bound value; strings, so that the engine converts each exactly."""
        name = self._name_of([_text(value) for value in values])
        kind = "VARCHAR" if self.column.type.startswith("ENUM") else self.column.type
        bad = self.engine.rows(
            f"SELECT v FROM (SELECT unnest($values::VARCHAR[]) AS v) WHERE TRY_CAST(v AS {kind}) IS NULL LIMIT 1",
            {"values": self.made.parameters[name]},
        )
        if bad:
            raise self._unfit(bad[0][0])
        return f"SELECT CAST(v AS {kind}) FROM (SELECT unnest(${name}::VARCHAR[]) AS v)"

    def _between(self) -> str:
        self.value = mend(self.value, list)
        if not isinstance(self.value, list) or len(self.value) != 2 or None in self.value:
            raise InvalidParameters(
                f"between on {self.column.name!r} has {json.dumps(self.value, ensure_ascii=False, default=str)[:80]}.",
                "Send a list of two values, the least and the most, such as [10, 20].",
            )
        numeric = all(_number(value) is not None for value in self.value)
        return f"{self._compared('>=', self.value[0], numeric)} AND {self._compared('<=', self.value[1], numeric)}"

    def _text_match(self) -> str:
        if not isinstance(self.value, (str, int, float)):
            raise InvalidParameters(f"{self.op} on {self.column.name!r} needs text.", 'Send a value such as "north".')
        text = self.name if self.column.type == "VARCHAR" else f"CAST({self.name} AS VARCHAR)"
        parameter = f"${self._name_of(_text(self.value))}"
        if self.op == "like":
            return f"{text} LIKE {parameter}"
        return f"{self.op}({text}, {parameter})"

    # ---- comparisons

    def _compared(self, op: str, value: Any, numeric: bool) -> str:
        """The column set against one value; `numeric`: the values of this filter are numbers."""
        sign = "<>" if op == "!=" else op
        if self.exact:
            return self._exactly(sign, self._as_number(value))
        if self.column.type == "VARCHAR" and numeric and op in ("<", "<=", ">", ">="):
            return self._text_as_number(sign, self._as_number(value))
        return f"{self.name} {sign} {self._bind(value)}"

    def _exactly(self, sign: str, number: Decimal) -> str:
        """An integer or decimal column against a number, also one that the column's type or a common one cannot hold."""
        _, most, scale = self.bounds
        finer = max(0, -int(number.as_tuple().exponent))
        if self._holds(number) or (number.copy_abs() <= most and len(str(int(most))) + finer <= 38):
            return f"{self.name} {sign} ${self._name_of(_exact(number))}"
        if number.copy_abs() > most:
            return self._constant(sign == "<>" or ("<" in sign) == (number > 0) and sign != "=")
        if sign in ("=", "<>"):
            return self._constant(sign == "<>")
        below = number.quantize(Decimal(1).scaleb(-scale), ROUND_FLOOR, _WIDE)
        return f"{self.name} {'>' if '>' in sign else '<='} ${self._name_of(_exact(below))}"

    def _text_as_number(self, sign: str, number: Decimal) -> str:
        """Text in order against a number: as decimals where that is exact, else as doubles."""
        note = f"{self.column.name} is text; it was compared as numbers, and values that are no numbers were left out."
        if ("COMPARED_AS_NUMBERS", note) not in self.made.notes:
            self.made.notes.append(("COMPARED_AS_NUMBERS", note))
        double, decimal = f"TRY_CAST({self.name} AS DOUBLE)", f"TRY_CAST({self.name} AS DECIMAL(38,9))"
        roughly = f"{double} {sign} ${self._name_of(float(number))}"
        if number.copy_abs() < 10**29 and number == number.quantize(Decimal("1e-9"), ROUND_FLOOR, _WIDE):
            exactly = f"{decimal} {sign} CAST(${self._name_of(str(number))} AS DECIMAL(38,9))"
            roughly = f"CASE WHEN CAST({decimal} AS DOUBLE) = {double} THEN {exactly} ELSE {roughly} END"
        return f"(isfinite({double}) AND {roughly})"

    def _constant(self, holds: bool) -> str:
        """A condition that holds for every value, or for none; for NULL it never does."""
        return f"{self.name} IS NOT NULL" if holds else "false"

    # ---- values

    @property
    def exact(self) -> bool:
        """Whether the column holds integers or decimals."""
        return self.column.type in _INTEGERS or self.column.type.startswith("DECIMAL(")

    @property
    def bounds(self) -> tuple[Decimal, Decimal, int]:
        """Of an exact column: the least value, the most, and the digits after the point."""
        if self.column.type in _INTEGERS:
            least, most = _INTEGERS[self.column.type]
            return Decimal(least), Decimal(most), 0
        width, scale = (int(part) for part in self.column.type[8:-1].split(","))
        most = Decimal((0, (9,) * width, -scale))
        return most.copy_negate(), most, scale

    def _holds(self, number: Decimal) -> bool:
        """Whether a value of the column can be this number."""
        least, most, scale = self.bounds
        return least <= number <= most and number == number.quantize(Decimal(1).scaleb(-scale), ROUND_FLOOR, _WIDE)

    def _as_number(self, value: Any) -> Decimal:
        number = _number(value)
        if number is None:
            raise self._unfit(value)
        return number

    def _bind(self, value: Any) -> str:
        """A placeholder whose value has the column's type. Raises InvalidParameters where it does not fit."""
        kind = self.column.type
        if self.exact:
            return f"${self._name_of(value)}"
        if kind in ("DOUBLE", "FLOAT"):
            return self._bind_double(value)
        if isinstance(value, (dict, list)):
            raise self._unfit(value)
        if kind == "VARCHAR":
            return f"${self._name_of(_text(value))}"
        text = _text(value)
        if kind == "BLOB" and re.fullmatch(r"hex:([0-9a-fA-F]{2})*", text):
            return f"unhex(${self._name_of(text[4:])})"  # as answers show bytes
        cast = "TIMESTAMP" if kind == "DATE" and len(text) > 10 else kind
        if self.engine.rows(f"SELECT TRY_CAST($1 AS {cast})", [text])[0][0] is None:
            raise self._unfit(value)
        return f"CAST(${self._name_of(text)} AS {cast})"

    def _bind_double(self, value: Any) -> str:
        if isinstance(value, str) and value.strip().casefold() in ("nan", "infinity", "-infinity", "inf", "-inf"):
            return f"CAST(${self._name_of(value.strip())} AS DOUBLE)"
        number = float(self._as_number(value))
        placeholder = f"${self._name_of(number)}"
        return f"CAST({placeholder} AS FLOAT)" if self.column.type == "FLOAT" and abs(number) < 3e38 else placeholder

    def _name_of(self, value: Any) -> str:
        name = f"p{len(self.made.parameters) + 1}"
        self.made.parameters[name] = value
        return name

    def _unfit(self, value: Any) -> InvalidParameters:
        kind = self.column.type
        example = _EXAMPLES.get(kind) or ("12.5" if self.exact or kind in ("DOUBLE", "FLOAT") else "")
        wanted = f"a value of that type, {f'such as {example}' if example else 'written as answers show it'}"
        if isinstance(value, list) and not kind.endswith("]"):
            wanted = 'one value, or op "in" with the list'
        return InvalidParameters(
            f"The filter on {self.column.name!r} has the value {json.dumps(value, ensure_ascii=False, default=str)[:120]}, "
            f"but the column is {self.column.type}.",
            f"Send {wanted}.",
        )

    def _tell_of_nulls(self) -> None:
        self.made.notes.append(
            (
                "NULLS_LEFT_OUT",
                f"Rows without a value (NULL) in {self.column.name} do not match {self.op}; filter with is_null for them.",
            )
        )


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _number(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    text = str(value).strip()
    if not re.fullmatch(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", text, re.ASCII):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _exact(number: Decimal) -> Any:
    """The number in the narrowest type that the engine binds exactly."""
    return int(number) if number == number.to_integral_value() else number

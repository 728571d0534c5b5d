"""DuckDB's names of types taken apart, and values of nested types rebuilt leaf by leaf in SQL."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from .sql_text import quote_name

Leaf = Callable[[str, str], str | None]
_NAME = re.compile(r'"(?:[^"]|"")*"|[^\s(),]+')


@dataclass
class Kind:
    """A type: LIST, STRUCT, MAP or any other name; `parts` are (field name, type), the name empty for elements, keys, values."""

    name: str
    parts: list[tuple[str, Kind]] = field(default_factory=list)


def parse(text: str) -> Kind:
    """The type that DuckDB writes so. What is neither list, struct nor map is one name, brackets and all."""
    kind, at = _parse(text, 0)
    return kind if at == len(text) else Kind(text)


def _parse(text: str, at: int) -> tuple[Kind, int]:
    if text.startswith("STRUCT(", at):
        parts, at = [], at + 7
        while True:
            name = _NAME.match(text, at)
            if name is None:
                return Kind(text), len(text)
            kind, at = _parse(text, name.end() + 1)
            parts.append((name[0][1:-1].replace('""', '"') if name[0].startswith('"') else name[0], kind))
            if text[at : at + 2] != ", ":
                break
            at += 2
        made, at = Kind("STRUCT", parts), at + 1
    elif text.startswith("MAP(", at):
        key, at = _parse(text, at + 4)
        value, at = _parse(text, at + 2)
        made, at = Kind("MAP", [("", key), ("", value)]), at + 1
    else:
        end = _end_of_name(text, at)
        made, at = Kind(text[at:end]), end
    while suffix := re.compile(r"\[\d*\]").match(text, at):
        made, at = Kind("LIST", [("", made)]), suffix.end()
    return made, at


def _end_of_name(text: str, at: int) -> int:
    """Where a name with its bracketed arguments ends."""
    depth, quoted = 0, ""
    for position in range(at, len(text)):
        sign = text[position]
        if quoted:
            quoted = "" if sign == quoted else quoted
        elif sign in "'\"":
            quoted = sign
        elif sign == "(":
            depth += 1
        elif depth == 0 and (sign in ",)[" or sign == "]"):
            return position
        elif sign == ")":
            depth -= 1
    return len(text)


def rebuilt(expression: str, kind: Kind, leaf: Leaf, depth: int = 0) -> str | None:
    """The SQL of a value with each leaf made new; None where `leaf(expression, type name)` changes nothing in it."""
    if kind.name == "LIST":
        element = f"x{depth}"
        inner = rebuilt(element, kind.parts[0][1], leaf, depth + 1)
        return None if inner is None else f"list_transform({expression}, lambda {element}: {inner})"
    if kind.name == "STRUCT":
        made = [rebuilt(f"({expression}).{quote_name(name)}", part, leaf, depth) for name, part in kind.parts]
        if all(part is None for part in made):
            return None
        fields = ", ".join(
            f"{quote_name(name)} := {part or f'({expression}).{quote_name(name)}'}"
            for (name, _), part in zip(kind.parts, made, strict=True)
        )
        return f"CASE WHEN ({expression}) IS NULL THEN NULL ELSE struct_pack({fields}) END"
    if kind.name == "MAP":
        entry = f"x{depth}"
        key = rebuilt(f"{entry}.key", kind.parts[0][1], leaf, depth + 1)
        value = rebuilt(f"{entry}.value", kind.parts[1][1], leaf, depth + 1)
        if key is None and value is None:
            return None
        pair = f"struct_pack(key := {key or entry + '.key'}, value := {value or entry + '.value'})"
        return f"map_from_entries(list_transform(map_entries({expression}), lambda {entry}: {pair}))"
    return leaf(expression, kind.name)

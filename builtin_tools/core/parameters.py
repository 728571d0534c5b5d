"""Arguments as agents really send them: mended where the meaning is plain, else refused with what would be right.

Before validation null, "", "null" and "None" mean 'not given' for an optional argument; a JSON string where an
array or an object is due is parsed; a bare string where a list is due is a list of one; "10" is 10 and "false"
is false where a number or a boolean is due; enumerated words are matched without regard to case.
"""

from __future__ import annotations

import json
import math
import re
import types
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from .errors import ConfigurationError, InvalidParameters, ToolError, listed, near_names

_NOTHING = (None, "", "null", "None")
# What the operator may set for all tools at once: a tool passes over the settings that only others have.
OPERATOR_SETTINGS = frozenset(
    [
        "allow_private_networks",
        "allowed_hosts",
        "cache_limit",
        "connect_timeout_seconds",
        "headers",
        "max_bytes",
        "max_markdown_chars",
        "max_pages",
        "max_preview_rows",
        "max_redirects",
        "max_retries",
        "max_table_pages",
        "max_uncompressed_bytes",
        "pdf_password",
        "read_timeout_seconds",
        "temp_disk_limit",
        "threads",
    ]
)
_TRUE, _FALSE = ("true", "yes", "1", "on"), ("false", "no", "0", "off")
Model = TypeVar("Model", bound=BaseModel)


def parse_document(text: str, what: str) -> dict[str, Any]:
    """The JSON object in `text`. Raises InvalidParameters: no JSON, no object, a key twice, NaN, a lone surrogate."""
    try:
        document = _loads(text)
        if isinstance(document, str):
            document = _loads(document)
        text.encode("utf-8")
        json.dumps(document, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as problem:
        near = text[max(0, problem.pos - 20) : problem.pos + 20]
        raise InvalidParameters(
            f"{what} is not valid JSON: {problem.msg} at character {problem.pos}, near {near!r}.",
            'Send one JSON object, with quotes inside strings escaped, such as {"path": "data/sales.csv"}.',
        ) from None
    except RecursionError:
        raise InvalidParameters(f"{what} is nested too deeply.", "Send one flat JSON object.") from None
    except UnicodeEncodeError:
        raise InvalidParameters(
            f"{what} holds half of a surrogate pair, which is no character.", "Send whole Unicode characters."
        ) from None
    if not isinstance(document, dict):
        raise InvalidParameters(
            f"{what} is {_kind(document)}, but one JSON object is due.", 'Send an object such as {"path": "data/sales.csv"}.'
        )
    return document


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidParameters(f"The key {twice[:60]!r} is given twice.", "Give each key once.")
    return members


def _loads(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_members, parse_constant=_constant, parse_float=_real)


def _real(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _constant(digits)


def _constant(name: str) -> Any:
    raise InvalidParameters(f"{name} is no number that JSON can hold.", "Send a finite number, or leave the argument out.")


def validated(model: type[Model], given: dict[str, Any], *, operator: bool = False) -> Model:
    """The arguments as an instance of `model`, after mending. Raises InvalidParameters, or ConfigurationError for the operator's."""
    failure: type[ToolError] = ConfigurationError if operator else InvalidParameters
    known = list(model.model_fields)
    if operator:
        given = {name: value for name, value in given.items() if name in model.model_fields or name not in OPERATOR_SETTINGS}
    for name in given:
        if name not in model.model_fields:
            raise _unknown(name, known, failure, operator)
    mended = {}
    for name, value in given.items():
        info = model.model_fields[name]
        if _nothing(value):
            if info.is_required():
                raise failure(f"The required argument {name!r} is empty.", _takes(name, model))
            continue
        mended[name] = mend(value, info.annotation)
    try:
        return model.model_validate(mended)
    except ValidationError as problem:
        raise _unfit(problem, model, failure) from None


def _unknown(name: str, known: list[str], failure: type[ToolError], operator: bool) -> ToolError:
    near = near_names(name, known, 2)
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    what = "user parameter" if operator else "argument"
    return failure(f"There is no {what} {name[:80]!r}.", f"{hint}Known {what}s: {', '.join(known)}.")


def _nothing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value in _NOTHING)


# ---------------------------------------------------------------- mending


def mend(value: Any, annotation: Any) -> Any:
    """The value in the shape that the annotation asks for, where its meaning is plain; else as it came."""
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        return _mend_union(value, [part for part in get_args(annotation) if part is not type(None)])
    if origin is Literal:
        return _mend_word(value, get_args(annotation))
    if origin is list or annotation is list:
        return _mend_list(value, (get_args(annotation) or (Any,))[0])
    if origin is dict or annotation is dict:
        return _parsed(value, dict)
    if annotation is bool:
        return _mend_bool(value)
    if annotation is int:
        return _mend_int(value)
    if annotation is float and isinstance(value, str):
        return _number(value)
    if annotation is str and isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return value


def _mend_union(value: Any, parts: list[Any]) -> Any:
    if len(parts) == 1:
        return mend(value, parts[0])
    for part in parts:
        kind = get_origin(part) or part
        if kind in (list, dict):
            parsed = _parsed(value, kind)
            if isinstance(parsed, kind):
                return mend(parsed, part)
    return value


def _mend_word(value: Any, words: tuple[Any, ...]) -> Any:
    if isinstance(value, str):
        for word in words:
            if isinstance(word, str) and word.casefold() == value.strip().casefold():
                return word
    return value


def _mend_list(value: Any, item: Any) -> Any:
    value = _parsed(value, list)
    if isinstance(value, dict):
        value = [value]
    if isinstance(value, str):
        value = [value]
    if isinstance(value, list):
        return [mend(part, item) for part in value]
    return value


def _mend_bool(value: Any) -> Any:
    if isinstance(value, str):
        word = value.strip().casefold()
        return True if word in _TRUE else False if word in _FALSE else value
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    return value


def _mend_int(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()  # true is no number, though Python takes it for 1
    if isinstance(value, str):
        value = _number(value)
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return int(value)
    return value


def _number(value: str) -> Any:
    text = value.strip()
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if math.isfinite(number) else value
    return value


def _parsed(value: Any, kind: type) -> Any:
    """What a JSON string holds, where it holds a list or an object; else the value."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            parsed = _loads(value)
        except (ValueError, RecursionError):
            return value
        if isinstance(parsed, (list, dict)):
            return parsed
    return value


# ---------------------------------------------------------------- what did not fit


def _unfit(problem: ValidationError, model: type[BaseModel], failure: type[ToolError]) -> ToolError:
    messages, guidance = [], []
    for error in problem.errors(include_url=False):
        name = str(error["loc"][0]) if error["loc"] else ""
        if error["type"] == "missing":
            messages.append(f"The required argument {name!r} is missing.")
        else:
            secret = failure is ConfigurationError and re.search("password|headers|token|secret|key", name)
            shown = "a value" if secret else json.dumps(error.get("input"), ensure_ascii=False, default=str)
            where = "".join(f"[{part}]" for part in error["loc"][1:] if isinstance(part, int))
            messages.append(f"{name}{where} is {shown[:120]}, which does not fit: {_reason(error)}.")
        if name in model.model_fields:
            guidance.append(_takes(name, model))
    return failure(" ".join(dict.fromkeys(messages)), " ".join(dict.fromkeys(guidance)) or "Look at the tool's description.")


def _reason(error: Any) -> str:
    text = str(error["msg"]).replace("Input should be ", "it must be ").replace("Value error, ", "")
    text = text.replace("a valid dictionary", "an object").replace("a valid list", "a list").replace("a valid ", "a ")
    return text[:200].rstrip(".")


def _takes(name: str, model: type[BaseModel]) -> str:
    """What an argument takes, with an example, from its annotation and its description."""
    info = model.model_fields[name]
    parts = [f"{name} takes {_annotation_words(info.annotation)}"]
    if info.description:
        parts.append(f": {info.description.rstrip('.')}")
    example = info.examples[0] if info.examples else info.default
    text = "".join(parts) + "."
    if info.examples or (not info.is_required() and example is not None):
        text += f" Example: {json.dumps({name: example}, ensure_ascii=False, default=str)}"
    return text


def _annotation_words(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return " or ".join(_annotation_words(part) for part in arguments if part is not type(None))
    if origin is Literal:
        return "one of " + listed([repr(word) for word in arguments])
    if origin is list or annotation is list:
        return "a list of " + _annotation_words((arguments or (Any,))[0])
    names = {str: "text", int: "an integer", float: "a number", bool: "true or false", dict: "an object"}
    return names.get(origin or annotation, "a value")


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    return {list: "a list", bool: "a boolean", str: "text"}.get(type(value), "a number")

"""Where records lie in a JSON document: JSON Pointer (RFC 6901) or a plain JSONPath of names and positions (RFC 9535)."""

from __future__ import annotations

import re

from ..errors import InvalidParameters

Steps = tuple["str | int", ...]
_JSONPATH = (
    r"\.(?P<name>[^.\[\]'\"*]+)|\[(?P<index>\d+)\]|\[(?P<quote>['\"])(?P<quoted>.*?)(?P=quote)\]|(?P<all>\[\*\]|\.\*|\[\])"
)
_EXAMPLES = "Write it as a JSON Pointer (/orders, /data/0/items) or as $.orders, $.data[0].items; $ is the whole document."


def parse_records_path(path: str) -> Steps:
    """The steps of a records_path: names of keys and positions in arrays. Raises InvalidParameters.

    `/a/0/b`, `$.a[0].b`, `a.b` and `$['a b']` are read; `[*]` at the end means the elements, which are meant anyway.
    """
    text = path.strip()
    if text in ("", "$", "/", "#", "#/"):
        return ()
    if text.startswith(("/", "#/")):
        return tuple(part.replace("~1", "/").replace("~0", "~") for part in text.removeprefix("#")[1:].split("/"))
    body = text[1:] if text.startswith("$") else text if text.startswith("[") else "." + text
    steps: list[str | int] = []
    step = re.compile(_JSONPATH)
    position = 0
    while position < len(body):
        match = step.match(body, position)
        if match is None:
            raise InvalidParameters(
                f"records_path {path[:120]!r} cannot be read at {body[position : position + 20]!r}.", _EXAMPLES
            )
        position = match.end()
        if match["all"]:
            if position < len(body):
                raise InvalidParameters(
                    f"records_path {path[:120]!r} has a wildcard before its end.", "Name one position. " + _EXAMPLES
                )
        elif match["index"]:
            steps.append(int(match["index"]))
        else:
            steps.append(match["name"] if match["name"] is not None else match["quoted"])
    return tuple(steps)


def pointer(steps: Steps) -> str:
    """The steps as a JSON Pointer; `$` for the whole document."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps) or "$"

"""Which legacy encoding a text is in, weighed by what its bytes would say in each."""

from __future__ import annotations

from ..errors import EncodingProblem
from .text_encoding_bytes import BadByte, undecodable

CANDIDATES = ("cp949", "cp932", "gb18030", "big5", "cp1252", "cp1251")


def legacy_encoding(path: str, first: BadByte, shown: str) -> tuple[str, str]:
    """The name of the encoding and a note on it."""
    for name in CANDIDATES:
        if undecodable(path, name, 0) is None:
            return name, f"The encoding was taken to be {name} by its letters; the argument encoding says otherwise."
    raise EncodingProblem(
        f"{shown} is in no encoding that is known here; the first byte beyond ASCII is at {first}.",
        "Name the argument encoding.",
        details={"first_byte": first.document(), "candidates": []},
    )

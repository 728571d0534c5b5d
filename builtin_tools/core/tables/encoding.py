"""The encoding of a text file, found or checked over the whole file, and the way from it to UTF-8.

    path ── find_encoding ──> Encoding ── to_utf8 ──> the same text in UTF-8

The order of evidence: what the agent said, a byte order mark, the pattern of NULs of UTF-16 and UTF-32, UTF-8 over
the whole file, and last the legacy encodings, which text_encoding_evidence weighs. An encoding is only ever given
when every byte of the file decodes under it; where the evidence does not decide, EncodingProblem shows the choice.

Sources: the Unicode Standard, section 3.10 (UTF-8, -16, -32 and their marks), D92 (no surrogate halves in UTF-8);
the WHATWG Encoding Standard, section 4.2 (which labels mean a vendor's superset).
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path

from ..errors import EncodingProblem, InvalidParameters, near_names
from .text_encoding_bytes import BadByte, UndecodableError, bad_byte, decoded, has_c1_controls, undecodable

HEAD_BYTES = 1 << 16

_EXAMPLES = "utf-8, cp949 (Korean), cp932 (Japanese), gb18030, big5, cp1252 (Western European), cp1251 (Cyrillic), utf-16"
# Python's text codecs that are no encoding of a file: escapes, and a form of UTF-7 that may hold half surrogate pairs.
_NO_FILE_ENCODING = {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7", "mbcs", "oem"}
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# A label, and what files under that label also hold; each reads the former's text alike.
_SUPERSETS = {
    "ascii": ("utf-8",),
    "euc-kr": ("cp949",),
    "shift-jis": ("cp932",),
    "gb2312": ("gbk", "gb18030"),
    "gbk": ("gb18030",),
    "big5": ("cp950", "big5hkscs"),
    "cp950": ("big5hkscs",),
    "euc-jp": ("euc-jis-2004",),
    "iso-8859-9": ("cp1254",),
}


@dataclass(frozen=True)
class Encoding:
    """`name` is a Python codec in normal form, `bom` the bytes of the mark to skip, `confidence` "told", "certain" or
    "likely", `note` one sentence for warnings, empty when there is nothing to say."""

    name: str
    bom: int
    confidence: str
    note: str


def find_encoding(path: str, told: str | None, shown: str) -> Encoding:
    """The encoding of the plain bytes at `path`, under which the whole file decodes.

    `told` is the agent's word for it, in any spelling, or None; `shown` names the file in messages. Raises
    InvalidParameters for an unknown encoding, EncodingProblem where the file is not in the encoding that was told or
    where two encodings are about as likely.
    """
    codec = told_codec(told)
    with Path(path).open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    if codec is not None:
        return _as_told(path, codec, head, shown)
    for mark, name in _MARKS:
        if head.startswith(mark) and (name != "utf-32-le" or undecodable(path, name, len(mark)) is None):
            return _as_marked(path, name, len(mark), shown)
    wide = _without_mark(path, head)
    if wide is not None:
        return wide
    bad = undecodable(path, "utf-8", 0)
    if bad is None:
        return _escaped(path, head) or Encoding("utf-8", 0, "certain", "")
    from .text_encoding_evidence import legacy_encoding

    name, note = legacy_encoding(path, bad, shown)
    return Encoding(name, 0, "likely", note)


def to_utf8(path: str, encoding: Encoding, target: str) -> int:
    """Writes the whole text as UTF-8 to `target`, without the mark and with its line ends as they are; gives the bytes
    written. Memory is bounded. Raises EncodingProblem at a byte that does not decode; `target` is then incomplete."""
    written = 0
    with Path(path).open("rb") as source, Path(target).open("wb") as sink:
        try:
            for part in decoded(source, encoding.name, encoding.bom):
                written += sink.write(part if isinstance(part, bytes) else part.encode("utf-8"))
        except UndecodableError as problem:
            bad = bad_byte(path, encoding.name, problem)
            raise EncodingProblem(
                f"The file does not read as {encoding.name} at {bad}.",
                "Name another encoding, or leave the argument encoding out to have it found.",
                details={"encoding": encoding.name, "bad_byte": bad.document()},
            ) from None
    return written


# ---------------------------------------------------------------- what the agent said


def told_codec(told: str | None) -> str | None:
    """The normal form of what was told; None for nothing or "auto". Raises InvalidParameters for no encoding at all."""
    if told is None or told.strip().casefold() in ("", "auto", "detect"):
        return None
    try:
        info = codecs.lookup(told.strip())
        name = normal_form(info.name)
        if info._is_text_encoding and name not in _NO_FILE_ENCODING:
            return "utf-8" if name == "utf-8-sig" else name
    except (LookupError, ValueError, UnicodeError):
        pass
    from encodings.aliases import aliases

    near = near_names(told.strip()[:40].replace("-", "_"), sorted({*aliases, *aliases.values()}))
    raise InvalidParameters(
        f"encoding {told[:40]!r} is not a text encoding that is known here.",
        (f"Closest: {', '.join(near)}. " if near else "")
        + f"Send one such as {_EXAMPLES}; or leave encoding out to have it found.",
    )


def normal_form(codec: str) -> str:
    """Python's name of a codec with hyphens: euc_kr is euc-kr, iso8859-2 is iso-8859-2."""
    return codec.replace("_", "-").replace("iso8859", "iso-8859")


def _as_told(path: str, codec: str, head: bytes, shown: str) -> Encoding:
    if codec in ("utf-16", "utf-32"):
        return _wide_as_told(path, codec, head, shown)
    bom = next((len(mark) for mark, name in _MARKS if name == codec and head.startswith(mark)), 0)
    if codec == "iso-8859-1" and has_c1_controls(path) and undecodable(path, "cp1252", 0) is None:
        note = "The file holds bytes 0x80 to 0x9F, which are no letters in iso-8859-1; it was read as cp1252, its superset."
        return Encoding("cp1252", 0, "told", note)
    bad = undecodable(path, codec, bom)
    if bad is None:
        return Encoding(codec, bom, "told", "")
    for wider in _SUPERSETS.get(codec, ()):
        if undecodable(path, wider, bom) is None:
            note = f"The file holds characters that {codec} lacks; it was read as {wider}, its superset."
            return Encoding(wider, bom, "told", note)
    raise _not_as_told(path, codec, bad, head, shown)


def _wide_as_told(path: str, codec: str, head: bytes, shown: str) -> Encoding:
    """UTF-16 or UTF-32 without a word on the order of bytes: by the mark, else by the pattern of NULs, else little-endian."""
    for mark, name in _MARKS:
        if name.startswith(codec) and head.startswith(mark):
            bad = undecodable(path, name, len(mark))
            if bad is not None:
                raise _not_as_told(path, name, bad, head, shown)
            return Encoding(name, len(mark), "told", "")
    found = _without_mark(path, head)
    name = found.name if found is not None and found.name.startswith(codec) else f"{codec}-le"
    bad = undecodable(path, name, 0)
    if bad is not None:
        raise _not_as_told(path, name, bad, head, shown)
    return Encoding(name, 0, "told", "" if found else f"The file has no byte order mark; it was read as {name}.")


def _not_as_told(path: str, codec: str, bad: BadByte, head: bytes, shown: str) -> EncodingProblem:
    fitting = _fitting(path, head, shown)
    return EncodingProblem(
        f"{shown} is not in {codec}: it does not decode at {bad}.",
        (f"It decodes as {', '.join(fitting)}: send encoding={fitting[0]!r}" if fitting else "Send another encoding")
        + ", or leave encoding out to have it found.",
        details={"encoding": codec, "bad_byte": bad.document(), "decodes_as": fitting},
    )


def _fitting(path: str, head: bytes, shown: str) -> list[str]:
    """The encodings under which the whole file decodes, the likeliest first."""
    try:
        return [find_encoding(path, None, shown).name]
    except EncodingProblem as problem:
        return [found["encoding"] for found in (problem.details or {}).get("candidates", [])]


# ---------------------------------------------------------------- Unicode's own forms


def _as_marked(path: str, name: str, bom: int, shown: str) -> Encoding:
    bad = undecodable(path, name, bom)
    if bad is None:
        return Encoding(name, bom, "certain", "")
    raise EncodingProblem(
        f"{shown} begins with the byte order mark of {name}, but does not decode at {bad}.",
        "The file is damaged or was put together from files in different encodings. "
        "Have it written anew in one encoding, or name the argument encoding.",
        details={"encoding": name, "bad_byte": bad.document()},
    )


def _without_mark(path: str, head: bytes) -> Encoding | None:
    """UTF-16 or UTF-32 without a mark: the NULs of its ASCII characters all stand at the same places of a unit.

    In text that is valid UTF-8 all the same, NULs count only where they are half of all bytes.
    """
    nuls = [head[place::4].count(0) for place in range(4)]
    total = sum(nuls)
    if total == 0:
        return None
    quarter = len(head) / 4
    even, odd = nuls[0] + nuls[2], nuls[1] + nuls[3]
    names = []
    if nuls[3] >= 0.95 * quarter - 1 and nuls[2] >= 0.8 * quarter - 1:
        names.append("utf-32-le")
    elif nuls[0] >= 0.95 * quarter - 1 and nuls[1] >= 0.8 * quarter - 1:
        names.append("utf-32-be")
    share = 0.8 if _is_utf8(head) else 0.02
    if odd > 20 * even and odd >= share * len(head) / 2:
        names.append("utf-16-le")
    if even > 20 * odd and even >= share * len(head) / 2:
        names.append("utf-16-be")
    for name in names:
        if _reads_as_text(head, name) and undecodable(path, name, 0) is None:
            return Encoding(name, 0, "likely", f"The file has no byte order mark; its pattern of bytes is that of {name}.")
    return None


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.utf_8_decode(head, "strict", False)
    except UnicodeDecodeError:
        return False
    return True


def _reads_as_text(head: bytes, name: str) -> bool:
    """Whether almost all characters are assigned ones and no controls, those of lines aside."""
    text = codecs.getincrementaldecoder(name)("replace").decode(head)
    odd = sum(not (char.isprintable() or char in "\t\r\n\f\u3000\u00a0\u200b\ufeff") for char in text)
    return bool(text) and odd <= len(text) / 50


def _escaped(path: str, head: bytes) -> Encoding | None:
    """ISO 2022 in seven bits, which passes for ASCII: its shift `ESC $` gives it away (RFC 1468, RFC 1557)."""
    if b"\x1b$" not in head:
        return None
    for name in ("iso2022-jp", "iso2022-jp-ext", "iso2022-kr"):
        if undecodable(path, name, 0) is None:
            return Encoding(name, 0, "likely", f"The file switches character sets by escape sequences, as {name} does.")
    return None

"""Which legacy encoding a text is in, weighed by what its bytes would say in each.

A candidate with one undecodable byte in the file is out. The others are compared by what their text costs in the
languages that are written in them (text_encoding_models); the cheapest is taken if it is ahead of every other that
gives another text. Candidates that give the same text need no decision.
"""

from __future__ import annotations

import codecs
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import EncodingProblem
from .text_encoding_bytes import READ_BYTES, BadByte, has_c1_controls, undecodable
from .text_encoding_models import KANA, NEVER, Model, alphabetic, east_asian

SAMPLE_BYTES = 1 << 14
AHEAD = 4.0  # nats by which the best has to be ahead: odds of fifty to one
PLAUSIBLE = 8.0  # nats a byte beyond ASCII may cost at most, on average
DAMAGED_UTF8 = "utf-8"
ASCII_BYTE = 2.5  # nats that a byte in ASCII costs at least where it is a character of its own, not half of one
SWITCH = 5.0  # nats for a character that only another language of the encoding explains
_CONTROLS = [chr(code) for code in (*range(9), *range(14, 32))]
_SURROGATE_PAIR = re.compile(rb"\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]")  # as CESU-8 writes it (UTR 26)
_REPLACED = "\ufffd"
_SHOWN_CHARS = 40
SHOWN_CHOICES = 3

_WESTERN = ("de", "fr", "es", "pt", "it", "sv", "da", "nb", "fi", "nl", "is", "ca", "et")
_CENTRAL = ("pl", "cs", "sk", "hu", "ro", "sl", "hr", "de")
_CYRILLIC = ("ru", "uk", "bg", "sr")
# What each is written in, and how many nats it is less common than the commonest; of equal texts the first is taken.
CANDIDATES: dict[str, tuple[tuple[str, ...], float]] = {
    "cp949": (("ko",), 0.0),
    "cp932": (("ja", KANA), 1.0),
    "gb18030": (("zh-hans", "zh-hant"), 1.0),
    "cp950": (("zh-hant",), 1.5),
    "big5hkscs": (("zh-hant",), 3.5),
    "euc-jp": (("ja",), 2.5),
    "cp1252": (_WESTERN, 0.5),
    "cp1251": (_CYRILLIC, 1.0),
    "cp1250": (_CENTRAL, 1.0),
    "cp1253": (("el",), 2.0),
    "cp1254": (("tr",), 1.0),
    "cp1255": (("he",), 2.5),
    "cp1256": (("ar",), 2.5),
    "cp1257": (("lt", "lv", "et"), 3.5),
    "cp1258": (("vi",), 3.5),
    "cp874": (("th",), 2.5),
    "iso-8859-15": (_WESTERN, 2.0),
    "iso-8859-2": (_CENTRAL, 2.5),
    "iso-8859-9": (("tr",), 2.5),
    "iso-8859-7": (("el",), 3.0),
    "iso-8859-5": (_CYRILLIC, 4.0),
    "koi8-r": (_CYRILLIC, 2.5),
    "koi8-u": (_CYRILLIC, 3.0),
    "cp866": (_CYRILLIC, 3.0),
    "cp850": (_WESTERN, 3.5),
    "cp852": (_CENTRAL, 3.5),
    "mac-roman": (_WESTERN, 4.0),
    "mac-cyrillic": (_CYRILLIC, 4.5),
}
_EAST_ASIAN = {"ko", "ja", KANA, "zh-hans", "zh-hant"}
_LESS_COMMON = {"zh-hant": 0.5, KANA: 3.0, "is": 6.0, "ca": 0.5, "et": 0.5}


@dataclass(frozen=True)
class Reading:
    """What the sample says in one encoding, and what that costs."""

    name: str
    cost: float
    text: str

    def sample(self, rivals: Sequence[Reading] = ()) -> str:
        """A piece with characters beyond ASCII, for a message: a line in which the rivals read otherwise, if there is one."""
        lines = self.text.split("\n")
        others = [other.text.split("\n") for other in rivals if other.text != self.text]
        telling = (line for at, line in enumerate(lines) if any(other[at : at + 1] != [line] for other in others))
        line = next(telling, None) or next((part for part in lines if not part.isascii()), self.text)
        first = next((at for at, char in enumerate(line) if not char.isascii()), 0)
        shown = line[max(0, first - _SHOWN_CHARS // 2) :][:_SHOWN_CHARS].strip()
        return "".join(char if char.isprintable() else _REPLACED for char in shown)


def legacy_encoding(path: str, bad: BadByte, shown: str) -> tuple[str, str]:
    """The encoding of a file that is not UTF-8, and a sentence on how it was found; `bad` is where UTF-8 ends.

    Raises EncodingProblem where no encoding makes sense of the file, where two do, or where it is UTF-8 but for a few bytes.
    """
    sample, first = _sample(path, bad)
    readings = sorted(_readings(sample), key=lambda reading: reading.cost)
    if readings[0].name == DAMAGED_UTF8 and _mostly_whole(readings[0].text):
        raise _nearly_utf8(bad, _fitting(path, readings[1:], math.inf), shown)
    fitting = _fitting(path, [reading for reading in readings if reading.name != DAMAGED_UTF8], AHEAD)
    if not fitting or fitting[0].cost > PLAUSIBLE * sum(byte > 0x7F for byte in sample):
        raise _senseless(first, fitting, shown)
    best = fitting[0]
    damaged = next(reading for reading in readings if reading.name == DAMAGED_UTF8)
    if len(fitting) > 1 or damaged.cost < best.cost + AHEAD:
        raise _undecided(first, fitting, shown)
    return best.name, f"The file is not UTF-8; by its characters it was read as {best.name} ({best.sample()!r})."


def _fitting(path: str, readings: list[Reading], behind: float) -> list[Reading]:
    """The first few readings under which the whole file decodes, each another text, none further behind than said."""
    fitting: list[Reading] = []
    for reading in readings:
        if len(fitting) == SHOWN_CHOICES or (fitting and reading.cost >= fitting[0].cost + behind):
            break
        if all(reading.text != other.text for other in fitting) and _fits(path, reading.name):
            fitting.append(reading)
    return fitting


def _mostly_whole(text: str) -> bool:
    """Whether more characters of the text came through as UTF-8 than did not."""
    return 2 * text.count(_REPLACED) <= sum(not char.isascii() for char in text)


def _fits(path: str, name: str) -> bool:
    if name.startswith("iso-8859") and has_c1_controls(path):
        return False
    return undecodable(path, name, 0) is None


def _sample(path: str, bad: BadByte) -> tuple[bytes, BadByte]:
    """Lines with bytes beyond ASCII, the one with the first byte that is not UTF-8 among them, and the first such byte."""
    kept = bytearray()
    first: BadByte | None = None
    line_number, offset = 1, 0
    with Path(path).open("rb") as source:
        while len(kept) < SAMPLE_BYTES and (block := source.read(READ_BYTES) + source.readline(READ_BYTES)):
            if not block.isascii():
                lines = block.splitlines(keepends=True) if b"\n" not in block else block.split(b"\n")
                telling = [line for line in lines if not line.isascii()]
                if first is None:
                    first = _place(block, offset, line_number)
                for line in telling:
                    if len(kept) < SAMPLE_BYTES:
                        kept += line[: 2 * SAMPLE_BYTES] + b"\n"
            offset += len(block)
            line_number += block.count(b"\n")
        if bad.offset >= offset:
            source.seek(max(0, bad.offset - 200))
            around = source.read(400)
            kept += b"\n" + around[around.find(b"\n") + 1 :]
    return bytes(kept), first or bad


def _place(block: bytes, offset: int, line: int) -> BadByte:
    """The first byte beyond ASCII of a block that begins at this offset and line."""
    at = next(at for at, byte in enumerate(block) if byte > 0x7F)
    return BadByte(offset + at, line + block.count(b"\n", 0, at), block[at : at + 4].hex(" ").upper())


def _readings(sample: bytes) -> list[Reading]:
    readings = []
    ascii_bytes = sum(byte < 0x80 for byte in sample)
    for name, (languages, rarity) in CANDIDATES.items():
        try:
            text = codecs.getincrementaldecoder(name)("strict").decode(sample)
        except UnicodeDecodeError:
            continue
        eaten = ascii_bytes - sum(map(str.isascii, text))
        readings.append(Reading(name, rarity + _cost(text, languages) - ASCII_BYTE * eaten, text))
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(_SURROGATE_PAIR.sub(b"\xff", sample), True)
    readings.append(Reading(DAMAGED_UTF8, _damaged_cost(text), text))
    return readings


def _model(language: str) -> Model:
    return east_asian(language) if language in _EAST_ASIAN else alphabetic(language)


def _triples(text: str) -> Counter[tuple[str, str, str]]:
    """The characters beyond ASCII between their neighbours, and how often."""
    counted = Counter(zip("\n" + text, text, text[1:] + "\n", strict=False))
    return Counter({triple: count for triple, count in counted.items() if triple[1] > "\x7f"})


def _cost(text: str, languages: tuple[str, ...]) -> float:
    """What the text costs in the likeliest of the languages, where words of the others may stand in it at a price."""
    triples = _triples(text)
    costs = {language: [_model(language)(*triple) for triple in triples] for language in languages}
    least = [SWITCH + min(each) for each in zip(*costs.values(), strict=True)]
    cost: float = min(
        _LESS_COMMON.get(language, 0.0)
        + sum(count * min(own, other) for count, own, other in zip(triples.values(), costs[language], least, strict=True))
        for language in languages
    )
    return cost + NEVER * sum(text.count(char) for char in _CONTROLS) + _unpaired(text)


def _unpaired(text: str) -> float:
    """The price of quotation marks that nothing closes."""
    pairs = sum(map(text.count, "“”„")), sum(map(text.count, "«»"))
    return 3.0 * sum(count % 2 for count in pairs)


def _damaged_cost(text: str) -> float:
    """What it costs to take the text for UTF-8 with broken bytes."""
    models = [_model(language) for language in ("ko", "ja", "zh-hans", "zh-hant", "de", "fr", "pl", "ru", "el")]
    cost = 2.0
    for triple, count in _triples(text).items():
        cost += count * (9.0 if triple[1] == _REPLACED else 1.0 + min(model(*triple) for model in models))
    return cost


# ---------------------------------------------------------------- what to say


def _choices(readings: list[Reading]) -> str:
    return "; ".join(f"encoding={reading.name!r} reads {reading.sample(readings)!r}" for reading in readings)


def _documents(readings: list[Reading]) -> list[dict[str, str]]:
    return [{"encoding": reading.name, "sample": reading.sample(readings)} for reading in readings]


def _undecided(first: BadByte, readings: list[Reading], shown: str) -> EncodingProblem:
    return EncodingProblem(
        f"{shown} is not UTF-8, and its few characters beyond ASCII, from {first}, make sense in more than one encoding.",
        f"Name the argument encoding: {_choices(readings)}.",
        details={"first_byte": first.document(), "candidates": _documents(readings)},
    )


def _senseless(first: BadByte, readings: list[Reading], shown: str) -> EncodingProblem:
    can = f" It can be read, though it makes little sense: {_choices(readings)}." if readings else ""
    return EncodingProblem(
        f"{shown} is not UTF-8 and reads well in no encoding that is known here; its first byte beyond ASCII is at {first}.",
        f"If it is text, name the argument encoding.{can}",
        details={"first_byte": first.document(), "candidates": _documents(readings)},
    )


def _nearly_utf8(bad: BadByte, readings: list[Reading], shown: str) -> EncodingProblem:
    others = f" What decodes every byte: {_choices(readings)}." if readings else ""
    return EncodingProblem(
        f"{shown} is nearly UTF-8, but not at {bad}: a character cut in two, or text of another encoding mixed in.",
        f"Have it written anew in UTF-8, or name the argument encoding, at the price of wrong characters elsewhere.{others}",
        details={"bad_byte": bad.document(), "candidates": _documents(readings)},
    )

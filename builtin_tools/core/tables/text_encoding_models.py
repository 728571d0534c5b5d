"""What a character costs in a language, in nats: minus the logarithm of how probable it is where it stands.

A model sees a character beyond ASCII between its two neighbours. The sums over a text can be compared across
encodings, since every encoding explains the same bytes: two bytes as one Hangul syllable, or as two accented letters.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable
from functools import cache

from .text_encoding_letters import CHARACTERS, PAIRS

Model = Callable[[str, str, str], float]

NEVER = 18.0  # controls, private use, what no text holds
UNKNOWN_LETTER = 9.0
_LETTER_AT_CHANCE = 0.04
_EDGE_AT_CHANCE = 0.2
_NOT_IN_TABLES = 0.12  # share of pairs that owe nothing to the language: foreign names, compounds
# How frequent a sign is among characters beyond ASCII of a European text, and which neighbours it has.
_BETWEEN_LETTERS, _QUOTES, _OPENS, _CLOSES, _ALONE, _BY_NUMBER, _AFTER_NUMBER, _AFTER_WORD, _ANYWHERE = range(9)
_SIGNS = {
    **dict.fromkeys("’", (3.5, _BETWEEN_LETTERS)),
    **dict.fromkeys("“«»", (4.5, _QUOTES)),
    **dict.fromkeys("„‘¿¡", (5.5, _OPENS)),
    **dict.fromkeys("”", (5.5, _CLOSES)),
    **dict.fromkeys("–—·•", (5.0, _ALONE)),
    **dict.fromkeys("±×÷½¼¾†", (7.5, _ALONE)),
    "€": (4.5, _BY_NUMBER),
    **dict.fromkeys("£¥", (5.5, _BY_NUMBER)),
    **dict.fromkeys("¢‰", (8.0, _BY_NUMBER)),
    **dict.fromkeys("°", (4.5, _AFTER_NUMBER)),
    **dict.fromkeys("²³ªº", (5.5, _AFTER_WORD)),
    **dict.fromkeys("®™", (5.5, _AFTER_WORD)),
    **dict.fromkeys("…", (5.5, _CLOSES)),
    **dict.fromkeys("§©№", (6.0, _ALONE)),
    "µ": (3.5, _OPENS),
    "\u00a0": (4.5, _ANYWHERE),
}
_MISPLACED = 4.5
_EAST_ASIAN_SIGNS = (
    "、。「」『』・ー（）～〜：；，！？％＆／＋－＝①②③④⑤⑥⑦⑧⑨⑩㈱㈜※→←○●◎□■◆★☆△▲▽▼《》【】〈〉“”‘’…—℃㎡㎏㎞㎝㎜㎥°×±·々〒Ⅰ Ⅱ Ⅲ々　"
)
KANA = "kana"


@cache
def east_asian(language: str) -> Model:
    """The model of "ko", "ja", "zh-hans", "zh-hant", or of KANA: Japanese in half-width katakana."""
    levels = _levels(CHARACTERS["ja" if language == KANA else language])
    table = {char: level / 2 for level, entries in levels for char in entries}

    @cache
    def alone(char: str) -> float:
        cost = table.get(char)
        if cost is None:
            cost = _rare(language, char)
        return cost + 3.0 if language == KANA else cost

    def cost(left: str, char: str, right: str) -> float:
        if language == KANA and "\uff61" <= char <= "\uff9f":
            return _half_width_cost(left, char, right)
        strange = 0.0
        if char.isalpha():  # CJK within a word of another script
            strange = 2.5 * (_is_small_latin(left) + _is_small_latin(right))
        return alone(char) + strange

    return cost


def _half_width_cost(left: str, char: str, right: str) -> float:
    """Half-width katakana stand in words of their own; voicing marks follow the kana that can be voiced."""
    strange = 3.0 * (_is_ascii_letter(left) + _is_ascii_letter(right))
    if char == "ﾞ":
        return (2.5 if left in "ｳｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾊﾋﾌﾍﾎ" else 9.0) + strange
    if char == "ﾟ":
        return (3.5 if left in "ﾊﾋﾌﾍﾎ" else 9.0) + strange
    if char in "ｬｭｮ":
        return (4.0 if left in "ｼﾁｷﾘﾆﾋﾐﾞ" else 8.0) + strange
    if char in "｡｢｣､･ｦｧｨｩｪﾇﾍ":
        return 6.5 + strange
    return (4.7 if char in "ﾎﾒﾐﾑﾖﾕﾓﾈｾｿ" else 3.6) + strange


def _is_ascii_letter(char: str) -> bool:
    return char.isascii() and char.isalpha()


def _is_small_latin(char: str) -> bool:
    return "a" <= char <= "z" or ("\u00c0" <= char < "\u0250" and char.islower())


def _rare(language: str, char: str) -> float:
    """A character that is in no table, by the part of the national standard that holds it."""
    if char in _EAST_ASIAN_SIGNS:
        return 7.0
    if "\uff01" <= char <= "\uff5e":  # full-width ASCII
        return 8.5
    if "\uff61" <= char <= "\uff9f":  # half width; first the punctuation
        return 10.0 if char <= "\uff65" else 8.0
    if "\u3040" <= char <= "\u30ff":
        return 8.0 if language in ("ja", KANA) else 12.0
    if "\uac00" <= char <= "\ud7a3":
        return (10.5 if _row(char, "euc_kr") else 14.0) if language == "ko" else NEVER
    if not "\u4e00" <= char <= "\u9fff":
        return _rare_sign(char)
    if language == "ko":
        return 12.0
    if language in ("ja", KANA):
        row = _row(char, "euc_jp")
        return 10.0 if 0xB0 <= row <= 0xCF else 12.0
    if language == "zh-hans":
        row = _row(char, "gb2312")
        return 10.5 if 0xB0 <= row <= 0xD7 else 12.0 if row else 13.5
    return 11.0 if 0xA4 <= _row(char, "big5") <= 0xC6 else 13.5


def _row(char: str, codec: str) -> int:
    """The lead byte of a character of two bytes; 0 where the codec has none."""
    try:
        there = char.encode(codec)
    except UnicodeEncodeError:
        return 0
    return there[0] if len(there) == 2 else 0


def _rare_sign(char: str) -> float:
    if unicodedata.category(char) in ("Cc", "Co", "Cn", "Cs"):
        return NEVER
    return 11.5


@cache
def alphabetic(language: str) -> Model:
    """The model of a language with an alphabet, by its pairs of letters and the places of upper case and signs."""
    share: dict[str, float] = {}
    seconds: dict[str, float] = {}
    firsts: dict[str, float] = {}
    for level, entries in _levels(PAIRS[language]):
        probability = math.exp(-level / 2)
        for first, second in zip(entries[::2], entries[1::2], strict=True):
            share[first + second] = probability
            if second > "\x7f":
                seconds[second] = seconds.get(second, 0.0) + probability
            if first > "\x7f":
                firsts[first] = firsts.get(first, 0.0) + probability
    total = sum(seconds.values())
    latin = min(seconds) < "\u0250"

    @cache
    def cost(left: str, char: str, right: str) -> float:
        if not is_letter(char):
            return sign_cost(left, char, right)
        if char == "İ" and language == "tr":  # its lower case is ASCII, so that no pair holds it
            return 2.5 + case_cost(left, char, right)
        before, here, after = _folded(left), _folded(char), _folded(right)
        if here not in seconds:
            return UNKNOWN_LETTER + case_cost(left, char, right)
        if before in firsts:
            seen = share.get(before + here, 0.0) / firsts[before]
            value = -math.log((1 - _NOT_IN_TABLES) * seen + _NOT_IN_TABLES * seconds[here] / total)
        else:
            value = -math.log(seconds[here] / total) - _gain(share.get(before + here, 0.0) / seconds[here], before)
        if after.isascii():
            value -= _gain(share.get(here + after, 0.0) / max(firsts.get(here, 0.0), 1e-9), after)
        strange = 0.0 if latin else 4.0 * (_is_ascii_letter(left) + _is_ascii_letter(right))
        if right.isdigit() and not left.isalpha():
            strange += 2.5
        return value + case_cost(left, char, right) + strange

    return cost


def _gain(probability: float, neighbour: str) -> float:
    """How much likelier this neighbour in ASCII is beside the letter than anywhere."""
    chance = _LETTER_AT_CHANCE if neighbour.isalpha() else _EDGE_AT_CHANCE
    return min(1.5, math.log((1 - _NOT_IN_TABLES) * probability / chance + _NOT_IN_TABLES))


def is_letter(char: str) -> bool:
    return (char.isalpha() and char not in "ªºµ") or "\u0300" <= char <= "\u036f" or "\u0e31" <= char <= "\u0e4e"


def _folded(char: str) -> str:
    if is_letter(char):
        return char.lower()[:1]
    return "0" if char.isdigit() and char.isascii() else "_"


def case_cost(left: str, char: str, right: str) -> float:
    """The price of upper case within a word or alone, and of lower case among upper case."""
    if char.isupper():
        if left.islower():
            return 5.0
        return 0.7 if left.isalpha() or right.isalpha() else 3.5
    if char.islower():
        if left.isupper() and right.isupper():
            return 3.5
        if right.isupper():
            return 3.0
    return 0.0


def sign_cost(left: str, char: str, right: str) -> float:
    """A character that is no letter, in a European text."""
    known = _SIGNS.get(char)
    if known is None:
        category = unicodedata.category(char)
        if category in ("Cc", "Co", "Cn", "Cs"):
            return NEVER
        return 13.0 if category == "Sk" else 11.0
    base, place = known
    return base + (0.0 if _stands_well(place, left, right) else _MISPLACED)


def _stands_well(place: int, left: str, right: str) -> bool:
    left_word, right_word = left.isalpha() or left.isdigit(), right.isalpha() or right.isdigit()
    if place == _BETWEEN_LETTERS:
        return _is_apostrophe(left, right)
    if place == _QUOTES:
        return not (left_word and right_word)
    if place == _OPENS:
        return not left.isalpha() and (right_word or not right.isalpha())
    if place == _CLOSES:
        return not right_word
    if place == _ALONE:
        return not left.isalpha() and not right.isalpha()
    if place == _BY_NUMBER:
        return not right.isalpha() and (not left.isalpha() or left in "kKM")
    if place == _AFTER_NUMBER:
        return (not left.isalpha() or left in "Nn") and (not right.isalpha() or right in "CFKNSEWO")
    if place == _AFTER_WORD:
        return left_word and not right_word
    return True


def _is_apostrophe(left: str, right: str) -> bool:
    """As in it’s, l’eau, O’Brien, we’ll; and at the end of a word of small letters, where it may close a quotation."""
    if not left.isalpha() or not right.isalpha():
        return left.isalpha() and not right.isalpha() and not left.isupper()
    if right in "stST":
        return True
    vowels = "aeiouyhàâéèêëîïôûœ"
    if right.lower() in vowels or right.isupper():
        return left in "cdjlmnqstuCDJLMNQSTO"
    return right in "lrvmd" and left in "eiouyIt"


def _levels(table: str) -> list[tuple[int, str]]:
    """A table of text_encoding_letters as its costs in half-nats, and the characters or pairs that have them."""
    fields = table.split(" ")
    return [(int(level), entries) for level, entries in zip(fields[::2], fields[1::2], strict=True)]

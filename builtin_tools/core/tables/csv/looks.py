"""What text can look like without being it, told to a person: why a column stayed text, and which option would convert it."""

from __future__ import annotations

import re

_COMMA = 'decimal "," (with thousands "." where it stands) would convert it'
_LOOKS: list[tuple[re.Pattern[str], str, str]] = [
    (
        re.compile(r"[-+]?\d{1,3}(,\d{3})+", re.A),
        "a comma that may separate thousands or decimals",
        'thousands "," reads 1,200 as 1200, decimal "," as 1.2: choose the one that is meant',
    ),
    (re.compile(r"[-+]?0\d+([.]\d+)?", re.A), "leading zeros", ""),
    (re.compile(r"[-+]?\d+([.]\d+)?[eE][-+]?\d+", re.A), "an exponent, as in scientific notation or in a code", ""),
    (re.compile(r"[-+]?\d{19,}", re.A), "more digits than a 64-bit integer holds", ""),
    (re.compile(r"[-+]?(\d{1,3}([.]\d{3})+|\d+),\d+", re.A), "a comma that may be a decimal separator", _COMMA),
    (re.compile(r"[-+]?\d{1,3}(,\d{3})+([.]\d+)?", re.A), "a comma that may be a thousands separator", 'thousands "," would convert it'),
    (
        re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*[-+]\d\d:?\d\d", re.A),
        "times with an offset, which their type would turn into UTC",
        "CAST(… AS TIMESTAMPTZ) in SQL would convert it",
    ),
    (re.compile(r"\d{1,2}([-/.])\d{1,2}\1(\d{4}|\d{2})([ T].*)?", re.A), "a date whose order of day and month is ambiguous or not ISO 8601", 'date_format, such as "%d/%m/%Y", would convert it'),
    (re.compile(r"\d{4}([/.])\d{1,2}\1\d{1,2}([ T].*)?|\d{4}-\d{1,2}-\d{1,2}([ T].*)?", re.A), "a date in another format than ISO 8601", 'date_format, such as "%Y/%m/%d", would convert it'),
    (re.compile(r"[(]?[-+]? ?[$€£¥₩] ?\d[\d,.]*[)]?|\d[\d,.]* ?[€₩원円元]"), "a currency symbol", "a replace() and CAST in SQL would convert it"),
    (re.compile(r"[-+]?[\d.,]+ ?%", re.A), "a percent sign", "a replace() and CAST in SQL would convert it"),
    (re.compile(r"\s+[-+]?\d[\d.]*\s*|[-+]?\d[\d.]*\s+", re.A), "blanks around a number", "CAST(trim(…)) in SQL would convert it"),
    (re.compile(r"[+]\d+([.]\d+)?|[.]\d+|\d+[.]", re.A), "a number not written the way it would be written back", "CAST in SQL would convert it"),
    (re.compile(r"true|false", re.I), "true and false not in small letters", "CAST(… AS BOOLEAN) in SQL would convert it"),
    (re.compile(r"-?\d+[.]\d+", re.A), "decimals that vary in number, or zeros at their end", 'CAST(… AS DOUBLE) or (… AS DECIMAL) in SQL would convert it'),
]  # fmt: skip
_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?", re.A)


def note(sample: list[str], offending: list[str], wrong: int, there: int) -> str:
    """Why a column is text: `offending` are values that no type took (`wrong` of them among `there`), `sample` the first values.

    "" where the values are plain words.
    """
    if offending and there:
        example = offending[0] if len(offending[0]) <= 40 else offending[0][:40] + "…"
        reason, advice = _reason(offending) or ("another form than the rest", 'null_values may name it as "no value"')
        return f"kept as text: {wrong:,} of {there:,} values have {reason}, such as {example!r}" + (
            f"; {advice}" if advice else ""
        )
    found = _reason(sample)
    if found is None:
        return _mixed(sample)
    reason, advice = found
    return f"kept as text: values have {reason}" + (f"; {advice}" if advice else "")


def _reason(values: list[str]) -> tuple[str, str] | None:
    """The look that at least half of the values share."""
    for pattern, reason, advice in _LOOKS:
        if sum(1 for value in values if pattern.fullmatch(value)) * 2 >= len(values) > 0:
            return reason, advice
    return None


def _mixed(sample: list[str]) -> str:
    numbers = [value for value in sample if _NUMBER.fullmatch(value)]
    if len(numbers) * 2 <= len(sample) or not numbers:
        return ""
    zeros = next((value for value in numbers if re.fullmatch(r"-?0\d+", value)), "")
    if zeros:
        return f"kept as text: leading zeros, as in {zeros!r}"
    other = next((value for value in sample if not _NUMBER.fullmatch(value)), "")
    if other:
        return f"kept as text: not every value is a number, {other[:40]!r} is not; null_values names marks of missing values"
    return "kept as text: the numbers are written in mixed ways (decimals that vary in number, zeros at their end); CAST in SQL converts them"

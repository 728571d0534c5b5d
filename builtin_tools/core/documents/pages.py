"""Which pages a call asks for: `1-3,7`, an open end (`3-`), the last ones (`-2`), or all."""

from __future__ import annotations

import re

from ..errors import InvalidParameters

_PART = re.compile(r"(?P<first>\d{1,9})?(?:(?P<dash>-)(?P<last>\d{1,9})?)?")


def chosen_pages(pages: str | None, count: int) -> list[int]:
    """The page numbers, from 1, in the order of the request, each once; all pages where `pages` is None or "all".

    A number alone is that page, `2-4` a range with both ends, `3-` from page 3 to the end, `-2` the last two
    pages. Raises InvalidParameters, which tells the number of pages.
    """
    if pages is None or pages.strip().casefold() == "all":
        return list(range(1, count + 1))
    text = re.sub(r"\s*[-\u2010-\u2015\u2212]\s*", "-", pages.strip())
    chosen: dict[int, None] = {}
    for part in re.split(r"[\s,;]+", text):
        if part:
            chosen.update(dict.fromkeys(_part(part, pages, count)))
    if not chosen:
        raise _unfit(pages, count, "it names no page")
    return list(chosen)


def _part(part: str, pages: str, count: int) -> range:
    match = _PART.fullmatch(part)
    if match is None or part == "-":
        raise _unfit(pages, count, f"{part[:40]!r} is no page number and no range")
    first, dash, last = match["first"], match["dash"], match["last"]
    if first is None:
        begin, end = count - int(last) + 1, count
        if begin < 1 or int(last) < 1:
            raise _unfit(pages, count, f"the last {int(last):,} pages are not there")
    else:
        begin = int(first)
        end = int(last) if last else (count if dash else begin)
    if begin < 1 or begin > count or end > count:
        raise _unfit(pages, count, f"page {min(begin, count + 1) if begin < 1 else max(begin, end):,} does not exist")
    if end < begin:
        raise _unfit(pages, count, f"the range {part!r} ends before it begins")
    return range(begin, end + 1)


def _unfit(pages: str, count: int, why: str) -> InvalidParameters:
    noun = "page" if count == 1 else "pages"
    return InvalidParameters(
        f"pages is {pages[:80]!r}, but {why}; the document has {count:,} {noun}.",
        f"Send page numbers from 1 to {count:,}: single ones and ranges, with commas, such as '1-3,7'; "
        "'3-' is from page 3 to the end, '-2' is the last two. Leave pages out for all of them.",
        details={"page_count": count},
    )


def page_ranges(numbers: list[int]) -> str:
    """Page numbers for a sentence: `1-3, 7`."""
    parts: list[str] = []
    begin = before = None
    for number in [*sorted(numbers), None]:
        if begin is not None and before is not None and number != before + 1:
            parts.append(str(begin) if begin == before else f"{begin}-{before}")
            begin = number
        begin = number if begin is None else begin
        before = number
    return ", ".join(parts[:30]) + (f" and {len(parts) - 30} more ranges" if len(parts) > 30 else "")

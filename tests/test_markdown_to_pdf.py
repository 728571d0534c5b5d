"""markdown_to_pdf at its boundary: what the pages show, what they must not hold, and what is told."""

from __future__ import annotations

import re
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from document_process import Reply, start

from builtin_tools.core.documents.markdown_html import converted
from builtin_tools.core.errors import InvalidParameters


def html(text: str) -> str:
    return re.sub(r">\n+<", "><", converted(text, lambda *_: None).html)


def printed(directory: Path, reply: Reply) -> tuple[str, Any]:
    """The text of the PDF that a call wrote, and a pypdf reader on it."""
    import pypdf
    import pypdfium2

    assert reply.code == "ok", reply.document
    path = directory / reply.document["artifacts"][0]["path"]
    document = pypdfium2.PdfDocument(path)
    try:
        text = "\n".join(page.get_textpage().get_text_range().replace("\r\n", "\n") for page in document)
    finally:
        document.close()
    return text, pypdf.PdfReader(path)


def png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress(b"\0\xff\0\0" * 4 * 4)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", rows)
        + chunk(b"IEND", b"")
    )


# ---- Markdown as it is written


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Words:\n- a\n- b", "<p>Words:</p><ul><li>a</li><li>b</li></ul>"),
        ("- a\n  - b\n    - c\n- d", "<ul><li>a<ul><li>b<ul><li>c</li></ul></li></ul></li><li>d</li></ul>"),
        ("1. a\n  - b\n2. c", "<ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>"),
        ("- a\n\n  more\n\n- b", "<ul><li><p>a</p><p>more</p></li><li><p>b</p></li></ul>"),
        ("3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'),
        (
            "1. s\n   ```sql\n   x < 1\n     y\n   ```\n2. t",
            "<ol><li>s<pre><code>x &lt; 1\n  y\n</code></pre></li><li>t</li></ol>",
        ),
        ("a\n```\n- no list\n```\nb", "<p>a</p><pre><code>- no list\n</code></pre><p>b</p>"),
        ("~~gone~~ `~~kept~~`", "<p><del>gone</del> <code>~~kept~~</code></p>"),
        ("see https://a.b/c_d_e.", '<p>see <a href="https://a.b/c_d_e">https://a.b/c_d_e</a>.</p>'),
        ("snake_case_word **합계:**입니다", "<p>snake_case_word <strong>합계:</strong>입니다</p>"),
        ("Head\n====", '<h1 id="head">Head</h1>'),
        ("## 요약 A/B {#own}", '<h2 id="own">요약 A/B</h2>'),
        ("> a\n> - b", "<blockquote><p>a</p><ul><li>b</li></ul></blockquote>"),
        ("not 5 * 3 * 2 | #tag", "<p>not 5 * 3 * 2 | #tag</p>"),
    ],
)
def test_blocks_are_found_where_a_reader_sees_them(text: str, wanted: str) -> None:
    assert html(text) == wanted


def test_a_table_follows_a_paragraph_and_bars_in_code_part_no_cells() -> None:
    found = html("Table:\n| a | b | n |\n|---|:-:|---|\n| `x|y` | p \\| q | 1,204 |\n| 2 |\n")
    assert found.startswith("<p>Table:</p><table><thead><tr><th>a</th>")
    assert (
        "<td><code>x|y</code></td>" in found
        and '<td align="center">p | q</td>' in found
        and '<td align="right">1,204</td>' in found
    )


def test_a_row_with_too_many_cells_keeps_them_and_is_told() -> None:
    told: list[str] = []
    found = converted("|a|b|\n|-|-|\n|1|2|3|", lambda code, _: told.append(code)).html
    assert "2 | 3" in found and told == ["TABLE_ROW_TOO_LONG"]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 20_000,
        "".join("`" * run + "x" for run in range(1500)),
        "".join("  " * level + "- x\n" for level in range(500)),
        ">" * 5000 + "x",
    ],
    ids=["brackets", "backticks", "lists", "quotations"],
)
def test_markdown_that_would_hang_the_parser_is_refused_at_once(text: str) -> None:
    with pytest.raises(InvalidParameters):
        converted(text, lambda *_: None)


# ---- the PDF


def test_a_document_has_its_words_its_title_its_contents_and_no_path_of_the_machine(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    text = "---\nauthor: me\n---\n# Handbook\n\n- [x] done\n\n## Part & one\n\n"
    text += "Note[^1], H<sub>2</sub>O, [near](other.md#x)\n\n[^1]: The note.\n"
    (tmp_path / "docs/a.md").write_text(text, "utf-8")
    reply = start(
        "markdown_to_pdf", tmp_path, input_path="docs/a.md", output_path="out/a.pdf", table_of_contents=True, page_size="letter"
    )
    shown, reader = printed(tmp_path, reply)
    assert shown.count("Part & one") == 2 and "The note." in shown and "done" in shown and "author" not in shown
    assert reader.metadata.title == "Handbook" and round(float(reader.pages[0].mediabox.width)) == 612
    links = [str(link.get_object()["/A"]["/URI"]) for link in reader.pages[0]["/Annots"] if "/A" in link.get_object()]
    assert links == ["../docs/other.md#x"]
    assert str(tmp_path).encode() not in (tmp_path / "out/a.pdf").read_bytes()
    assert "FRONT_MATTER_LEFT_OUT" in reply.warnings


def test_pictures_come_from_the_documents_folder_and_every_other_one_is_told(tmp_path: Path) -> None:
    art = tmp_path / "art"
    (art / "docs").mkdir(parents=True)
    (tmp_path / "private.png").write_bytes(png())
    (art / "docs/a b.png").write_bytes(png())
    inner = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
    inner += '<image href="file:///etc/hostname" width="9" height="9"/></svg>'
    (art / "docs/in.svg").write_text(inner)
    asked = [
        "a%20b.png",
        "in.svg",
        "gone.png",
        "../../private.png",
        "http://127.0.0.1:9/x.png",
        "file:///etc/y.png",
        "data:image/svg+xml,<svg/>",
    ]
    (art / "docs/a.md").write_text("".join(f"![p](<{address}>)\n\n" for address in asked))
    reply = start("markdown_to_pdf", art, input_path="docs/a.md")
    _, reader = printed(art, reply)
    assert len(reader.pages[0].images) == 1
    for address in asked[2:]:
        assert address[:20] in reply.warnings
    assert "a b.png" not in reply.warnings and "etc/hostname" in reply.warnings


def test_active_html_and_dangerous_links_are_left_out_and_told(tmp_path: Path) -> None:
    text = (
        '<script>alert(1)</script>\n\n<p style="color:red" onclick="x()">kept words</p>\n\n'
        "[j](javascript:alert(1)) [f](file:///etc/passwd)"
        " [d](data:text/html,x) [m](&#106;avascript:alert(2))\n\n"
        '<iframe src="http://a.invalid/f"></iframe>\n\nlast <b>bold</b><br>words\n'
    )
    reply = start("markdown_to_pdf", tmp_path, markdown=text, title="</title><script>x</script>")
    shown, reader = printed(tmp_path, reply)
    assert "kept words" in shown and "bold" in shown and "alert" not in shown
    assert "/Annots" not in reader.pages[0] and reader.metadata.title == "</title><script>x</script>"
    for word in ("<script>", "style", "onclick", "javascript", "file:///etc/passwd", "data:", "<iframe> (http://a.invalid/f)"):
        assert word in reply.warnings


def test_a_stylesheet_is_applied_and_what_it_may_not_load_or_what_is_no_css_is_told(tmp_path: Path) -> None:
    sheet = "@import url(http://127.0.0.1:9/a.css); h2 { break-before: page } p { colour: red; background: url(../x.png) }"
    reply = start("markdown_to_pdf", tmp_path, markdown="# a\n\n## b\n\ntext", stylesheet=sheet)
    _, reader = printed(tmp_path, reply)
    assert len(reader.pages) == 2
    assert "127.0.0.1:9/a.css" in reply.warnings and "colour" in reply.warnings and "x.png" in reply.warnings


def test_signs_that_no_font_has_are_named(tmp_path: Path) -> None:
    reply = start("markdown_to_pdf", tmp_path, markdown="# Plain\n\nbut \U00010380\U00010381 here")
    assert "GLYPHS_MISSING" in reply.warnings and "\U00010380" in reply.warnings and "Ugaritic" in reply.warnings


def test_the_head_of_a_long_table_is_repeated_on_each_page(tmp_path: Path) -> None:
    rows = "".join(f"| {number} | word |\n" for number in range(120))
    _, reader = printed(tmp_path, start("markdown_to_pdf", tmp_path, markdown=f"| number | header word |\n|---|---|\n{rows}"))
    assert len(reader.pages) > 1 and all("header word" in page.extract_text() for page in reader.pages)


def test_a_table_that_cannot_be_printed_in_time_is_refused_at_once_with_what_fits(tmp_path: Path) -> None:
    rows = "".join("|" + f"{number}|" * 7 + "\n" for number in range(5000))
    (tmp_path / "rows.md").write_text("|a|b|c|d|e|f|g|\n|---|---|---|---|---|---|---|\n" + rows)
    reply = start("markdown_to_pdf", tmp_path, {"timeout_seconds": 10}, input_path="rows.md")
    assert reply.code == "INVALID_PARAMETERS" and "5,000 rows" in reply.words and "a | b | c" in reply.words


def test_inputs_that_are_no_text_empty_or_in_another_encoding_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "empty.md").write_text("  \n")
    (tmp_path / "old.md").write_bytes("# 요약".encode("cp949"))
    (tmp_path / "binary.md").write_bytes(b"\x00\x01\x02")
    codes = [start("markdown_to_pdf", tmp_path, input_path=name).code for name in ("empty.md", "old.md", "binary.md")]
    assert codes == ["FILE_EMPTY", "ENCODING_ERROR", "UNSUPPORTED_FORMAT"]
    for both in ({}, {"markdown": "x", "input_path": "empty.md"}):
        reply = start("markdown_to_pdf", tmp_path, **both)
        assert reply.code == "INVALID_PARAMETERS" and "Exactly one of markdown and input_path" in reply.words

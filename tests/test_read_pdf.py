"""read_pdf at its boundary: reading order, page marks, choice of pages, tables, flaws and locks."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from document_process import at, pdf, start

from builtin_tools.core.documents.pages import chosen_pages, page_ranges
from builtin_tools.core.errors import InvalidParameters


def prose(x: float, top: float, word: str, lines: int = 6) -> str:
    return "".join(at(x, top - 14 * line, f"{word} line {line} of a paragraph of prose") for line in range(lines))


def test_the_left_column_comes_before_the_right_and_the_title_before_both(tmp_path: Path) -> None:
    title = at(60, 780, "A title that stands over both of the columns and crosses the gutter between them", 12)
    mixed = title + "".join(
        prose(x, 740 - 14 * line, f"{side}{line}", 1) for line in range(6) for x, side in ((50, "L"), (320, "R"))
    )
    (tmp_path / "two.pdf").write_bytes(pdf([mixed]))
    text = start("read_pdf", tmp_path, path="two.pdf").document["text"]["content"]
    assert text.index("A title") < text.index("L0") < text.index("L5") < text.index("R0") < text.index("R5")


def test_labels_with_values_beside_them_are_read_line_by_line(tmp_path: Path) -> None:
    pairs = {"Invoice": "4711", "Date": "2024-05-31", "Customer": "ACME Ltd", "Total amount due": "1,204.50", "Tax": "19 percent"}
    form = "".join(
        at(60, 700 - 16 * row, label) + at(300, 700 - 16 * row, value) for row, (label, value) in enumerate(pairs.items())
    )
    (tmp_path / "form.pdf").write_bytes(pdf([form]))
    lines = start("read_pdf", tmp_path, path="form.pdf").document["text"]["content"].splitlines()
    for label, value in pairs.items():
        assert f"{label}  {value}" in lines


@pytest.mark.parametrize("turn", [("0 1 -1 0 500 100", 90), ("-1 0 0 -1 500 700", 180), ("0 -1 1 0 100 700", 270)])
def test_a_page_whose_text_is_turned_reads_like_any_other(tmp_path: Path, turn: tuple[str, int]) -> None:
    contents = f"q {turn[0]} cm " + at(0, 0, "first line of words") + at(0, -20, "second line of words") + "Q"
    (tmp_path / "turned.pdf").write_bytes(pdf([contents], rotate=turn[1]))
    text = start("read_pdf", tmp_path, path="turned.pdf").document["text"]["content"]
    assert text.index("first line of words") < text.index("second line of words")


def test_running_heads_and_page_numbers_stand_in_comments_and_not_between_sentences(tmp_path: Path) -> None:
    pages = [at(60, 800, "ACME Report") + prose(60, 740, f"p{number}") + at(280, 40, f"Page {number}") for number in range(1, 5)]
    (tmp_path / "heads.pdf").write_bytes(pdf(pages))
    text = start("read_pdf", tmp_path, path="heads.pdf").document["text"]["content"]
    assert "<!-- page 2 -->\n<!-- head of the page: ACME Report -->\n\np2 line 0" in text
    assert text.count("<!-- foot of the page: Page ") == 4


def test_pages_without_text_are_named_and_a_document_of_scans_says_so_in_its_summary(tmp_path: Path) -> None:
    drawing = "1 0 0 rg 50 50 200 200 re f"
    (tmp_path / "scan.pdf").write_bytes(pdf([drawing, drawing]))
    (tmp_path / "mixed.pdf").write_bytes(pdf([prose(60, 700, "a"), drawing, ""]))
    scans = start("read_pdf", tmp_path, path="scan.pdf")
    assert "NO_TEXT_LAYER Pages 1-2" in scans.warnings and "text layer" in scans.document["summary"]
    mixed = start("read_pdf", tmp_path, path="mixed.pdf")
    assert "NO_TEXT_LAYER Page 2" in mixed.warnings and "BLANK_PAGE Page 3" in mixed.warnings


def test_the_whole_text_is_in_the_file_and_its_length_is_told(tmp_path: Path) -> None:
    (tmp_path / "long.pdf").write_bytes(pdf([prose(60, 780, f"page{number}", 50) for number in range(1, 9)]))
    reply = start("read_pdf", tmp_path, {"max_output_chars": 3000}, path="long.pdf", output_path="out/long.md")
    whole = (tmp_path / "out/long.md").read_text("utf-8")
    assert reply.document["text"]["truncated"] and reply.document["text"]["total_chars"] == len(whole)
    assert whole.count("<!-- page ") == 8 and "page8 line 49" in whole
    again = start("read_pdf", tmp_path, path="long.pdf", output_path="out/long.md")
    assert again.code == "OUTPUT_EXISTS"


def test_tables_with_and_without_lines_become_csv_files_with_their_places(tmp_path: Path) -> None:
    loose = "".join(at(72 + 100 * x, 700 - 18 * y, f"r{y} c{x}") for y in range(4) for x in range(3))
    frame = "".join(f"{72 + 90 * x} 400 m {72 + 90 * x} 454 l S\n" for x in range(4)) + "".join(
        f"72 {400 + 18 * y} m 342 {400 + 18 * y} l S\n" for y in range(4)
    )
    ruled = frame + "".join(at(76 + 90 * x, 441 - 18 * y, f"a,{y}{x}") for y in range(3) for x in range(3))
    (tmp_path / "tables.pdf").write_bytes(pdf([prose(60, 800, "words", 3) + loose + ruled]))
    reply = start("read_pdf", tmp_path, path="tables.pdf", content="tables", output_path="t/found.csv")
    found = {entry["found_by"]: entry for entry in reply.document["details"]["tables"]}
    assert set(found) == {"lines", "alignment"} and len(reply.document["artifacts"]) == 2
    rows = list(csv.reader(io.StringIO((tmp_path / found["lines"]["path"]).read_text("utf-8"))))
    assert rows == [[f"a,{y}{x}" for x in range(3)] for y in range(3)]
    assert found["lines"]["page"] == 1 and found["lines"]["bounding_box"] == pytest.approx([72, 388, 342, 442], abs=1)
    assert (found["alignment"]["rows"], found["alignment"]["columns"]) == (4, 3)
    assert found["alignment"]["path"].startswith("t/found_p1_")


def test_a_document_without_tables_says_so_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "prose.pdf").write_bytes(pdf([prose(60, 700, "words", 12)]))
    reply = start("read_pdf", tmp_path, path="prose.pdf", content="tables")
    assert reply.code == "ok" and "No table" in reply.document["summary"] and "artifacts" not in reply.document


@pytest.mark.parametrize(
    ("password", "code"), [(None, "PASSWORD_REQUIRED"), ("wrong-one", "PASSWORD_REQUIRED"), ("right-one", "ok")]
)
def test_a_locked_document_opens_with_the_operators_password_only(tmp_path: Path, password: str | None, code: str) -> None:
    import pypdf

    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf([prose(60, 700, "secret")])))
    writer.encrypt("right-one", algorithm="AES-256")
    writer.write(tmp_path / "locked.pdf")
    for content in ("text", "tables"):
        reply = start("read_pdf", tmp_path, {"pdf_password": password} if password else {}, path="locked.pdf", content=content)
        assert reply.code == code and reply.exit_status == (code != "ok")
        assert password is None or password not in str(reply.document) + reply.stderr


def test_what_is_empty_damaged_or_no_pdf_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "empty.pdf").write_bytes(b"")
    (tmp_path / "text.pdf").write_bytes(b"a,b\n1,2\n")
    (tmp_path / "cut.pdf").write_bytes(b"%PDF-1.6\n1 0 obj\n<< /Type /Cata")
    (tmp_path / "report.dat").write_bytes(pdf([prose(60, 700, "words")]))
    codes = [start("read_pdf", tmp_path, path=name).code for name in ("empty.pdf", "text.pdf", "cut.pdf", "report.dat")]
    assert codes == ["FILE_EMPTY", "UNSUPPORTED_FORMAT", "FILE_CORRUPT", "ok"]


def test_more_pages_than_the_operator_allows_are_refused_with_a_choice_that_fits(tmp_path: Path) -> None:
    (tmp_path / "five.pdf").write_bytes(pdf([prose(60, 700, str(number)) for number in range(5)]))
    reply = start("read_pdf", tmp_path, {"max_pages": 2}, path="five.pdf")
    assert reply.code == "INVALID_PARAMETERS" and "'1-2'" in reply.words
    assert start("read_pdf", tmp_path, {"max_pages": 2}, path="five.pdf", pages="-2").document["details"]["pages"] == "4-5"


@pytest.mark.parametrize(
    ("asked", "numbers"),
    [
        ("1-3,7", [1, 2, 3, 7]),
        ("8-", [8, 9]),
        ("-2", [8, 9]),
        ("3", [3]),
        ("5, 2-3", [5, 2, 3]),
        ("2-3,3", [2, 3]),
        ("all", list(range(1, 10))),
        ("1 – 2", [1, 2]),
    ],
)
def test_pages_are_numbers_ranges_open_ends_and_the_last_ones(asked: str, numbers: list[int]) -> None:
    assert chosen_pages(asked, 9) == numbers


@pytest.mark.parametrize("asked", ["0", "10", "4-12", "last", "5-3", "-10", "-", "1-2-3", ",", "1.5"])
def test_pages_that_do_not_parse_or_are_not_there_tell_how_many_there_are(asked: str) -> None:
    with pytest.raises(InvalidParameters, match="9 pages"):
        chosen_pages(asked, 9)


def test_page_numbers_are_told_as_ranges() -> None:
    assert page_ranges([1, 2, 3, 7, 9, 10]) == "1-3, 7, 9-10"

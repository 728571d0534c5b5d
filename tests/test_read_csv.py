"""read_csv: any file as it is, each line accounted for, and what was found and done told in the answer."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.harness import Answer, Runner
from tests.test_sources import Here, here

__all__ = ["here"]


def codes(answer: Answer) -> list[str]:
    return [warning["code"] for warning in answer.document.get("warnings", [])]


def names(answer: Answer) -> list[str]:
    return [column["name"] for column in answer.document["table"]["columns"]]


def accounted(answer: Answer) -> bool:
    told = answer.document["details"]["records"]
    return bool(told["read"] == sum(told[part] for part in ("rows", "header", "preamble", "comments", "blank", "rejected")))


# Each nasty file: its text, the names and rows that stand in it, and the warnings that are due.
NASTY: dict[str, tuple[str, list[str], list[list[Any]], set[str]]] = {
    "title lines": ("Report\nJanuary\n\nid;name;v\n1;a;2\n3;b;4\n", ["id", "name", "v"], [[1, "a", 2], [3, "b", 4]], {"LINES_SKIPPED"}),
    "title padded by a spreadsheet": ("Report,,\n,,\nid,name,v\n1,a,2\n3,b,4\n", ["id", "name", "v"], [[1, "a", 2], [3, "b", 4]], {"LINES_SKIPPED"}),
    "comments": ("# made by hand\n# on a day\nid,v\n1,2\n", ["id", "v"], [[1, 2]], {"COMMENTS_SKIPPED"}),
    "values that begin with a hash": ("color,n\n#ff0000,1\n#00ff00,2\n", ["color", "n"], [["#ff0000", 1], ["#00ff00", 2]], set()),
    "a sep line": ("sep=;\nid;v\n1;2\n", ["id", "v"], [[1, 2]], set()),
    "short rows": ("a,b,c\n1,2,3\n4,5\n6\n", ["a", "b", "c"], [[1, 2, 3], [4, 5, None], [6, None, None]], {"ROWS_PADDED"}),
    "long rows": ("a,b\n1,2\n3,4,5\n", ["a", "b", "extra_1"], [[1, 2, None], [3, 4, 5]], {"SURPLUS_FIELDS"}),
    "a delimiter too many in each row": ("a,b\n1,2,\n3,4,\n", ["a", "b"], [[1, 2], [3, 4]], {"TRAILING_DELIMITER"}),
    "a delimiter too many in the header": ("a,b,\n1,2\n3,4\n", ["a", "b"], [[1, 2], [3, 4]], set()),
    "no header": ("1,x\n2,y\n", ["column0", "column1"], [[1, "x"], [2, "y"]], {"NO_HEADER"}),
    "years as header": ("name,2023,2024\nx,5,6\n", ["name", "2023", "2024"], [["x", 5, 6]], set()),
    "double names": ("id,id,,ID\n1,2,3,4\n", ["id", "id_2", "column_3", "ID_3"], [[1, 2, 3, 4]], {"COLUMN_NAMES_CHANGED"}),
    "an open quote": ('id,t\n1,"a\n2,b\n', ["id", "t"], [[1, '"a'], [2, "b"]], {"QUOTES_IRREGULAR"}),
    "text behind a quote": ('id,t\n1,"a"b\n2,c\n', ["id", "t"], [[1, '"a"b'], [2, "c"]], {"QUOTES_IRREGULAR"}),
    "line ends of each kind": ("id,t\r\n1,a\n2,b\r3,c\r\n", ["id", "t"], [[1, "a"], [2, "b"], [3, "c"]], set()),
    "line ends in quotes": ('id,t\n1,"a\nb"\n2,"c\r\nd"\n', ["id", "t"], [[1, "a\nb"], [2, "c\r\nd"]], set()),
    "blank lines": ("id,t\n1,a\n\n\n2,b\n", ["id", "t"], [[1, "a"], [2, "b"]], set()),
    "a byte order mark": ("\ufeffid,t\n1,a\n", ["id", "t"], [[1, "a"]], set()),
    "a byte order mark before a quote": ('\ufeff"id","t"\n1,a\n', ["id", "t"], [[1, "a"]], set()),
    "tabs": ("id\tt\n1\ta b\n2\tc,d\n", ["id", "t"], [[1, "a b"], [2, "c,d"]], set()),
    "pipes": ("id|t|u\n1|a,b|x\n2|c|y\n", ["id", "t", "u"], [[1, "a,b", "x"], [2, "c", "y"]], set()),
    "semicolons with decimal commas": ("id;v\n1;2,5\n2;3,5\n", ["id", "v"], [[1, "2,5"], [2, "3,5"]], {"TYPE_KEPT_AS_TEXT"}),
    "single quotes": ("id,t\n1,'a,b'\n2,'c,d'\n", ["id", "t"], [[1, "a,b"], [2, "c,d"]], set()),
    "backslashes before quotes": ('id,t\n1,"say \\"hi\\" now"\n2,"x"\n', ["id", "t"], [[1, 'say "hi" now'], [2, "x"]], set()),
    "paths that end in a backslash": ('id,t\n1,"C:\\x\\"\n2,"D:\\"\n', ["id", "t"], [[1, "C:\\x\\"], [2, "D:\\"]], set()),
    "one column": ("id\n1\n2\n", ["id"], [[1], [2]], set()),
    "one column of words with commas in quotes": ('t\n"a, b"\n"c"\n', ["t"], [["a, b"], ["c"]], set()),
    "only a header": ("id,t\n", ["id", "t"], [], set()),
    "only delimiters": ("id,t\n,\n,\n", ["id", "t"], [[None, None], [None, None]], set()),
    "missing words": ("id,t\n1,NA\n2,None\n3,\n", ["id", "t"], [[1, "NA"], [2, "None"], [3, None]], set()),
    "NUL": ("id,t\n1,a\0b\n", ["id", "t"], [[1, "a\0b"]], set()),
}  # fmt: skip


@pytest.mark.parametrize(("text", "columns", "rows", "warnings"), NASTY.values(), ids=NASTY.keys())
def test_each_nasty_file_is_read_as_it_is_and_told(
    here: Here, text: str, columns: list[str], rows: list[list[Any]], warnings: set[str]
) -> None:
    here.write("in.csv", text)
    answer = here.tool("read_csv", path="in.csv")
    assert (names(answer), answer.rows) == (columns, rows)
    assert set(codes(answer)) == warnings and accounted(answer)
    assert answer.document["table"]["total_rows"] == len(rows) and not answer.document["table"]["truncated"]


def test_lines_out_of_shape_are_told_with_their_numbers(here: Here) -> None:
    here.write("in.csv", 'a,b,c\n1,2,3\n"x\ny",2\n4,5,6,7\n8,"9,10\n11,12,13\n')
    answer = here.tool("read_csv", path="in.csv")
    told = answer.document["details"]["records"]
    assert told["padded_rows"]["lines"][0] == 3 and told["surplus_rows"]["lines"] == [5]
    assert 6 in told["irregular_quote_rows"]["lines"] and accounted(answer)
    assert "line 5" in str(answer.document["warnings"])


@pytest.mark.parametrize(
    ("content", "options", "rows"),
    [
        ("id|t\n1|'a|b'\n", {"delimiter": "|", "quote": "'"}, [[1, "a|b"]]),
        ("id\tt\n1\ta\n", {"delimiter": "\\t"}, [[1, "a"]]),
        ("id,t\n1,a\n", {"delimiter": ";"}, [["1,a"]]),
        ("x\ny\nid,t\n1,a\n", {"skip_rows": 2}, [[1, "a"]]),
        ("id,t\n1,a\n", {"header": False}, [["id", "t"], ["1", "a"]]),
        ("1,a\n2,b\n", {"header": True}, [[2, "b"]]),
        ("id;v\n1;1.234,5\n", {"decimal": ",", "thousands": "."}, [[1, 1234.5]]),
        ("d,v\n31/12/2024,-\n", {"date_format": "%d/%m/%Y", "null_values": "-"}, [["2024-12-31", None]]),
        ("id,t,u\n1,a,b\n", {"columns": ["u", "ID"]}, [["b", 1]]),
        ("id\n1\n2\n3\n", {"offset": 1, "preview_rows": 1}, [[2]]),
        ("id\n1\n", {"offset": 5}, []),
    ],
)
def test_what_the_caller_tells_is_kept(here: Here, content: str, options: dict[str, Any], rows: list[list[Any]]) -> None:
    here.write("in.csv", content)
    assert here.tool("read_csv", path="in.csv", **options).rows == rows


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"delimiter": ","  , "quote": ","}, "same sign"),
        ({"delimiter": "123456789"}, "eight"),
        ({"quote": "ab"}, "one sign"),
        ({"delimiter": "\n"}, "line end"),
        ({"decimal": ",", "thousands": ","}, "same sign"),
        ({"date_format": "%Q"}, "date_format"),
        ({"decimal": ";"}, "decimal"),
        ({"encoding": "no-such"}, "encoding"),
        ({"offset": -1}, "offset"),
        ({"sep": ";"}, "delimiter"),
        ({"columns": ["idd"]}, "id"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_are_explained(here: Here, options: dict[str, Any], word: str) -> None:
    here.write("in.csv", "id,t\n1,a\n")
    answer = here.tool("read_csv", path="in.csv", **options)
    assert not answer.ok and answer.exit_status == 0 and word in answer.words


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "cp949", "shift_jis"])
def test_a_told_encoding_is_used(here: Here, encoding: str) -> None:
    words = {"cp949": "서울", "shift_jis": "東京", "cp1252": "œuvre"}
    word = words.get(encoding, "œuvre 서울")
    here.write("in.csv", f"id,t\n1,{word}\n".encode(encoding))
    assert here.tool("read_csv", path="in.csv", encoding=encoding).rows == [[1, word]]


def test_bytes_that_are_not_of_the_told_encoding_are_an_error(here: Here) -> None:
    here.write("in.csv", "id,t\n1,é\n".encode("cp1252"))
    assert here.tool("read_csv", path="in.csv", encoding="utf-8").code == "ENCODING_ERROR"


def test_nothing_is_written_unless_asked_and_then_every_row(here: Here) -> None:
    here.write("in.csv", "zip,n\n" + "".join(f"{n:05d},{n}\n" for n in range(300)))
    answer = here.tool("read_csv", path="in.csv")
    assert "artifacts" not in answer.document and not (here.directory / "results").exists()
    assert (len(answer.rows), answer.document["table"]["truncated"]) == (20, True)
    kept = here.tool("read_csv", path="in.csv", output_format="parquet", columns=["zip"], offset=299)
    assert kept.rows == [["00299"]]
    path = here.directory / kept.document["artifacts"][0]["path"]
    assert pq.read_table(path).column("zip").to_pylist() == [f"{n:05d}" for n in range(300)]


def test_a_file_beyond_every_sample_is_read_to_its_end(here: Here) -> None:
    lines = [f"{n},word {n},{n % 7}.25\n" for n in range(40_000)]
    lines[39_990] = "x1,word,0.25\n"
    lines[39_991] = '39991,"two\nlines",1.25\n'
    lines[39_992] = "39992,short\n"
    here.write("in.csv", "id,t,v\n" + "".join(lines))
    answer = here.tool("read_csv", path="in.csv", output_path="out.csv", offset=39_990, preview_rows=3)
    assert answer.rows == [["x1", "word", 0.25], ["39991", "two\nlines", 1.25], ["39992", "short", None]]
    with open(here.directory / "out.csv", encoding="utf-8", newline="") as stream:
        written = list(csv.reader(stream))
    assert len(written) == 40_001 and written[39_991:39_994] == [
        ["x1", "word", "0.25"],
        ["39991", "two\nlines", "1.25"],
        ["39992", "short", ""],
    ]
    assert answer.document["details"]["records"]["padded_rows"]["lines"] == [39_995]


def test_a_line_of_many_megabytes_and_a_table_of_many_columns_are_read(here: Here) -> None:
    here.write("long.csv", "id,t\n0,z\n1," + "x" * 6_000_000 + "\n2,y\n")
    assert here.tool("read_csv", path="long.csv").column("id") == [0, 1, 2]
    here.write("wide.csv", ",".join(f"c{n}" for n in range(700)) + "\n" + ",".join(str(n) for n in range(700)) + "\n")
    answer = here.tool("read_csv", path="wide.csv", columns=["c699", "c0"])
    assert answer.rows == [[699, 0]]


def test_a_first_row_longer_than_the_first_look_is_read(here: Here) -> None:
    here.write("long.csv", "id,t\n1," + "x" * 300_000 + "\n2,y\n")
    assert here.tool("read_csv", path="long.csv").column("id") == [1, 2]


def test_a_compressed_file_says_so(here: Here) -> None:
    here.write("in.csv.gz", gzip.compress(b"id,t\n1,a\n"))
    answer = here.tool("read_csv", path="in.csv.gz")
    assert answer.rows == [[1, "a"]] and answer.document["details"]["compression"] == "gzip"


def test_the_dialect_is_told(here: Here) -> None:
    here.write("in.csv", "Title\n\nid;t\n1;'a;b'\n2;'c'\n".encode("utf-8-sig"))
    answer = here.tool("read_csv", path="in.csv")
    dialect = answer.document["details"]["dialect"]
    assert (dialect["delimiter"], dialect["quote"], dialect["header"], dialect["header_line"]) == (";", "'", True, 3)
    assert dialect["byte_order_mark"] is True and answer.document["details"]["records"]["preamble_lines"]["lines"] == [1]
    column = {note["column"]: note for note in answer.document["details"].get("columns", [])}
    assert "id" not in column


def test_the_input_is_never_changed(run: Runner, tmp_path: Path) -> None:
    path = run.write("in.csv", 'a,b\n1,"x\n2,y\r\n')
    before, modified = path.read_bytes(), path.stat().st_mtime_ns
    answer = run.tool("read_csv", path="in.csv", output_format="csv")
    assert answer.ok and (path.read_bytes(), path.stat().st_mtime_ns) == (before, modified)
    assert run.log()[0]["inputs"][0]["path"] == "in.csv"


def test_no_line_is_skipped_where_none_is_to_be(here: Here) -> None:
    here.write("in.csv", "Title\na,b\n1,2\n3,4\n")
    assert here.tool("read_csv", path="in.csv").document["table"]["columns"][0]["name"] == "a"
    answer = here.tool("read_csv", path="in.csv", skip_rows=0)
    assert answer.document["table"]["columns"][0]["name"] == "Title" and answer.document["table"]["total_rows"] == 3


def test_a_wide_table_of_numbers_is_read_within_the_memory_limit(run: Runner) -> None:
    names = ",".join(f"column_number_{number}" for number in range(600))
    run.write("wide.csv", names + "\n" + "".join(",".join(str(n * row) for n in range(600)) + "\n" for row in range(30)))
    answer = run.tool("read_csv", {"memory_limit": "1GB"}, path="wide.csv", columns=["column_number_599"], preview_rows=2)
    assert answer.rows == [[0], [599]] and answer.document["table"]["total_rows"] == 30


def test_groups_of_three_digits_are_told_as_what_they_most_likely_are(here: Here) -> None:
    here.write("won.csv", 'store,sales\nA,"1,200"\nB,900\nC,"2,500"\n')
    (warning,) = here.tool("read_csv", path="won.csv").document["warnings"]
    assert 'thousands ","' in warning["message"] and "1200" in warning["message"]

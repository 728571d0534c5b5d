"""Hostile SQL, paths, values, names, packed files, Markdown and PDFs of our own making, each with what must come of it.

The SQL is tried against all layers, against all but one, and against the kernel's fence alone: with any single layer
switched off nothing outside the directory is read or written.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from builtin_tools.core.kernel import landlock_version
from tests.document_process import pdf
from tests.harness import ROOT, Answer, Runner
from tests.security_attacks import LAYERS, OWN, SECRET, STATEMENTS
from tests.security_calls import Call, changes, tree, warm

REFUSED = {
    "SQL_NOT_ALLOWED", "PATH_OUTSIDE_ARTIFACTS", "SQL_SYNTAX_ERROR", "TABLE_NOT_FOUND", "FILE_NOT_FOUND", "SQL_ERROR",
    "UNSUPPORTED_FORMAT", "INVALID_PARAMETERS", "COLUMN_NOT_FOUND",
}  # fmt: skip


class Lab:
    """The directory of the attacks, with what lies around it, and many calls at once."""

    def __init__(self, base: Path) -> None:
        self.base, self.directory, self.outside = base, base / "artifacts", base / "outside"
        self.worker({"furnish": True})

    def worker(self, task: dict[str, Any]) -> Any:
        """A worker of its own, with the layers that the task names."""
        whole = {"directory": str(self.directory), "outside": str(self.outside), **task}
        argv = [sys.executable, "-m", "tests.security_attacks"]
        done = subprocess.run(argv, input=json.dumps(whole).encode(), capture_output=True, cwd=ROOT, check=False, timeout=120)
        assert done.returncode == 0, f"the worker ended by {done.returncode}: {done.stderr.decode('utf-8', 'replace')[-1500:]}"
        return json.loads(done.stdout) if done.stdout else None

    def state(self) -> dict[str, Any]:
        return tree(self.base, leave_out=(self.directory / "results",))

    def fill(self, value: Any) -> Any:
        text = json.dumps(value).replace("ARTDIR", str(self.directory)).replace("OUTDIR", str(self.outside))
        return json.loads(text)

    def ask(self, *calls: tuple[str, dict[str, Any]]) -> list[Answer]:
        """Whole calls, held to this: no secret is shown, and nothing but reported results is made."""
        before = tree(self.base, leave_out=(self.directory / ".artifacts",))
        answers = warm(
            self.directory,
            [Call(tool, json.dumps(self.fill(asked)), {"threads": 1} if "quer" in tool else {}) for tool, asked in calls],
        )
        made = {f"artifacts/{artifact['path']}" for answer in answers for artifact in answer.document.get("artifacts", [])}
        allowed = made | {str(parent) for name in made for parent in Path(name).parents} | {"artifacts/.artifacts"}
        for answer, (tool, asked) in zip(answers, calls, strict=True):
            assert SECRET not in answer.raw + answer.stderr and OWN not in answer.raw, (tool, asked, answer.raw)
            assert answer.code not in ("NO_FAIR_ANSWER", "INTERNAL_ERROR"), (tool, asked, answer.document)
            if str(self.base) not in json.dumps(self.fill(asked)):
                assert str(self.base) not in answer.raw, f"an absolute path is told: {answer.raw[:500]}"
        after = tree(self.base, leave_out=(self.directory / ".artifacts",))
        assert [name for name in changes(before, after) if name not in allowed] == []
        return answers


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


@pytest.fixture
def scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


# ---------------------------------------------------------------- SQL and the layers


COMBINATIONS = [list(LAYERS), *[[layer for layer in LAYERS if layer != off] for off in LAYERS], ["landlock"]]


@pytest.mark.parametrize("layers", COMBINATIONS, ids=lambda layers: " and ".join(layers))
def test_no_statement_reads_or_writes_outside_whichever_single_layer_is_off(lab: Lab, scratch: Path, layers: list[str]) -> None:
    if "landlock" in layers and landlock_version() < 1:
        pytest.skip("this kernel has no Landlock")
    before = lab.state()
    # Unlocked and unguarded, the engine ends its own process where the kernel keeps it from logging.
    statements = [one for one in STATEMENTS if "enable_logging" not in one or len(layers) > 1]
    results = lab.worker({"layers": layers, "scratch": str(scratch), "statements": statements})
    assert len(results) == len(statements) > 180
    for statement, seen in zip(statements, results, strict=True):
        assert SECRET not in seen, f"{statement} read what lies outside"
        if "guard" in layers:
            assert OWN not in seen, f"{statement} read the tools' own folder"
            assert seen.split(" ")[0] in REFUSED, f"{statement} gave {seen[:200]}"
        if layers == list(LAYERS) and "DIR" not in statement:  # what the caller spelt out may be said again
            assert ".py" not in seen and str(lab.base) not in seen, f"{statement} tells of the inside: {seen}"
    touched = changes(before, lab.state())
    assert touched == [], f"made or changed {touched}"


def test_a_whole_call_refuses_them_with_a_fair_code_and_guidance(lab: Lab) -> None:
    some = STATEMENTS[::9]
    for statement, answer in zip(some, lab.ask(*[("query_sql", {"sql": statement}) for statement in some]), strict=True):
        assert answer.code in REFUSED, (statement, answer.code)
        assert answer.document["error"]["guidance"] and ".py" not in answer.words


def test_every_function_that_makes_tables_is_refused_but_those_of_values_and_the_checked_readers(lab: Lab, scratch: Path) -> None:
    program = (
        "import _duckdb, json\nrows = _duckdb.connect(':memory:').execute(\"SELECT DISTINCT function_name FROM duckdb_functions() "
        "WHERE function_type IN ('table', 'table_macro', 'pragma')\").fetchall()\nprint(json.dumps(sorted(name for (name,) in rows)))"
    )
    names = json.loads(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)
    allowed = {
        "range", "generate_series", "unnest", "json_each", "json_tree", "repeat", "repeat_row", "read_csv", "read_csv_auto", "read_parquet",
        "parquet_scan", "read_json", "read_json_auto", "read_ndjson", "read_ndjson_auto",
    }  # fmt: skip
    statements = [f"FROM {name}('x')" for name in names if name not in allowed]
    results = lab.worker({"layers": list(LAYERS), "scratch": str(scratch), "statements": statements})
    assert len(results) > 60
    assert {seen.split(" ")[0] for seen in results} <= {"SQL_NOT_ALLOWED", "SQL_SYNTAX_ERROR"}


# ---------------------------------------------------------------- paths

PATHS = """
../outside/ledger.csv
OUTDIR/ledger.csv
data/../../outside/ledger.csv
./../outside/ledger.csv
leak.csv
leaks/ledger.csv
leaks/../ledger.csv
own.jsonl
.artifacts/log.jsonl
./.artifacts/log.jsonl
data/../.artifacts/log.jsonl
.Artifacts/log.jsonl
ARTDIR/.artifacts/log.jsonl
/proc/self/environ
/proc/self/root/etc/hostname
/dev/stdin
/etc/hostname
~root/.profile
~/ledger.csv
file:///etc/hostname
file:/etc/hostname
http://127.0.0.1:9/x.csv
s3://bucket/x.csv
jar:file:x
..\\outside\\ledger.csv
data/ok.csv\u0000.png
%2e%2e/outside/ledger.csv
..%2foutside/ledger.csv
．．/outside/ledger.csv
..;/outside/ledger.csv
....//outside/ledger.csv
data/ok.csv/../../../outside/ledger.csv
{../outside,x}/ledger.csv
leaks/*
*/ledger.csv
**/ledger.csv
""".strip().splitlines()


def test_no_spelling_of_a_path_leads_outside_or_into_the_tools_own_folder(lab: Lab) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        (tool, {"path": path}) for path in PATHS for tool in ("read_pdf", "list_directory")
    ]
    calls += [
        (tool, {"path": path}) for path in PATHS[::6] for tool in ("read_csv", "read_json", "query_table", "describe_table")
    ]
    answers = lab.ask(*calls, *[("markdown_to_pdf", {"input_path": path}) for path in PATHS])
    codes = {"PATH_OUTSIDE_ARTIFACTS", "FILE_NOT_FOUND", "INVALID_PARAMETERS", "UNSUPPORTED_FORMAT"}
    assert {answer.code for answer in answers} <= codes, [answer.document for answer in answers if answer.ok]


def test_a_listing_shows_neither_what_lies_behind_links_nor_the_tools_own_folder(lab: Lab) -> None:
    asked: list[dict[str, Any]] = [
        {"recursive": True},
        {"pattern": "**"},
        {"pattern": ".a*"},
        {"pattern": "leaks/*"},
        {"pattern": ".*/*"},
    ]
    for answer in lab.ask(*[("list_directory", one) for one in asked]):
        for path in answer.column("path") if answer.ok else []:
            assert not re.match(r"\.artifacts|leaks/.|/|\.\.", path), path


OUTPUTS = ["../made.csv", "OUTDIR/made.csv", "leaks/made.csv", "leak.csv", ".artifacts/made.csv", ".artifacts/log.jsonl", "own.jsonl", "data", "data/", ".", "", "/dev/stdout", "/dev/shm/made.csv", "~/made.csv", "data/ok.csv/made.csv", "made.csv\0x", "x" * 300, "data/../../made.csv", ".ARTIFACTS/x.csv", "http://x/y.csv", "ARTDIR/../made.csv"]  # fmt: skip


@pytest.mark.parametrize("overwrite", [False, True])
def test_no_result_is_put_outside_into_the_own_folder_or_through_a_link(lab: Lab, overwrite: bool) -> None:
    calls: list[tuple[str, dict[str, Any]]] = []
    for path in OUTPUTS:
        asked = {"output_path": path, "overwrite": overwrite}
        calls += [
            ("query_sql", {"sql": "SELECT 1 AS one", "output_format": "csv", **asked}),
            ("markdown_to_pdf", {"markdown": "# x", **asked}),
        ]
        calls += [("query_table", {"path": "data/ok.csv", "output_format": "csv", **asked})]
    for (_, asked), answer in zip(calls, lab.ask(*calls), strict=True):
        usual = answer.ok and answer.document["artifacts"][0]["path"].startswith("results/")
        assert (
            usual
            if asked["output_path"] == ""
            else answer.code in ("PATH_OUTSIDE_ARTIFACTS", "OUTPUT_EXISTS", "INVALID_PARAMETERS")
        ), asked


# ---------------------------------------------------------------- values, names and arguments

PIECES = ["x'; COPY (SELECT 1) TO 'ARTDIR/made.csv'; --", 'a" FROM read_text(\'OUTDIR/ledger.csv\') --', "(SELECT content FROM read_text('OUTDIR/ledger.csv'))", "' UNION ALL FROM 'OUTDIR/ledger.csv", "?", "\\'; --", "a\0b", "current_setting('threads')"]  # fmt: skip


def test_sql_in_a_value_a_column_or_an_alias_is_never_run(lab: Lab) -> None:
    calls: list[tuple[str, dict[str, Any]]] = []
    for piece in PIECES:
        for part in (
            {"filters": [{"column": "b", "op": "=", "value": piece}]},
            {"filters": [{"column": "b", "op": "like", "value": piece}, {"column": "b", "op": "in", "value": [piece, piece]}]},
            {"filters": [{"column": piece, "op": "=", "value": 1}]},
            {"columns": ["a", piece]},
            {"group_by": [piece], "aggregates": [{"function": "count", "column": "*"}]},
            {"aggregates": [{"function": "count", "column": "a", "alias": piece}], "order_by": [piece]},
        ):
            calls.append(("query_table", {"path": "data/ok.csv", **part}))
        calls.append(("query_sql", {"sql": "SELECT $v AS v", "parameters": {"v": piece}}))
        calls += [
            ("read_csv", {"path": "data/ok.csv", option: piece})
            for option in ("delimiter", "quote", "encoding", "date_format", "thousands")
        ]
        calls.append(("read_csv", {"path": "data/ok.csv", "null_values": [piece]}))
        calls.append(("read_json", {"path": "data/ok.csv", "records_path": piece}))
    calls += [
        ("read_csv", {"path": "data/ok.csv", option: PIECES[0]}) for option in ("delimiter", "quote", "encoding", "thousands")
    ]
    answers = lab.ask(*calls)
    fair = {"ok", "INVALID_PARAMETERS", "COLUMN_NOT_FOUND", "ENCODING_ERROR", "FILE_CORRUPT", "UNSUPPORTED_FORMAT", "SQL_ERROR"}
    assert {answer.code for answer in answers} <= fair
    echoed = [answer for (tool, asked), answer in zip(calls, answers, strict=True) if tool == "query_sql" and answer.ok]
    assert all(len(answer.rows) == 1 for answer in echoed) and len(echoed) > 5


def test_an_option_of_a_reader_function_of_the_wrong_kind_is_told_by_its_name(lab: Lab) -> None:
    options = ("delim", "quote", "skip", "encoding", "dateformat", "decimal_separator", "thousands", "nullstr")
    wrong = ("0", "[1]", "{'a': 1}", "NULL", "-1", "true")
    calls = [("query_sql", {"sql": f"FROM read_csv('data/ok.csv', {name} = {value})"}) for name in options for value in wrong]
    for (_, asked), answer in zip(calls, lab.ask(*calls), strict=True):
        if not answer.ok:
            assert answer.code in ("SQL_ERROR", "INVALID_PARAMETERS") and len(answer.words) > 40, (asked, answer.document)


NAMES = ["a'b.csv", 'a"b.csv', "a;b.csv", "--a.csv", "-rf.csv", "$(x).csv", "`x`.csv", "a%s{0}.csv", "a\nb.csv", "[a].csv", "a*.csv", "a?.csv", "{a,b}.csv", "' OR 1=1 --.csv", "x'); COPY (SELECT 1) TO 'made.csv'; --.csv", "a\\b.csv", "＇.csv", "\u202efdp.csv", " a .csv", "key=v'.csv"]  # fmt: skip


def test_a_name_with_any_sign_is_a_name(lab: Lab) -> None:
    for number, name in enumerate(NAMES):
        (lab.directory / "data" / name).write_text(f'n,"x\'); DROP"\n{number},1\n')
    calls: list[tuple[str, dict[str, Any]]] = []
    for name in NAMES:
        path = f"data/{name}"
        quoted = path.replace("'", "''")
        calls += [
            ("query_sql", {"sql": f"SELECT n FROM '{quoted}'"}),
            ("query_sql", {"sql": f"SELECT n FROM read_csv('{quoted}')"}),
        ]
        calls += [("query_table", {"path": path, "columns": ["n"]}), ("read_csv", {"path": path, "columns": ["n"]})]
    for number, answer in enumerate(lab.ask(*calls)):
        assert answer.ok and answer.rows == [[number // 4]], (calls[number], answer.document)


ARGUMENTS = ["", "nul", "0", '"x"', "[]", "[{}]", "{", "}", "{}{}", '{"path":}', '{"path": "data/ok.csv",}', "{'path': 'data/ok.csv'}", '{"path": "data/ok.csv", "path": "../x"}', '{"path": "data/ok.csv", "preview_rows": Infinity}', '{"path": "data/ok.csv", "preview_rows": 1e400}', '{"path": "data/ok.csv", "preview_rows": -0.5}', '{"path": "data/ok.csv", "artifact_dir": "/"}', '{"path": "data/ok.csv", "timeout_seconds": 1e9}', '{"path": "data/ok.csv", "__class__": "x"}', '{"path": ["data/ok.csv", "../x"]}', '{"path": {"$ref": "/"}}', '{"path": true}', "[" * 50_000, '{"a":' * 50_000, '{"path": "' + "x" * 1_000_000 + '"}', "\ufeff\ufeff{}", '{"\\u0000": 1}', "// comment\n{}"]  # fmt: skip


def test_arguments_that_are_no_request_are_refused_by_name(lab: Lab) -> None:
    answers = warm(lab.directory, [Call("read_csv", text) for text in ARGUMENTS])
    for text, answer in zip(ARGUMENTS, answers, strict=True):
        assert answer.code == "INVALID_PARAMETERS", (text[:80], answer.document)
        assert len(answer.raw) < 20_000


# ---------------------------------------------------------------- packed files


def packed(*members: tuple[str, bytes], **options: Any) -> bytes:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = options.get("attributes", 0o644) << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def test_what_is_packed_goes_nowhere_but_into_the_answer(lab: Lab) -> None:
    table = b"a,b\n7,w\n"
    files = {
        "up.csv.zip": packed(("../../outside/made.csv", table)),
        "absolute.csv.zip": packed((f"{lab.outside}/made.csv", table)),
        "own.csv.zip": packed((".artifacts/log.jsonl", table)),
        "link.csv.zip": packed(("a.csv", str(lab.outside / "ledger.csv").encode()), attributes=0o120777),
        "two.csv.zip": packed(("a.csv", table), ("../b.csv", table)),
        "nested.csv.zip": packed(("a.zip", packed(("b.zip", packed(("c.csv", table)))))),
        "none.csv.zip": packed(),
        "folder.csv.zip": packed(("a/", b"")),
        "nul.csv.zip": packed(("a\0b.csv", table)),
    }
    for name, data in files.items():
        (lab.directory / name).write_bytes(data)
    calls: list[tuple[str, dict[str, Any]]] = [
        (tool, {"path": name}) for name in files for tool in ("read_csv", "describe_table")
    ]
    fair = {"ok", "FILE_CORRUPT", "UNSUPPORTED_FORMAT", "FILE_EMPTY", "PATH_OUTSIDE_ARTIFACTS"}
    assert {answer.code for answer in lab.ask(*calls)} <= fair


def test_a_workbook_with_entities_reads_no_file(lab: Lab) -> None:
    demo = BytesIO((ROOT / "artifacts_demo" / "inventory.xlsx").read_bytes())
    entity = f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{lab.outside}/ledger.csv"><!ENTITY l "{"x" * 50}">]>'.encode()
    stream = BytesIO()
    with zipfile.ZipFile(demo) as old, zipfile.ZipFile(stream, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith((".xml", ".rels")):
                data = re.sub(rb"(<\?xml[^>]*\?>\s*)?", lambda match: match[0] + entity, data, count=1)
                data = data.replace(b"<t>", b"<t>&e;&l;", 2)
            new.writestr(name, data)
    (lab.directory / "book.xlsx").write_bytes(stream.getvalue())
    (answer,) = lab.ask(("read_csv", {"path": "book.xlsx"}))
    assert answer.code in ("ok", "FILE_CORRUPT", "UNSUPPORTED_FORMAT", "FILE_EMPTY")


# ---------------------------------------------------------------- Markdown and PDFs

MARKDOWN = """
![x](file://OUTDIR/ledger.csv)
![x](../outside/ledger.csv)
![x](leaks/ledger.csv)
![x](.artifacts/log.jsonl)
![x](/proc/self/environ)
![x](http://127.0.0.1:9/x.png)
![x](data:text/plain;base64,eA==)
![x](data:image/svg+xml;base64,PHN2Zz48aW1hZ2UgaHJlZj0iZmlsZTovLy9ldGMvaG9zdG5hbWUiLz48L3N2Zz4=)
[x](javascript:alert(1))
[x](JaVaScRiPt:alert(1))
[x](java&#115;cript:alert(1))
[x](file://OUTDIR/ledger.csv)
[x](vbscript:x)
[x](data:text/html,x)
<javascript:alert(1)>
<script src="http://127.0.0.1:9/x.js"></script>
<img src=x onerror=alert(1)>
<link rel=attachment href="file://OUTDIR/ledger.csv">
<a rel="attachment" href="file://OUTDIR/ledger.csv">x</a>
<object data="file://OUTDIR/ledger.csv"></object>
<iframe src="file://OUTDIR/ledger.csv"></iframe>
<embed src="file://OUTDIR/ledger.csv">
<base href="file://OUTDIR/">
<meta http-equiv=refresh content="0; url=file://OUTDIR/ledger.csv">
<style>@import url(file://OUTDIR/ledger.csv);</style>
<p style="background: url(file://OUTDIR/ledger.csv)">x</p>
<svg><image href="file://OUTDIR/ledger.csv"/><use href="file://OUTDIR/ledger.csv#x"/></svg>
<form action="http://127.0.0.1:9/"><input name=a></form>
<video src="file://OUTDIR/ledger.csv"></video>
[x]: file://OUTDIR/ledger.csv
""".strip().splitlines()


def test_markdown_that_reaches_for_files_or_the_web_gets_a_page_without_them(lab: Lab) -> None:
    pypdf = pytest.importorskip("pypdf")
    styles = ["@import url(file://OUTDIR/ledger.csv);", "h1 { background: url(../outside/ledger.csv) }", "@font-face { font-family: x; src: url(file://OUTDIR/ledger.csv) } h1 { font-family: x }", "h1::after { content: url(http://127.0.0.1:9/x.png) }", "</style><script>x</script>"]  # fmt: skip
    calls: list[tuple[str, dict[str, Any]]] = [
        ("markdown_to_pdf", {"markdown": f"# Words\n\n{line}\n\nlast words\n"}) for line in MARKDOWN
    ]
    calls += [
        ("markdown_to_pdf", {"markdown": "# Words\n\nlast words\n", "stylesheet": style, "title": f"t {style}"})
        for style in styles
    ]
    for (_, asked), answer in zip(calls, lab.ask(*calls), strict=True):
        assert answer.ok, (asked, answer.document)
        path = lab.directory / answer.document["artifacts"][0]["path"]
        reader = pypdf.PdfReader(path)
        text = "".join(page.extract_text() for page in reader.pages)
        assert "last words" in text and SECRET not in text and OWN not in text
        assert not reader.attachments, asked
        links = [
            str(note.get_object().get("/A", {}).get("/URI", "")) for page in reader.pages for note in page.get("/Annots", [])
        ]
        assert not [link for link in links if re.match(r"\s*(?:file|javascript|vbscript|data):|/", link, re.IGNORECASE)], (
            asked,
            links,
        )
        raw = path.read_bytes()
        assert not re.search(rb"/(?:JavaScript|JS|Launch|EmbeddedFile|SubmitForm|GoToR)\b", raw), asked


def test_a_pdf_with_actions_files_and_broken_parts_is_read_as_text_or_refused(lab: Lab) -> None:
    sound = pdf(["BT /F1 12 Tf 72 700 Td (some words) Tj ET"])
    files = {
        "script.pdf": sound.replace(b"/Type /Catalog", b"/Type /Catalog /OpenAction << /S /JavaScript /JS (app.alert(1)) >>"),
        "launch.pdf": sound.replace(b"/Type /Catalog", b"/Type /Catalog /OpenAction << /S /Launch /F (/bin/sh) >>"),
        "external.pdf": sound.replace(b"/Length ", f"/F ({lab.outside}/ledger.csv) /FFilter /FlateDecode /Length ".encode(), 1),
        "circle.pdf": sound.replace(b"/Kids [4 0 R]", b"/Kids [2 0 R]"),
        "count.pdf": sound.replace(b"/Count 1", b"/Count 2000000000"),
        "length.pdf": re.sub(rb"/Length \d+", b"/Length 99999999999", sound),
        "self.pdf": sound.replace(b"/Root 1 0 R", b"/Root 1 0 R /Prev 0"),
        "cut.pdf": sound[: len(sound) // 2],
        "head.pdf": b"%PDF-1.7\n%%EOF",
        "filter.pdf": re.sub(
            rb"/Length (\d+)", rb"/Filter [/FlateDecode /LZWDecode /ASCII85Decode /JPXDecode] /Length \1", sound
        ),
        "box.pdf": sound.replace(b"[0 0 595 842]", b"[0 0 99999999999999999999 -1]"),
        "matrix.pdf": sound.replace(b"72 700 Td", b"1e30 NaN Td"),
    }
    for name, data in files.items():
        (lab.directory / name).write_bytes(data)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("read_pdf", {"path": name, "content": content}) for name in files for content in ("text", "tables")
    ]
    fair = {"ok", "FILE_CORRUPT", "FILE_EMPTY", "UNSUPPORTED_FORMAT", "INVALID_PARAMETERS", "MEMORY_LIMIT_EXCEEDED"}
    assert {answer.code for answer in lab.ask(*calls)} <= fair


def test_a_page_whose_box_holds_no_numbers_is_a_damaged_file(lab: Lab) -> None:
    (lab.directory / "box.pdf").write_bytes(pdf([""]).replace(b"[0 0 595 842]", b"[0 0 1e38 -1e38]"))
    (answer,) = warm(lab.directory, [Call("read_pdf", json.dumps({"path": "box.pdf", "content": "tables"}))])
    assert answer.code in ("ok", "FILE_CORRUPT")


# ---------------------------------------------------------------- what the worker may reach

FORGER = '''
"""A tool that tries to answer by itself."""
import os, sys
from pydantic import BaseModel

class UserParameters(BaseModel):
    artifact_dir: str
    timeout_seconds: float = 20
    memory_limit: str = "300MB"
    max_output_chars: int = 20000
    max_cell_chars: int = 500

class ToolParameters(BaseModel):
    pass

def run_tool(config, args):
    from builtin_tools.core.envelope import Answer
    for number in range(100):
        for path in (f"/proc/self/fd/{number}", f"/dev/fd/{number}", f"/proc/{os.getppid()}/fd/{number}"):
            try:
                with open(path, "w") as stream:
                    stream.write("forged")
            except OSError:
                pass
    for number in range(0, 100):
        try:
            if os.readlink(f"/proc/self/fd/{number}") == sys.argv[-1]:
                os.write(number, b"forged")
        except OSError:
            pass
    return Answer("done")

if __name__ == "__main__":
    sys.path[0] = ROOT
    from builtin_tools.core.protocol import main
    main(__file__, UserParameters, ToolParameters, run_tool)
'''


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="descriptors are files there")
def test_a_worker_cannot_write_to_the_real_standard_output(tmp_path: Path) -> None:
    script = tmp_path / "forger" / "tool.py"
    script.parent.mkdir()
    script.write_text(FORGER.replace("ROOT", repr(str(ROOT))))
    output = tmp_path / "stdout"
    with output.open("wb") as stream:
        argv = [sys.executable, str(script), "--user-params", json.dumps({"artifact_dir": str(tmp_path / "forger")})]
        subprocess.run(argv, stdout=stream, stderr=subprocess.DEVNULL, check=False, timeout=60)
    assert b"forged" not in output.read_bytes() and output.read_bytes().startswith(b"tool_output {")


@pytest.mark.skipif(landlock_version() < 1, reason="this kernel has no Landlock")
def test_a_worker_behind_the_fence_reaches_no_file_process_or_port_of_others(tmp_path: Path) -> None:
    program = (Path(__file__).parent / "security_fence.py").read_text("utf-8")
    directory, scratch = tmp_path / "artifacts", tmp_path / "scratch"
    directory.mkdir()
    scratch.mkdir()
    (tmp_path / "secret.txt").write_text(SECRET)
    (directory / "a.csv").write_text("x\n")
    argv = [sys.executable, "-c", program, str(directory), str(scratch), str(tmp_path / "secret.txt"), str(os.getpid())]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=ROOT, check=False, timeout=60)
    assert done.returncode == 0, done.stderr[-1000:]
    reached = [name for name, outcome in json.loads(done.stdout).items() if outcome == "reached"]
    assert reached == ["a file of the directory", "the scratch folder"]


def test_the_runner_of_these_tests_finds_a_leak_where_there_is_one(lab: Lab, scratch: Path) -> None:
    (seen,) = lab.worker({"layers": [], "scratch": str(scratch), "statements": ["FROM read_text('OUTDIR/ledger.csv')"]})
    assert SECRET in seen, "without layers the statement reads it, so the tests above would have seen it"
    assert Runner(lab.directory).tool("query_sql", sql="FROM 'data/ok.csv'").rows == [[1, "x"], [2, "y"]]

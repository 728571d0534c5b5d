"""What the fuzzer sends: arguments, SQL and files, each made from one seeded `Random`, so that a case can be made again."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

from tests.security_calls import Call

FILES = (
    "sales.csv",
    "korean_stores.csv",
    "customers.parquet",
    "events.ndjson",
    "orders.json",
    "inventory.xlsx",
    "report.pdf",
    "report.md",
)
TABLES = ("sales.csv", "korean_stores.csv", "customers.parquet", "events.ndjson", "inventory.xlsx", "readings/*/*.parquet")
COLUMNS = (
    "order_id", "date", "customer_id", "region", "store_code", "product", "quantity", "unit_price", "name", "segment", "since", "credit_limit", "id",
    "happened_at", "kind", "value", "sensor", "measured_at", "temperature", "humidity", "month", "missing",
)  # fmt: skip
OF_TABLE = {
    "sales.csv": COLUMNS[:8], "customers.parquet": ("customer_id", *COLUMNS[8:12]), "events.ndjson": ("customer_id", *COLUMNS[12:16]),
    "readings/*/*.parquet": COLUMNS[16:21],
}  # fmt: skip

VALID: list[tuple[str, dict[str, Any]]] = [
    ("list_directory", {"path": ".", "pattern": "*", "recursive": True, "sort_by": "size", "max_entries": 5}),
    ("read_csv", {"path": "sales.csv", "columns": ["region"], "preview_rows": 3, "offset": 2, "delimiter": ",", "header": True}),
    ("read_csv", {"path": "korean_stores.csv", "encoding": "cp949", "skip_rows": 1, "decimal": ".", "null_values": ["x"]}),
    ("read_json", {"path": "orders.json", "records_path": "$.orders", "preview_rows": 2}),
    ("read_pdf", {"path": "report.pdf", "pages": "1", "content": "text"}),
    ("markdown_to_pdf", {"markdown": "# T\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", "title": "T", "page_size": "A4", "stylesheet": "p {}"}),
    (
        "query_table",
        {
            "path": "sales.csv", "columns": ["region"], "filters": [{"column": "region", "op": "=", "value": "EU"}], "limit": 3,
            "order_by": ["region desc"],
        },
    ),
    ("query_table", {"path": "sales.csv", "group_by": ["region"], "aggregates": [{"function": "count", "column": "*", "alias": "n"}]}),
    ("query_sql", {"sql": "SELECT * FROM 'sales.csv' WHERE region = $r", "parameters": {"r": "EU"}, "output_format": "csv"}),
    ("describe_table", {"path": "sales.csv", "profile": True}),
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, -1, 2**31, 2**63, 2**64, -(2**63) - 1, 10**40, 1.5, 1e308, -0.0, "", " ", "null", "None", "10", "-1", "1e5", "true",
    "../x", "/etc/passwd", ".artifacts/log.jsonl", "~", "*", "**", "[", "a\0b", "\ud800", "\u202e", "e\u0301", "서울", "🚀" * 40, "x" * 5000, "'", '"', ";",
    "';--", "$$", "%", "\\", "\n", "[]", "{}", '["a"]', '{"a": 1}', [], [[]], [None], ["region", "region"], [1, "a"], {}, {"a": None}, {"column": "region"},
    {"a": {"b": {"c": []}}}, "sales.csv", "results/out.csv", "a/" * 300,
]  # fmt: skip


def arguments(random: Random, known: list[tuple[str, dict[str, Any]]] | None = None) -> Call:
    """A valid request with some of its values, names or characters changed."""
    tool, valid = random.choice(known or VALID)
    wanted = json.loads(json.dumps(valid))
    for _ in range(random.randint(1, 3)):
        _change(random, wanted)
    text = json.dumps(wanted, ensure_ascii=random.random() < 0.5).encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    if random.random() < 0.3:
        text = bytes_changed(random, text.encode()).decode("utf-8", "replace")
    return Call(tool, text)


def _change(random: Random, wanted: dict[str, Any]) -> None:
    key = random.choice([*wanted, random.choice(["path", "extra", "output_path", "overwrite", "Path", "preview_rows", "sql"])])
    kept = wanted.get(key)
    if isinstance(kept, list) and kept and random.random() < 0.5:
        at = random.randrange(len(kept))
        if isinstance(kept[at], dict):
            _change(random, kept[at])
        else:
            kept[at] = random.choice(VALUES)
    elif isinstance(kept, dict) and kept and random.random() < 0.5:
        _change(random, kept)
    elif key in wanted and random.random() < 0.15:
        del wanted[key]
    else:
        wanted[key] = random.choice(VALUES)


# ---------------------------------------------------------------- bytes

_ODD = [b"\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b'"', b"'", b"\n", b"\r", b",", b"\xef\xbb\xbf", b"[", b"{", b"PK\x03\x04", b"%PDF", b"PAR1", b"9" * 60, b"\xed\xa0\x80", b"e999"]  # fmt: skip


def bytes_changed(random: Random, data: bytes) -> bytes:
    """The bytes with a few of them turned, taken away, doubled or put in."""
    made = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 4, 16))):
        at = random.randrange(len(made) + 1)
        length = random.choice((1, 2, 4, 16, 200, max(1, len(made) // 3)))
        kind = random.randrange(6)
        if kind == 0 and at < len(made):
            made[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            del made[at : at + length]
        elif kind == 2:
            made[at:at] = made[at : at + length] * random.choice((1, 2, 50))
        elif kind == 3:
            made[at:at] = random.choice(_ODD)
        elif kind == 4:
            made[at : at + length] = random.randbytes(min(length, len(made) - at))
        else:
            odd = random.choice(_ODD)
            made[at : at + len(odd)] = odd
    if random.random() < 0.1:
        del made[random.randrange(len(made) + 1) :]
    return bytes(made[:4_000_000])


def file_call(random: Random, demo: Path, directory: Path) -> Call:
    """A file made from one of the demo data, changed, perhaps packed, under `fuzz/`, and a call that reads it."""
    name = random.choice(FILES)
    data = bytes_changed(random, (demo / name).read_bytes())
    if name.endswith(".xlsx") and random.random() < 0.7:
        data = _zip_changed(random, (demo / name).read_bytes())
    ending = name.rpartition(".")[2]
    packed = random.choice(("", "", "", ".gz", ".bz2", ".xz", ".zip", ".zst")) if ending in ("csv", "ndjson", "json") else ""
    if packed:
        data = _packed(random, data, packed)
    path = f"fuzz/f.{ending}{packed}" if random.random() < 0.9 else "fuzz/f"
    (directory / "fuzz").mkdir(exist_ok=True)
    (directory / path).write_bytes(data)
    return Call(*_reading(random, ending, path))


def _reading(random: Random, ending: str, path: str) -> tuple[str, str]:
    if ending == "pdf":
        return "read_pdf", json.dumps({"path": path, "content": random.choice(("text", "text", "tables"))})
    if ending == "md":
        return "markdown_to_pdf", json.dumps({"input_path": path})
    tools = {
        "read_json" if "json" in ending else "read_csv": {"path": path},
        "query_table": {"path": path, "limit": 5},
        "query_sql": {"sql": f"SELECT count(*), max(COLUMNS(*)) FROM '{path}'"},
        "describe_table": {"path": path, "profile": random.random() < 0.5},
        "list_directory": {"path": "fuzz"},
    }
    tool = random.choice(list(tools))
    return tool, json.dumps(tools[tool])


def _packed(random: Random, data: bytes, ending: str) -> bytes:
    if ending == ".zip":
        stream = BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(random.choice(("a.csv", "../a.csv", "a/b.csv", "/a.csv")), data)
        made = stream.getvalue()
    elif ending == ".zst":
        made = b"\x28\xb5\x2f\xfd" + random.randbytes(40)
    else:
        pack: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
        made = pack[ending](data)
    return bytes_changed(random, made) if random.random() < 0.6 else made


def _zip_changed(random: Random, data: bytes) -> bytes:
    """A workbook whose parts were changed before they were packed again."""
    stream = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            part = old.read(name)
            if random.random() < 0.3:
                part = bytes_changed(random, part)
            if random.random() < 0.95:
                new.writestr(name, part)
    return stream.getvalue()


# ---------------------------------------------------------------- SQL

_SCALARS = ["1", "-1", "NULL", "'x'", "''", "1.5", "9223372036854775807", "'2024-01-31'", "DATE '2024-01-31'", "TIMESTAMP '2024-01-31 12:00:00'", "TRUE", "[1, 2]", "{'a': 1}", "MAP {'k': 1}", "'\\x00'::BLOB", "INTERVAL 1 DAY", "'[1]'::JSON", "1e308", "'NaN'::DOUBLE", "170141183460469231731687303715884105727", "uuid()", "'a'::BIT", "$1"]  # fmt: skip
_OPERATORS = ["+", "-", "*", "/", "//", "%", "||", "=", "<>", "<", ">=", "AND", "OR", "IN", "LIKE", "SIMILAR TO", "IS DISTINCT FROM", "->", "->>", "^", "<<", "&", "@>"]  # fmt: skip
_TYPES = ["INTEGER", "BIGINT", "HUGEINT", "VARCHAR", "DOUBLE", "DECIMAL(18,2)", "DATE", "TIMESTAMPTZ", "BLOB", "INTEGER[]", "JSON", "BIT", "UUID", "INTERVAL", "TIME", "STRUCT(a INT)", "MAP(VARCHAR, INT)", "UNION(a INT, b VARCHAR)", "NOTYPE"]  # fmt: skip
_AGGREGATES = [
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "list",
    "string_agg",
    "median",
    "approx_count_distinct",
    "histogram",
    "mode",
    "arg_max",
]
_WORDS = ["SELECT", "FROM", "WHERE", "GROUP BY ALL", "ORDER BY ALL", "(", ")", ",", ";", "--", "/*", "*/", "$$", "COPY", "TO", "PIVOT", "UNPIVOT", "ON", "WITH", "AS", "UNION ALL", "LATERAL", "QUALIFY", "SUMMARIZE", "LIMIT 0", "*", "'", '"', "read_csv(", "ATTACH", "SET", "::", "[", "]", "{", "}", "?", "$x"]  # fmt: skip


def sql_call(random: Random, functions: list[str]) -> Call:
    """A statement of a small grammar over the demo data, at times with words or characters changed."""
    text = _select(random, functions, 2)
    if random.random() < 0.35:
        words = text.split(" ")
        for _ in range(random.randint(1, 4)):
            at = random.randrange(len(words))
            words[at : at + random.randint(0, 2)] = [random.choice(_WORDS)]
        text = " ".join(words)
    elif random.random() < 0.1:
        text = bytes_changed(random, text.encode()).decode("utf-8", "replace")[:200_000]
    wanted: dict[str, Any] = {"sql": text, "output_format": random.choice(("parquet", "csv", "json"))}
    if "$1" in text or "?" in text:
        wanted["parameters"] = [random.choice(VALUES[:20])]
    return Call("query_sql", json.dumps(wanted).encode("utf-8", "replace").decode())


def _select(random: Random, functions: list[str], depth: int) -> str:
    if random.random() < 0.4:  # one whose columns are there
        table, columns = random.choice(list(OF_TABLE.items()))
        one, two = random.choice(columns), random.choice(columns)
        return random.choice((
            f"SELECT {one}, count(*), {random.choice(_AGGREGATES)}({two}) FROM '{table}' GROUP BY ALL ORDER BY ALL",
            f"SELECT {random.choice(functions)}({one}), {two} FROM '{table}' LIMIT 9",
            f"SELECT {random.choice(functions)}({one}, {random.choice(_SCALARS)}) FROM '{table}'",
            f"SELECT TRY_CAST({one} AS {random.choice(_TYPES)}) AS x, rank() OVER (PARTITION BY {two} ORDER BY {one}) FROM '{table}'",
            f"SELECT a.{one} FROM '{table}' a JOIN '{table}' b ON a.{one} = b.{one} WHERE a.{two} {random.choice(_OPERATORS)} {random.choice(_SCALARS)}",
            f"FROM (SUMMARIZE '{table}') WHERE column_name = '{one}'",
            f"SELECT {random.choice(_SCALARS)} AS x, {{'k': {one}}} AS s, [{two}] AS l FROM '{table}' LIMIT 3",
        ))  # fmt: skip
    if random.random() < 0.1:
        return f"PIVOT {_table(random, functions, depth)} ON {random.choice(COLUMNS)} USING count(*)"
    if depth and random.random() < 0.15:
        between = random.choice(("UNION ALL", "EXCEPT", "INTERSECT", "UNION BY NAME"))
        return f"{_select(random, functions, depth - 1)} {between} {_select(random, functions, depth - 1)}"
    cells = ", ".join(_expression(random, functions, depth) for _ in range(random.randint(1, 3)))
    text = f"SELECT {random.choice(('', '', 'DISTINCT '))}{cells}"
    if random.random() < 0.7:
        text += f" FROM {_table(random, functions, depth)}"
        if random.random() < 0.3:
            text += f" {random.choice(('JOIN', 'LEFT JOIN', 'ASOF JOIN', 'POSITIONAL JOIN', 'CROSS JOIN'))} {_table(random, functions, 0)} t2"
            text += random.choice((" USING (region)", " ON TRUE", ""))
        if random.random() < 0.3:
            text += f" WHERE {_expression(random, functions, depth)}"
        text += random.choice(("", "", " GROUP BY ALL", " ORDER BY ALL", " ORDER BY 1", " QUALIFY row_number() OVER () = 1"))
    return text + random.choice(("", " LIMIT 5", " LIMIT 5 OFFSET 2", " LIMIT 10%"))


def _table(random: Random, functions: list[str], depth: int) -> str:
    choice = random.randrange(8)
    if depth and choice == 0:
        return f"({_select(random, functions, depth - 1)}) s"
    if choice == 1:
        return f"range({random.choice(('3', '0', '-1', '1, 10, 3', 'NULL'))})"
    if choice == 2:
        return f"read_csv('{random.choice(TABLES)}'{random.choice(('', ', header = true', ', delim = 0', ', skip = 1', ', all_varchar = 1'))})"
    if choice == 3:
        return f"unnest([{_expression(random, functions, 0)}])"
    if choice == 4:
        return random.choice(("sales", "customers", "orders", "nothing", "SALES"))
    return f"'{random.choice(TABLES)}'"


def _expression(random: Random, functions: list[str], depth: int) -> str:
    choice = random.randrange(10) if depth > 0 else random.randrange(2)
    if choice == 0:
        return random.choice(_SCALARS)
    if choice == 1:
        return random.choice(COLUMNS)
    inner = [_expression(random, functions, depth - 1) for _ in range(3)]
    made = [
        f"({inner[0]} {random.choice(_OPERATORS)} {inner[1]})",
        f"{random.choice(functions)}({', '.join(inner[: random.randint(0, 3)])})",
        f"{random.choice(functions)}({', '.join(inner[: random.randint(1, 2)])})",
        f"{random.choice(_AGGREGATES)}({inner[0]})",
        f"{random.choice(_AGGREGATES)}({inner[0]}) OVER (PARTITION BY {inner[1]} ORDER BY {inner[2]})",
        f"{random.choice(('CAST', 'TRY_CAST'))}({inner[0]} AS {random.choice(_TYPES)})",
        f"list_transform({inner[0]}, lambda x: {inner[1]})",
        f"CASE WHEN {inner[0]} THEN {inner[1]} ELSE {inner[2]} END",
    ]
    return made[choice - 2]

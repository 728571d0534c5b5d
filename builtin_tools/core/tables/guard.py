"""Which SQL may run: one SELECT, read off the parser's own tree by an allow-list.

The tree is that of `json_serialize_sql`. What is not known here is refused: kinds of nodes, of table references, of
table functions. Tables are unqualified names, each a common table expression in scope or a file of the directory.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from ..errors import InvalidParameters, SqlNotAllowed, SqlSyntaxError
from .engine import Engine, native
from .engine_errors import engine_error

MAX_SQL_CHARS = 100_000
_MAX_NESTING = 200
_QUERY_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
_TABLE_NODES = {"BASE_TABLE", "SUBQUERY", "JOIN", "TABLE_FUNCTION", "EXPRESSION_LIST", "EMPTY", "PIVOT", "SHOW_REF"}
_READERS = {
    "read_csv": "csv", "read_csv_auto": "csv", "read_parquet": "parquet", "parquet_scan": "parquet",
    "read_json": "json", "read_json_auto": "json", "read_ndjson": "json", "read_ndjson_auto": "json",
}  # fmt: skip
_TABLE_FUNCTIONS = {
    "range",
    "generate_series",
    "unnest",
    "json_each",
    "json_tree",
    "generate_subscripts",
    "repeat",
    "repeat_row",
    "regexp_split_to_table",
}
_FORBIDDEN_FUNCTIONS = re.compile(
    r"current_setting|getvariable|getenv|write_log|sleep.*|nextval|currval|setval|lastval|json_serialize_\w+|json_deserialize_\w+|"
    r"json_execute_\w+|current_query|current_database|current_schemas?|current_user|session_user|user|pg_\w+|duckdb_\w+|has_\w+_privilege|"
    r"txid_current|in_search_path|query|query_table|read_\w+|glob|which_secret|add_parquet_key|parquet_\w+|sniff_csv|"
    r"checkpoint|force_checkpoint|enable_\w+|disable_\w+|get_block_size|version|icu_calendar_names|shell_\w+|__internal\w*|from_substrait\w*"
)
_STATEMENTS = "COPY|ATTACH|DETACH|CREATE|INSERT|UPDATE|DELETE|DROP|ALTER|SET|RESET|PRAGMA|INSTALL|LOAD|CALL|EXPORT|IMPORT|VACUUM|BEGIN|COMMIT|MERGE|TRUNCATE|EXECUTE|PREPARE|USE"


@dataclass
class Reader:
    """A call of read_csv, read_parquet or read_json in the statement: its literal paths, options and place in the text."""

    function: str
    format: str
    paths: list[str]
    options: dict[str, Any]
    start: int  # in bytes of the text


@dataclass
class Checked:
    """A statement that may run: its text, and what it names."""

    sql: str
    tables: list[str] = field(default_factory=list)
    readers: list[Reader] = field(default_factory=list)
    names: set[str] = field(default_factory=set)  # in small letters, like those below: of all columns it may mean
    unqualified: set[str] = field(default_factory=set)  # names that stand alone
    table_names: set[str] = field(default_factory=set)  # and aliases; standing alone they mean whole rows
    all_columns: bool = False  # it may mean columns that it does not name, by * or otherwise

    @property
    def needed(self) -> frozenset[str] | None:
        """The names of the columns it may use; None where it may use any."""
        return None if self.all_columns or self.unqualified & self.table_names else frozenset(self.names)


def check(engine: Engine, sql: str) -> Checked:
    """The statement, found fit to run. Raises SqlNotAllowed, SqlSyntaxError, InvalidParameters."""
    text = single_statement(engine, sql)
    try:
        document = json.loads(engine.serialized(text))
    except native().Error as problem:
        raise engine_error(problem, engine, sql) from None
    except RecursionError:
        raise SqlSyntaxError("The SQL is nested too deeply.", "Send a flatter statement, with WITH parts.") from None
    if document.get("error"):
        raise _refused_by_serializer(document, sql)
    statements = document.get("statements", [])
    if len(statements) != 1:
        raise SqlNotAllowed("Exactly one statement is run.", "Send one SELECT statement.")
    checked = Checked(text)
    _Walk(checked).query(statements[0]["node"], frozenset())
    return checked


def single_statement(engine: Engine, sql: str) -> str:
    """The text of the one statement, without a semicolon at its end. Raises SqlNotAllowed where there are more."""
    if len(sql) > MAX_SQL_CHARS:
        raise InvalidParameters(
            f"The SQL has {len(sql):,} characters; {MAX_SQL_CHARS:,} are the most.",
            "Put long lists of values in parameters or in a file.",
        )
    if "\0" in sql:
        raise SqlSyntaxError("The SQL holds a NUL character.", "Leave it out.")
    depth = deepest = 0
    for sign in sql:
        depth += (sign in "([{") - (sign in ")]}")
        deepest = max(deepest, depth)
    if deepest > _MAX_NESTING:
        raise SqlSyntaxError(
            f"The SQL nests brackets {deepest:,} deep; {_MAX_NESTING} are the most.", "Send a flatter statement, with WITH parts."
        )
    try:
        statements = engine.connection.extract_statements(sql)
    except native().Error as problem:
        raise _parse_error(problem, engine, sql) from None
    if not statements:
        raise SqlSyntaxError(
            "The SQL holds no statement.", "Send one SELECT statement, such as SELECT * FROM 'sales.csv' LIMIT 10."
        )
    if len(statements) > 1:
        raise SqlNotAllowed(
            f"The SQL holds {len(statements)} statements; exactly one is run.",
            "Send one SELECT statement a call, without others before or after it.",
        )
    return _without_end(sql)


def _without_end(sql: str) -> str:
    """The text up to its last semicolon, where nothing but blanks and comments follows it. Told by the engine's tokens."""
    tokens = native().tokenize(sql)
    data = sql.encode()
    for position, kind in reversed(tokens):
        text = data[position : position + 1]
        if kind == native().token_type.comment or not text.strip():
            continue
        return data[:position].decode().rstrip() if text == b";" else sql
    return sql


def _parse_error(problem: BaseException, engine: Engine, sql: str) -> Exception:
    first = re.match(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*([A-Za-z]+)", sql, re.DOTALL)
    if (first and re.fullmatch(_STATEMENTS, first[1], re.IGNORECASE)) or re.search(
        rf";\s*(?:{_STATEMENTS})\b", sql, re.IGNORECASE
    ):
        return _only_reading(first[1].upper() if first else "")
    return engine_error(problem, engine, sql)


def _only_reading(what: str) -> SqlNotAllowed:
    shown = f"{what} is not allowed: " if what else ""
    return SqlNotAllowed(
        f"{shown}only one statement that reads is run, a SELECT.",
        "Send a SELECT; its full result is written to a file without COPY, where output_path says. Views and tables are not needed: use WITH.",
    )


def _refused_by_serializer(document: dict[str, Any], sql: str) -> Exception:
    message = str(document.get("error_message", ""))
    if "Only SELECT" in message:
        first = re.match(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*([A-Za-z]+)", sql, re.DOTALL)
        return _only_reading(first[1].upper() if first else "")
    return SqlSyntaxError(
        f"The SQL cannot be run: {message.splitlines()[0] if message else 'it does not parse'}.", "Send one SELECT statement."
    )


class _Walk:
    """Goes through a tree and notes the tables and readers it names; whatever it does not know it refuses."""

    def __init__(self, checked: Checked) -> None:
        self.checked = checked

    def query(self, node: Any, scope: frozenset[str]) -> None:
        """A query node, with the names of the common table expressions around it."""
        if not isinstance(node, dict) or node.get("type") not in _QUERY_NODES:
            raise _only_reading("")
        scope = self._with_parts(node, scope)
        if node["type"] == "RECURSIVE_CTE_NODE" or (node["type"] == "CTE_NODE" and node.get("cte_name")):
            scope |= {str(node.get("cte_name", "")).casefold()}
        for key, part in node.items():
            if key in ("cte_map", "type"):
                continue
            if key == "from_table":
                self.table(part, scope)
            elif key in ("left", "right", "query", "child", "recursive"):
                self.query(part, scope) if isinstance(part, dict) and part.get("type") in _QUERY_NODES else self.any(part, scope)
            elif key == "children":
                for child in part:
                    self.query(child, scope)
            else:
                self.any(part, scope)

    def _with_parts(self, node: dict[str, Any], scope: frozenset[str]) -> frozenset[str]:
        entries = (node.get("cte_map") or {}).get("map") or []
        for entry in entries:
            name, value = str(entry["key"]).casefold(), entry["value"]
            inner = value.get("query_node") or (value.get("query") or {}).get("node") or {}
            recursive = inner.get("type") == "RECURSIVE_CTE_NODE"
            self.query(inner, scope | {name} if recursive else scope)
            self.any({key: part for key, part in value.items() if key not in ("query", "query_node")}, scope)
            scope |= {name}
        return scope

    def table(self, node: Any, scope: frozenset[str]) -> None:
        """A table reference."""
        if node is None:
            return
        kind = node.get("type")
        if kind not in _TABLE_NODES:
            raise SqlNotAllowed(
                "The statement reads from something that is no table or file.", "Read from files: FROM 'data/sales.csv'."
            )
        self._note_columns_of(node)
        if kind == "BASE_TABLE":
            self._base_table(node, scope)
        elif kind == "TABLE_FUNCTION":
            self._table_function(node, scope)
            return
        elif kind == "SHOW_REF":
            self._show(node, scope)
            return
        for key, part in node.items():
            if key in ("left", "right", "source") and isinstance(part, dict):
                self.table(part, scope)
            elif key == "subquery" and isinstance(part, dict):
                self.query(part.get("node", part), scope)
            elif key not in ("type",):
                self.any(part, scope)

    def _note_columns_of(self, node: dict[str, Any]) -> None:
        """What a table reference says of columns without naming them as such."""
        checked = self.checked
        checked.table_names |= {str(node[key]).casefold() for key in ("alias", "table_name") if node.get(key)}
        checked.names |= {str(name).casefold() for name in node.get("using_columns") or []}
        if node["type"] in ("PIVOT", "SHOW_REF") or node.get("column_name_alias") or node.get("ref_type") == "NATURAL":
            checked.all_columns = True

    def _base_table(self, node: dict[str, Any], scope: frozenset[str]) -> None:
        name = str(node.get("table_name", ""))
        path = _qualified(node)
        if len(path) > 1 or node.get("schema_name") or node.get("catalog_name"):
            full = ".".join(path)
            raise SqlNotAllowed(
                f"The table {full!r} is qualified with a schema; there are no schemas here.",
                "Name a file by its path in quotes, as in FROM 'data/sales.csv', or by its stem, as in FROM sales.",
            )
        if name.casefold() not in scope and name not in self.checked.tables:
            self.checked.tables.append(name)

    def _show(self, node: dict[str, Any], scope: frozenset[str]) -> None:
        if node.get("query") is None or node.get("show_type") not in ("SUMMARY", "DESCRIBE"):
            raise SqlNotAllowed(
                "The statement asks about the catalog, which holds nothing of yours.",
                "list_directory shows the files; describe_table their columns.",
            )
        query = node["query"]
        self.query(query.get("node", query), scope)

    def _table_function(self, node: dict[str, Any], scope: frozenset[str]) -> None:
        function = node.get("function") or {}
        name = str(function.get("function_name", "")).casefold()
        if len(_qualified(function)) > 1 or function.get("class") != "FUNCTION":
            raise SqlNotAllowed("A table function is qualified with a schema.", "Name the function alone.")
        if name in _READERS:
            self.checked.readers.append(_reader(name, function, node))
            return
        if name not in _TABLE_FUNCTIONS:
            raise SqlNotAllowed(
                f"The table function {name[:60]!r} is out of reach.",
                "Read files with FROM 'path', read_csv('path'), read_parquet('path') or read_json('path'); range() and unnest() make rows.",
            )
        self.any(function.get("arguments", []), scope)
        self.any({key: part for key, part in node.items() if key not in ("function", "type")}, scope)

    def any(self, node: Any, scope: frozenset[str]) -> None:
        """An expression, or any part of the tree: what it holds is looked at, however deep."""
        if isinstance(node, list):
            for part in node:
                self.any(part, scope)
            return None
        if not isinstance(node, dict):
            return None
        kind = node.get("type")
        if "class" not in node and isinstance(kind, str):
            if kind in _QUERY_NODES:
                return self.query(node, scope)
            if kind in _TABLE_NODES and kind not in ("SUBQUERY",):
                return self.table(node, scope)
            if isinstance(kind, str) and (kind.endswith("_NODE") or kind.endswith("_STATEMENT") or kind.endswith("_REF")):
                raise _only_reading("")
        if node.get("class") == "STAR":
            self.checked.all_columns = True
        elif node.get("class") == "COLUMN_REF":
            parts = [str(part).casefold() for part in node.get("column_names", [])]
            self.checked.names |= set(parts)
            self.checked.unqualified |= set(parts) if len(parts) == 1 else set()
        if node.get("class") in ("FUNCTION", "WINDOW"):
            self._function(str(node.get("function_name", "")).casefold(), node)
        for key, part in node.items():
            if key == "subquery" and isinstance(part, dict):
                self.query(part.get("node", part), scope)
            elif key == "node" and isinstance(part, dict) and part.get("type") in _QUERY_NODES:
                self.query(part, scope)
            else:
                self.any(part, scope)
        return None

    @staticmethod
    def _function(name: str, node: dict[str, Any]) -> None:
        if _FORBIDDEN_FUNCTIONS.fullmatch(name) or len(_qualified(node)) > 1:
            raise SqlNotAllowed(
                f"The function {name[:60]!r} is out of reach.",
                "Use functions of values; settings, variables and catalogs hold nothing of yours.",
            )


def _qualified(node: dict[str, Any]) -> list[str]:
    return [str(part) for part in (node.get("qualified_name") or {}).get("path") or []]


def _reader(name: str, function: dict[str, Any], node: dict[str, Any]) -> Reader:
    """A reader with literal paths. Raises SqlNotAllowed where a path or an option is computed."""
    options: dict[str, Any] = {}
    paths: list[str] = []
    for position, argument in enumerate(function.get("arguments", [])):
        option = _option(argument)
        if option is not None:
            options[option[0].casefold()] = option[1]
        elif position == 0:
            paths = _paths(argument["expression"])
        else:
            raise SqlNotAllowed(f"{name} takes a path and named options.", f"Write {name}('data/sales.csv', header = true).")
    if not paths:
        raise SqlNotAllowed(f"{name} needs a path written out in the statement.", f"Write {name}('data/sales.csv').")
    return Reader(name, _READERS[name], paths, options, int(node["query_location"]))


def _paths(node: dict[str, Any]) -> list[str]:
    literal_text = node.get("literal") or {}
    if node.get("class") == "CONSTANT" and literal_text.get("kind") == "STRING":
        return [str(literal_text["text"])]
    if node.get("class") == "FUNCTION" and node.get("function_name") == "list_value":
        return [path for argument in node.get("arguments", []) for path in _paths(argument["expression"])]
    raise SqlNotAllowed(
        "A path is computed in the statement.",
        "Write each path out, as in read_csv('data/sales.csv'); a list of paths stands in [ ].",
    )


def _option(argument: dict[str, Any]) -> tuple[str, Any] | None:
    """A named option as (name, value); None for an argument without a name."""
    node = argument["expression"]
    if argument.get("name"):
        return str(argument["name"]), literal(node)
    left = node.get("left") or {}
    if node.get("type") == "COMPARE_EQUAL" and left.get("class") == "COLUMN_REF":
        return str(left["column_names"][-1]), literal(node["right"])
    return None


def literal(node: dict[str, Any]) -> Any:
    """What a constant expression stands for: a scalar, a list, a struct as a dict. Raises SqlNotAllowed where it is computed."""
    if node.get("class") == "CONSTANT":
        kind, text = node["literal"].get("kind"), node["literal"].get("text")
        if kind == "BOOLEAN":
            return str(text).lower() == "true"
        if kind == "INTEGER":
            return int(str(text))
        return None if kind == "NULL" else text
    if node.get("class") == "FUNCTION" and node.get("function_name") == "list_value":
        return [literal(argument["expression"]) for argument in node.get("arguments", [])]
    if node.get("class") == "FUNCTION" and node.get("function_name") == "struct_pack":
        return {str(argument.get("name", "")): literal(argument["expression"]) for argument in node.get("arguments", [])}
    raise SqlNotAllowed("An option of a reader is computed in the statement.", "Write the option's value out.")

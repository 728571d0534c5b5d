"""Writes docs/tools.md and the tables of README.md from the tools themselves: their docstrings and the JSON Schemas of their models."""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builtin_tools.core import errors

ROOT = Path(__file__).resolve().parents[2]

# The order in which an agent meets them; tools that are not named here follow by name.
ORDER = (
    "list_directory", "describe_table", "read_csv", "read_json", "read_pdf", "query_table", "query_sql", "markdown_to_pdf",
    "download_file",
)  # fmt: skip

MEANINGS = {
    "INVALID_PARAMETERS": "An argument is missing, unknown, or does not fit.",
    "FILE_NOT_FOUND": "No such file; the nearest names are told.",
    "PATH_OUTSIDE_ARTIFACTS": "The path leads out of the artifact directory.",
    "UNSUPPORTED_FORMAT": "The tool does not read this kind of file.",
    "FILE_CORRUPT": "The file is damaged.",
    "FILE_EMPTY": "The file holds nothing.",
    "ENCODING_ERROR": "The text cannot be read in the encoding given, or in any that was found.",
    "TABLE_NOT_FOUND": "The SQL, or the argument, names a table that no file has.",
    "COLUMN_NOT_FOUND": "The table has no such column; the nearest names are told.",
    "SQL_SYNTAX_ERROR": "The SQL does not parse.",
    "SQL_NOT_ALLOWED": "Not one read-only statement, or it reaches outside the directory.",
    "SQL_ERROR": "The SQL fails: a type, a function, a value.",
    "OUTPUT_EXISTS": "A file lies at `output_path`, and `overwrite` is not true.",
    "TIMEOUT": "The call took longer than `timeout_seconds`.",
    "MEMORY_LIMIT_EXCEEDED": "The call needs more than `memory_limit`.",
    "DISK_LIMIT_EXCEEDED": "The call needs more than `temp_disk_limit`, or the disk is full.",
    "CONFIGURATION_ERROR": "The user parameters, or the artifact directory, are wrong.",
    "INTERNAL_ERROR": "A fault of the tool, or a signal that ended it.",
    "PASSWORD_REQUIRED": "The document is encrypted, and no password, or a wrong one, is configured.",
    "INVALID_URL": "The address is none that can be downloaded from.",
    "HOST_NOT_ALLOWED": "The host, or the network it lies in, is not allowed.",
    "CONNECTION_TIMEOUT": "The server did not answer in time.",
    "DNS_FAILURE": "The name of the host is not known.",
    "CONNECTION_REFUSED": "Nothing listens there.",
    "SSL_CERTIFICATE_ERROR": "The server's certificate is not valid.",
    "UNAUTHORIZED": "The server wants credentials (401).",
    "FORBIDDEN": "The server refuses (403).",
    "NOT_FOUND": "The server has no such file (404, 410).",
    "RATE_LIMITED": "Too many requests (429).",
    "SERVER_ERROR": "The server failed (5xx).",
    "SERVICE_UNAVAILABLE": "The server is down for a while (503).",
    "RESPONSE_TOO_LARGE": "The file is larger than `max_bytes`.",
}


@dataclass(frozen=True)
class Tool:
    """A tool as its tool.py describes it: schemas are those of its two models."""

    name: str
    description: str
    parameters: dict[str, Any]
    user_parameters: dict[str, Any]

    @property
    def first_sentence(self) -> str:
        return " ".join(re.split(r"(?<=[.:;]) ", self.description, maxsplit=1)[0].split()).rstrip(":.;") + "."


def tools() -> list[Tool]:
    """Every folder of builtin_tools with a tool.py."""
    names = [path.parent.name for path in (ROOT / "builtin_tools").glob("*/tool.py")]
    names.sort(key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    found = []
    for name in names:
        module = importlib.import_module(f"builtin_tools.{name}.tool")
        schemas = module.ToolParameters.model_json_schema(), module.UserParameters.model_json_schema()
        found.append(Tool(name, " ".join((module.__doc__ or "").split()), *schemas))
    return found


def codes() -> dict[str, tuple[int, str]]:
    """Exit status of each code, and who mends it."""
    found: dict[str, tuple[int, str]] = {}
    for kind in _subclasses(errors.ToolError):
        if "code" in kind.__dict__:
            found[kind.code] = (kind.exit_status, "agent" if kind.exit_status == 0 else "operator")
    for code, status in errors.NETWORK_EXIT_STATUS.items():
        found[code] = (status, "agent" if status == 0 else "operator, or time")
    return found


def _subclasses(kind: type[errors.ToolError]) -> Iterator[type[errors.ToolError]]:
    for below in kind.__subclasses__():
        yield below
        yield from _subclasses(below)


# ---------------------------------------------------------------- schemas in words


def type_words(schema: dict[str, Any]) -> str:
    """The type of a field as a reader of a table wants it: `text`, `list of text`, `one of a, b`."""
    if "anyOf" in schema:
        return " or ".join(type_words(part) for part in schema["anyOf"] if part.get("type") != "null")
    if "enum" in schema:
        return "one of " + ", ".join(f"`{word}`" for word in schema["enum"])
    kind = schema.get("type", "")
    if kind == "array":
        items = schema.get("items") or {}
        return f"list of {type_words(items)}" if items else "list"
    names = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean", "object": "object"}
    return names.get(kind, "any value") + _bounds(schema)


def _bounds(schema: dict[str, Any]) -> str:
    words = {"minimum": "≥ ", "exclusiveMinimum": "> ", "maximum": "≤ ", "exclusiveMaximum": "< "}
    found = [f"{word}{schema[key]:g}" for key, word in words.items() if key in schema]
    return f" {', '.join(found)}" if found else ""


def _parameter_rows(schema: dict[str, Any], names: list[str]) -> list[list[str]]:
    rows = []
    for name in names:
        field = schema["properties"][name]
        default = "required" if name in schema.get("required", []) else _json(field.get("default"))
        items = field.get("items") or next((part.get("items") for part in field.get("anyOf", []) if part.get("items")), None)
        shape = f" Items have {', '.join(f'`{key}`' for key in items['properties'])}." if items and "properties" in items else ""
        example = f" Example: {_json(field['examples'][0])}" if field.get("examples") else ""
        rows.append([f"`{name}`", type_words(field), default, field.get("description", "") + shape + example])
    return rows


def _json(value: Any) -> str:
    return "" if value is None else f"`{json.dumps(value, ensure_ascii=False)}`"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; a bar inside a cell is escaped."""
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


# ---------------------------------------------------------------- the pages


def tools_table() -> str:
    rows = []
    for tool in tools():
        required = tool.parameters.get("required", [])
        names = [f"**`{name}`**" if name in required else f"`{name}`" for name in tool.parameters["properties"]]
        rows.append([f"[`{tool.name}`](builtin_tools/{tool.name}/README.md)", tool.first_sentence, ", ".join(names)])
    return table(["tool", "what it does", "parameters (required ones bold)"], rows)


def codes_table() -> str:
    return table(
        ["code", "what is wrong", "who mends it", "exit status"],
        [[f"`{code}`", MEANINGS[code], who, str(status)] for code, (status, who) in codes().items()],
    )


def tools_page() -> str:
    """docs/tools.md."""
    found = tools()
    everywhere = [
        name
        for name in found[0].user_parameters["properties"]
        if all(name in tool.user_parameters["properties"] for tool in found)
    ]
    head = ["parameter", "type", "default", "meaning"]
    parts = [
        "# The tools\n\nWritten by `scripts/docs` from the tools' own models; do not edit.\n",
        f"## User parameters of every tool\n\n{table(head, _parameter_rows(found[0].user_parameters, everywhere))}",
    ]
    for tool in found:
        own = [name for name in tool.user_parameters["properties"] if name not in everywhere]
        parts.append(f"## {tool.name}\n\n{tool.description}\n")
        parts.append(table(head, _parameter_rows(tool.parameters, list(tool.parameters["properties"]))))
        if own:
            parts.append(
                f"User parameters beside those of every tool:\n\n{table(head, _parameter_rows(tool.user_parameters, own))}"
            )
    return "\n".join(parts)


def between_marks(text: str, name: str, content: str) -> str:
    """The text with what stands between `<!-- name -->` and `<!-- end of name -->` replaced."""
    pattern = re.compile(rf"(<!-- {name}[^>]*-->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    replaced, count = pattern.subn(lambda match: f"{match[1]}\n{content}\n{match[2]}", text)
    if count != 1:
        raise SystemExit(f"README.md needs the marks <!-- {name} --> and <!-- end of {name} --> once; it has {count} pairs.")
    return replaced


def pages() -> dict[Path, str]:
    """Every generated page with what it should hold."""
    readme = (ROOT / "README.md").read_text("utf-8")
    readme = between_marks(readme, "tools", tools_table())
    readme = between_marks(readme, "codes", codes_table())
    return {ROOT / "README.md": readme, ROOT / "docs" / "tools.md": tools_page()}


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/docs", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit status 1 where a page is stale")
    check = parser.parse_args().check
    stale = [path for path, text in pages().items() if not path.exists() or path.read_text("utf-8") != text]
    for path in stale:
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(pages()[path], "utf-8")
        print(f"{path.relative_to(ROOT)} {'is stale: run scripts/docs' if check else 'written'}")
    if not stale:
        print("The generated pages are up to date.")
    return 1 if stale and check else 0


if __name__ == "__main__":
    sys.exit(main())

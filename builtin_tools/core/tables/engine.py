"""The one way to DuckDB: opened with its limits, locked before it sees what an agent sent, its errors made ours.

The native module `_duckdb` is imported rather than the package around it: the package's Python layer costs as
much CPU as everything else a small call does, and adds nothing that is used here.
"""

from __future__ import annotations

from typing import Any

from ..call import Call
from .sql_text import text_list


def native() -> Any:
    """DuckDB's native module."""
    import importlib

    try:
        return importlib.import_module("_duckdb")
    except ImportError:
        return importlib.import_module("duckdb")  # a build that lays its parts out otherwise


class Engine:
    """A connection to an in-memory database within the limits of a call.

    Until `lock`, only SQL of our own runs on it. After `lock` it reads the files that were allowed and the scratch
    folder, and neither settings nor extensions can be changed.
    """

    def __init__(self, call: Call) -> None:
        self.call = call
        self._allowed: list[str] = []
        self.locked = False
        memory = max(call.memory_limit // 1_000_000, 64)
        self.connection = native().connect(
            ":memory:",
            False,
            {
                "memory_limit": f"{memory}MB",
                "threads": str(call.threads),
                "temp_directory": call.scratch_path("spill"),
                "max_temp_directory_size": f"{max(call.temp_disk_limit // 1_000_000, 1)}MB",
                "autoload_known_extensions": "false",
                "autoinstall_known_extensions": "false",
                "allow_community_extensions": "false",
                "allow_unsigned_extensions": "false",
                "allow_persistent_secrets": "false",
                "python_enable_replacements": "false",
            },
        )
        for setting in ("TimeZone='UTC'", "enable_progress_bar=false", "errors_as_json=true", "max_expression_depth=250"):
            self.connection.execute(f"SET {setting}")

    @classmethod
    def open(cls, call: Call, allowed_files: list[str] | None = None) -> Engine:
        """A new engine; with `allowed_files` (absolute paths) it is locked at once."""
        engine = cls(call)
        if allowed_files is not None:
            engine.allow(allowed_files)
            engine.lock()
        return engine

    def allow(self, files: list[str]) -> None:
        """Adds to the files that may be read after `lock`."""
        self._allowed += [file for file in files if file not in self._allowed]

    def lock(self) -> None:
        """Shuts the engine: from now on it opens nothing but the allowed files and the scratch folder."""
        if self.locked:
            return
        self.connection.execute(f"SET allowed_paths={text_list(self._allowed)}")
        self.connection.execute(f"SET allowed_directories={text_list([self.call.scratch])}")
        self.connection.execute("SET enable_external_access=false")
        self.connection.execute("SET lock_configuration=true")
        self.locked = True

    def execute(self, sql: str, parameters: Any = None) -> Any:
        """Runs one statement; the connection, from which rows and descriptions are fetched. Raises the engine's errors."""
        return self.connection.execute(sql, parameters) if parameters else self.connection.execute(sql)

    def rows(self, sql: str, parameters: Any = None) -> list[tuple[Any, ...]]:
        """The rows of a statement of our own."""
        found: list[tuple[Any, ...]] = self.execute(sql, parameters).fetchall()
        return found

    def view(self, name_quoted: str, select: str) -> None:
        """Gives a SELECT a name."""
        self.execute(f"CREATE TEMP VIEW {name_quoted} AS {select}")

    def serialized(self, sql: str) -> str:
        """The parser's own tree of a statement, as JSON text; the statement is a bound value here and is not run."""
        return str(self.execute("SELECT json_serialize_sql($1)", [sql]).fetchone()[0])

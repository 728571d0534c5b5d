"""Hostile SQL in our own words, the directory it is tried in, and the layers it is tried against.

`ARTDIR` stands for the artifact directory, `OUTDIR` for a folder beside it. Every file outside holds SECRET, every file of the
tools' own folder holds OWN. Run as `python -m tests.security_attacks`, it is one worker: it builds the layers that
standard input names, runs every statement through them, and prints what came of each.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

SECRET = "KEEP-OUTDIR-3391"
OWN = "OWN-FOLDER-8820"
LAYERS = ("guard", "settings", "landlock")

STATEMENTS = r"""
FROM 'OUTDIR/ledger.csv'
FROM "OUTDIR/ledger.csv"
FROM 'OUTDIR/ledger.json'
FROM 'OUTDIR/ledger.parquet'
FROM 'OUTDIR/*.csv'
FROM 'OUTDIR/ledger.duckdb'
FROM '../outside/ledger.csv'
FROM 'data/../../outside/ledger.csv'
FROM './/data/.././../outside/ledger.csv'
FROM 'ARTDIR/../outside/ledger.csv'
FROM 'file://OUTDIR/ledger.csv'
FROM 'file:OUTDIR/ledger.csv'
FROM '/proc/self/root/OUTDIR/ledger.csv'
FROM '/proc/self/cwd/../outside/ledger.csv'
FROM '/proc/thread-self/environ'
FROM '/etc/hostname'
FROM '/dev/fd/0'
FROM '/dev/stdin'
FROM 'http://127.0.0.1:9/x.csv'
FROM 'hf://datasets/x/y.csv'
FROM 'gcs://bucket/x.parquet'
FROM 'leak.csv'
FROM 'leaks/ledger.csv'
FROM 'leaks/*.csv'
FROM '*/ledger.csv'
FROM '**/ledger.csv'
FROM '.artifacts/log.jsonl'
FROM './.artifacts/log.jsonl'
FROM 'data/../.artifacts/log.jsonl'
FROM 'ARTDIR/.artifacts/log.jsonl'
FROM '.ARTIFACTS/log.jsonl'
FROM '.artifacts/*'
FROM '.a*/log.jsonl'
FROM '**/log.jsonl'
FROM '.artifacts/cache/tables/kept.parquet'
FROM 'own.jsonl'
FROM read_csv('OUTDIR/ledger.csv')
FROM read_csv_auto('OUTDIR/ledger.csv')
FROM read_csv(['data/ok.csv', 'OUTDIR/ledger.csv'])
FROM read_csv('OUTDIR' || '/ledger.csv')
FROM read_csv(concat('OUTDIR', '/ledger.csv'))
FROM read_csv(format('{}/ledger.csv', 'OUTDIR'))
FROM read_csv(CAST('OUTDIR/ledger.csv' AS VARCHAR))
FROM read_csv((SELECT 'OUTDIR/ledger.csv'))
FROM read_csv(CASE WHEN true THEN 'OUTDIR/ledger.csv' END)
FROM read_csv(list_value('OUTDIR/ledger.csv'))
FROM read_csv(['OUTDIR/ledger.csv'][1])
FROM read_csv(path := 'OUTDIR/ledger.csv')
FROM read_csv('data/ok.csv', rejects_table = 'r', store_rejects = true)
FROM read_parquet('OUTDIR/ledger.parquet')
FROM parquet_scan(['OUTDIR/ledger.parquet'])
FROM read_json('OUTDIR/ledger.json')
FROM read_json_objects('OUTDIR/ledger.json')
FROM read_ndjson_objects('.artifacts/log.jsonl')
FROM read_text('OUTDIR/ledger.csv')
FROM read_text('.artifacts/log.jsonl')
FROM read_text(['OUTDIR/ledger.csv', '.artifacts/log.jsonl'])
FROM read_blob('OUTDIR/*')
FROM read_duckdb('OUTDIR/ledger.duckdb', table_name = 't')
FROM read_single_csv_file('OUTDIR/ledger.csv')
FROM sniff_csv('OUTDIR/ledger.csv')
FROM parquet_schema('OUTDIR/ledger.parquet')
FROM parquet_kv_metadata('OUTDIR/ledger.parquet')
FROM glob('OUTDIR/*')
FROM glob('ARTDIR/.artifacts/**')
SELECT * FROM (VALUES ('OUTDIR/ledger.csv')) v(p), LATERAL read_text(v.p)
SELECT (SELECT content FROM read_text('OUTDIR/ledger.csv'))
SELECT [content FOR content IN (SELECT list(content) FROM read_text('OUTDIR/ledger.csv'))]
SELECT * FROM data.ok WHERE a IN (SELECT a FROM 'OUTDIR/ledger.csv')
WITH RECURSIVE r AS (FROM 'OUTDIR/ledger.csv' UNION ALL FROM r WHERE false) FROM r
WITH "data/ok.csv" AS (FROM 'OUTDIR/ledger.csv') FROM 'data/ok.csv'
WITH x(y) AS MATERIALIZED (SELECT content FROM read_text('OUTDIR/ledger.csv')) SELECT y FROM x
FROM (FROM (FROM (FROM 'OUTDIR/ledger.csv')))
TABLE "OUTDIR/ledger.csv"
FROM 'data/ok.csv' POSITIONAL JOIN 'OUTDIR/ledger.csv'
FROM 'data/ok.csv' SEMI JOIN (FROM 'OUTDIR/ledger.csv') USING (a)
SELECT * FROM 'data/ok.csv' t, (SELECT t.a, w.* FROM 'OUTDIR/ledger.csv' w)
PIVOT (FROM 'OUTDIR/ledger.csv') ON a USING count(*)
UNPIVOT 'OUTDIR/ledger.csv' ON COLUMNS(*)
SUMMARIZE 'OUTDIR/ledger.csv'
DESCRIBE 'OUTDIR/ledger.csv'
DESCRIBE (SELECT * FROM read_text('OUTDIR/ledger.csv'))
SHOW 'OUTDIR/ledger.csv'
EXPLAIN FROM 'OUTDIR/ledger.csv'
EXPLAIN ANALYZE SELECT content FROM read_text('OUTDIR/ledger.csv')
FROM query('FROM ''OUTDIR/ledger.csv''')
FROM query_table('OUTDIR/ledger.csv')
FROM query_table(['data/ok.csv', 'OUTDIR/ledger.csv'])
FROM json_execute_serialized_sql(json_serialize_sql('FROM read_text(''OUTDIR/ledger.csv'')'))
PRAGMA json_execute_serialized_sql('{}')
SELECT json_serialize_plan('FROM ''OUTDIR/ledger.csv''')
FROM histogram('OUTDIR/ledger.csv', a)
FROM histogram_values('OUTDIR/ledger.csv', a)
FROM summary((FROM 'OUTDIR/ledger.csv'))
COPY (SELECT 1) TO 'OUTDIR/made.csv'
COPY (SELECT 1) TO 'ARTDIR/made.csv'
COPY (SELECT 1) TO 'data/ok.csv'
COPY (SELECT 1) TO 'ARTDIR/.artifacts/log.jsonl'
COPY (SELECT 1 AS x, 2 AS y) TO 'ARTDIR/parts' (FORMAT parquet, PARTITION_BY (x))
COPY (SELECT 1) TO 'leaks/made.csv'
COPY (SELECT 1) TO '/dev/stdout'
COPY t FROM 'OUTDIR/ledger.csv'
COPY FROM DATABASE memory TO x
WITH a AS (SELECT 1), b AS (COPY (FROM a) TO 'ARTDIR/made.csv') FROM b
SELECT * FROM (COPY (SELECT 1) TO 'ARTDIR/made.csv')
SELECT 1) TO 'ARTDIR/made.csv' (FORMAT csv); --
SELECT 1) TO 'OUTDIR/made.csv'; SELECT (1
SELECT 1 UNION SELECT 2) TO 'ARTDIR/made.parquet' (FORMAT parquet) --
SELECT 1; COPY (SELECT 1) TO 'ARTDIR/made.csv'
SELECT 1;;; SET threads = 1
SELECT '--'; COPY (SELECT 1) TO 'ARTDIR/made.csv' --'
SELECT $x$ $x$; COPY (SELECT 1) TO 'ARTDIR/made.csv'
/* SELECT */ COPY (SELECT 1) TO 'ARTDIR/made.csv'
-- a comment
(SELECT 1); DROP VIEW ok
ATTACH 'OUTDIR/ledger.duckdb' AS o
ATTACH 'ARTDIR/made.duckdb' AS m
ATTACH ':memory:' AS m; CREATE TABLE m.t (x INT)
ATTACH 'OUTDIR/ledger.duckdb' AS o (READ_ONLY); FROM o.t
USE memory
CREATE TABLE made AS FROM 'OUTDIR/ledger.csv'
CREATE OR REPLACE TEMP VIEW ok AS FROM 'OUTDIR/ledger.csv'
CREATE TEMP MACRO m() AS TABLE FROM 'OUTDIR/ledger.csv'
CREATE TYPE kind AS ENUM (SELECT content FROM read_text('OUTDIR/ledger.csv'))
CREATE SECRET s (TYPE gcs)
INSERT INTO ok FROM 'OUTDIR/ledger.csv'
WITH x AS (UPDATE ok SET a = 1 RETURNING *) FROM x
EXPORT DATABASE 'ARTDIR/made'
EXPORT DATABASE 'OUTDIR/made'
IMPORT DATABASE 'OUTDIR'
INSTALL 'OUTDIR/x.duckdb_extension'
LOAD 'OUTDIR/x.duckdb_extension'
LOAD sqlite
FORCE INSTALL spatial FROM community
SET enable_external_access = true
SET GLOBAL allowed_directories = ['/']
SET SESSION temp_directory = 'OUTDIR/spill'
SET home_directory = 'OUTDIR'
SET secret_directory = 'OUTDIR'
SET extension_directory = 'ARTDIR/made'
SET log_query_path = 'ARTDIR/made.log'
SET profiling_output = 'ARTDIR/made.json'
SET enable_profiling = 'json'
RESET allowed_paths
PRAGMA database_list
PRAGMA enable_profiling = 'json'
PRAGMA memory_limit = '100GB'
PRAGMA log_query_path = 'OUTDIR/made.log'
CALL enable_logging(level = 'trace', storage = 'file', storage_path = 'OUTDIR/made')
CALL enable_profiling(format = 'json', save_location = 'ARTDIR/made.json')
CALL pragma_version()
CALL force_checkpoint()
FROM enable_profiling(format = 'json', save_location = 'ARTDIR/made.json')
FROM enable_logging(storage = 'file', storage_path = 'ARTDIR/made')
FROM register_external_resource('x')
FROM add_grammar_extension('x')
FROM duckdb_settings()
FROM duckdb_databases()
FROM duckdb_views()
FROM duckdb_variables()
FROM duckdb_temporary_files()
FROM duckdb_external_file_cache()
FROM duckdb_logs_parsed('QueryLog')
FROM pragma_database_size()
FROM pragma_user_agent()
FROM information_schema.schemata
FROM system.main.duckdb_settings
FROM temp.main.ok
SELECT current_setting('temp_directory')
SELECT getvariable('x'), getenv('HOME')
SELECT which_secret('s3://x', 's3')
SELECT write_log('x', level := 'error')
SELECT nextval('s'), currval('s')
SELECT in_search_path('memory', 'main'), current_schemas(true)
SELECT sleep_ms(1)
SELECT map(current_setting, ['threads'])
SELECT list_transform(['temp_directory'], lambda x: current_setting(x))
SELECT apply(['threads'], lambda x: getvariable(x))
SELECT a.current_setting('threads') FROM (SELECT 1 AS a)
SELECT 'threads'.current_setting()
SELECT invoke(lambda x: current_setting(x), 'threads')
SELECT try(current_setting('threads'))
SELECT * FROM 'data/ok.csv' USING SAMPLE (SELECT count(*) FROM 'OUTDIR/ledger.csv') ROWS
SELECT * FROM 'data/ok.csv' AT (VERSION => (SELECT 1 FROM 'OUTDIR/ledger.csv'))
SELECT count(*) FROM 'data/ok.csv' LIMIT (SELECT length(content) FROM read_text('OUTDIR/ledger.csv'))
SELECT error((SELECT content FROM read_text('OUTDIR/ledger.csv')))
SELECT CAST((SELECT content FROM read_text('OUTDIR/ledger.csv')) AS INTEGER)
VALUES ((SELECT content FROM read_text('OUTDIR/ledger.csv')))
SELECT count(*) FILTER (WHERE EXISTS (FROM read_text('OUTDIR/ledger.csv'))) OVER () FROM 'data/ok.csv'
FROM 'data/ok.csv' WHERE (SELECT content LIKE 'KEEP%' FROM read_text('OUTDIR/ledger.csv'))
SELECT COLUMNS(c -> c = (SELECT content FROM read_text('OUTDIR/ledger.csv'))) FROM 'data/ok.csv'
FROM arrow_scan(1, 2, 3)
FROM pandas_scan(1)
FROM python_map_function(1)
FROM statements
FROM STATEMENTS
FROM os
MERGE INTO ok USING 'OUTDIR/ledger.csv' s ON ok.a = s.a WHEN MATCHED THEN DELETE
CHECKPOINT
DETACH memory
PREPARE p AS FROM 'OUTDIR/ledger.csv'
DECLARE c CURSOR FOR SELECT 1
LISTEN x
DO $$ BEGIN END $$
GRANT ALL ON ok TO PUBLIC
""".strip().splitlines()


# ---------------------------------------------------------------- the directory


def furnish(base: Path) -> tuple[Path, Path]:
    """An artifact directory with a few files and traps, and a folder beside it with secrets; needs an engine, so a process of its own."""
    import _duckdb

    directory, outside = base / "artifacts", base / "outside"
    own = directory / ".artifacts"
    for folder in (directory / "data", outside, own / "cache" / "tables", own / "tmp"):
        folder.mkdir(parents=True)
    (directory / "data" / "ok.csv").write_text("a,b\n1,x\n2,y\n")
    row = f"a,word\n1,{SECRET}\n"
    (outside / "ledger.csv").write_text(row)
    (outside / "ledger.json").write_text(json.dumps([{"a": 1, "word": SECRET}]))
    (own / "log.jsonl").write_text(json.dumps({"tool": "x", "word": OWN}) + "\n")
    with _duckdb.connect(str(outside / "ledger.duckdb")) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT '{SECRET}' AS word")
        connection.execute(f"COPY (SELECT 1 AS a, '{SECRET}' AS word) TO '{outside}/ledger.parquet' (FORMAT parquet)")
        connection.execute(f"COPY (SELECT 1 AS a, '{OWN}' AS word) TO '{own}/cache/tables/kept.parquet' (FORMAT parquet)")
    (directory / "leak.csv").symlink_to(outside / "ledger.csv")
    (directory / "leaks").symlink_to(outside)
    (directory / "own.jsonl").symlink_to(own / "log.jsonl")
    return directory, outside


# ---------------------------------------------------------------- the worker


class Worker:
    """Runs statements as a worker of query_sql does, with some of its layers."""

    def __init__(self, directory: Path, scratch: Path, layers: list[str]) -> None:
        from builtin_tools.core.artifacts import ArtifactDirectory
        from builtin_tools.core.call import Call, activate
        from builtin_tools.core.kernel import Fence, fence_files, limit_files, limit_memory
        from builtin_tools.core.parameters import validated
        from builtin_tools.query_sql.tool import UserParameters

        self.layers, self.scratch = layers, scratch
        self.unused: Any = None  # an engine on which no statement has run yet
        config = validated(UserParameters, {"threads": 1, "memory_limit": "200MB"})
        self.call = Call("query_sql", config, {}, ArtifactDirectory.open(str(directory)), str(scratch))
        activate(self.call)
        limit_memory(1_500_000_000)
        limit_files(100_000_000)
        if "landlock" in layers and not fence_files(Fence((str(directory),), (str(scratch),))):
            raise SystemExit("no Landlock")
        os.chdir(directory)

    def run(self, statement: str) -> str:
        """Everything that came out of a statement: the rows of each way to run it, or the error."""
        from builtin_tools.core.errors import ToolError
        from builtin_tools.core.tables.engine import native
        from builtin_tools.core.tables.engine_errors import engine_error

        seen, engine = [], self.unused or self._engine()
        self.unused = None
        for way in (self._as_the_tool, self._as_it_stands):
            try:
                seen.append(f"rows {way(engine, statement)}")
            except ToolError as problem:
                seen.append(f"{problem.code} {problem.message} {problem.guidance}")
            except native().Error as problem:
                error = engine_error(problem, engine, statement)
                seen.append(f"{error.code} {error.message} {error.guidance}" + ("" if "guard" in self.layers else f" {problem}"))
        return "\n".join(seen)

    def _engine(self) -> Any:
        from builtin_tools.core.tables.engine import Engine

        if "settings" in self.layers:
            return Engine.open(self.call)
        from builtin_tools.core.tables.engine import native

        engine = Engine.__new__(Engine)
        engine.call, engine.locked, engine._allowed = self.call, True, []
        engine.connection = native().connect(":memory:", False, {"threads": "1"})
        return engine

    def _as_the_tool(self, engine: Any, statement: str) -> Any:
        """The way of query_sql: checked where there is a guard, its files made views, written to the scratch folder."""
        from builtin_tools.core.errors import ToolError
        from builtin_tools.core.tables.catalog import Catalog
        from builtin_tools.core.tables.guard import check
        from builtin_tools.core.tables.results import _copy, described
        from builtin_tools.core.tables.sources import Sources

        text = statement
        if "guard" in self.layers:
            try:
                checked = check(engine, statement)
            except ToolError:
                self.unused = engine  # nothing has run on it
                raise
            text = Catalog(engine, Sources(engine)).resolve(checked)
        engine.lock()
        columns = described(engine, text)
        target = str(self.scratch / "result.json")
        _copy(engine, text, None, columns, target, "json")
        return Path(target).read_text()

    def _as_it_stands(self, engine: Any, statement: str) -> Any:
        """Given to the engine as it is, with no guard; with one, no statement comes this far."""
        if "guard" in self.layers:
            return []
        engine.lock()
        rows = []
        for part in engine.connection.extract_statements(statement):
            rows += engine.connection.execute(part).fetchall()
        return rows


def main() -> None:
    """Prints what came of each statement, as a JSON list."""
    task = json.load(sys.stdin)
    directory, outside = Path(task["directory"]), Path(task["outside"])
    if task.get("furnish"):
        furnish(directory.parent)
        return
    voice = os.dup(1)
    os.dup2(2, 1)  # as in a call, standard output is out of reach
    worker = Worker(directory, Path(task["scratch"]), task["layers"])
    results = []
    for statement in task["statements"]:
        results.append(worker.run(statement.replace("ARTDIR", str(directory)).replace("OUTDIR", str(outside))))
    with open(voice, "w", encoding="utf-8") as stream:
        json.dump(results, stream)


if __name__ == "__main__":
    main()

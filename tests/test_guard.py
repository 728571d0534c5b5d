"""Which SQL may run: hostile statements are refused with the right word, reading ones answered, and the lock holds alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from builtin_tools.core.errors import ToolError
from builtin_tools.core.tables.engine import Engine, native
from builtin_tools.core.tables.guard import check
from tests.test_sources import Here, here

__all__ = ["here"]
SHOP = "id,region,amount\n1,EU,10.50\n2,US,20.25\n3,EU,5.25\n"
EXTRA = "id,v\n1,5\n3,7\n"


@pytest.fixture
def shop(here: Here) -> Here:
    here.write("shop.csv", SHOP)
    here.write("more/extra.csv", EXTRA)
    here.write("../outside/secret.csv", "word\nTOPSECRET\n")
    return here


# ---------------------------------------------------------------- what is refused

NOT_READING = """
COPY shop TO 'x.csv'
COPY (SELECT 1) TO 'x.csv'
CREATE TABLE t AS SELECT 1
CREATE TEMP VIEW v AS SELECT 1
CREATE MACRO f(x) AS x + 1
CREATE SECRET x (TYPE s3)
INSERT INTO shop VALUES (1)
UPDATE shop SET id = 1
DELETE FROM shop
MERGE INTO shop USING extra ON (shop.id = extra.id) WHEN MATCHED THEN DELETE
TRUNCATE shop
DROP VIEW shop
ALTER TABLE shop RENAME TO t
COMMENT ON TABLE shop IS 'x'
ATTACH 'x.db'
DETACH memory
USE memory
SET threads = 1
SET VARIABLE x = 1
RESET threads
PRAGMA table_info('shop')
PRAGMA show_tables
CALL duckdb_settings()
INSTALL httpfs
LOAD httpfs
EXPORT DATABASE 'x'
IMPORT DATABASE 'x'
VACUUM
CHECKPOINT
BEGIN
PREPARE p AS SELECT 1
EXECUTE p
DEALLOCATE p
EXPLAIN SELECT 1
EXPLAIN ANALYZE SELECT 1
WITH x AS (INSERT INTO shop VALUES (1) RETURNING *) FROM x
WITH x AS (COPY shop TO 'x.csv') FROM x
SELECT 1; SELECT 2
SELECT 1; COPY shop TO 'x.csv'
SELECT $$;$$; DROP VIEW shop
SELECT 1 /* ; */; SET threads = 1 --
SHOW TABLES
SHOW ALL TABLES
SHOW DATABASES
DESCRIBE
FROM (SHOW TABLES)
""".strip().splitlines()

OUT_OF_REACH = """
FROM read_text('shop.csv')
FROM read_blob('shop.csv')
FROM glob('*')
FROM sniff_csv('shop.csv')
FROM parquet_metadata('x.parquet')
FROM duckdb_settings()
FROM duckdb_secrets()
FROM pragma_table_info('shop')
FROM information_schema.tables
FROM pg_catalog.pg_class
FROM main.shop
FROM memory.main.shop
FROM query('SELECT 1')
FROM query_table('shop')
FROM query_table(['shop'])
FROM json_execute_serialized_sql('{}')
FROM from_substrait_json('x')
FROM seq_scan('shop')
FROM arrow_scan(1, 2, 3)
FROM sqlite_scan('x', 'y')
FROM test_all_types()
FROM enable_logging()
SELECT current_setting('threads')
SELECT getvariable('x')
SELECT getenv('HOME')
SELECT current_query()
SELECT has_table_privilege('shop', 'select')
SELECT nextval('q')
SELECT sleep_ms(10)
SELECT write_log('x')
SELECT which_secret('x', 's3')
SELECT json_serialize_sql('SELECT 1')
SELECT main.current_setting('threads')
SELECT "system"."main"."getvariable"('x')
SELECT CURRENT_SETTING('threads')
SELECT list_transform([1], lambda x: current_setting('threads'))
SELECT id FROM shop ORDER BY current_setting('threads')
SELECT sum(id) FILTER (WHERE current_setting('threads') = '1') FROM shop
SELECT COLUMNS(lambda c: current_setting('threads') = c) FROM shop
FROM read_csv('shop' || '.csv')
FROM read_csv((SELECT 'shop.csv'))
FROM read_csv($p)
FROM (SELECT 'shop.csv' AS p) t, read_csv(t.p)
FROM read_csv(['shop.csv', $p])
FROM main.read_csv('shop.csv')
FROM read_csv()
FROM read_csv('shop.csv', 'shop.csv')
FROM read_csv('shop.csv', delim = (SELECT ','))
FROM read_csv('shop.csv', columns = {'a': (SELECT 'INT')})
FROM read_csv('shop.csv', types = {'id': 'INTEGER); COPY shop TO ''x'''})
FROM read_csv('shop.csv', store_rejects = true)
FROM read_parquet('x.parquet', encryption_config = {'k': 'v'})
PIVOT shop ON region IN (SELECT region FROM shop) USING sum(amount)
""".strip().splitlines()

# Every place of a statement where a table may be named.
SECRET = "'../outside/secret.csv'"
OUTSIDE = [
    sql.replace("SECRET", SECRET)
    for sql in """
FROM SECRET
FROM "../outside/secret.csv"
FROM '/proc/self/environ'
FROM '/dev/stdin'
FROM '~/secret.csv'
FROM 'file:///etc/passwd'
FROM 'https://example.com/x.csv'
FROM 's3://bucket/x.parquet'
FROM '.artifacts/log.jsonl'
FROM read_json('.artifacts/log.jsonl')
FROM read_csv(SECRET)
FROM read_csv(['shop.csv', SECRET])
FROM 'more/../../outside/secret.csv'
FROM '../out*/secret.csv'
SELECT (SELECT word FROM SECRET)
SELECT 1 WHERE EXISTS (FROM SECRET)
SELECT 1 WHERE 'x' IN (FROM SECRET)
SELECT 1 GROUP BY (SELECT word FROM SECRET)
SELECT 1 ORDER BY (SELECT word FROM SECRET)
SELECT 1 LIMIT (SELECT count(*) FROM SECRET)
SELECT 1 OFFSET (SELECT count(*) FROM SECRET)
SELECT sum(id) FROM shop HAVING sum(id) > (SELECT count(*) FROM SECRET)
SELECT id FROM shop QUALIFY row_number() OVER (ORDER BY (SELECT max(word) FROM SECRET)) = 1
SELECT sum(id) OVER (PARTITION BY (SELECT max(word) FROM SECRET)) FROM shop
SELECT sum(id) OVER (ROWS BETWEEN (SELECT count(*) FROM SECRET) PRECEDING AND CURRENT ROW) FROM shop
SELECT sum(id ORDER BY (SELECT max(word) FROM SECRET)) FROM shop
SELECT sum(id) FILTER (WHERE EXISTS (FROM SECRET)) FROM shop
SELECT DISTINCT ON ((SELECT max(word) FROM SECRET)) id FROM shop
SELECT * REPLACE ((SELECT max(word) FROM SECRET) AS id) FROM shop
SELECT CASE WHEN EXISTS (FROM SECRET) THEN 1 END
SELECT [x FOR x IN [1] IF EXISTS (FROM SECRET)]
SELECT list_transform([1], lambda x: (SELECT count(*) FROM SECRET))
SELECT shop.id FROM shop JOIN extra ON shop.id = (SELECT count(*) FROM SECRET)
SELECT 1 FROM shop, LATERAL (SELECT word FROM SECRET) l
SELECT 1 FROM range((SELECT count(*) FROM SECRET))
SELECT 1 UNION ALL SELECT word FROM SECRET
VALUES ((SELECT word FROM SECRET))
WITH shop AS (FROM SECRET) FROM shop
WITH a AS (WITH b AS (FROM SECRET) FROM b) FROM a
WITH a AS MATERIALIZED (FROM SECRET) FROM a
WITH RECURSIVE r AS (SELECT 'a' AS w UNION ALL SELECT word FROM SECRET) FROM r
PIVOT SECRET ON word
FROM (PIVOT SECRET ON word IN ('x') USING count(*))
PIVOT shop ON region USING sum((SELECT count(*) FROM SECRET))
UNPIVOT SECRET ON word
SUMMARIZE SECRET
DESCRIBE SECRET
DESCRIBE SELECT * FROM SECRET
FROM (DESCRIBE SECRET)
""".strip().splitlines()
]

NOT_PARSED = [
    "",
    ";",
    "-- nothing",
    "SELEC 1",
    "SELECT 1) TO 'x.csv' --",
    "SELECT " + "(" * 300 + "1" + ")" * 300,
    "SELECT 'a\0b'",
]
NOT_THERE = ["FROM duckdb_logs", "FROM sqlite_master", "FROM pg_class", "FROM secret_df", "FROM __name__", "FROM sys"]


@pytest.mark.parametrize("sql", NOT_READING + OUT_OF_REACH)
def test_what_does_not_only_read_or_reaches_for_the_machine_is_not_allowed(shop: Here, sql: str) -> None:
    answer = shop.tool("query_sql", sql=sql)
    assert answer.code == "SQL_NOT_ALLOWED" and answer.document["error"]["guidance"]
    assert not (shop.directory / "x.csv").exists()


@pytest.mark.parametrize("sql", OUTSIDE)
def test_a_path_outside_is_refused_wherever_a_table_may_stand(shop: Here, sql: str) -> None:
    answer = shop.tool("query_sql", sql=sql)
    assert answer.code == "PATH_OUTSIDE_ARTIFACTS" and "TOPSECRET" not in str(answer.document)


@pytest.mark.parametrize("sql", NOT_PARSED)
def test_what_is_no_statement_is_an_error_of_syntax(shop: Here, sql: str) -> None:
    with pytest.raises(ToolError) as refused:
        check(Engine.open(shop.call()), sql)
    assert refused.value.code == "SQL_SYNTAX_ERROR" and refused.value.guidance


@pytest.mark.parametrize("sql", NOT_THERE)
def test_neither_the_catalog_nor_the_program_gives_tables(shop: Here, sql: str) -> None:
    secret_df = object()
    answer = shop.tool("query_sql", sql=sql)
    assert answer.code == "TABLE_NOT_FOUND" and "shop" in answer.words and secret_df is not None


def test_an_endless_statement_is_refused_by_its_length(shop: Here) -> None:
    assert shop.tool("query_sql", sql="SELECT 1" + " + 1" * 30_000).code == "INVALID_PARAMETERS"


# ---------------------------------------------------------------- what is answered

READING: list[tuple[str, list[list[Any]]]] = [
    ("SELECT id FROM shop ORDER BY id DESC LIMIT 1", [[3]]),
    ("FROM shop SELECT max(id)", [[3]]),
    ("TABLE extra", [[1, 5], [3, 7]]),
    ("VALUES (1, 'a'), (2, 'b')", [[1, "a"], [2, "b"]]),
    ("FROM (VALUES (1), (2)) t(x)", [[1], [2]]),
    ("SELECT id, sum(amount) OVER (PARTITION BY region ORDER BY id) FROM shop ORDER BY id", [[1, 10.5], [2, 20.25], [3, 15.75]]),
    ("SELECT lag(id) OVER w FROM shop WINDOW w AS (ORDER BY id) ORDER BY id", [[None], [1], [2]]),
    ("WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS y FROM a) SELECT x, y FROM a, b", [[1, 2]]),
    ("WITH a AS MATERIALIZED (FROM shop) SELECT count(*) FROM a", [[3]]),
    ("WITH a AS NOT MATERIALIZED (FROM shop) SELECT count(*) FROM a", [[3]]),
    ("WITH shop AS (SELECT 9 AS id) SELECT id FROM shop", [[9]]),
    ("WITH shop AS (FROM shop WHERE id = 2) SELECT id FROM shop", [[2]]),
    ("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 4) SELECT sum(n) FROM r", [[10]]),
    ("SELECT id FROM shop UNION ALL SELECT id FROM extra ORDER BY id", [[1], [1], [2], [3], [3]]),
    ("SELECT id FROM shop EXCEPT SELECT id FROM extra", [[2]]),
    ("SELECT id FROM shop INTERSECT SELECT id FROM extra ORDER BY id", [[1], [3]]),
    ("SELECT id FROM extra UNION BY NAME SELECT 8 AS v ORDER BY ALL", [[1, None], [3, None], [None, 8]]),
    ("PIVOT shop ON region USING sum(amount) GROUP BY id ORDER BY id", [[1, 10.5, None], [2, None, 20.25], [3, 5.25, None]]),
    ("PIVOT shop ON region IN ('EU') USING count(*) GROUP BY id ORDER BY id", [[1, 1], [2, 0], [3, 1]]),
    ("PIVOT (SELECT region, amount FROM shop) ON region USING max(amount) -- ;", [[10.5, 20.25]]),
    ("WITH x AS (SELECT region, id FROM shop) PIVOT x ON region USING sum(id)", [[4, 2]]),
    ("SELECT EU FROM (PIVOT shop ON region USING sum(amount) GROUP BY id) ORDER BY EU", [[5.25], [10.5], [None]]),
    ("SELECT id, EU FROM shop PIVOT (sum(amount) FOR region IN ('EU')) ORDER BY id", [[1, 10.5], [2, None], [3, 5.25]]),
    ("UNPIVOT extra ON id, v INTO NAME k VALUE n", [["id", 1], ["v", 5], ["id", 3], ["v", 7]]),
    ("SELECT k, n FROM extra UNPIVOT (n FOR k IN (v))", [["v", 5], ["v", 7]]),
    ("SELECT column_name, min FROM (SUMMARIZE extra)", [["id", "1"], ["v", "5"]]),
    ("SELECT column_name, column_type FROM (DESCRIBE shop) LIMIT 1", [["id", "BIGINT"]]),
    ("SELECT region, id FROM shop QUALIFY row_number() OVER (PARTITION BY region ORDER BY id) = 1 ORDER BY 1", [["EU", 1], ["US", 2]]),
    ("SELECT s.id, l.x FROM shop s, LATERAL (SELECT s.id * 2 AS x) l ORDER BY 1", [[1, 2], [2, 4], [3, 6]]),
    ("SELECT shop.id FROM shop ANTI JOIN extra USING (id)", [[2]]),
    ("SELECT a.id, b.v FROM shop a ASOF JOIN extra b ON a.id >= b.id ORDER BY 1", [[1, 5], [2, 5], [3, 7]]),
    ("SELECT a.id, b.v FROM shop a POSITIONAL JOIN extra b", [[1, 5], [2, 7], [3, None]]),
    ("SELECT list_transform([1, 2], lambda x: x + 1)", [[[2, 3]]]),
    ("SELECT [x * 2 FOR x IN [1, 2, 3] IF x > 1]", [[[4, 6]]]),
    ("SELECT id, (SELECT max(v) FROM extra e WHERE e.id = shop.id) FROM shop ORDER BY id", [[1, 5], [2, None], [3, 7]]),
    ("SELECT count(*) FROM shop WHERE id IN (SELECT id FROM extra) AND EXISTS (FROM extra)", [[2]]),
    ("SELECT * EXCLUDE (region) REPLACE (id + 1 AS id) FROM shop ORDER BY id LIMIT 1", [[2, 10.5]]),
    ("SELECT region, count(*) FROM shop GROUP BY ROLLUP (region) ORDER BY 1", [["EU", 2], ["US", 1], [None, 3]]),
    ("SELECT region, sum(id) FROM shop GROUP BY ALL ORDER BY ALL", [["EU", 4], ["US", 2]]),
    ("SELECT DISTINCT ON (region) region, id FROM shop ORDER BY region, id", [["EU", 1], ["US", 2]]),
    ("SELECT i, x FROM range(2) t(i), unnest([i, i * 10]) u(x) ORDER BY 1, 2", [[0, 0], [0, 0], [1, 1], [1, 10]]),
    ("SELECT {'a': 1}.a, MAP {'k': 2}['k'], [1, 2, 3][2:], 'abc'[1]", [[1, 2, [2, 3], "a"]]),
    ("SELECT key, value FROM json_each('{\"a\": 1}')", [["a", 1]]),
    ("SELECT query FROM (SELECT 1 AS query)", [[1]]),
    ("SELECT ';' AS a, $$;$$ AS b; -- done", [[";", ";"]]),
    ("SELECT count(*) FROM read_csv('shop.csv', header = true) JOIN read_csv('more/extra.csv') USING (id)", [[2]]),
    ("FROM read_csv('more/extra.csv', columns = {'a': 'VARCHAR', 'b': 'DOUBLE'})", [["1", 5.0], ["3", 7.0]]),
    ("SELECT amount FROM read_csv(['shop.csv'], all_varchar = true) LIMIT 1", [["10.50"]]),
]  # fmt: skip


def test_a_pivot_on_an_expression_is_answered(shop: Here) -> None:
    answer = shop.tool("query_sql", sql="PIVOT (SELECT 'x' AS b, 1 AS a) ON b || '-', a % 2 USING count(*)")
    assert [column["name"] for column in answer.document["table"]["columns"]] == ["x-_1"] and answer.rows == [[1]]


@pytest.mark.parametrize(("sql", "rows"), READING)
def test_what_only_reads_is_answered(shop: Here, sql: str, rows: list[list[Any]]) -> None:
    assert shop.tool("query_sql", sql=sql).rows == rows


@pytest.mark.parametrize(
    "sql", ["SELECT count(*) FROM shop USING SAMPLE 2 ROWS", "SELECT count(*) FROM shop TABLESAMPLE reservoir(2 ROWS)"]
)
def test_a_sample_is_answered(shop: Here, sql: str) -> None:
    assert shop.tool("query_sql", sql=sql).rows == [[2]]


@pytest.mark.parametrize("alias", ["x", "AS x", "AS x(id, r, a)"])
def test_a_reader_keeps_its_alias(shop: Here, alias: str) -> None:
    assert shop.tool("query_sql", sql=f"SELECT x.id FROM read_csv('shop.csv') {alias} ORDER BY x.id").rows == [[1], [2], [3]]


# ---------------------------------------------------------------- the lock alone

REACHING = """
FROM 'OUT/secret.csv'
FROM read_csv('OUT/secret.csv')
FROM read_text('OUT/secret.csv')
FROM read_blob('OUT/secret.csv')
FROM read_json('OUT/secret.csv')
FROM read_parquet('OUT/secret.csv')
FROM sniff_csv('OUT/secret.csv')
FROM glob('OUT/*')
FROM glob('ART/*')
FROM read_csv('ART/../outside/secret.csv')
FROM read_csv('SCRATCH/../outside/secret.csv')
FROM read_csv('ART/more/extra.csv')
FROM read_csv('/proc/self/environ')
FROM 'https://example.com/x.csv'
COPY (SELECT 1) TO 'ART/new.csv'
COPY (SELECT 1) TO 'ART/shop.csv'
COPY (SELECT 1) TO 'OUT/new.csv'
COPY (SELECT 1) TO 'SCRATCH/../new.csv'
COPY (FROM range(3)) TO 'ART/parts' (FORMAT csv, PARTITION_BY range)
SELECT 1) TO 'ART/new.csv' --
ATTACH 'ART/new.db'
ATTACH 'OUT/new.db'
EXPORT DATABASE 'ART/new'
SET enable_external_access = true
SET allowed_directories = ['/']
SET allowed_paths = ['OUT/secret.csv']
RESET lock_configuration
SET threads = 8
INSTALL httpfs
LOAD httpfs
PRAGMA profiling_output = 'ART/new.json'
CALL enable_logging(storage = 'file', storage_path = 'ART/new')
CREATE PERSISTENT SECRET x (TYPE http)
""".strip().splitlines()


@pytest.mark.parametrize("sql", REACHING)
def test_with_the_guard_switched_off_the_lock_still_refuses(shop: Here, sql: str) -> None:
    root = shop.directory.parent
    engine = Engine.open(shop.call(), [str(shop.directory / "shop.csv")])
    before = everything(root)
    text = sql.replace("OUT", str(root / "outside")).replace("ART", str(shop.directory)).replace("SCRATCH", engine.call.scratch)
    with pytest.raises(native().Error) as refused:
        engine.rows(f"COPY ({text}\n) TO '{engine.call.scratch}/r.csv'" if " --" in sql else text)
    assert "TOPSECRET" not in str(refused.value)
    assert everything(root) == before
    assert engine.rows(f"SELECT count(*) FROM read_csv('{shop.directory}/shop.csv')") == [(3,)], "what is allowed is still read"


def everything(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_with_the_guard_switched_off_a_whole_call_reads_no_secret(shop: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    from builtin_tools.core.tables import query_sql
    from builtin_tools.core.tables.guard import Checked

    monkeypatch.setattr(query_sql, "check", lambda engine, sql: Checked(sql))
    before = everything(shop.directory.parent)
    outside = shop.directory.parent / "outside"
    for sql in (
        f"FROM '{outside}/secret.csv'",
        f"SELECT 1) TO '{outside}/new.csv' --",
        f"FROM read_text('{outside}/secret.csv')",
    ):
        answer = shop.tool("query_sql", sql=sql)
        assert not answer.ok and "TOPSECRET" not in str(answer.document)
    assert everything(shop.directory.parent) == before

"""Types that Parquet has not come back when a result is read again, and a file that lies about its types does no harm."""

import duckdb

from tests.test_sources import Here, here

__all__ = ["here"]


def test_a_huge_integer_and_an_interval_come_back_from_a_result_in_parquet(here: Here) -> None:
    sql = "SELECT 12::HUGEINT AS h, INTERVAL 2 DAY AS i, '101'::BIT AS b, 1.5::DECIMAL(9,2) AS d"
    written = here.tool("query_sql", sql=sql, output_path="kept.parquet")
    path = written.document["artifacts"][0]["path"]
    again = here.tool("query_table", path=path)
    assert again.rows == [[12, "2 days", "101", 1.5]] == written.rows
    assert [column["type"] for column in again.document["table"]["columns"]] == ["HUGEINT", "INTERVAL", "BIT", "DECIMAL(9,2)"]


def test_types_that_a_file_claims_are_taken_only_from_a_short_list(here: Here) -> None:
    claim = '{"t": "VARCHAR) FROM read_text(/etc/hostname) --", "n": "HUGEINT"}'
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT 'word' AS t, 1.5::DOUBLE AS n) TO '{here.directory / 'claim.parquet'}' "
            f"(FORMAT parquet, KV_METADATA {{builtin_tools_types: '{claim}'}})"
        )
    answer = here.tool("query_table", path="claim.parquet")
    assert answer.rows == [["word", 1.5]]

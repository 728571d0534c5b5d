"""Query one table of the artifact directory without SQL: filters that must all hold, groups with aggregates, order, limit.
Works on CSV, TSV, Parquet, JSON, NDJSON and Excel files, plain or compressed, and on patterns such as 'sales_*.csv'.
The answer shows the first rows and exact counts; the full result is in a file whose path is input to the next call.
To join files or compute columns use query_sql; for columns and types use describe_table.
"""

from typing import Any, Dict, List, Literal, Optional, Union

from pydantic import BaseModel, Field

OUTPUT_KEY = "tool_output"


class UserParameters(BaseModel):
    artifact_dir: Optional[str] = Field(
        None, description="The artifact directory; by default the environment's ARTIFACT_DIR, else the working directory."
    )
    timeout_seconds: float = Field(120, gt=0, description="Seconds after which a call is stopped.")
    memory_limit: str = Field("2GB", description="Memory that a call may use.")
    max_output_chars: int = Field(20000, ge=1000, description="Characters that an answer may have.")
    max_cell_chars: int = Field(500, ge=10, description="Characters of a cell that an answer shows.")
    require_kernel_sandbox: bool = Field(False, description="Refuse to work where the kernel offers no sandbox.")
    temp_disk_limit: str = Field("10GB", description="Disk that a call may use for intermediate files.")
    threads: Optional[int] = Field(None, ge=1, description="Threads that a call may use; by default the processors there are.")
    max_preview_rows: int = Field(200, ge=1, description="Rows that an answer shows at most.")
    max_uncompressed_bytes: str = Field("20GB", description="Size to which a compressed file may unpack.")
    cache_limit: str = Field("5GB", description="Disk that the ingest cache may take.")


class ToolParameters(BaseModel):
    path: str = Field(..., description="File or pattern of files in the artifact directory.", examples=["data/sales.csv"])
    columns: Optional[List[str]] = Field(None, description="Columns to give, by default all.", examples=[["region", "amount"]])
    filters: Optional[List[Dict[str, Any]]] = Field(
        None,
        description="Conditions that must all hold. Ops: =, !=, <, <=, >, >=, in, not_in, between, contains, starts_with, ends_with, like, is_null, is_not_null; the value is a list for in, not_in and between.",
        examples=[[{"column": "amount", "op": ">", "value": 100}]],
        json_schema_extra={"items": {"properties": {"column": {"type": "string"}, "op": {"type": "string"}, "value": {}}}},
    )
    group_by: Optional[List[str]] = Field(None, description="Columns that make the groups.", examples=[["region"]])
    aggregates: Optional[List[Dict[str, Any]]] = Field(
        None,
        description="What to compute for each group, or for all rows: count (column * too), count_distinct, sum, avg, min, max, median, stddev.",
        examples=[[{"function": "sum", "column": "amount", "alias": "total"}]],
        json_schema_extra={"items": {"properties": {name: {"type": "string"} for name in ("function", "column", "alias")}}},
    )
    order_by: Optional[List[Union[str, Dict[str, Any]]]] = Field(
        None,
        description="Columns to order by: text such as 'amount desc', or {column, direction}.",
        examples=[["amount desc"]],
    )
    limit: Optional[int] = Field(None, ge=0, description="Rows that the result has at most.", examples=[100])
    offset: Optional[int] = Field(None, ge=0, description="Rows of the result to pass over first.", examples=[100])
    preview_rows: Optional[int] = Field(None, ge=0, description="Rows to show, by default 20; the file has all.", examples=[20])
    output_path: Optional[str] = Field(
        None, description="File for the full result, by default in results/.", examples=["out.csv"]
    )
    output_format: Optional[Literal["parquet", "csv", "json"]] = Field(
        None, description="Format of the result file, by default that of output_path's extension, else parquet."
    )
    overwrite: bool = Field(False, description="Whether output_path may take the place of a file.")


def run_tool(config: UserParameters, args: ToolParameters) -> Any:
    from builtin_tools.core.tables.query_table import query_table

    return query_table(args)


if __name__ == "__main__":
    import sys
    from pathlib import Path

    sys.path[0] = str(Path(__file__).resolve().parents[2])
    from builtin_tools.core.protocol import main

    main(__file__, UserParameters, ToolParameters, run_tool)

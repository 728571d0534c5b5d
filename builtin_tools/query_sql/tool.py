"""Run one read-only SQL statement (DuckDB's dialect) over the files of the artifact directory: joins, windows, anything a
SELECT can say. A file is a table by its path in quotes (FROM 'data/sales.csv', patterns too) or by its stem (FROM sales).
The answer shows the first rows and exact counts; the full result is in a file whose path is input to the next call.
For filters and groups over one file query_table is simpler and needs no SQL; for columns and types use describe_table.
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
    sql: str = Field(
        ...,
        description="One SELECT statement in DuckDB's dialect.",
        examples=["SELECT region, sum(amount) AS total FROM 'sales.csv' GROUP BY region"],
    )
    parameters: Optional[Union[Dict[str, Any], List[Any]]] = Field(
        None, description="Values for $name (an object) or for ? (a list).", examples=[{"region": "EU"}]
    )
    preview_rows: Optional[int] = Field(None, ge=0, description="Rows to show, by default 20; the file has all.", examples=[20])
    output_path: Optional[str] = Field(
        None, description="File for the full result, by default in results/.", examples=["out.csv"]
    )
    output_format: Optional[Literal["parquet", "csv", "json"]] = Field(
        None, description="Format of the result file, by default that of output_path's extension, else parquet."
    )
    overwrite: bool = Field(False, description="Whether output_path may take the place of a file.")


def run_tool(config: UserParameters, args: ToolParameters) -> Any:
    from builtin_tools.core.tables.query_sql import query_sql

    return query_sql(args.sql, args.parameters, args.preview_rows, args.output_path, args.output_format, args.overwrite)


if __name__ == "__main__":
    import sys
    from pathlib import Path

    sys.path[0] = str(Path(__file__).resolve().parents[2])
    from builtin_tools.core.protocol import main

    main(__file__, UserParameters, ToolParameters, run_tool)

"""Tell the columns and types of a table of the artifact directory (CSV, TSV, Parquet, JSON, NDJSON, Excel), its rows, size,
format and dialect; with profile also nulls, distinct values, minimum, maximum, mean and samples of each column. Without a path
every table of the directory is described. Use it before query_table or query_sql, to name columns as they are.
"""

from typing import Any, Optional

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
    path: Optional[str] = Field(
        None, description="File, or pattern of files; left out: every table of the directory.", examples=["data/sales.csv"]
    )
    profile: bool = Field(False, description="Also look at the values: nulls, distinct, min, max, mean, samples.")


def run_tool(config: UserParameters, args: ToolParameters) -> Any:
    from builtin_tools.core.tables.describe import describe_table

    return describe_table(args.path, args.profile)


if __name__ == "__main__":
    import sys
    from pathlib import Path

    sys.path[0] = str(Path(__file__).resolve().parents[2])
    from builtin_tools.core.protocol import main

    main(__file__, UserParameters, ToolParameters, run_tool)

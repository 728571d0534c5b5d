"""Read a CSV or TSV file as it is: encoding, delimiter, header and types are found from the whole file, no value is changed
and no row lost without a word. The answer shows rows from offset on and tells the dialect, what was padded or skipped, and why
a column stayed text. Options convert what the file does not tell by itself (decimal, thousands, date_format, null_values).
To filter, group or join use query_table or query_sql; they read the same way.
"""

from typing import Any, List, Literal, Optional

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
    preview_rows: Optional[int] = Field(None, ge=0, description="Rows to show, by default 20; the file has all.", examples=[20])
    offset: Optional[int] = Field(None, ge=0, description="Rows to pass over before the first one shown.", examples=[100])
    delimiter: Optional[str] = Field(None, description="Sign or signs between fields; by default found.", examples=[";"])
    quote: Optional[str] = Field(None, description="Sign around quoted fields; by default found.", examples=["'"])
    encoding: Optional[str] = Field(None, description="Character encoding; by default found.", examples=["cp949"])
    header: Optional[bool] = Field(
        None, description="Whether the first line of the table names the columns; by default found.", examples=[True]
    )
    skip_rows: Optional[int] = Field(None, ge=0, description="Lines to skip before the table; by default found.", examples=[3])
    decimal: Optional[Literal[".", ","]] = Field(
        None, description="Decimal separator of numbers, by default a point.", examples=[","]
    )
    thousands: Optional[str] = Field(None, description="Thousands separator of numbers, by default none.", examples=["."])
    date_format: Optional[str] = Field(None, description="strptime format of dates that are not ISO 8601.", examples=["%d/%m/%Y"])
    null_values: Optional[List[str]] = Field(
        None, description="Texts that mean 'no value' besides the empty field.", examples=[["NA", "n/a"]]
    )
    output_path: Optional[str] = Field(
        None, description="File for the full result, by default none is written.", examples=["out.csv"]
    )
    output_format: Optional[Literal["parquet", "csv", "json"]] = Field(
        None, description="Format of the result file, by default that of output_path's extension, else parquet."
    )
    overwrite: bool = Field(False, description="Whether output_path may take the place of a file.")


def run_tool(config: UserParameters, args: ToolParameters) -> Any:
    from builtin_tools.core.tables.read_csv import read_csv

    return read_csv(args)


if __name__ == "__main__":
    import sys
    from pathlib import Path

    sys.path[0] = str(Path(__file__).resolve().parents[2])
    from builtin_tools.core.protocol import main

    main(__file__, UserParameters, ToolParameters, run_tool)

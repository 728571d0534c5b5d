"""Read a JSON file. An array of records, or lines of records (NDJSON), is a table: columns, types, the first rows and the
exact number of rows. Any other document is outlined: its keys, types and lengths, and where arrays of records lie; send
one of these as records_path to read it as a table. Every value stays as it is written: long numbers keep their digits,
text stays text, nested values stay nested. Plain, or compressed by gzip, zstd, bzip2, xz or zip. A file with all rows is
written only if output_path or output_format is given. To filter or aggregate use query_table or query_sql instead.
"""

from typing import Any, Literal, Optional

from pydantic import BaseModel, Field

OUTPUT_KEY = "tool_output"


class UserParameters(BaseModel):
    artifact_dir: Optional[str] = Field(
        None, description="The artifact directory; by default the environment's ARTIFACT_DIR, else the working directory."
    )
    timeout_seconds: float = Field(120, gt=0, description="Seconds after which a call is stopped.")
    memory_limit: str = Field("2GB", description="Memory that a call may use.")
    temp_disk_limit: str = Field("10GB", description="Disk that a call may use for intermediate files.")
    threads: Optional[int] = Field(None, ge=1, description="Threads that a call may use; by default the processors there are.")
    max_preview_rows: int = Field(200, ge=1, description="Rows that an answer shows at most.")
    max_uncompressed_bytes: str = Field("20GB", description="Size to which a compressed file may unpack.")
    max_output_chars: int = Field(20000, ge=1000, description="Characters that an answer may have.")
    max_cell_chars: int = Field(500, ge=10, description="Characters of a cell that an answer shows.")
    require_kernel_sandbox: bool = Field(False, description="Refuse to work where the kernel offers no sandbox.")


class ToolParameters(BaseModel):
    path: str = Field(description="JSON file, relative to the artifact directory.", examples=["data/orders.json"])
    records_path: Optional[str] = Field(
        None,
        description="Where the records lie in the document, as a JSON Pointer or as $.a.b; by default the document itself.",
        examples=["/orders", "$.data[0].items"],
    )
    preview_rows: int = Field(20, ge=0, description="Rows to show.")
    offset: int = Field(0, ge=0, description="Rows to pass over before the first row shown.")
    output_path: Optional[str] = Field(
        None, description="File to write all rows to, relative to the artifact directory.", examples=["results/orders.parquet"]
    )
    output_format: Optional[Literal["parquet", "csv", "json"]] = Field(
        None, description="Format of the file to write; by default that of output_path's extension."
    )
    overwrite: bool = Field(False, description="Whether output_path may take the place of a file.")


def run_tool(config: UserParameters, args: ToolParameters) -> Any:
    from builtin_tools.core.tables.read_json import read_json

    return read_json(
        args.path, args.records_path, args.preview_rows, args.offset, args.output_path, args.output_format, args.overwrite
    )


if __name__ == "__main__":
    import sys
    from pathlib import Path

    sys.path[0] = str(Path(__file__).resolve().parents[2])
    from builtin_tools.core.protocol import main

    main(__file__, UserParameters, ToolParameters, run_tool)

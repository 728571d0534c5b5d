"""List the files and folders of the artifact directory: path, kind, format, size, time of change, and rows and columns
where a file's own metadata tells them (Parquet). Start here to see what there is. The paths in the answer work as
`path` in every other tool. To see the columns and types of tables use describe_table instead.
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
    max_output_chars: int = Field(20000, ge=1000, description="Characters that an answer may have.")
    max_cell_chars: int = Field(500, ge=10, description="Characters of a cell that an answer shows.")
    require_kernel_sandbox: bool = Field(False, description="Refuse to work where the kernel offers no sandbox.")


class ToolParameters(BaseModel):
    path: str = Field(".", description="Folder to list, relative to the artifact directory.", examples=["data"])
    pattern: Optional[str] = Field(None, description="Glob that names (or, with a slash, paths) must match.", examples=["*.csv"])
    recursive: bool = Field(False, description="Also list what lies in the folders below.")
    sort_by: Literal["name", "size", "modified"] = Field(
        "name", description="name: A to Z; size: largest first; modified: newest first."
    )
    max_entries: int = Field(100, ge=1, le=10000, description="Entries to show at most; the exact total is always told.")


def run_tool(config: UserParameters, args: ToolParameters) -> Any:
    from builtin_tools.core.listing import list_directory

    return list_directory(args.path, args.pattern, args.recursive, args.sort_by, args.max_entries)


if __name__ == "__main__":
    import sys
    from pathlib import Path

    sys.path[0] = str(Path(__file__).resolve().parents[2])
    from builtin_tools.core.protocol import main

    main(__file__, UserParameters, ToolParameters, run_tool)

"""Download one file from an http or https address into the artifact directory: CSV, Parquet, JSON, Excel, PDF or any other.
The answer has the path of the file, its kind, size and sha256, and for a table its columns, so that query_table or
query_sql can follow with that path. This tool fetches and nothing else: to see what is already there use list_directory.
"""

from typing import Any, Dict, List, Optional

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
    allowed_hosts: Optional[List[str]] = Field(
        None,
        description="Hosts that may be reached, * for any characters; by default every public host.",
        examples=[["data.example.com", "*.example.org"]],
    )
    allow_private_networks: bool = Field(False, description="Also reach private and loopback addresses.")
    headers: Optional[Dict[str, str]] = Field(
        None,
        description="Headers of each request, such as credentials; they go to the origin of the given URL only.",
        examples=[{"Authorization": "Bearer ..."}],
    )
    max_bytes: str = Field("1GB", description="Size that a file may have.")
    max_redirects: int = Field(5, ge=0, le=50, description="Redirects that are followed.")
    max_retries: int = Field(3, ge=0, le=20, description="Further attempts after one that failed in passing.")
    connect_timeout_seconds: float = Field(10, gt=0, description="Seconds within which a connection must come about.")
    read_timeout_seconds: float = Field(30, gt=0, description="Seconds for which the server may be silent.")


class ToolParameters(BaseModel):
    url: str = Field(
        ...,
        description="Address of the file, beginning with https:// or http://, without a user name or password.",
        examples=["https://example.com/data/sales.csv"],
    )
    output_path: Optional[str] = Field(
        None,
        description="Where to put the file; in a folder it keeps its own name. By default at the top, by its own name.",
        examples=["data/sales.csv"],
    )
    overwrite: bool = Field(False, description="Replace a file that is there already.")


def run_tool(config: UserParameters, args: ToolParameters) -> Any:
    from builtin_tools.core.network.download import Network, download_file

    settings = config.model_dump(include=set(Network.__dataclass_fields__))
    return download_file(Network(**settings), args.url, args.output_path, args.overwrite)


if __name__ == "__main__":
    import sys
    from pathlib import Path

    sys.path[0] = str(Path(__file__).resolve().parents[2])
    from builtin_tools.core.protocol import main

    main(__file__, UserParameters, ToolParameters, run_tool, network=True)

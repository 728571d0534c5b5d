"""Read a PDF document: its text in reading order with a mark before each page (`<!-- page 3 -->`), or its tables. The
answer shows as much as fits; the whole text is in a Markdown file, each table in a CSV file that query_table, query_sql
and read_csv take as `path`. Pages that are scans have no text to read and are named in a warning.
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
    pdf_password: Optional[str] = Field(None, description="Password that opens encrypted documents.")
    max_pages: int = Field(1000, ge=1, description="Pages that one call reads text from.")
    max_table_pages: int = Field(200, ge=1, description="Pages that one call searches for tables, which takes longer.")


class ToolParameters(BaseModel):
    path: str = Field(description="PDF file, relative to the artifact directory.", examples=["reports/annual.pdf"])
    pages: Optional[str] = Field(
        None,
        description="Pages to read, from 1: numbers and ranges; '3-' is from page 3 on, '-2' the last two. By default all.",
        examples=["1-3,7"],
    )
    content: Literal["text", "tables"] = Field(
        "text", description="text: the words in reading order; tables: one CSV file for each table found."
    )
    output_path: Optional[str] = Field(
        None,
        description="Where to write the text (.md) or the tables (.csv). By default a name in results/.",
        examples=["results/annual.md"],
    )
    overwrite: bool = Field(False, description="Let output_path take the place of an existing file.")


def run_tool(config: UserParameters, args: ToolParameters) -> Any:
    from builtin_tools.core.documents.reading import read_pdf

    return read_pdf(args.path, args.pages, args.content, args.output_path, args.overwrite)


if __name__ == "__main__":
    import sys
    from pathlib import Path

    sys.path[0] = str(Path(__file__).resolve().parents[2])
    from builtin_tools.core.protocol import main

    main(__file__, UserParameters, ToolParameters, run_tool)

"""Turn Markdown into a PDF document: headings, lists, tables, code, footnotes, task lists, pictures of the artifact
directory, page numbers. Nothing is loaded from the network, and active HTML is left out; warnings tell what was. Keep
large tables short (some hundreds of rows) and leave the rest in data files.
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
    max_markdown_chars: int = Field(5000000, ge=1, description="Characters that the Markdown of a document may have.")


class ToolParameters(BaseModel):
    markdown: Optional[str] = Field(
        None, description="The Markdown text; either this or input_path.", examples=["# Report\n\nAll is well."]
    )
    input_path: Optional[str] = Field(
        None, description="Markdown file of the directory; either this or markdown.", examples=["report.md"]
    )
    output_path: Optional[str] = Field(
        None, description="Where to write the PDF. By default a name in results/.", examples=["results/report.pdf"]
    )
    title: Optional[str] = Field(
        None, description="Title in the PDF's metadata; by default the first heading.", examples=["Report for June"]
    )
    page_size: Literal["A4", "Letter", "A3", "A5", "A6", "B4", "B5", "Legal", "Tabloid"] = Field(
        "A4", description="Size of the pages."
    )
    landscape: bool = Field(False, description="Lay the pages out sideways, for wide tables.")
    table_of_contents: bool = Field(False, description="Begin with the headings and their pages.")
    stylesheet: Optional[str] = Field(
        None, description="CSS text applied after the usual style.", examples=["h2 { break-before: page }"]
    )
    overwrite: bool = Field(False, description="Let output_path take the place of an existing file.")


def run_tool(config: UserParameters, args: ToolParameters) -> Any:
    from builtin_tools.core.documents.layout import Sheet
    from builtin_tools.core.documents.printing import markdown_to_pdf

    sheet = Sheet(args.page_size, args.landscape, args.table_of_contents, args.stylesheet)
    return markdown_to_pdf(args.markdown, args.input_path, args.output_path, args.title, sheet, args.overwrite)


if __name__ == "__main__":
    import sys
    from pathlib import Path

    sys.path[0] = str(Path(__file__).resolve().parents[2])
    from builtin_tools.core.protocol import main

    main(__file__, UserParameters, ToolParameters, run_tool, fonts=True)

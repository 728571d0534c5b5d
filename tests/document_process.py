"""Starts the document tools as processes and makes the small PDFs that their tests read."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Reply:
    document: dict[str, Any]
    exit_status: int
    stderr: str

    @property
    def code(self) -> str:
        return str(self.document["error"]["code"]) if not self.document["ok"] else "ok"

    @property
    def words(self) -> str:
        """Message and guidance of a failure."""
        return f"{self.document['error']['message']} {self.document['error']['guidance']}"

    @property
    def warnings(self) -> str:
        return "\n".join(f"{warning['code']} {warning['message']}" for warning in self.document.get("warnings", []))


def start(tool: str, directory: Path, user: dict[str, Any] | None = None, **parameters: Any) -> Reply:
    """One call of a tool as a process of its own."""
    argv = [sys.executable, str(ROOT / "builtin_tools" / tool / "tool.py")]
    argv += [
        "--user-params",
        json.dumps({"artifact_dir": str(directory), "timeout_seconds": 30} | (user or {})),
        "--tool-params",
        "-",
    ]
    done = subprocess.run(argv, input=json.dumps(parameters), capture_output=True, encoding="utf-8", check=False, timeout=60)
    assert done.stdout.startswith("tool_output ") and done.stdout.count("\n") == 1, done.stdout + done.stderr
    return Reply(json.loads(done.stdout.removeprefix("tool_output ")), done.returncode, done.stderr)


def pdf(pages: Iterable[str], rotate: int = 0) -> bytes:
    """A PDF of pages whose contents are given as operators; the font F1 is Helvetica."""
    pages = list(pages)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    bodies = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, contents in enumerate(pages):
        resources = "/Resources << /Font << /F1 3 0 R >> >>"
        turned = f"/Rotate {rotate} " if rotate else ""
        bodies.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] {turned}/Contents {5 + 2 * number} 0 R {resources} >>"
        )
        bodies.append(f"<< /Length {len(contents)} >>\nstream\n{contents}\nendstream")
    data, starts = "%PDF-1.6\n", []
    for number, body in enumerate(bodies, 1):
        starts.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{start:010d} 00000 n \n" for start in starts)
    data += f"xref\n0 {len(bodies) + 1}\n0000000000 65535 f \n{table}"
    tail = f"trailer\n<< /Size {len(bodies) + 1} /Root 1 0 R >>\nstartxref\n{data.index('xref')}\n%%EOF\n"
    return (data + tail).encode("latin-1")


def at(x: float, y: float, words: str, size: int = 11) -> str:
    return f"BT /F1 {size} Tf {x} {y} Td ({words}) Tj ET\n"

"""What kind of file something is: by its first bytes, and by its name where bytes do not tell."""

from __future__ import annotations

_BY_EXTENSION = {
    "csv": "csv", "tsv": "tsv", "tab": "tsv", "txt": "text", "psv": "csv",
    "parquet": "parquet", "pq": "parquet", "parq": "parquet",
    "json": "json", "geojson": "json", "ndjson": "ndjson", "jsonl": "ndjson",
    "xlsx": "excel", "xlsm": "excel", "xls": "excel", "xlsb": "excel", "ods": "excel",
    "pdf": "pdf", "md": "markdown", "markdown": "markdown", "html": "html", "htm": "html",
    "png": "png", "jpg": "jpeg", "jpeg": "jpeg", "gif": "gif", "svg": "svg", "webp": "webp",
    "zip": "zip", "gz": "gzip", "zst": "zstd", "bz2": "bzip2", "xz": "xz",
    "duckdb": "duckdb", "db": "database", "sqlite": "sqlite", "xml": "xml", "yaml": "yaml", "yml": "yaml", "log": "text",
}  # fmt: skip
COMPRESSIONS = ("gzip", "zstd", "bzip2", "xz", "zip")
TABULAR = ("csv", "tsv", "parquet", "json", "ndjson", "excel")


def format_by_name(name: str) -> str | None:
    """The format that a file name stands for, looking through one compression: `a.csv.gz` is csv."""
    parts = name.lower().split(".")
    found = _BY_EXTENSION.get(parts[-1]) if len(parts) > 1 else None
    if found in COMPRESSIONS and len(parts) > 2:
        return _BY_EXTENSION.get(parts[-2], found)
    return found


def stem(name: str) -> str:
    """The name without its extension, and without that of a compression: `a.csv.gz` gives `a`."""
    base = name
    for _ in range(2):
        head, dot, extension = base.rpartition(".")
        if not dot or not head or _BY_EXTENSION.get(extension.lower()) is None:
            break
        compressed = _BY_EXTENSION[extension.lower()] in COMPRESSIONS
        base = head
        if not compressed:
            break
    return base


def format_by_content(head: bytes) -> str | None:
    """The format that the first bytes of a file tell without doubt; None for text and for what is not known."""
    for magic, name in (
        (b"PAR1", "parquet"), (b"PARE", "parquet"), (b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"BZh", "bzip2"),
        (b"\xfd7zXZ\x00", "xz"), (b"PK\x03\x04", "zip"), (b"PK\x05\x06", "zip"), (b"%PDF-", "pdf"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "excel"), (b"SQLite format 3\x00", "sqlite"), (b"\x89PNG", "png"),
        (b"\xff\xd8\xff", "jpeg"), (b"GIF8", "gif"), (b"ARROW1", "arrow"), (b"ORC", "orc"), (b"Obj\x01", "avro"),
        (b"7z\xbc\xaf", "7z"), (b"Rar!", "rar"), (b"\x7fELF", "program"),
    ):  # fmt: skip
        if head.startswith(magic):
            return name
    if head[8:12] == b"DUCK":
        return "duckdb"
    return None

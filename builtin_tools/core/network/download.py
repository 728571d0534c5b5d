"""download_file: brings one file from the network into the artifact directory, and tells what came."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from ... import __version__
from ..artifacts import InputFile, OutputFile
from ..call import Call, current
from ..envelope import Answer, Artifact
from ..errors import ConfigurationError, DiskLimitExceeded, OutputExists, TimeLimitExceeded, ToolError
from ..limits import parse_size
from . import urls
from .arrival import Arrival, answer
from .columns import NO_COLUMNS, columns_of
from .connections import Connector
from .encodings import decode, encodings_of
from .hosts import HostPolicy
from .kinds import kind_of
from .names import proposed_name, with_extension
from .progress import Progress
from .transfer import Limits, Received, Transfer

_SCRATCH = "download"
_RESERVE = 1.0  # seconds kept for hashing and placing the file, and for telling that time is up
_OWN_HEADERS = {
    "host", "range", "if-range", "content-length", "transfer-encoding", "connection", "accept-encoding", "te", "upgrade",
    "expect", "trailer",
}  # fmt: skip


@dataclass(frozen=True)
class Network:
    """The operator's parameters of downloads, as tool.py has them."""

    timeout_seconds: float
    allowed_hosts: list[str] | None
    allow_private_networks: bool
    headers: dict[str, str] | None
    max_bytes: str
    max_redirects: int
    max_retries: int
    connect_timeout_seconds: float
    read_timeout_seconds: float


def download_file(network: Network, url: str, output_path: str | None, overwrite: bool) -> Answer:
    """The answer of download_file. Raises NetworkError, OutputExists, PathOutsideArtifacts and what the parts raise."""
    call = current()
    deadline = call.deadline - min(_RESERVE, network.timeout_seconds / 3)
    target = urls.parse(url)
    folder, chosen = _destination(call, output_path, overwrite)
    max_bytes = parse_size(network.max_bytes, "max_bytes")
    limits = Limits(max_bytes, network.max_redirects, network.max_retries, deadline)
    path = call.scratch_path(_SCRATCH)
    with _clock(deadline, network.timeout_seconds, target), _disk():
        received = _fetched(network, target, limits, path)
        name, encoding = _named(received, target, path, max_bytes)
    kind = kind_of(path, chosen.path if chosen else name, received.headers.get("Content-Type", ""))
    name = with_extension(name, kind.format)
    output = chosen or _output_of_its_name(call, f"{folder}/{name}" if folder else name, overwrite, path)
    if isinstance(output, InputFile):
        artifact = Artifact(output.path, kind.format, output.size, _digest_of(path))
    else:
        artifact = call.publish(_SCRATCH, output, kind.format)
    found = columns_of(call, path, artifact.path.rpartition("/")[2], deadline) if kind.may_be_table else NO_COLUMNS
    return answer(Arrival(received, kind, artifact, found, encoding, isinstance(output, InputFile)))


# ---------------------------------------------------------------- before the transfer


def _destination(call: Call, output_path: str | None, overwrite: bool) -> tuple[str, OutputFile | None]:
    """The folder for a file that names itself, or the very output; checked before anything is asked of a server."""
    if output_path is None:
        return "", None
    relative = call.directory.relative(output_path)
    if not relative or output_path.endswith("/") or os.path.isdir(os.path.join(call.directory.root, relative)):
        if relative:  # the checks of an output hold for a folder too
            call.directory.output_file(f"{relative}/download", True)
        return relative, None
    return "", call.directory.output_file(output_path, overwrite)


def _secret_headers(headers: dict[str, str] | None) -> dict[str, str]:
    """The operator's headers. Raises ConfigurationError for one that no header can be, or that the tool itself sets."""
    for name, value in (headers or {}).items():
        fits = re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) and re.fullmatch(r"[\t\x20-\x7e\x80-\xff]*", value)
        if not fits or name.lower() in _OWN_HEADERS:
            why = "is set by the tool itself" if fits else "has a name or a value that HTTP does not allow"
            raise ConfigurationError(
                f"The header {name[:40]!r} in headers {why}.", "The operator must mend the user parameter headers."
            )
    return dict(headers or {})


def _fetched(network: Network, target: urls.Target, limits: Limits, path: str) -> Received:
    secret = _secret_headers(network.headers)
    own = {"User-Agent": f"builtin-tools/{__version__}", "Accept": "*/*", "Accept-Encoding": "identity"}
    given = {name.lower() for name in secret}
    allowed = None if network.allowed_hosts is None else tuple(network.allowed_hosts)
    progress = Progress(target.host)
    try:
        with Path(path).open("wb") as stream:
            return Transfer(
                target,
                HostPolicy(allowed, network.allow_private_networks),
                Connector(network.connect_timeout_seconds, network.read_timeout_seconds),
                limits,
                secret,
                {name: value for name, value in own.items() if name.lower() not in given},
                stream,
                progress,
            ).run()
    finally:
        progress.close()


@contextlib.contextmanager
def _clock(deadline: float, seconds: float, target: urls.Target) -> Iterator[None]:
    """Ends what is within at the deadline with an error of its own, just before the watchdog would end the process."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeLimitExceeded(
            f"The file from {target.host} was not there within {seconds:g} s, the time limit.",
            "Fetch a smaller or compressed version, or send the call again when the host is faster. "
            "The operator can raise timeout_seconds.",
            details={"host": target.host, "timeout_seconds": seconds},
            retryable=True,
        )

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(0.01, deadline - time.monotonic()))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _disk() -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        if problem.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise DiskLimitExceeded(
            "The disk of the artifact directory is full.", "Fetch a smaller file, or have the operator free space."
        ) from None


# ---------------------------------------------------------------- after the transfer


def _named(received: Received, target: urls.Target, path: str, max_bytes: int) -> tuple[str, str | None]:
    """The proposed name, and the content encoding that was undone. What is called .gz stays the gzip file it is."""
    final = received.final or target
    name = proposed_name(received.headers, [target, final])
    encodings = encodings_of(received.headers.get("Content-Encoding", ""))
    if not encodings or (name.lower().endswith((".gz", ".tgz", ".svgz")) and encodings in (["gzip"], ["x-gzip"])):
        return name, None
    decode(path, encodings, final, max_bytes)
    return name, ", ".join(encodings)


def _output_of_its_name(call: Call, relative: str, overwrite: bool, path: str) -> OutputFile | InputFile:
    """The output of a file that names itself, or the file there is where it has the very same content already."""
    try:
        return call.directory.output_file(relative, overwrite)
    except OutputExists as problem:
        same = None if overwrite else _same_file(call, relative, path)
        if same is not None:
            return same
        head, dot, extension = relative.rpartition(".")
        other = f"{head or extension}_2{dot}{extension if head else ''}"
        raise OutputExists(
            f"{problem.message.rstrip('.')}, with other content than the file at the URL.",
            f"Send an output_path such as {other!r}, or overwrite true to take its place.",
        ) from None


def _same_file(call: Call, relative: str, path: str) -> InputFile | None:
    try:
        there = call.directory.input_file(relative)
        if there.size != os.stat(path).st_size:
            return None
        descriptor = call.directory.open_descriptor(there)
    except ToolError:
        return None
    return there if _digest_of(descriptor) == _digest_of(path) else None


def _digest_of(file: str | int) -> str:
    """The sha256 of a file, given by its path or by a descriptor that is closed here."""
    with os.fdopen(file, "rb") if isinstance(file, int) else Path(file).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

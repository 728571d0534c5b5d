"""From a URL to a whole file in the scratch folder: redirects, retries, resumption, limits.

Every attempt begins at the URL the agent gave, so that a link which redirects to a short-lived address works on a
later attempt too. What an earlier attempt received is kept only where the server proves that the rest belongs to
the same version of the file (RFC 9110, sections 13.1.5 and 14).
"""

from __future__ import annotations

import email.utils
import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol

import urllib3
import urllib3.exceptions as urllib3_errors

from ..errors import NetworkError
from ..limits import readable_size
from .connections import Connector
from .failures import RETRYABLE_STATUSES, RetryableError, broken, retry_after, silent, status_failure
from .hosts import HostPolicy
from .urls import Target, follow

_BLOCK = 1 << 17
_REDIRECTS = (301, 302, 303, 307, 308)
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 8.0


class Meter(Protocol):
    """Told how many bytes there are, and of how many (None: not known)."""

    def show(self, received: int, total: int | None) -> None: ...


@dataclass(frozen=True)
class Limits:
    """Bounds of one download: bytes of the file, hops, further attempts, and the deadline in time.monotonic() seconds."""

    max_bytes: int
    max_redirects: int
    max_retries: int
    deadline: float


@dataclass
class Received:
    """What came: the headers of the response that began the file, where it came from and how."""

    headers: Mapping[str, str] = field(default_factory=dict)
    final: Target | None = None
    status: int = 0
    bytes: int = 0
    total: int | None = None
    attempts: int = 0
    redirects: int = 0
    resumed: bool = False
    insecure_hop: bool = False


@dataclass
class Transfer:
    """One download into `stream`. Construct, then `run` once."""

    target: Target
    policy: HostPolicy
    connector: Connector
    limits: Limits
    secret_headers: dict[str, str]
    headers: dict[str, str]
    stream: BinaryIO
    meter: Meter
    received: Received = field(default_factory=Received)

    def run(self) -> Received:
        """Downloads the whole file. Raises NetworkError; that of the last attempt where the retries are used up."""
        while True:
            self.received.attempts += 1
            try:
                self._attempt()
                return self.received
            except RetryableError as passing:
                self._wait(passing)

    def _wait(self, passing: RetryableError) -> None:
        """Waits before the next attempt, or raises the error where there is none or no time for it."""
        done = self.received.attempts
        error = passing.error
        if done > self.limits.max_retries:
            error.details = {**(error.details or {}), "attempts": done}
            raise error
        wait = passing.wait
        if wait is None:
            wait = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (done - 1)) * random.uniform(0.8, 1.2)
        if time.monotonic() + wait >= self.limits.deadline:
            error.details = {**(error.details or {}), "attempts": done}
            raise error
        time.sleep(wait)

    # ---- one attempt

    def _attempt(self) -> None:
        asked = self.received.bytes if _validator(self.received.headers) else 0
        response, target = self._response(asked)
        try:
            self.received.final, self.received.status = target, response.status
            self._begin(response, target, asked)
            self._copy(response, target)
        finally:
            response.close()

    def _response(self, asked: int) -> tuple[urllib3.BaseHTTPResponse, Target]:
        """The response at the end of the redirects, with status 200, 203 or 206, and where it came from."""
        target, trusted = self.target, True
        self.received.redirects = 0
        while True:
            trusted = trusted and self.target.trusts(target)
            response = self.connector.get(target, self.policy.addresses(target), self._request_headers(trusted, asked))
            if response.status not in _REDIRECTS or "Location" not in response.headers:
                break
            response.close()
            step = follow(target, response.headers["Location"])
            self.received.redirects += 1
            self.received.insecure_hop |= (target.scheme, step.scheme) == ("https", "http")
            if self.received.redirects > self.limits.max_redirects:
                raise NetworkError(
                    "INVALID_URL",
                    f"{self.target.host} redirects more than {self.limits.max_redirects} times, perhaps in a circle.",
                    "Send the address of the file itself. The operator can raise max_redirects.",
                    details={"host": target.host, "max_redirects": self.limits.max_redirects},
                )
            target = step
        if response.status in (200, 203) or (asked and response.status in (206, 416)):
            return response, target
        response.close()
        wait = retry_after(response.headers.get("Retry-After"))
        error = status_failure(response.status, target, wait)
        raise RetryableError(error, wait) if response.status in RETRYABLE_STATUSES else error

    def _request_headers(self, trusted: bool, asked: int) -> dict[str, str]:
        headers = {**self.headers, **(self.secret_headers if trusted else {})}
        if asked:
            headers["Range"] = f"bytes={asked}-"
            headers["If-Range"] = _validator(self.received.headers) or ""
        return headers

    def _begin(self, response: urllib3.BaseHTTPResponse, target: Target, asked: int) -> None:
        """Sets the stream to where the body belongs: behind what is there, or to the beginning."""
        received = self.received
        if response.status in (206, 416):
            if response.status == 416 or not self._continues(response, asked):
                received.headers = {}  # without a validator the next attempt asks for the whole file
                received.bytes = 0
                raise RetryableError(broken(target, 0, received.total).error, 0.0)
            received.resumed = True
        else:
            received.headers = response.headers
            received.bytes, received.resumed = 0, False
            received.total = response.length_remaining
        self.stream.seek(received.bytes)
        self.stream.truncate()
        if received.total is not None and received.total > self.limits.max_bytes:
            raise too_large(target, received.total, self.limits.max_bytes)

    def _continues(self, response: urllib3.BaseHTTPResponse, asked: int) -> bool:
        """Whether a 206 brings exactly the rest of the same version of the file."""
        match = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+|\*)", response.headers.get("Content-Range", "").strip())
        if match is None or int(match[1]) != asked:
            return False
        total = None if match[3] == "*" else int(match[3])
        if total is None or int(match[2]) != total - 1 or self.received.total not in (None, total):
            return False
        first, now = self.received.headers, response.headers
        same = all(first.get(name) == now[name] for name in ("ETag", "Last-Modified", "Content-Encoding") if name in now)
        self.received.total = total
        return same

    def _copy(self, response: urllib3.BaseHTTPResponse, target: Target) -> None:
        received = self.received
        try:
            while block := response.read1(_BLOCK, decode_content=False):
                self.stream.write(block)
                received.bytes += len(block)
                if received.bytes > self.limits.max_bytes:
                    raise too_large(target, None, self.limits.max_bytes)
                self.meter.show(received.bytes, received.total)
        except urllib3_errors.ReadTimeoutError:
            raise silent(target, "send more of the file", self.connector.read) from None
        except urllib3_errors.HTTPError:
            raise broken(target, received.bytes, received.total) from None
        if received.total is not None and received.bytes != received.total:
            raise broken(target, received.bytes, received.total)
        received.total = received.total if received.total is not None else _whole(response, received.bytes)


def _whole(response: urllib3.BaseHTTPResponse, received: int) -> int | None:
    """The length, where the end of the body was marked; None where it ended with the connection alone."""
    chunked = "chunked" in response.headers.get("Transfer-Encoding", "").lower()
    return received if chunked else None


def _validator(headers: Mapping[str, str]) -> str | None:
    """What names this version of the file in If-Range: a strong ETag, else a Last-Modified that Date makes strong."""
    if headers.get("Accept-Ranges", "").strip().lower() == "none":
        return None
    tag = headers.get("ETag", "").strip()
    if tag:
        return tag if re.fullmatch(r'"[^"\s]*"', tag) else None
    modified, sent = headers.get("Last-Modified"), headers.get("Date")
    if modified is None or sent is None:
        return None
    try:
        apart = email.utils.parsedate_to_datetime(sent) - email.utils.parsedate_to_datetime(modified)
    except (ValueError, TypeError, IndexError):
        return None
    return modified if apart.total_seconds() >= 1 else None


def too_large(target: Target, size: int | None, limit: int) -> NetworkError:
    """The file is larger than the operator allows; `size` is what the server says, if it says."""
    has = f"has {readable_size(size)}" if size is not None else "is larger than the limit"
    return NetworkError(
        "RESPONSE_TOO_LARGE",
        f"The file from {target.host} {has}; at most {readable_size(limit)} may be fetched.",
        "Ask the host for less: a smaller extract, a filter in the URL, a compressed version. The operator can raise max_bytes.",
        details={"host": target.host, "max_bytes": limit} | ({"bytes": size} if size is not None else {}),
    )

"""What a failed request means: status codes and broken connections as errors of the contract, and what may be tried again."""

from __future__ import annotations

import email.utils
import errno
import ssl
import time
from datetime import UTC

import urllib3.exceptions as urllib3_errors

from ..errors import NetworkError
from .urls import Target

RETRYABLE_STATUSES = (408, 429, 500, 502, 503, 504)


class RetryableError(Exception):
    """An attempt failed in a way that another may mend. `error` is what to tell when none is left.

    `wait` is how many seconds the server asks to wait; None leaves it to the back-off.
    """

    def __init__(self, error: NetworkError, wait: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.wait = wait


def retry_after(value: str | None, now: float | None = None) -> float | None:
    """Seconds to wait by a Retry-After header (RFC 9110, section 10.2.3): seconds or a date; None where it says nothing."""
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(min(int(text), 10**9))
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - (time.time() if now is None else now))


def status_failure(status: int, target: Target, wait: float | None) -> NetworkError:
    """The error of a response that brings no file."""
    code, message, guidance = _status_words(status, target, wait)
    details: dict[str, object] = {"status": status, "host": target.host}
    if wait is not None:
        details["retry_after_seconds"] = round(wait, 1)
    return NetworkError(code, message, guidance, details=details, retryable=status in RETRYABLE_STATUSES)


def _status_words(status: int, target: Target, wait: float | None) -> tuple[str, str, str]:
    host = target.host
    later = f"Wait {wait:,.0f} seconds, then send the call again." if wait else "Send the same call again later."
    if status == 401:
        return "UNAUTHORIZED", f"{host} asks for credentials (HTTP 401).", (
            "The operator must set the right credentials in the user parameter headers, or choose a file that needs none."
        )  # fmt: skip
    if status == 403:
        return "FORBIDDEN", f"{host} forbids access to this file (HTTP 403).", (
            "The operator's credentials do not open it, or the link has expired. Ask for a fresh link or for access."
        )  # fmt: skip
    if status in (404, 410):
        return "NOT_FOUND", f"{host} has no such file (HTTP {status}): {target.shown}", (
            "Check the path of the URL for typing errors, or find the file's present link on the site."
        )  # fmt: skip
    if status == 408:
        return "CONNECTION_TIMEOUT", f"{host} gave up waiting for the request (HTTP 408).", later
    if status == 429:
        return "RATE_LIMITED", f"{host} limits how often it may be asked (HTTP 429).", later
    if status == 503:
        return "SERVICE_UNAVAILABLE", f"{host} is not available now (HTTP 503).", later
    if status >= 500:
        return "SERVER_ERROR", f"{host} failed to answer the request (HTTP {status}).", later
    if 400 <= status < 500:
        return "INVALID_URL", f"{host} refuses this URL (HTTP {status}): {target.shown}", (
            "Check the URL, its query included; the host does not take it as it stands."
        )  # fmt: skip
    return "SERVER_ERROR", f"{host} answered HTTP {status}, which brings no file.", "Find another link to the file."


def broken(target: Target, received: int, total: int | None) -> RetryableError:
    """The server ended the connection before the whole file was there."""
    of = f" of {total:,}" if total is not None else ""
    return RetryableError(
        NetworkError(
            "SERVER_ERROR",
            f"{target.host} broke the connection after {received:,}{of} bytes.",
            "Send the same call again; if it breaks each time, the file must come from another host.",
            details={"host": target.host, "received_bytes": received},
            retryable=True,
        )
    )


def silent(target: Target, what: str, seconds: float) -> RetryableError:
    """Nothing came in time; `what` says what was waited for."""
    return RetryableError(
        NetworkError(
            "CONNECTION_TIMEOUT",
            f"{target.host} did not {what} within {seconds:g} s.",
            "Send the same call again later, or choose another host. The operator can raise the time-outs.",
            details={"host": target.host},
            retryable=True,
        )
    )


def unreachable(problem: urllib3_errors.NewConnectionError, target: Target, seconds: float) -> RetryableError | NetworkError:
    """No connection came about. A refused one is told at once: a closed port seldom opens within seconds."""
    number = getattr(problem.__cause__, "errno", None)
    if number == errno.ETIMEDOUT:
        return silent(target, "accept a connection", seconds)
    why = "refuses connections" if number == errno.ECONNREFUSED else "cannot be reached from this machine"
    return NetworkError(
        "CONNECTION_REFUSED",
        f"{target.host} {why} on port {target.port}.",
        "Check host and port of the URL; the server may also be down at the moment.",
        details={"host": target.host, "port": target.port},
        retryable=True,
    )


def tls_failure(problem: urllib3_errors.SSLError, target: Target) -> RetryableError | NetworkError:
    """A certificate that does not hold, or a handshake that fails; a cut one may be tried again."""
    cause = problem.args[0] if problem.args else None
    if isinstance(cause, (ssl.SSLEOFError, ssl.SSLZeroReturnError)):
        return broken(target, 0, None)
    if isinstance(cause, ssl.SSLCertVerificationError):
        message = f"The certificate of {target.host} does not hold: {cause.verify_message.rstrip('.')}."
    else:
        reason = (getattr(cause, "reason", None) or "no reason told").replace("_", " ").lower()
        message = f"No secure connection to {target.host} on port {target.port} came about: {reason}."
    guidance = (
        "The site must mend its certificate, or the operator must trust its authority through the environment's SSL_CERT_FILE; "
        "certificates are never ignored."
    )
    if getattr(cause, "reason", None) in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"):
        guidance = "The port does not seem to speak TLS. If the site offers plain http only, send the URL with http://."
    return NetworkError(
        "SSL_CERTIFICATE_ERROR",
        message,
        guidance,
        details={"host": target.host},
    )


def failed_request(
    problem: urllib3_errors.HTTPError, target: Target, connect: float, read: float
) -> RetryableError | NetworkError:
    """What a failure of the HTTP library means, before the body began."""
    if isinstance(problem, urllib3_errors.NewConnectionError):
        return unreachable(problem, target, connect)
    if isinstance(problem, urllib3_errors.ConnectTimeoutError):
        return silent(target, "accept a connection", connect)
    if isinstance(problem, urllib3_errors.ReadTimeoutError):
        return silent(target, "answer", read)
    if isinstance(problem, urllib3_errors.SSLError):
        return tls_failure(problem, target)
    if isinstance(problem, urllib3_errors.ProtocolError):
        return broken(target, 0, None)
    return NetworkError(
        "SERVER_ERROR",
        f"{target.host} sent a response that is not valid HTTP.",
        "Find another link to the file.",
        details={"host": target.host},
    )

"""Every failure that a tool tells to its caller, in one tree.

    ToolError
    ├── AgentError                    other arguments mend it: exit status 0
    │   ├── InvalidParameters         INVALID_PARAMETERS
    │   ├── FileNotFound              FILE_NOT_FOUND
    │   ├── PathOutsideArtifacts      PATH_OUTSIDE_ARTIFACTS
    │   ├── UnsupportedFormat         UNSUPPORTED_FORMAT
    │   ├── FileCorrupt               FILE_CORRUPT
    │   ├── FileEmpty                 FILE_EMPTY
    │   ├── EncodingProblem           ENCODING_ERROR
    │   ├── TableNotFound             TABLE_NOT_FOUND
    │   ├── ColumnNotFound            COLUMN_NOT_FOUND
    │   ├── SqlSyntaxError            SQL_SYNTAX_ERROR
    │   ├── SqlNotAllowed             SQL_NOT_ALLOWED
    │   ├── SqlError                  SQL_ERROR
    │   ├── OutputExists              OUTPUT_EXISTS
    │   ├── TimeLimitExceeded         TIMEOUT
    │   ├── MemoryLimitExceeded       MEMORY_LIMIT_EXCEEDED
    │   └── DiskLimitExceeded         DISK_LIMIT_EXCEEDED
    ├── OperatorError                 no argument mends it: exit status 1
    │   ├── ConfigurationError        CONFIGURATION_ERROR
    │   ├── InternalError             INTERNAL_ERROR
    │   └── PasswordRequired          PASSWORD_REQUIRED
    └── NetworkError                  its code says which; exit status by code

Raise an error where it is understood: with the bad value, the accepted ones and the next step. Messages
hold no absolute path, no secret, no name from inside the program, and are one line each.
"""

from __future__ import annotations

from typing import Any, ClassVar


class ToolError(Exception):
    """A failure with a code, what is wrong, what to send instead, and whether the same call may succeed later."""

    code: ClassVar[str] = "INTERNAL_ERROR"
    exit_status: ClassVar[int] = 1

    def __init__(self, message: str, guidance: str, *, details: dict[str, Any] | None = None, retryable: bool = False) -> None:
        super().__init__(message)
        self.message = " ".join(message.split())
        self.guidance = " ".join(guidance.split())
        self.details = details
        self.retryable = retryable

    def document(self) -> dict[str, Any]:
        """The `error` part of the envelope."""
        part: dict[str, Any] = {
            "code": self.code,
            "message": self.message,
            "guidance": self.guidance,
            "retryable": self.retryable,
        }
        if self.details:
            part["details"] = self.details
        return part


class AgentError(ToolError):
    """Other arguments, limits included, mend it."""

    exit_status = 0


class OperatorError(ToolError):
    """No argument that the agent could send mends it."""


class InvalidParameters(AgentError):
    code = "INVALID_PARAMETERS"


class FileNotFound(AgentError):
    code = "FILE_NOT_FOUND"


class PathOutsideArtifacts(AgentError):
    code = "PATH_OUTSIDE_ARTIFACTS"


class UnsupportedFormat(AgentError):
    code = "UNSUPPORTED_FORMAT"


class FileCorrupt(AgentError):
    code = "FILE_CORRUPT"


class FileEmpty(AgentError):
    code = "FILE_EMPTY"


class EncodingProblem(AgentError):
    code = "ENCODING_ERROR"


class TableNotFound(AgentError):
    code = "TABLE_NOT_FOUND"


class ColumnNotFound(AgentError):
    code = "COLUMN_NOT_FOUND"


class SqlSyntaxError(AgentError):
    code = "SQL_SYNTAX_ERROR"


class SqlNotAllowed(AgentError):
    code = "SQL_NOT_ALLOWED"


class SqlError(AgentError):
    code = "SQL_ERROR"


class OutputExists(AgentError):
    code = "OUTPUT_EXISTS"


class TimeLimitExceeded(AgentError):
    code = "TIMEOUT"


class MemoryLimitExceeded(AgentError):
    code = "MEMORY_LIMIT_EXCEEDED"


class DiskLimitExceeded(AgentError):
    code = "DISK_LIMIT_EXCEEDED"


class ConfigurationError(OperatorError):
    code = "CONFIGURATION_ERROR"


class InternalError(OperatorError):
    code = "INTERNAL_ERROR"


class CacheLost(InternalError):
    """An entry of the ingest cache went away while it was read; the call is done again without the cache, and none hears of it."""


class PasswordRequired(OperatorError):
    code = "PASSWORD_REQUIRED"


NETWORK_EXIT_STATUS = {
    "INVALID_URL": 0,
    "HOST_NOT_ALLOWED": 0,
    "CONNECTION_TIMEOUT": 1,
    "DNS_FAILURE": 0,
    "CONNECTION_REFUSED": 0,
    "SSL_CERTIFICATE_ERROR": 1,
    "UNAUTHORIZED": 1,
    "FORBIDDEN": 1,
    "NOT_FOUND": 0,
    "RATE_LIMITED": 1,
    "SERVER_ERROR": 1,
    "SERVICE_UNAVAILABLE": 1,
    "RESPONSE_TOO_LARGE": 0,
}


class NetworkError(ToolError):
    """A failure of a request. `code` is one of NETWORK_EXIT_STATUS, which also gives the exit status."""

    def __init__(
        self,
        code: str,
        message: str,
        guidance: str,
        *,
        details: dict[str, Any] | None = None,
        retryable: bool = False,
    ) -> None:
        super().__init__(message, guidance, details=details, retryable=retryable)
        self.code = code  # type: ignore[misc]
        self.exit_status = NETWORK_EXIT_STATUS[code]  # type: ignore[misc]


def near_names(wanted: str, known: list[str], count: int = 3) -> list[str]:
    """The known names that look most like the wanted one, best first; case and surrounding blanks aside."""
    import difflib

    by_folded: dict[str, list[str]] = {}
    for name in known:
        by_folded.setdefault(name.strip().casefold(), []).append(name)
    target = wanted.strip().casefold()
    found = difflib.get_close_matches(target, by_folded, n=count, cutoff=0.5)
    held = [folded for folded in by_folded if folded not in found and target and (target in folded or folded in target)]
    return [name for folded in [*found, *held] for name in by_folded[folded]][:count]


def listed(names: list[str], limit: int = 40) -> str:
    """Names for a sentence: all of them, or the first ones and how many more there are."""
    if len(names) <= limit:
        return ", ".join(names)
    return ", ".join(names[:limit]) + f" and {len(names) - limit:,} more"

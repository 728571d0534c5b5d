"""What a URL names: scheme, host, port and path, in one spelling; every doubtful form is refused.

Only what `parse` returns is ever connected to or shown. No other part of the program reads the text of a URL
again, so that no two parsers can disagree about its host.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

from ..errors import NetworkError

MAX_URL_CHARS = 8_000
_PORTS = {"http": 80, "https": 443}
_PATH_SAFE = "/%:@!$&'()*+,;=~-._[]|"
_QUERY_SAFE = _PATH_SAFE + "?"
_EXAMPLE = "Send a whole http or https URL, such as 'https://example.com/data/sales.csv'."


@dataclass(frozen=True)
class Target:
    """A checked URL. `host` is ASCII, lower case, without brackets; `path` holds the query, percent-encoded."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def is_literal(self) -> bool:
        """Whether the host is an IP address rather than a name."""
        return literal(self.host) is not None

    @property
    def authority(self) -> str:
        """Host and, where it is not the scheme's own, port, as the Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole URL; the query may hold a secret, so it is for requests only."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def shown(self) -> str:
        """The URL as messages show it: without its query, and not too long."""
        text = f"{self.scheme}://{self.authority}{self.path.partition('?')[0]}"
        return text if len(text) <= 200 else text[:200] + "…"

    def trusts(self, other: Target) -> bool:
        """Whether what is meant for this origin may go to the other: the same origin, or its own step from http to https."""
        same = (self.scheme, self.host, self.port) == (other.scheme, other.host, other.port)
        upgraded = (self.scheme, self.port, other.scheme, other.port) == ("http", 80, "https", 443)
        return same or (upgraded and self.host == other.host)


def literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The IP address that a host spells in its usual form; None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def invalid(why: str, guidance: str = _EXAMPLE) -> NetworkError:
    return NetworkError("INVALID_URL", why, guidance)


def parse(text: str, what: str = "The URL") -> Target:
    """The target that a URL names. Raises NetworkError with INVALID_URL, or HOST_NOT_ALLOWED for an odd spelling of an address.

    Messages never repeat the text where it may hold a user name or a password.
    """
    text = text.strip().strip("<>\"'`").strip()
    if not text or len(text) > MAX_URL_CHARS:
        raise invalid(f"{what} is empty." if not text else f"{what} has more than {MAX_URL_CHARS:,} characters.")
    if re.search(r"[\x00-\x1f\x7f\\]", text):
        raise invalid(f"{what} holds a control character, a line break or a backslash.")
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise invalid(f"{what} has a host or a port that cannot be read.") from None
    _check_scheme(text, parts.scheme, parts.netloc, what)
    if "@" in parts.netloc:
        raise invalid(
            f"{what} holds a user name or a password before its host.",
            "Send the URL without the part before the @. Credentials are the operator's: the user parameter headers holds them.",
        )
    if port == 0:
        raise invalid(f"{what} has port 0, which nothing can listen on.")
    path = quote(_whole_escapes(parts.path or "/"), safe=_PATH_SAFE, encoding="utf-8", errors="replace")
    if parts.query:
        path += "?" + quote(_whole_escapes(parts.query), safe=_QUERY_SAFE, encoding="utf-8", errors="replace")
    return Target(parts.scheme, _host(host, what), port or _PORTS[parts.scheme], path if path.startswith("/") else "/" + path)


def follow(base: Target, location: str) -> Target:
    """The target of a redirect. `location` is the header as it came: perhaps relative, perhaps raw UTF-8."""
    try:
        location = location.encode("latin-1").decode("utf-8")
    except UnicodeError:
        pass
    try:
        joined = urljoin(base.url, location.strip())
    except ValueError:
        raise invalid(f"{base.host} redirects to an address that cannot be read.") from None
    return parse(joined, f"The address that {base.host} redirects to")


def _check_scheme(text: str, scheme: str, netloc: str, what: str) -> None:
    if scheme in _PORTS and netloc:
        return
    if scheme in _PORTS:
        raise invalid(f"{what} names no host.")
    if scheme and re.match(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)", text):
        raise invalid(f"{what} begins with {scheme}:, but only http and https are fetched.")
    raise invalid(f"{what} does not begin with http:// or https://.")


def _whole_escapes(text: str) -> str:
    """The text with each % that begins no escape written as %25."""
    return re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", text)


def _host(host: str, what: str) -> str:
    """The host in ASCII, lower case, without a final dot. Full-width digits and the like become what they stand for."""
    address = literal(host)
    if address is not None and "%" not in host:
        return str(address)
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            raise invalid(f"{what} has a host that is no domain name.") from None
    host = host.lower().removesuffix(".")
    if not re.fullmatch(r"[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?", host) or ".." in host or len(host) > 253:
        raise invalid(f"{what} has a host that is no domain name.")
    if re.fullmatch(r"\d+|0x[0-9a-f]*", host.rpartition(".")[2]) and literal(host) is None:
        raise NetworkError(
            "HOST_NOT_ALLOWED",
            f"{what} spells an IP address in an unusual way.",
            "Send the host's name, or its address as four decimal numbers, such as 93.184.215.14.",
        )
    return host

"""Which hosts may be reached: by name against the operator's patterns, and by every address the name stands for.

A name is resolved once, each of its addresses is checked, and the connection goes to one of those very addresses,
so that a name which changes its mind between check and connection (DNS rebinding) gains nothing. The ranges are
those of IANA's special-purpose address registries (RFC 6890), written out because Python's own `is_global` differs
between its releases.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import NetworkError, listed
from .failures import RetryableError
from .urls import Target, literal

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[..., list[Any]]

# Private in the sense of allow_private_networks: an operator may open these.
_PRIVATE = [
    ipaddress.ip_network(text)
    for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "100.64.0.0/10", "fc00::/7", "::1/128")
]
# Never reached: cloud metadata services, this host, link-local, multicast, documentation, tests, reserved, tunnels.
_NEVER = [
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
        "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        "168.63.129.16/32", "100.100.100.200/32", "fd00:ec2::254/128", "fd20:ce::254/128",
        "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
    )
]  # fmt: skip
_GLOBAL_IPV6 = ipaddress.ip_network("2000::/3")
_MAPPED, _NAT64 = ipaddress.ip_network("::ffff:0:0/96"), ipaddress.ip_network("64:ff9b::/96")


def kind_of_address(address: Address) -> str:
    """ "public", "private" or "never". An IPv6 address that carries an IPv4 one is what that one is."""
    if isinstance(address, ipaddress.IPv6Address) and (address in _MAPPED or address in _NAT64):
        return kind_of_address(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    if any(address in network for network in _NEVER):
        return "never"
    if any(address in network for network in _PRIVATE):
        return "private"
    if isinstance(address, ipaddress.IPv6Address) and address not in _GLOBAL_IPV6:
        return "never"
    return "public"


@dataclass(frozen=True)
class HostPolicy:
    """The operator's rules. `allowed` are patterns of host or host:port with `*`; None allows every public host."""

    allowed: tuple[str, ...] | None = None
    allow_private: bool = False
    resolver: Resolver = socket.getaddrinfo

    def addresses(self, target: Target) -> list[str]:
        """The checked addresses of the target's host, in the resolver's order.

        Raises NetworkError with HOST_NOT_ALLOWED where the name, or any one of its addresses, may not be reached,
        and RetryableError or NetworkError with DNS_FAILURE where the name does not resolve.
        """
        self._check_name(target)
        address = literal(target.host)
        found = [address] if address is not None else _resolved(target, self.resolver)
        for each in found:
            self._check_address(target, each)
        return [str(each) for each in found]

    def _check_name(self, target: Target) -> None:
        if self.allowed is None or any(_matches(pattern, target) for pattern in self.allowed):
            return
        hosts = listed(list(self.allowed), 10) or "none"
        raise NetworkError(
            "HOST_NOT_ALLOWED",
            f"The host {target.host} is not one that the operator allows.",
            f"Choose a file on an allowed host: {hosts}. The operator sets them in the user parameter allowed_hosts.",
            details={"host": target.host},
        )

    def _check_address(self, target: Target, address: Address) -> None:
        kind = kind_of_address(address)
        if kind == "public" or (kind == "private" and self.allow_private):
            return
        what = "is" if target.is_literal else "stands for"
        where = "a private or loopback address" if kind == "private" else "a link-local, metadata, multicast or reserved address"
        opened = " The operator can open private networks with allow_private_networks." if kind == "private" else ""
        raise NetworkError(
            "HOST_NOT_ALLOWED",
            f"{target.host} {what} {where}, which downloads may not reach.",
            f"Choose a file on a public host.{opened}",
            details={"host": target.host},
        )


def _matches(pattern: str, target: Target) -> bool:
    """Whether a pattern of host or host:port covers the target; `*` stands for any characters."""
    wanted = pattern.strip().lower()
    with_port = re.fullmatch(r"(\[.*\]|[^:]*):(\d+|\*)", wanted)
    if with_port and with_port[2] not in ("*", str(target.port)):
        return False
    host = (with_port[1] if with_port else wanted).strip("[]").removesuffix(".")
    if not host.isascii():
        try:
            host = ".".join(part if part == "*" else part.encode("idna").decode("ascii") for part in host.split("."))
        except UnicodeError:
            return False
    address = literal(host)
    if address is not None:
        return address == literal(target.host)
    return re.fullmatch(re.escape(host).replace(r"\*", ".*"), target.host) is not None


def _resolved(target: Target, resolver: Resolver) -> list[Address]:
    """Every address of the name, each once."""
    guidance = "Check the spelling of the host. If it is right, the name does not exist or this machine has no name service."
    missing = NetworkError(
        "DNS_FAILURE", f"The host name {target.host} does not resolve.", guidance, details={"host": target.host}
    )
    if target.host.rpartition(".")[2] == "invalid":  # RFC 6761, section 6.4: never exists, so nobody is asked
        raise missing
    try:
        entries = resolver(target.host, target.port, type=socket.SOCK_STREAM)
    except socket.gaierror as problem:
        if problem.errno == socket.EAI_AGAIN:
            missing.retryable = True
            raise RetryableError(missing) from None
        raise missing from None
    except UnicodeError:
        raise missing from None
    found: dict[Address, None] = {}
    for entry in entries:
        found[ipaddress.ip_address(str(entry[4][0]).partition("%")[0])] = None
    if not found:
        raise missing
    return list(found)

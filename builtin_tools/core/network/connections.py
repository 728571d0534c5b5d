"""One request to one checked address: the connection goes to the address, the name goes into Host, SNI and certificate check.

This is urllib3's own way of pinning an address (its guide, "Custom SNI hostname"). Proxies of the environment are
never asked: behind one, nobody could tell which address is really reached.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field

import urllib3
import urllib3.exceptions as urllib3_errors

from ..errors import NetworkError
from .failures import RetryableError, failed_request
from .urls import Target


@dataclass
class Connector:
    """Opens responses. Times are seconds: `connect` for each address, `read` for each silence of the server."""

    connect: float
    read: float
    _tls: ssl.SSLContext | None = field(default=None, repr=False)

    def get(self, target: Target, addresses: list[str], headers: dict[str, str]) -> urllib3.BaseHTTPResponse:
        """The response to a GET, its body not yet read; the caller closes it. Tries the addresses in their order.

        Raises NetworkError or RetryableError, that of the last address.
        """
        failure: RetryableError | NetworkError | None = None
        for address in addresses:
            pool = self._pool(target, address)
            try:
                return pool.urlopen(
                    "GET",
                    target.path,
                    headers={"Host": target.authority, **headers},
                    retries=False,
                    redirect=False,
                    assert_same_host=False,
                    preload_content=False,
                    decode_content=False,
                )
            except urllib3_errors.HTTPError as problem:
                pool.close()
                failure = failed_request(problem, target, self.connect, self.read)
                if not isinstance(problem, (urllib3_errors.NewConnectionError, urllib3_errors.ConnectTimeoutError)):
                    break
        assert failure is not None, "a host has at least one address"
        raise failure

    def _pool(self, target: Target, address: str) -> urllib3.HTTPConnectionPool:
        host = f"[{address}]" if ":" in address else address
        timeout = urllib3.Timeout(connect=self.connect, read=self.read)
        if target.scheme == "http":
            return urllib3.HTTPConnectionPool(host, target.port, timeout=timeout)
        return urllib3.HTTPSConnectionPool(
            host, target.port, timeout=timeout, ssl_context=self._context(), server_hostname=target.host
        )

    def _context(self) -> ssl.SSLContext:
        """TLS 1.2 or later, with certificate and name checked against the system's authorities (or SSL_CERT_FILE)."""
        if self._tls is None:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            self._tls.minimum_version = ssl.TLSVersion.TLSv1_2
            self._tls.set_alpn_protocols(["http/1.1"])
            self._tls.load_default_certs()
        return self._tls

"""The line to the router: GET with one total deadline a call, where httpx itself only limits each single read.

A router that drips a byte every few milliseconds, in the headers or the body, is cut at the deadline too, and the
thread that listened to it is free again.
"""

import logging
import ssl
import threading
import time
from collections.abc import Iterable
from typing import Any

import httpcore
import httpx

BODY_MAX_BYTES = 1_000_000
IDLE_S = 4.0  # osrm-routed hangs up after 5.0 s idle: be first

SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]


# httpx writes each URL into its log, and ours are positions (SPEC 9).
logging.getLogger("httpx").addFilter(lambda record: record.levelno >= logging.WARNING)


class Broken(Exception):
    """No complete reply came; the text is the reason in a word ("timeout", "refused", "cut_off", …)."""


class Line:
    """Keep-alive connections to one configured router: no redirects, no proxies, no cookies, nothing compressed."""

    def __init__(self, base_url: str, *, in_flight_max: int, transport: httpx.BaseTransport | None = None) -> None:
        self._limit = Limit()
        tls = httpx.create_ssl_context(trust_env=False)

        def client(idle_s: float) -> httpx.Client:
            wire = transport or Wire(self._limit, tls=tls, connections_max=in_flight_max, idle_s=idle_s)
            headers = {"accept": "application/json", "accept-encoding": "identity"}
            return httpx.Client(
                transport=wire,
                base_url=base_url,
                headers=headers,
                timeout=None,
                follow_redirects=False,
                trust_env=False,
            )

        self._kept, self._fresh = client(IDLE_S), client(0)

    def get(self, path: str, until: float) -> tuple[int, bytes]:
        """Status and body, whole by ``until`` (``time.monotonic`` seconds). Raises Broken."""
        self._limit.until, self._limit.connected = until, False
        try:
            return self._try(self._kept, path)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError) as error:
            # osrm-routed ends a connection after 512 requests without saying so: that is no fault of its health.
            if self._limit.connected:
                raise Broken("cut_off") from error
        try:
            return self._try(self._fresh, path)
        except httpx.TransportError as error:
            raise Broken("cut_off") from error

    def close(self) -> None:
        self._kept.close()
        self._fresh.close()

    def _try(self, client: httpx.Client, path: str) -> tuple[int, bytes]:
        try:
            with client.stream("GET", path) as reply:
                return reply.status_code, _capped(reply)
        except httpx.TimeoutException as error:
            raise Broken("timeout") from error
        except httpx.ConnectError as error:
            raise Broken("refused") from error


def _capped(reply: httpx.Response) -> bytes:
    """The raw body. Nothing is unpacked, so nothing small can become huge."""
    body = bytearray()
    for piece in reply.iter_raw():
        body += piece
        if len(body) > BODY_MAX_BYTES:
            raise Broken("too_large")
    return bytes(body)


class Limit(threading.local):
    """This thread's call: when it must be over (``time.monotonic`` seconds), and whether it had to connect."""

    until: float = 0.0
    connected: bool = False

    def left_s(self, timeout: float | None) -> float:
        """Seconds a socket may still wait; at least a hair, so that a call past its deadline times out at once."""
        left_s = max(self.until - time.monotonic(), 0.000_001)
        return left_s if timeout is None else min(left_s, timeout)


class Wire(httpx.HTTPTransport):
    """Keep-alive connections to one host, ``idle_s`` at most between two calls (0: a fresh connection for each)."""

    def __init__(self, limit: Limit, *, tls: ssl.SSLContext, connections_max: int, idle_s: float) -> None:
        super().__init__(verify=tls, trust_env=False)
        self._pool = httpcore.ConnectionPool(
            ssl_context=tls,
            max_connections=connections_max,
            max_keepalive_connections=connections_max if idle_s else 0,
            keepalive_expiry=idle_s,
            network_backend=_Backend(limit),
        )


class _Backend(httpcore.SyncBackend):
    def __init__(self, limit: Limit) -> None:
        self._limit = limit

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore.NetworkStream:
        self._limit.connected = True
        timeout = self._limit.left_s(timeout)
        return _Stream(super().connect_tcp(host, port, timeout, local_address, socket_options), self._limit)


class _Stream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream, limit: Limit) -> None:
        self._inner = inner
        self._limit = limit

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._limit.left_s(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._limit.left_s(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, self._limit.left_s(timeout)), self._limit)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)

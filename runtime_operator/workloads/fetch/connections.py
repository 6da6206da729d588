"""Connections for HTTP: kept open between requests, one thread at a time, through a proxy where one is set.

The standard library connects, through TLS and proxies; what is said then is in `wire.py`. A body is read
straight from the socket into our buffer; that makes it as quick as any and bounds time and memory exactly.
"""

from __future__ import annotations

import os
import socket
import ssl
import threading
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPSConnection
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from .wire import Wire

CONNECT_SECONDS = 20.0
Place = tuple[str, str]
"""scheme and host:port"""


@dataclass(slots=True)
class Limits:
    """How long to wait, and how much to let the other side send ahead; may be changed while it is used."""

    stall: float = 60.0
    connect: float = CONNECT_SECONDS
    receive_buffer: int | None = None
    """bytes the kernel keeps unread for one connection; None leaves it to the kernel"""


class Connections:
    """Open connections by place, to be taken and given back."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._idle: dict[Place, list[Wire]] = {}
        self._lock = threading.Lock()
        self._context: ssl.SSLContext | None = None
        self._proxies = getproxies()

    def take(self, place: Place) -> tuple[Wire, bool]:
        """A connection, and whether it has served before (the other side may have closed it since)."""
        with self._lock:
            idle = self._idle.get(place)
            found = idle.pop() if idle else None
        wire = found or Wire(self._connect(place), patience=2 * self._limits.stall)
        if self._limits.receive_buffer:
            wire.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self._limits.receive_buffer)
        return wire, found is not None

    def give_back(self, place: Place, wire: Wire) -> None:
        """Keep a connection whose last answer was read to the end."""
        with self._lock:
            self._idle.setdefault(place, []).append(wire)

    def close(self) -> None:
        """Close what is idle."""
        with self._lock:
            wires = [wire for idle in self._idle.values() for wire in idle]
            self._idle.clear()
        for wire in wires:
            wire.close()

    def proxied(self, place: Place) -> SplitResult | None:
        """The proxy for a place, if the environment names one."""
        scheme, host = place
        address = self._proxies.get(scheme)
        if not address or proxy_bypass(host.rpartition(":")[0] or host):
            return None
        return urlsplit(address if "://" in address else f"http://{address}")

    def _connect(self, place: Place) -> socket.socket:
        scheme, host = place
        proxy = self.proxied(place)
        near = proxy.netloc.rpartition("@")[2] if proxy else host
        if scheme == "https":
            connection: HTTPConnection = HTTPSConnection(
                near, timeout=self._limits.connect, context=self._tls()
            )
            if proxy:
                connection.set_tunnel(host, headers=proxy_headers(proxy))
        else:
            connection = HTTPConnection(near, timeout=self._limits.connect)
        connection.connect()
        sock: socket.socket = connection.sock
        sock.settimeout(self._limits.stall)
        return sock

    def _tls(self) -> ssl.SSLContext:
        with self._lock:
            if self._context is None:
                self._context = tls_context(os.environ)
            return self._context


def tls_context(environ: Mapping[str, str]) -> ssl.SSLContext:
    """Trust the system's authorities and those of the variables that other tools read."""
    context = ssl.create_default_context()
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE"):
        if (file := environ.get(name)) and os.path.isfile(file):
            context.load_verify_locations(file)
    return context


def proxy_headers(proxy: SplitResult | None) -> dict[str, str]:
    """What lets us through the proxy."""
    if proxy is None or not proxy.username:
        return {}
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(pair.encode()).decode()}"}

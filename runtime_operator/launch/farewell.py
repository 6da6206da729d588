"""A DELETE that is ready to be sent, for a process that may have a tenth of a second to live.

Its connection is open before there is anything to delete, and is replaced before the API server, or anything
on the way to it, has reason to close one on which nothing is said. So a farewell costs one write on a socket,
and is heard also by a server that is slow to act on it.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import socket
import threading
import time
from typing import NamedTuple
from urllib.parse import urlsplit

from ..controller.kinds import TRAIN_JOBS
from ..errors import KfpTrainerError
from ..kube.cluster import Cluster

RENEW_SECONDS = 15.0  # an API server gives up a connection without a request after 32
CONNECT_SECONDS = 3.0
UNASKED_SECONDS = 0.1
TRIES = 3
BODY = json.dumps({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}).encode()
BROKEN = (OSError, http.client.HTTPException, KfpTrainerError)
IN_FLIGHT_SECONDS = 2.0
AHEAD = b"\r\n"
"""an empty line behind the request, by itself: a server that works looks for the end of the connection, and
calls the work off when it finds that; it finds this instead"""


class Connection(NamedTuple):
    """A socket on which nothing has been said, and what is to be said on it."""

    socket: socket.socket
    request: bytes


class Farewell:
    """Deletes one TrainJob; used as a context, in which a connection is kept open for it."""

    def __init__(self, cluster: Cluster, namespace: str, name: str) -> None:
        self._cluster, self._address = cluster, urlsplit(cluster.server)
        self._path = self._address.path + TRAIN_JOBS.path(namespace, name)
        self._warm: Connection | None = None
        self._over = threading.Event()
        self._keeper = threading.Thread(target=self._keep_warm, name="kfp-trainer-farewell", daemon=True)

    def __enter__(self) -> Farewell:
        self._renew()
        self._keeper.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self._keeper.join(CONNECT_SECONDS)
        if self._warm:
            self._warm.socket.close()

    def say(self) -> bool:
        """Send the DELETE; whether the API server has taken it. There may be nothing to delete yet."""
        for _ in range(TRIES):
            with contextlib.suppress(*BROKEN):
                ready, self._warm = self._warm, None
                return _send(ready or self._open())
        return False

    def say_until_taken(self) -> bool:
        """Send it again for a while: a create that was under way may come behind the first one."""
        end = time.monotonic() + IN_FLIGHT_SECONDS
        while not (taken := self.say()) and time.monotonic() < end:
            time.sleep(0.05)
        return taken

    def _keep_warm(self) -> None:
        while not self._over.wait(RENEW_SECONDS):
            self._renew()

    def _renew(self) -> None:
        """Open a new connection and close the one before; while there is none to be had the old one stays."""
        with contextlib.suppress(*BROKEN):
            fresh, before = self._open(), self._warm
            _read_what_is_unasked(fresh.socket)
            self._warm = fresh
            if before:
                before.socket.close()

    def _open(self) -> Connection:
        """Connect, and write down what is to be sent: who we are is learnt anew, for tokens are renewed."""
        secure, host = self._address.scheme == "https", self._address.hostname or ""
        port = self._address.port or (443 if secure else 80)
        head = [
            f"DELETE {self._path} HTTP/1.1",
            f"Host: {self._address.netloc}",
            *(f"{name}: {text}" for name, text in asyncio.run(self._cluster.identity.headers())),
            "Content-Type: application/json",
            f"Content-Length: {len(BODY)}",
        ]
        opened = socket.create_connection((host, port), CONNECT_SECONDS)
        if secure:
            name = self._cluster.server_hostname or host
            opened = self._cluster.tls.wrap_socket(opened, server_hostname=name)
        return Connection(opened, "\r\n".join([*head, "", ""]).encode() + BODY)


def _read_what_is_unasked(opened: socket.socket) -> None:
    """Take what a server sends behind the handshake, such as tickets for the next one.

    A socket that is closed with something unread is reset, and what was sent on it may be lost with it.
    """
    opened.settimeout(UNASKED_SECONDS)
    with contextlib.suppress(OSError):  # nothing comes, or nothing more: whoever sends will find out
        opened.recv(1)
    opened.settimeout(CONNECT_SECONDS)


def _send(connection: Connection) -> bool:
    """Send what was written down; whether the API server has taken it."""
    with contextlib.closing(connection.socket):
        connection.socket.sendall(connection.request)
        connection.socket.sendall(AHEAD)
        answer = http.client.HTTPResponse(connection.socket, method="DELETE")
        answer.begin()
        return answer.status < 300

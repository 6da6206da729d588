"""A small HTTP server on loopback that remembers what it was asked and can be told to misbehave.

A server is a function from a request to an answer. Everything that was asked stands in `asked`, so that a
test can prove what a client did not send. Faults come before the answer: the next requests that match get
another answer, a cut body, a silence or a reset.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import re
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

PIECE = 1 << 18
HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "date", "server"})
HEADERS_ONLY = frozenset({204, 304})


@dataclass(frozen=True)
class Asked:
    """One request: names of headers are lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes = b""

    @property
    def path(self) -> str:
        return unquote(urlsplit(self.target).path)

    @property
    def query(self) -> dict[str, str]:
        return {name: values[-1] for name, values in parse_qs(urlsplit(self.target).query).items()}


@dataclass(frozen=True)
class Answer:
    """What goes back: a status, headers and a body in memory or in a file."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | Path = b""
    start: int = 0
    length: int | None = None
    cut_after: int | None = None
    """send so many bytes of the body and close the connection"""
    reset: bool = False
    """close the connection with a reset, in the place of an end"""
    hang: bool = False
    """send the headers and what `cut_after` allows, then nothing, until the server ends"""

    def size(self) -> int:
        whole = self.body.stat().st_size if isinstance(self.body, Path) else len(self.body)
        return whole - self.start if self.length is None else self.length


Answering = Callable[[Asked], Answer]


@dataclass
class Fault:
    """The next `times` requests that match get `answer`, or the right one with `changes`."""

    answer: Answer | None
    changes: dict[str, Any]
    method: str
    path: str
    times: int

    def hits(self, asked: Asked) -> bool:
        right_method = not self.method or asked.method == self.method
        return self.times > 0 and right_method and re.search(self.path, asked.target) is not None


def other_name() -> str:
    """Another name of loopback: clients that are sent there have left their host."""
    try:
        socket.getaddrinfo("localhost", None)
    except OSError:  # a machine that is hardly installed has no file of hosts
        return "127.0.0.2"
    return "localhost"


LOOPBACK, OTHER_NAME = "127.0.0.1", other_name()


class WebServer:
    """A server on a free port of loopback, for the length of a `with` block."""

    def __init__(self, answer: Answering, *, name: str = LOOPBACK, tls: ssl.SSLContext | None = None) -> None:
        self.asked: list[Asked] = []
        self.faults: list[Fault] = []
        self.stopping = threading.Event()
        self._answer = answer
        self._guard = threading.Lock()
        self._server = _Listener((LOOPBACK if name == "localhost" else name, 0), _handler_of(self))
        self.host = f"{name}:{self._server.server_address[1]}"
        self.url = f"{'https' if tls else 'http'}://{self.host}"
        if tls:
            self._server.socket = tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )

    def __enter__(self) -> WebServer:
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()

    def spoil(
        self,
        answer: Answer | None = None,
        *,
        path: str = "",
        method: str = "",
        times: int = 1,
        **changes: Any,
    ) -> None:
        """Give the next matching requests this answer, or the right one with these changes."""
        self.faults.append(Fault(answer, changes, method, path, times))

    def answer(self, asked: Asked) -> Answer:
        """The answer to a request, spoiled if a fault waits for it; a refusal has no body to spoil."""
        with self._guard:
            self.asked.append(asked)
            fault = next((each for each in self.faults if each.hits(asked)), None)
            if fault is not None and fault.answer is not None:
                fault.times -= 1
                return fault.answer
        right = self._answer(asked)
        if fault is None or right.status >= 300:
            return right
        with self._guard:
            fault.times -= 1
        return replace(right, **fault.changes)

    def asked_for(self, path: str, *, method: str = "") -> list[Asked]:
        """The requests so far whose target holds this pattern."""
        return [
            each
            for each in self.asked
            if re.search(path, each.target) and (not method or each.method == method)
        ]


class Service:
    """What stands behind a server of its own, and answers with `_answer`."""

    def __init__(self) -> None:
        self.web = WebServer(self._answer)

    def __enter__(self) -> Self:
        self.web.__enter__()
        return self

    def __exit__(self, *details: object) -> None:
        self.web.__exit__(*details)

    @property
    def url(self) -> str:
        """Where it answers."""
        return self.web.url

    def _answer(self, asked: Asked) -> Answer:
        raise NotImplementedError


def said(status: int, document: object) -> Answer:
    """An answer in JSON."""
    return Answer(status, {"Content-Type": "application/json"}, json.dumps(document).encode())


def ranged(asked: Asked, body: bytes | Path, headers: dict[str, str]) -> Answer:
    """All of a body, or the range that was asked for, as RFC 9110 has it; HEAD gets no bytes."""
    headers = {"Accept-Ranges": "bytes", **headers}
    whole = Answer(200, headers, body)
    wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", asked.headers.get("range", ""))
    same = asked.headers.get("if-range") in (None, headers.get("ETag"))
    if not wanted or not same:
        return whole
    size = whole.size()
    first = int(wanted[1])
    last = min(int(wanted[2] or size - 1), size - 1)
    if first > last:
        return Answer(416, {"Content-Range": f"bytes */{size}"})
    headers["Content-Range"] = f"bytes {first}-{last}/{size}"
    return Answer(206, headers, body, start=first, length=last - first + 1)


def forwarded(asked: Asked, to: str) -> Answer:
    """The answer of another server to the same request."""
    host = urlsplit(to).netloc
    connection = http.client.HTTPConnection(host, timeout=120)
    try:
        headers = {name: value for name, value in asked.headers.items() if name not in HOP_BY_HOP}
        connection.request(asked.method, asked.target, asked.body, headers)
        got = connection.getresponse()
        kept = {name: value for name, value in got.getheaders() if name.lower() not in HOP_BY_HOP}
        return Answer(got.status, kept, got.read())
    finally:
        connection.close()


def sha256(body: bytes | Path) -> str:
    """The SHA-256 of a body, in hexadecimal."""
    total = hashlib.sha256()
    for piece in _pieces(Answer(body=body), 0):
        total.update(piece)
    return total.hexdigest()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves early is no fault of the server."""


def _handler_of(server: WebServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _respond(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            _send(self, server, server.answer(Asked(self.command, self.path, headers, body)))

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _respond

        def log_message(self, format: str, *_: Any) -> None:
            """What was asked stands in `asked`."""

    return Handler


def _send(handler: BaseHTTPRequestHandler, server: WebServer, answer: Answer) -> None:
    handler.send_response(answer.status)
    for name, value in answer.headers.items():
        handler.send_header(name, value)
    if answer.status not in HEADERS_ONLY and "Content-Length" not in answer.headers:
        handler.send_header("Content-Length", str(answer.size()))
    handler.end_headers()
    if handler.command == "HEAD":
        return
    left = answer.size() if answer.cut_after is None else min(answer.cut_after, answer.size())
    for piece in _pieces(answer, answer.start):
        handler.wfile.write(piece[:left])
        left -= len(piece)
        if left <= 0:
            break
    if answer.hang:
        server.stopping.wait()
    if answer.reset:
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    if answer.reset or answer.cut_after is not None:
        handler.close_connection = True
        with contextlib.suppress(OSError):
            handler.connection.close()


def _pieces(answer: Answer, start: int) -> Iterator[bytes]:
    left = answer.size()
    if isinstance(answer.body, bytes):
        yield answer.body[start : start + left]
        return
    with answer.body.open("rb") as file:
        file.seek(start)
        while left > 0 and (piece := file.read(min(PIECE, left))):
            left -= len(piece)
            yield piece

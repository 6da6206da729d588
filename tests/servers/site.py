"""A web server with files, as people have them: an index page a folder, ETags and ranges."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Mapping
from html import escape
from urllib.parse import quote

from tests.servers.web import Answer, Asked, Service, ranged, sha256


class Site(Service):
    """Files by path, served below `/`; `files` may be changed while it runs."""

    def __init__(
        self, files: Mapping[str, bytes], *, validator: str = "etag", ranges: bool = True, token: str = ""
    ) -> None:
        self.files = dict(files)
        self.token = token
        self._validator, self._ranges = validator, ranges
        super().__init__()
        self._tags: dict[int, str] = {}

    @property
    def url(self) -> str:
        """The address of the index."""
        return f"{self.web.url}/"

    def sent(self) -> int:
        """How many GET requests have been made for files."""
        return len([each for each in self.web.asked if each.method == "GET" and not each.path.endswith("/")])

    def _answer(self, asked: Asked) -> Answer:
        if self.token and asked.headers.get("authorization") != f"Bearer {self.token}":
            return Answer(401)
        path = asked.path.removeprefix("/")
        if path in self.files:
            return self._file(asked, self.files[path])
        if path == "" or path.endswith("/"):
            return self._index(path)
        return Answer(404)

    def _file(self, asked: Asked, body: bytes) -> Answer:
        headers = {"Content-Type": "application/octet-stream"}
        if self._validator == "etag":
            headers["ETag"] = f'"{self._tag(body)}"'
            if asked.headers.get("if-match") not in (None, headers["ETag"]):
                return Answer(412)
        if self._ranges:
            return ranged(asked, body, headers)
        return Answer(200, headers, body)

    def _tag(self, body: bytes) -> str:
        return self._tags.setdefault(id(body), sha256(body)[:16])

    def _index(self, folder: str) -> Answer:
        below = {path.removeprefix(folder) for path in self.files if path.startswith(folder)}
        names = sorted({name.split("/")[0] + ("/" if "/" in name else "") for name in below})
        rows = "".join(f'<li><a href="{quote(name)}">{escape(name)}</a></li>' for name in names)
        page = f'<html><a href="?C=N">Name</a><a href="/">Up</a><ul>{rows}</ul></html>'
        return Answer(200, {"Content-Type": "text/html; charset=utf-8"}, page.encode())


class Meter:
    """A proxy that passes bytes on at a given rate and counts them: what a client really received."""

    def __init__(self, port: int, *, rate: float) -> None:
        self._upstream, self._rate = port, rate
        self.count = 0
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._listener.settimeout(0.2)
        self.port = int(self._listener.getsockname()[1])
        self._ended = threading.Event()
        self._allowed = 0.0
        self._acceptor = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Meter:
        self._acceptor.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._acceptor.join()
        self._listener.close()

    def _accept(self) -> None:
        passing: list[threading.Thread] = []
        while not self._ended.is_set():
            try:
                near, _ = self._listener.accept()
            except TimeoutError:
                continue
            far = socket.create_connection(("127.0.0.1", self._upstream))
            # what is counted and not yet received stays small; a small window behind us would only stall
            near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)
            far.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 262144)
            for source, sink in ((near, far), (far, near)):
                source.settimeout(0.5)
                thread = threading.Thread(target=self._pass, args=(source, sink, source is far), daemon=True)
                passing.append(thread)
                thread.start()
        for thread in passing:
            thread.join()

    def _pass(self, source: socket.socket, sink: socket.socket, counted: bool) -> None:
        with source, contextlib.suppress(OSError):
            while not self._ended.is_set():
                try:
                    data = source.recv(8192)
                except TimeoutError:
                    continue
                if not data:
                    break
                if counted:
                    self._wait(len(data))
                self._send(sink, data)
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _send(self, sink: socket.socket, data: bytes) -> None:
        """Send all, however long the other side makes us wait."""
        left = memoryview(data)
        while left and not self._ended.is_set():
            try:
                left = left[sink.send(left) :]
            except TimeoutError:
                continue

    def _wait(self, count: int) -> None:
        """Spread the bytes over time, all connections together."""
        with self._lock:
            self.count += count
            now = time.monotonic()
            self._allowed = max(self._allowed, now) + count / self._rate
            wait = self._allowed - now
        if wait > 0.005:
            self._ended.wait(wait)

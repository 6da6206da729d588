"""An API server that answers from prepared bytes, so that a measurement shows the client and not the server.

    python -m tests.perf.canned_api OBJECTS

It prints its port. It lists OBJECTS TrainJobs in pages, keeps watches open, makes an event of each apply, and
takes two commands: /create?n= and /touch?n=, an event each. To anything else it tells how many watches are
open. It checks nothing and stores nothing but how many objects there are.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import cast
from urllib.parse import parse_qsl, urlsplit

import uvloop

from . import floor

PAGE = 500
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
NAME, VERSION = b"tune-00001", b'"resourceVersion":"12345"'


class State:
    """How many there are, and who watches."""

    def __init__(self, objects: int) -> None:
        self.objects, self.version = objects, 1_000_000
        self.watchers: dict[str, list[asyncio.Transport]] = {"trainjobs": [], "jobsets": []}
        job = floor.train_job()
        jobset = floor.build(job, floor.runtime())
        stored = ("uid", "resourceVersion", "managedFields")
        jobset["metadata"] |= {field: job["metadata"][field] for field in stored}
        bodies = {"trainjobs": job, "jobsets": jobset}
        self._bodies = {kind: json.dumps(of, separators=(",", ":")).encode() for kind, of in bodies.items()}

    def body(self, kind: str, name: bytes) -> bytes:
        """One object under a new version."""
        self.version += 1
        version = b'"resourceVersion":"%d"' % self.version
        return self._bodies[kind].replace(NAME, name).replace(VERSION, version)

    def event(self, kind: str, type: bytes, body: bytes) -> None:
        """Tell all who watch."""
        line = b'{"type":"%s","object":%s}\n' % (type, body)
        for watcher in self.watchers[kind]:
            watcher.write(b"%x\r\n%s\r\n" % (len(line), line))

    def page(self, kind: str, start: int) -> bytes:
        """One page of a list."""
        end = min(start + PAGE, self.objects) if kind == "trainjobs" else 0
        items = b",".join(self.body(kind, b"tune-%05d" % number) for number in range(start, end))
        more = b'"continue":"%d",' % end if end < self.objects and kind == "trainjobs" else b""
        return b'{"metadata":{%s"resourceVersion":"%d"},"items":[%s]}' % (more, self.version, items)

    def create(self, count: int) -> None:
        """Make new TrainJobs, all at once."""
        for number in range(self.objects, self.objects + count):
            self.event("trainjobs", b"ADDED", self.body("trainjobs", b"tune-%05d" % number))
        self.objects += count

    async def touch(self, count: int) -> None:
        """Change TrainJobs that are there."""
        for number in range(count):
            name = b"tune-%05d" % (number % self.objects)
            self.event("trainjobs", b"MODIFIED", self.body("trainjobs", name))
            if number % 100 == 0:
                await asyncio.sleep(0)


class Connection(asyncio.Protocol):
    """One connection, without pipelining."""

    def __init__(self, state: State) -> None:
        self._state, self._buffer = state, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, _: Exception | None) -> None:
        for watchers in self._state.watchers.values():
            if self._transport in watchers:
                watchers.remove(self._transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, end, rest = self._buffer.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
        if end and len(rest) >= length:
            self._buffer = b""
            self._answer(*head.split(b" ", 2)[:2])

    def _answer(self, method: bytes, target: bytes) -> None:
        state, url = self._state, urlsplit(target.decode())
        asked = dict(parse_qsl(url.query))
        parts = url.path.strip("/").split("/")
        kind = next((part for part in parts if part in state.watchers), "")
        if method == b"PATCH":
            name = parts[parts.index(kind) + 1].encode()
            body = state.body(kind, name)
            self._send(body)
            state.event(kind, b"ADDED" if kind == "jobsets" else b"MODIFIED", body)
        elif "watch" in asked:
            state.watchers[kind].append(self._transport)
            self._transport.write(CHUNKED)
        elif kind:
            self._send(state.page(kind, int(asked.get("continue", 0))))
        else:
            self._send(b"%d" % sum(map(len, state.watchers.values())))
            if parts == ["create"]:
                state.create(int(asked["n"]))
            elif parts == ["touch"]:
                self._task = asyncio.ensure_future(state.touch(int(asked["n"])))

    def _send(self, body: bytes) -> None:
        self._transport.write(HEAD % len(body) + body)


async def main(objects: int) -> None:
    """Serve until killed."""
    state = State(objects)
    server = await asyncio.get_running_loop().create_server(lambda: Connection(state), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))

"""Runs programs in the workers of an MPIJob of v1 for its launcher, in the place of `kubectl exec`.

The launcher's script calls kubectl; here `kubectl_stand_in` takes its place. It hands its own output streams
to the runner of the job, which starts the program inside the worker's pod, as the cluster's node would.
One socket a job, without a name in the file system, and nobody else on this machine is answered.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import KfpTrainerError, SetupError
from .process.living_pod import Pod

Request = Mapping[str, Any]

MOST_BYTES = 1 << 18
STREAMS = 2
PAUSE_SECONDS = 0.1
PATIENCE_SECONDS = 1800.0
"""as on a cluster, where the launcher waits as long for a worker"""


class Target(NamedTuple):
    """A pod, and the container that a command runs in unless it names one."""

    pod: Pod
    container: str


Find = Callable[[str], Target | None]
"""the pod of a host, as soon as there is one"""


def address_of(folder: Path) -> str:
    """The address of a job's socket, the same for every runner of it."""
    return f"kfp-trainer/{sha256(str(folder).encode()).hexdigest()[:32]}"


def serve_commands(folder: Path, find: Find) -> asyncio.Task[None]:
    """Begin to answer; cancelling the task ends it and whatever it has started."""
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    door.bind(f"\0{address_of(folder)}")
    door.listen()
    door.setblocking(False)
    return asyncio.create_task(_accept(door, find))


async def _accept(door: socket.socket, find: Find) -> None:
    with door:
        async with asyncio.TaskGroup() as group:
            while True:
                client, _ = await asyncio.get_running_loop().sock_accept(door)
                group.create_task(_attend(client, find))


async def _attend(client: socket.socket, find: Find) -> None:
    """Run what one client asks for, until it ends or the client goes."""
    with client, suppress(OSError, ValueError, KeyError):  # who is gone or talks nonsense harms no other
        await _news(client)
        with _received(client) as (request, streams):
            if not request or len(streams) != STREAMS or not _is_own(client):
                return
            command = asyncio.create_task(_run(request, streams, find))
            gone = asyncio.create_task(_news(client))
            await asyncio.wait({command, gone}, return_when=asyncio.FIRST_COMPLETED)
            command.cancel()
            gone.cancel()
            (answer, _) = await asyncio.gather(command, gone, return_exceptions=True)
            if isinstance(answer, dict):
                client.send(json.dumps(answer).encode())


@contextmanager
def _received(client: socket.socket) -> Iterator[tuple[Request, list[int]]]:
    """What a client wants, and its streams, which are closed afterwards."""
    data, streams, _, __ = socket.recv_fds(client, MOST_BYTES, STREAMS)
    try:
        yield json.loads(data or b"{}"), streams
    finally:
        for descriptor in streams:
            os.close(descriptor)


def _is_own(client: socket.socket) -> bool:
    """Whether the client is a process of the person whose job it is."""
    shown = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return bool(struct.unpack("3i", shown)[1] == os.geteuid())


async def _news(client: socket.socket) -> None:
    """Wait until a client says something, or has gone."""
    loop, there = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(client, there.set)
    try:
        await there.wait()
    finally:
        loop.remove_reader(client)


async def _run(request: Request, streams: list[int], find: Find) -> dict[str, Any]:
    """Run a command in the pod of a host, once that runs; return how it ended."""
    host = str(request["host"])
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return {"code": await _run_in(host, request, streams, find)}
    except TimeoutError:
        return {"error": f"{host}: no pod of this worker has come to run within {PATIENCE_SECONDS:.0f} s"}
    except (KfpTrainerError, OSError) as error:
        return {"error": f"{host}: {error}"}


async def _run_in(host: str, request: Request, streams: list[int], find: Find) -> int:
    while True:
        target = find(host)
        if target is not None:
            try:
                container = request.get("container") or target.container
                session = await target.pod.start_on(container, request["command"], *streams)
                break
            except SetupError:  # the pod is there, and its container does not run yet
                pass
        await asyncio.sleep(PAUSE_SECONDS)
    try:
        return await session.ended()
    except asyncio.CancelledError:
        session.stop()
        await session.ended()
        raise
    finally:
        session.close()

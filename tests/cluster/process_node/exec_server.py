"""`kubectl exec` over WebSocket: one connection whose messages begin with the number of a stream.

Protocols v4 and v5 of Kubernetes' remote commands; the older ones, over SPDY, are refused with a sentence.
"""

import asyncio
import fcntl
import json
import os
import struct
import termios
from contextlib import suppress

from aiohttp import WSMsgType, web

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from kfp_trainer.runtime_operator.local.process.joining import Session

from .pods import NodePod

PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
INPUT, OUTPUT, ERRORS, VERDICT, SIZE, CLOSE = 0, 1, 2, 3, 4, 255
YES = ("1", "true")
BLOCK = 1 << 15
LAST_WORDS_SECONDS = 1.0
"""for what is still under way when the command has ended, which something it left behind may hold open"""


async def execute(request: web.Request, pod: NodePod) -> web.StreamResponse:
    """Run the command of a request in a container, with the client at its streams."""
    if request.headers.get("Upgrade", "").lower() != "websocket":
        raise web.HTTPBadRequest(text="exec: this node speaks WebSocket only; use kubectl 1.31 or newer")
    socket = web.WebSocketResponse(protocols=PROTOCOLS)
    query = request.query
    assert pod.living is not None
    try:
        session = await pod.living.open_session(
            request.match_info["container"],
            query.getall("command", []),
            reads=query.get("input", query.get("stdin")) in YES,
            terminal=query.get("tty") in YES,
        )
    except KfpTrainerError as error:
        raise web.HTTPBadRequest(text=str(error)) from error
    try:
        await socket.prepare(request)
        await _attend(socket, session)
    finally:
        session.close()
    return socket


async def _attend(socket: web.WebSocketResponse, session: Session) -> None:
    """Carry the streams until the command has ended or the client has gone."""
    hear = asyncio.create_task(_hear(socket, session))
    tell = [asyncio.create_task(_tell(socket, OUTPUT, session.says))]
    if session.warns != -1:
        tell.append(asyncio.create_task(_tell(socket, ERRORS, session.warns)))
    end = asyncio.create_task(session.ended())
    await asyncio.wait({hear, end}, return_when=asyncio.FIRST_COMPLETED)
    if not end.done():
        session.stop()
    code = await end
    await asyncio.wait(tell, timeout=LAST_WORDS_SECONDS)
    for task in (hear, *tell):
        task.cancel()
    await asyncio.gather(hear, *tell, return_exceptions=True)
    with suppress(ConnectionError):
        await socket.send_bytes(bytes([VERDICT]) + json.dumps(verdict(code)).encode())
    await socket.close()


def verdict(code: int) -> dict[str, object]:
    """How the command ended, as a client reads it."""
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    return {
        "metadata": {},
        "status": "Failure",
        "reason": "NonZeroExitCode",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }


async def _hear(socket: web.WebSocketResponse, session: Session) -> None:
    """Take what the client says, until it goes."""
    async for message in socket:
        if message.type is not WSMsgType.BINARY or not message.data:
            continue
        stream, data = message.data[0], message.data[1:]
        if stream == INPUT and session.reads != -1 and data:
            with suppress(BrokenPipeError):  # the command reads no more
                await asyncio.to_thread(_write, session.reads, data)
        elif stream == SIZE and session.reads == session.says:
            size = json.loads(data)
            fcntl.ioctl(
                session.says, termios.TIOCSWINSZ, struct.pack("4H", size["Height"], size["Width"], 0, 0)
            )
        elif stream == CLOSE and data[:1] == bytes([INPUT]):
            session.close_input()


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


async def _tell(socket: web.WebSocketResponse, stream: int, descriptor: int) -> None:
    """Pass on what the command says, until it says no more."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    pipe = os.fdopen(os.dup(descriptor), "rb", buffering=0)
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    try:
        with suppress(OSError):  # a terminal whose other end is closed says so with an error
            while data := await reader.read(BLOCK):
                await socket.send_bytes(bytes([stream]) + data)
    finally:
        transport.close()

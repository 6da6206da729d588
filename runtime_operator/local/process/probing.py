"""Asks a container one question: by a command in it, a connection, or an HTTP request."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from .pod import Object

Execute = Callable[[list[str], float], Awaitable[tuple[int, str]]]

Answer = tuple[bool, str]
"""whether all is well, and what was seen"""


async def ask(
    action: Object, container: Object, *, host: str, ports: Mapping[int, int], execute: Execute, limit: float
) -> Answer:
    """Do what a probe or hook says; whatever goes wrong is a no with its reason."""
    try:
        async with asyncio.timeout(limit):
            if "exec" in action:
                code, output = await execute(list(action["exec"]["command"]), limit)
                return code == 0, output.strip() or f"exit code {code}"
            if "httpGet" in action:
                return await _http_get(action["httpGet"], container, host=host, ports=ports)
            await _connect(action["tcpSocket"], container, host=host, ports=ports, secure=None)
            return True, "connected"
    except TimeoutError:
        return False, f"no answer within {limit:g}s"
    except (OSError, ValueError) as error:
        return False, str(error)


def port_of(port: int | str, container: Object, ports: Mapping[int, int]) -> int:
    """Return the port of this machine for a number or name of the document."""
    if isinstance(port, str) and not port.isdecimal():
        named = {one.get("name"): int(one["containerPort"]) for one in container.get("ports") or ()}
        if port not in named:
            raise ValueError(
                f'no port "{port}" in ports; there are {", ".join(filter(None, named)) or "none"}'
            )
        port = named[port]
    return ports.get(int(port), int(port))


async def _connect(
    action: Object, container: Object, *, host: str, ports: Mapping[int, int], secure: ssl.SSLContext | None
) -> bytes:
    """Open and close a connection; with a request in the action, send it and return the status line."""
    reader, writer = await asyncio.open_connection(
        action.get("host") or host, port_of(action["port"], container, ports), ssl=secure
    )
    try:
        if "request" not in action:
            return b""
        writer.write(action["request"].encode())
        return await reader.readline()
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def _http_get(action: Object, container: Object, *, host: str, ports: Mapping[int, int]) -> Answer:
    headers = {one["name"]: one["value"] for one in action.get("httpHeaders") or ()}
    lines = [f"GET {action.get('path') or '/'} HTTP/1.1"]
    lines += [
        f"{name}: {value}" for name, value in ({"Host": host, "User-Agent": "kube-probe", **headers}).items()
    ]
    request = "\r\n".join([*lines, "Connection: close", "", ""])
    secure = None
    if action.get("scheme") == "HTTPS":
        secure = ssl.create_default_context()
        secure.check_hostname, secure.verify_mode = False, ssl.CERT_NONE
    answer = await _connect({**action, "request": request}, container, host=host, ports=ports, secure=secure)
    words = answer.split()
    if len(words) < 2 or not words[1].isdigit():
        raise ValueError(f"no HTTP answer, got {answer[:80]!r}")
    return 200 <= int(words[1]) < 400, f"HTTP probe returned status {int(words[1])}"

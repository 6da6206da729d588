"""What a failed job died of, with the last words of the container that died first.

A container that left no termination message has them in its log: that is read once, at the end, and only
its tail. Where it cannot be read (no right to, the pod is gone, its node does not answer) the rest is told
without.
"""

from __future__ import annotations

import asyncio
import contextlib

from ..kube.cache import Key
from ..kube.errors import ApiError
from ..kube.transport import Transport
from ..render.plan import Object
from .caches import Caches
from .failure import LINES, first_death, last_words, told, wants_words
from .memory import Memory
from .pod_view import Death

PATIENCE = 3.0  # seconds for a kubelet to answer
BYTES = 65536


class LastWords:
    """Asks for the log of one container of a job."""

    def __init__(self, transport: Transport, caches: Caches) -> None:
        self._transport, self._caches = transport, caches

    async def cause(self, key: Key, jobset: Object, memory: Memory) -> str | None:
        """Say what the job died of; None where no pod tells."""
        death = first_death(self._caches.book.all_pods(key, jobset["metadata"].get("uid", "")))
        if death is None:
            return None
        if not wants_words(death):
            return told(death)
        place = f"{death.pod}/{death.container}/{death.finished}"
        if place not in memory.words:
            memory.words[place] = await self._ask(key[0], death)
        return told(death, memory.words[place])

    async def _ask(self, namespace: str, death: Death) -> str:
        parameters = {"container": death.container, "tailLines": str(LINES), "limitBytes": str(BYTES)}
        if death.is_restarted:
            parameters["previous"] = "true"
        lines: list[str] = []
        log = self._transport.stream_log(namespace, death.pod, parameters=parameters)
        try:
            async with asyncio.timeout(PATIENCE), contextlib.aclosing(log):
                async for line in log:
                    lines.append(line.decode(errors="replace"))
        except (ApiError, TimeoutError):
            return last_words(lines)
        return last_words(lines)

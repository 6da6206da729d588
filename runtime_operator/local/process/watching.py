"""The probes of one running container, and what follows from their answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from .bench import Bench
from .pod import Container, Object
from .probes import Settings, Verdict
from .probing import Answer, ask
from .run import Run


@dataclass(frozen=True, slots=True)
class Consequences:
    """Who is told what the probes of a container come to."""

    started: Callable[[], None]
    """called once"""
    ready: Callable[[bool, str], None]
    """called with each new verdict and its reason"""
    sick: Callable[[str, Object], None]
    """called when the container must be restarted, with the reason and the probe"""


class Watch:
    """The probes of one run. Without a probe a container is started, and ready, at once."""

    def __init__(self, container: Container, run: Run, bench: Bench, then: Consequences) -> None:
        self._spec, self._run, self._bench, self._then = container.spec, run, bench, then

    async def watch(self) -> None:
        """Ask until cancelled, or until the container is given up."""
        startup, readiness, liveness = (
            self._spec.get(f"{kind}Probe") for kind in ("startup", "readiness", "liveness")
        )
        if startup and not await self._has_started(startup):
            return
        self._then.started()
        if not readiness:
            self._then.ready(True, "")
        async with asyncio.TaskGroup() as group:
            if readiness:
                group.create_task(self._ask_ready(readiness))
            if liveness:
                group.create_task(self._ask_alive(liveness))

    async def _has_started(self, probe: Object) -> bool:
        verdict = Verdict(Settings.of(probe), at_first=None)
        async for answer, why in self._answers(probe):
            if not verdict.take(answer):
                continue
            if not answer:
                self._then.sick(f"Startup probe failed: {why}", probe)
            return answer
        return False

    async def _ask_ready(self, probe: Object) -> None:
        verdict = Verdict(Settings.of(probe), at_first=False)
        async for answer, why in self._answers(probe):
            if verdict.take(answer):
                self._then.ready(answer, "" if answer else f"Readiness probe failed: {why}")

    async def _ask_alive(self, probe: Object) -> None:
        verdict = Verdict(Settings.of(probe), at_first=True)
        async for answer, why in self._answers(probe):
            if verdict.take(answer) and not answer:
                self._then.sick(f"Liveness probe failed: {why}", probe)
                return

    async def _answers(self, probe: Object) -> AsyncIterator[Answer]:
        """Ask again and again, in the probe's period."""
        settings = Settings.of(probe)
        await asyncio.sleep(settings.delay)
        while True:
            yield await ask(
                probe,
                self._spec,
                host=self._bench.place.pod_ip,
                ports=self._bench.place.ports,
                execute=self._run.execute,
                limit=settings.timeout,
            )
            await asyncio.sleep(settings.period)

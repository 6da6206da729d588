"""One pod from its first init container to its last sidecar.

Init containers run one after the other; sidecars start among them and stop after everything else. All that a
later runner needs is on disk before anything starts: `pod.json` (document, place, way of isolation), the runs
of the containers, `stop` once an end is asked for, and the last `status.json`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...errors import SetupError
from .attempt import attempts
from .bench import Bench, Settings
from .events import Listener, PodEvent
from .files import write_json
from .freshness import keep_fresh
from .joining import Session
from .life import Life
from .phase import Phase, initialized
from .place import Place
from .pod import Object, containers, grace_of
from .preparation import write_hosts
from .references import Resolver
from .report import Report
from .run import Run
from .state import NEVER, Running, Terminated
from .volumes import remove_volumes

_LOST = "The container could not be located when the pod was terminated"
_LAST_GRACE = 2.0
"""least seconds that a sidecar gets to stop, as a kubelet gives it"""


class Pod:
    """A pod that runs, or has run, on this machine."""

    def __init__(
        self,
        pod: Object,
        place: Place,
        *,
        resolver: Resolver,
        settings: Settings,
        listener: Listener,
        begun: float,
    ) -> None:
        self._bench = Bench(pod, place, resolver, settings, self._tell, self._tell)
        self._report = Report(pod, listener, begun=begun)
        self.lives = [Life(container, self._bench) for container in containers(pod)]
        self._stopping = False
        self._stop_asked = asyncio.Event()
        self._over = False
        self._deadline = 0.0
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._refresh: asyncio.Task[None] | None = None

    @property
    def folder(self) -> Path:
        """Return the pod's folder."""
        return self._bench.place.folder

    @property
    def phase(self) -> Phase:
        """Return Pending, Running, Succeeded or Failed."""
        return self._report.phase

    def status(self) -> dict[str, Any]:
        """Return the pod's status as a kubelet would write it."""
        return self._report.status

    def begin(self, *, known: dict[str, Any] | None = None) -> None:
        """Start the pod, or go on with what is on disk; `known` is the status of before."""
        self._report.status = known or {}
        limit = self._bench.pod["spec"].get("activeDeadlineSeconds")
        if limit is not None:
            left = max(self._report.begun + float(limit) - time.time(), 0.0)
            self._timer = asyncio.get_running_loop().call_later(left, self._too_long)
        self._tell()
        self._refresh = asyncio.create_task(keep_fresh(self._bench))
        self._task = asyncio.create_task(self._live(), name=str(self._bench.pod["metadata"]["name"]))

    def log(self, container: str, *, previous: bool = False) -> Path | None:
        """Return the file of a container's log, or of the run before; None when there is none."""
        runs = attempts(self._bench.container_folder(container))
        index = 2 if previous else 1
        return runs[-index].log if len(runs) >= index else None

    async def execute(
        self, container: str, command: Sequence[str], *, limit: float | None = None
    ) -> tuple[int, str]:
        """Run a command in a container that runs; return its exit code and output."""
        return await self._running(container).execute(list(command), limit)

    async def open_session(
        self, container: str, command: Sequence[str], *, reads: bool, terminal: bool
    ) -> Session:
        """Run a command in a container that runs, for somebody who talks to it."""
        return await self._running(container).open_session(list(command), reads=reads, terminal=terminal)

    async def start_on(self, container: str, command: Sequence[str], out: int, err: int) -> Session:
        """Run a command in a container that runs, with somebody else's streams."""
        return await self._running(container).start_on(list(command), out, err)

    def _running(self, container: str) -> Run:
        life = next((life for life in self.lives if life.state.name == container), None)
        if life is None or life.run is None or not isinstance(life.state.now, Running):
            raise SetupError(f'container "{container}": it does not run; see the pod\'s status')
        return life.run

    def update_hosts(self, hosts: Mapping[str, str]) -> None:
        """Change the host names the pod knows: at once where it has a view of its own, else at a restart."""
        self._bench.place = replace(self._bench.place, hosts=dict(hosts))
        self.keep()
        if self._bench.settings.isolation.own_view and (self.folder / "etc").exists():
            write_hosts(self._bench)

    def remove_volumes(self) -> None:
        """Delete what was made for the pod's volumes; its logs and its status stay."""
        remove_volumes(self._bench.place)

    def keep(self) -> None:
        """Write what a later runner needs to take the pod over."""
        bench = self._bench
        way = bench.settings.isolation.value
        kept = {
            "pod": bench.pod,
            "place": bench.place.document(),
            "isolation": way,
            "begun": self._report.begun,
        }
        write_json(self.folder / "pod.json", kept)

    async def wait(self) -> Phase:
        """Wait until nothing of the pod runs any more and nothing will be started; return its phase."""
        assert self._task is not None
        await asyncio.shield(self._task)
        return self._report.phase

    async def stop(self, grace: float | None = None, *, reason: str = "", message: str = "") -> Phase:
        """End every container: SIGTERM, and SIGKILL after the grace; return the phase.

        May be called again with a shorter grace.
        """
        if not self._over:
            self._ask_stop(grace_of(self._bench.pod) if grace is None else grace, reason, message)
        return await self.wait()

    def _ask_stop(self, seconds: float, reason: str, message: str) -> None:
        """Tell every container to end by a moment, and keep on disk that they were told."""
        now = asyncio.get_running_loop().time()
        self._deadline = min(self._deadline, now + seconds) if self._stopping else now + seconds
        if not self._stopping:
            self._stopping = True
            self._report.reason, self._report.message = reason, message
        by = time.time() + self._deadline - now
        wish = {"by": by, "reason": self._report.reason, "message": self._report.message}
        with suppress(OSError):  # on a full disk the caller's own wish must do
            write_json(self.folder / "stop", wish)
        self._stop_asked.set()
        for life in self.lives:
            if life.state.kind != "sidecar" or life.is_stopping or self._at_once:
                life.ask_stop(self._deadline)

    @property
    def _at_once(self) -> bool:
        """Tell whether somebody wants an end without any grace."""
        return self._stopping and self._deadline <= asyncio.get_running_loop().time()

    async def detach(self) -> None:
        """Let go of the pod; what runs goes on."""
        tasks = [
            task
            for task in (self._task, self._refresh, *(life.task for life in self.lives))
            if task is not None
        ]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._timer:
            self._timer.cancel()

    def _of(self, *kinds: str) -> list[Life]:
        return [life for life in self.lives if life.state.kind in kinds]

    async def _live(self) -> None:
        """Go through the life of the pod."""
        over = {life: await life.over_before() for life in self._of("init", "main")}
        mains = self._of("main")
        if not all(over[life] for life in mains) and await self._initialize():
            await asyncio.gather(*(life.begin() for life in mains))
        await self._finish()

    async def _initialize(self) -> bool:
        """Run the init containers in their order; false when one failed for good or was stopped."""
        for life in self._of("init", "sidecar"):
            task = life.begin()
            if life.state.kind == "init":
                ended = await task
                if ended is None or ended.exit_code != 0:
                    return False
            else:
                await self._sidecar_started(life, task)
        return True

    async def _sidecar_started(self, life: Life, task: asyncio.Task[Terminated | None]) -> None:
        started = asyncio.create_task(life.started.wait())
        stopped = asyncio.create_task(self._stop_asked.wait())
        try:
            await asyncio.wait({started, stopped, task}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            started.cancel()
            stopped.cancel()

    async def _finish(self) -> None:
        """Stop the sidecars, the last first, and settle what the pod has come to."""
        now = asyncio.get_running_loop().time
        deadline = self._deadline if self._stopping else now() + grace_of(self._bench.pod)
        for life in reversed(self._of("sidecar")):
            life.ask_stop(self._deadline if self._at_once else max(deadline, now() + _LAST_GRACE))
            await life.begin()
        if self._timer:
            self._timer.cancel()
        if self._refresh:
            self._refresh.cancel()
        states = [life.state for life in self.lives]
        if self._stopping and initialized(states):
            for state in states:
                if not isinstance(state.now, Terminated):
                    state.now = Terminated(137, "ContainerStatusUnknown", NEVER, NEVER, message=_LOST)
        self._over = True
        self._tell()

    def heed_stop(self, wish: Mapping[str, Any]) -> None:
        """Go on with an end that was asked for before this runner came."""
        self._ask_stop(max(wish["by"] - time.time(), 0.0), wish["reason"], wish["message"])

    def _too_long(self) -> None:
        text = "Pod was active on the node longer than the specified deadline"
        self._ask_stop(grace_of(self._bench.pod), "DeadlineExceeded", text)

    def _tell(self, event: PodEvent | None = None) -> None:
        states = [life.state for life in self.lives]
        self._report.update(states, self._bench.place, over=self._over, event=event)

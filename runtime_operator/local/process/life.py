"""The life of one container: run after run, as its policy says, until it is over or stopped."""

from __future__ import annotations

import asyncio
import time

from ...errors import Retryable
from .attempt import Attempt, attempts
from .bench import Bench
from .events import Kind, PodEvent
from .failures import ConfigError
from .hooks import run_hook
from .pod import Container, Object, grace_of, restart_policy
from .run import Run
from .state import NEVER, ContainerState, Running, Terminated, Waiting
from .watching import Consequences, Watch

_FOREVER = 1e12


class _Stopped(Exception):
    """The container was stopped before its run began."""


class Life:
    """One container of a pod, through all its runs."""

    def __init__(self, container: Container, bench: Bench) -> None:
        self.container = container
        reason = "PodInitializing" if bench.pod["spec"].get("initContainers") else "ContainerCreating"
        image = str(container.spec.get("image") or "")
        self.state = ContainerState(container.name, image, container.kind, now=Waiting(reason))
        self.started = asyncio.Event()
        """set once the container counts as started"""
        self.task: asyncio.Task[Terminated | None] | None = None
        self.run: Run | None = None
        self._bench = bench
        self._folder = bench.container_folder(container.name)
        self._stopping = False
        self._asked = asyncio.Event()
        """somebody wants the current run to end by the deadline"""
        self._deadline = _FOREVER
        policy = restart_policy(bench.pod)
        if container.kind == "sidecar":
            policy = "Always"
        elif container.kind == "init" and policy == "Always":
            policy = "OnFailure"
        self._policy = policy

    def begin(self) -> asyncio.Task[Terminated | None]:
        """Run the container, or go on with what runs; the task ends when it must not be started again."""
        if self.task is None:
            self.task = asyncio.create_task(self._keep(), name=self.container.name)
        return self.task

    @property
    def is_stopping(self) -> bool:
        """Tell whether the container was told to end for good."""
        return self._stopping

    def ask_stop(self, deadline: float) -> None:
        """End the container by a moment of the loop's clock, and never start it again."""
        self._stopping = True
        self._ask_end(deadline)

    async def over_before(self) -> bool:
        """Tell whether the container has ended for good on disk; its state then says how."""
        runs = attempts(self._folder)
        if not runs or runs[-1].is_alive() or not runs[-1].record():
            return False
        ended = await Run(self.container, runs[-1], self._bench).adopt()
        if ended is None or self._again(ended):
            return False
        self.state.restarts = runs[-1].number
        self._set_ended(ended)
        return True

    def _ask_end(self, deadline: float) -> None:
        self._deadline = min(self._deadline, deadline)
        self._asked.set()

    def _again(self, ended: Terminated) -> bool:
        return self._policy == "Always" or (self._policy == "OnFailure" and ended.exit_code != 0)

    async def _keep(self) -> Terminated | None:
        attempt, fresh, wait = await self._resume()
        ended: Terminated | None = None
        while not (fresh and self._stopping):
            try:
                ended = await self._once(attempt, fresh=fresh, wait=wait)
            except _Stopped:
                return ended
            if self._stopping or not self._again(ended):
                return ended
            ran = ended.finished - ended.started if ended.started != NEVER else 0.0
            pause, wait = self._bench.settings.backoff.next_wait(wait, ran=ran)
            await self._back_off(pause - (time.time() - ended.finished), ended)
            if self._stopping:
                self._set_ended(ended)
                return ended
            attempt, fresh = Attempt(self._folder / str(attempt.number + 1)), True
            self.state.restarts, self.state.last = attempt.number, ended
        return ended

    async def _resume(self) -> tuple[Attempt, bool, float | None]:
        """Return the run to begin with, whether it must be started, and the wait to remember with it."""
        runs = attempts(self._folder)
        if not runs:
            return Attempt(self._folder / "0"), True, None
        latest = runs[-1]
        self.state.restarts = latest.number
        if len(runs) > 1:
            self.state.last = await Run(self.container, runs[-2], self._bench).adopt()
        begun = latest.is_alive() or bool(latest.record())
        return latest, not begun, latest.wait()

    async def _once(self, attempt: Attempt, *, fresh: bool, wait: float | None) -> Terminated:
        """Go through one run from its start to its end."""
        self._asked.clear()
        if not self._stopping:
            self._deadline = _FOREVER
        run = self.run = Run(self.container, attempt, self._bench)
        ended = await self._start(run, wait) if fresh else await run.adopt()
        if ended is None:
            ended = await self._attend(run)
        self._set_ended(ended)
        self._tell("exited", ended.reason, ended.message, exit_code=ended.exit_code)
        return ended

    async def _start(self, run: Run, wait: float | None) -> Terminated | None:
        """Start a run; wait for what it names and does not exist yet."""
        while not self._stopping:
            self.state.now = Waiting("ContainerCreating")
            self._bench.changed()
            try:
                return await run.start(wait=wait)
            except (ConfigError, Retryable) as error:
                self.state.now = Waiting("CreateContainerConfigError", str(error))
                self._tell("waiting", "CreateContainerConfigError", str(error))
                await self._asked_within(self._bench.settings.retry)
        raise _Stopped

    async def _back_off(self, pause: float, ended: Terminated) -> None:
        if pause <= 0:
            return
        self.state.last = ended
        text = f"back-off {pause:.0f}s restarting failed container={self.container.name}"
        self.state.now = Waiting("CrashLoopBackOff", text)
        self._tell("waiting", "CrashLoopBackOff", text)
        self._asked.clear()
        if not self._stopping:
            await self._asked_within(pause)

    async def _asked_within(self, seconds: float) -> bool:
        """Wait until somebody wants an end, or the time is over."""
        try:
            await asyncio.wait_for(self._asked.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def _attend(self, run: Run) -> Terminated:
        """Stay with a running container: hook, probes, its end or ours."""
        self.state.container_id = self._bench.container_id(self.container.name, run.attempt.number)
        self.state.now = Running(run.started)
        self._tell("started", "Started")
        if self._stopping:
            self._asked.set()
        end = asyncio.create_task(run.ended())
        asked = asyncio.create_task(self._asked.wait())
        watch = asyncio.create_task(self._watch(run))
        try:
            await asyncio.wait({end, asked}, return_when=asyncio.FIRST_COMPLETED)
            if not end.done():
                await self._finish(run, end)
            return await end
        finally:
            for task in (end, asked, watch):
                task.cancel()
            for problem in await asyncio.gather(end, asked, watch, return_exceptions=True):
                if isinstance(problem, Exception):  # our own mistake: say so, loudly
                    raise problem

    async def _watch(self, run: Run) -> None:
        """Run the hook after the start, then the probes."""
        content, why = await run_hook("postStart", self.container, run, self._bench, limit=_FOREVER)
        if not content:
            self._sick(f"PostStartHook failed: {why}", {})
            return
        then = Consequences(started=self._has_started, ready=self._is_ready, sick=self._sick)
        await Watch(self.container, run, self._bench, then).watch()

    async def _finish(self, run: Run, end: asyncio.Task[Terminated]) -> None:
        """Hook, SIGTERM, and SIGKILL at the deadline, which a later wish may bring forward."""
        loop = asyncio.get_running_loop()
        left = max(self._deadline - loop.time(), 0.0)
        hook = asyncio.create_task(run_hook("preStop", self.container, run, self._bench, limit=left))
        await asyncio.wait({hook, end}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        hook.cancel()
        run.signal(kill=False)
        while not end.done() and (left := self._deadline - loop.time()) > 0:
            self._asked.clear()
            sooner = asyncio.create_task(self._asked.wait())
            await asyncio.wait({end, sooner}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            sooner.cancel()
        if not end.done():
            run.signal(kill=True)
        await asyncio.wait({end})

    def _has_started(self) -> None:
        self.state.started = True
        self.started.set()
        self._bench.changed()

    def _is_ready(self, ready: bool, why: str) -> None:
        if ready is not self.state.ready:
            self.state.ready = ready
            self._tell("ready" if ready else "unready", "" if ready else "Unhealthy", why)

    def _sick(self, why: str, probe: Object) -> None:
        """Restart a container that its probe or hook gave up."""
        self._tell("note", "Unhealthy", why)
        seconds = probe.get("terminationGracePeriodSeconds")
        grace = grace_of(self._bench.pod) if seconds is None else float(seconds)
        self._ask_end(asyncio.get_running_loop().time() + grace)

    def _set_ended(self, ended: Terminated) -> None:
        self.state.now = ended
        self.state.container_id = ended.container_id
        self.state.ready = self.container.kind == "init" and ended.exit_code == 0
        self.state.started = False

    def _tell(self, kind: Kind, reason: str, message: str = "", *, exit_code: int | None = None) -> None:
        event = PodEvent(kind, self.container.name, reason, message, exit_code, self.state.restarts)
        self._bench.tell(event)

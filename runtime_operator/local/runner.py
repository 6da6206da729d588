"""Runs one job: tells the rules how its pods fare, does what they decide, and writes everything down first.

The state is on disk before anything is done that follows from it. So a runner that is killed loses nothing:
the next one reads the state, takes over the pods that live, starts those that should run and do not, stops
those that should not, and goes on.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..api.names import FAILED, REASON_CANCELLED
from ..progress import serve
from .causes import deaths
from .commands import serve_commands
from .folder import JobFolder, Json
from .kubectl import reaches_by_kubectl
from .pods import Pods
from .process.failures import folder_failure
from .record import JobRecord
from .reporting import ENDED, report_of
from .semantics import (
    Command,
    Event,
    PodReport,
    Remove,
    Settled,
    Start,
    State,
    Stop,
    commands_between,
    delete_jobset,
    from_json,
    replace_jobset,
    report,
    settle,
    to_json,
)
from .status import deadline, finish, is_finished, observe

CANNOT_START = "CannotStart"
CANNOT_KEEP = "CannotKeep"
_PATIENCE = 1.0
"""seconds until a disk that refused something is tried again"""
_SPARE = 0.02
"""seconds in which news gather before they are looked at together"""


class Runner:
    """The one that runs a job; there is never a second one."""

    def __init__(
        self, folder: JobFolder, record: JobRecord, *, jobs: Path, clock: Callable[[], float] = time.time
    ) -> None:
        self._folder, self._record, self._clock = folder, record, clock
        self._news = asyncio.Event()
        self._pods = Pods(folder, record, jobs, changed=self._news.set, tell=self._tell_pod)
        document = folder.read("state")
        assert document is not None
        self._state: State = from_json(document)
        self._status: Json = folder.read("status") or {}
        self._kept: tuple[State | None, Json | None] = (self._state, folder.read("status"))
        """what is on disk"""
        self._unkept = False
        """the disk has refused what should be on it"""

    async def run(self) -> None:
        """Run the job until nothing is left to do."""
        server = await self._serve_progress()
        by_kubectl = reaches_by_kubectl(self._record.train_job)
        commands = serve_commands(self._folder.path, self._pods.find) if by_kubectl else None
        self._pods.take_up(self._state)
        while not await self._work():
            pass
        if commands is not None:
            commands.cancel()
            await asyncio.wait({commands})
        if server is not None:
            server.close()
            await server.wait_closed()

    async def _work(self) -> bool:
        """Take one turn; tell whether nothing is left to do, for good."""
        heeded = self._heed_wishes()
        wait = self._pass()
        if not self._is_over():
            await self._sleep(wait)
            return False
        self._folder.write("over", {"time": self._clock()})
        if self._folder.read("wish") == heeded:
            return True
        self._folder.reopen()
        return False

    def wake(self) -> None:
        """Look again: a person wants something, or a trainer has posted its progress."""
        self._news.set()

    async def may_post(self, namespace: str, name: str, token: str) -> bool:
        """Whether a token is this job's."""
        mine = (namespace, name) == (self._folder.namespace, self._folder.name)
        return mine and secrets.compare_digest(token.encode(), self._record.token.encode())

    async def keep(self, namespace: str, name: str, progress: Json) -> bool:
        """Keep what the trainer says of its progress."""
        self._status = {**self._status, "trainerStatus": progress}
        self.wake()
        return True

    async def _serve_progress(self) -> asyncio.Server | None:
        """Listen where the pods have been told to post; a job goes on where that cannot be."""
        port = self._record.progress_port
        try:
            return await serve(port, self)
        except OSError as error:
            text = f"no progress will be seen: port {port}: {(error.strerror or str(error)).lower()}"
            self._tell(Event("TrainJob", self._folder.name, "NoProgress", text, warning=True), self._clock())
            return None

    def _pass(self) -> float | None:
        """Take in the news, let the rules decide, write it down, do it; return when to look again."""
        now = self._clock()
        before = self._state
        state = self._with_reports(before, now)
        due = deadline(self._record.train_job, self._status, self._record.created)
        if due is not None and due.at <= now and not state.status.ended:
            state = self._give_up(state, due.reason, due.message, now)
        if (why := self._pods.hopeless()) and not state.status.ended and not state.gone:
            state = self._give_up(state, CANNOT_START, why, now)
        settled = self._settle(state, now)
        for command in commands_between(before, settled.state):
            self._do(command)
        again = now + _PATIENCE if self._unkept else None
        times = [each for each in (settled.look_again, due.at if due else None, again) if each is not None]
        return max(min(times) - now, 0.0) if times else None

    def _settle(self, state: State, now: float) -> Settled:
        """Let the rules decide and write down what follows; a job whose state cannot be kept is given up."""
        settled = settle(state, now)
        for event in settled.events:
            self._tell(event, now)
        try:
            self._keep(settled.state, now)
            self._unkept = False
        except OSError as error:
            self._folder.drop_reserve()
            if not self._unkept:
                why = folder_failure("the job's folder", str(self._folder.path), error.errno or 0)
                settled = settle(self._give_up(settled.state, CANNOT_KEEP, why, now), now)
            self._unkept = True
            with suppress(OSError):  # tried again until there is room, so that somebody learns of the end
                self._keep(settled.state, now)
                self._unkept = False
        return settled

    def _with_reports(self, state: State, now: float) -> State:
        for pod in state.pods:
            if pod.ended:
                continue
            news = self._pods.status(pod)
            if news is None:
                if pod.terminating:  # it was told to stop before it was ever started
                    state = report(state, pod.uid, PodReport("Failed", finished=now))
                continue
            over = self._pods.is_over(pod)
            fresh = report_of(
                news if over or news.get("phase") not in ENDED else {**news, "phase": "Running"}, now=now
            )
            if fresh != pod.report:
                state = report(state, pod.uid, fresh)
        return state

    def _give_up(self, state: State, reason: str, message: str, now: float) -> State:
        """End a job for a reason of its own: the JobSet goes, and the status says why."""
        self._status = finish(self._status, FAILED, reason=reason, message=message, now=now)
        self._tell(Event("TrainJob", self._folder.name, reason, message, warning=True), now)
        return delete_jobset(state, now)

    def _keep(self, state: State, now: float) -> None:
        """Write down the status and the state; the status first, for only it knows of some ends."""
        self._state = state
        found = deaths(self._pods.statuses()) if state.status.ended and not is_finished(self._status) else []
        self._status = observe(self._status, state, cause=str(found[0]) if found else "", now=now)
        if self._status != self._kept[1]:
            self._folder.write("status", self._status)
            self._kept = (self._kept[0], self._status)
        if state != self._kept[0]:
            self._folder.write("state", to_json(state))
            self._kept = (state, self._status)

    def _do(self, command: Command) -> None:
        match command:
            case Start(pod):
                self._pods.start(pod)
            case Stop(pod):
                self._pods.stop(pod)
            case Remove(pod):
                self._pods.remove(pod)

    def _heed_wishes(self) -> Json | None:
        """Do what a person wants, and what an earlier runner had written into the status but not yet done."""
        asked = self._folder.read("wish")
        wish = asked or {}
        if wish.get("cancel") and not is_finished(self._status):
            text = "cancelled by a person"
            self._state = self._give_up(self._state, REASON_CANCELLED, text, self._clock())
        suspend = wish.get("suspend", self._state.suspended)
        if suspend != self._state.suspended:
            jobset = {**self._state.jobset, "spec": {**self._state.spec, "suspend": suspend}}
            self._state = replace_jobset(self._state, jobset)
        if is_finished(self._status) and not (self._state.gone or self._state.status.ended):
            self._state = delete_jobset(self._state, self._clock())
        return asked

    def _is_over(self) -> bool:
        resting = self._state.suspended or self._state.gone or self._state.status.ended is not None
        return resting and not self._pods.are_alive and not self._unkept

    async def _sleep(self, seconds: float | None) -> None:
        """Wait for news, or until it is time to look again."""
        try:
            await asyncio.wait_for(self._news.wait(), seconds)
            await asyncio.sleep(_SPARE)
        except TimeoutError:
            pass
        self._news.clear()

    def _tell(self, event: Event, now: float) -> None:
        told = {
            "time": now,
            "object": f"{event.kind}/{event.name}",
            "reason": event.reason,
            "message": event.message,
            "type": "Warning" if event.warning else "Normal",
        }
        with suppress(OSError):  # a full disk shows where the state is kept
            self._folder.append_event(told)

    def _tell_pod(self, name: str, reason: str, message: str, warning: bool) -> None:
        self._tell(Event("Pod", name, reason, message, warning), self._clock())

"""One pass over a job of an older kind: look, decide, write what differs.

`decide` says what becomes of the job, `render_legacy` what it consists of, `changes` what of that is yet to
be done. Here the world is read from the caches and the rest is done: objects are brought about, Jobs held,
the status written, pods labelled, and what is to go is deleted. The end of a job is written before its pods
are touched, so that whoever comes after a crash knows of it. A pass over an unchanged world writes nothing.

While other jobs are begun, a pass ends with the JobSet, whose pods take longest to come; the next one makes
the names of the pods, which nobody resolves before they run, and tells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ...api.legacy import LegacyJob, read_legacy
from ...conditions import is_true
from ...errors import Retryable, SpecError
from ...key_material import FreshKeys
from ...kube.errors import ApiError, Conflict, TooMany, Unreachable
from ...render.facts import Facts
from ...render.legacy import admit_legacy, render_legacy
from ...render.legacy.mpi import Workers
from ...render.plan import Object, Plan
from ..decisions import Decisions
from ..memory import Memory
from ..passes import Pass, Surroundings
from .beginnings import LOOK_AGAIN_AFTER, Beginnings
from .caches import OlderCaches
from .changes import LATER, Changes, changes
from .conditions import FAILED, SUCCEEDED, is_finished
from .decide import Decision, Event, decide, refused
from .foreign import clash, in_the_way, is_owned, may_be_anothers
from .kinds import OlderKey
from .other_operator import is_another_operators
from .pods import RUNNING, newest
from .replica_labels import write_labels
from .status_write import change_of, due
from .world import OlderWorld, Seen
from .writer import InTheWay, OlderWriter, refuse_to_touch

Json = Mapping[str, Any]

NOT_READY_AGAIN_AFTER = 1.0
IN_THE_WAY_AGAIN_AFTER = 5.0
WORKER = "Worker"


class OlderReconciler:
    """Called with the key of a job."""

    def __init__(self, around: Surroundings, caches: OlderCaches, others_wait: Callable[[], bool]) -> None:
        self._around, self._caches = around, caches
        self._beginnings = Beginnings(around.clock, others_wait)
        self._world = OlderWorld(caches)
        self._writer = OlderWriter(around.transport, caches, around.metrics)
        self._decisions = Decisions(around.recorder)
        self._memories: dict[OlderKey, Memory] = {}

    async def __call__(self, key: OlderKey) -> Pass:
        """Make one pass."""
        cached = self._caches.job(key)
        if cached is None:
            self._memories.pop(key, None)
            return Pass()
        if not self._caches.is_ready(key[0]):
            return Pass(again=NOT_READY_AGAIN_AFTER)
        memory = self._memory_of(key, cached.head.uid)
        if self._beginnings.go_first(memory):
            return Pass(again=LOOK_AGAIN_AFTER)
        document = cached.document()
        if cached.head.is_deleted or is_another_operators(document, stamps=not self._around.settings.judges):
            return Pass()
        job = read_legacy(document)
        return await self._look_and_do(document, job, memory)

    def _memory_of(self, key: OlderKey, uid: str) -> Memory:
        memory = self._memories.get(key)
        if memory is None or memory.uid != uid:
            memory = self._memories[key] = Memory(uid)
        return memory

    async def _look_and_do(self, document: Object, job: LegacyJob, memory: Memory) -> Pass:
        seen, now = self._world.look(job, memory), self._around.now()
        status: Json = document.get("status") or {}
        is_placed = seen.is_placed(self._around.settings.installation)
        decision = decide(job, status, seen.pods, now, is_placed=is_placed)
        try:
            self._judge(document, status)
            plan = self._plan(job, seen, is_placed=is_placed)
        except SpecError as error:
            decision, plan = refused(job, status, str(error), now), None
        if decision.delete_job:
            await self._writer.delete_job(job)
            self._decisions.say(document, memory, "SuccessfulDeleteJob", f"Deleted job: {job.name}")
            return Pass()
        todo = None
        if plan is not None and decision.wanted is not None:
            todo = changes(seen.layout, plan.objects, decision.wanted, seen.existing)
        return await self._do(document, job, seen, decision, todo, memory)

    def _judge(self, document: Object, status: Json) -> None:
        """Say to a job that nobody judged what admission would have said."""
        if self._around.settings.judges and not status.get("conditions"):
            errors = admit_legacy(document).errors
            if errors:
                raise SpecError(errors)

    def _plan(self, job: LegacyJob, seen: Seen, *, is_placed: bool) -> Plan:
        workers = [pod for pod in newest(job, seen.pods).values() if pod.role == WORKER]
        return render_legacy(
            job,
            Facts(existing=seen.existing, keys={} if _has_jobset(job, seen) else FreshKeys()),
            self._around.settings.installation,
            workers=Workers(
                {pod.index: pod.name for pod in workers},
                frozenset(pod.index for pod in workers if pod.phase == RUNNING),
            ),
            is_placed=is_placed,
        )

    async def _do(
        self,
        document: Object,
        job: LegacyJob,
        seen: Seen,
        decision: Decision,
        todo: Changes | None,
        memory: Memory,
    ) -> Pass:
        before = document.get("status") or {}
        failed: ApiError | Retryable | None = None
        wait: float | None = None
        try:
            if _ends(before, decision.status):
                await self._report(document, job, decision, memory)
                self._count_end(job, decision)
            if todo is not None:
                with self._beginnings.counted(begins=not _has_jobset(job, seen)):
                    failed, is_new = await self._apply(document, job, seen, todo.apply, memory)
                if is_new and self._beginnings.begun(memory):
                    return Pass(again=LOOK_AGAIN_AFTER, failed=failed)
                await self._hold(job, seen, todo)
                if failed is None:
                    failed, _ = await self._apply(document, job, seen, todo.later, memory)
            if not _ends(before, decision.status):
                wait = await self._report(document, job, decision, memory)
            await write_labels(self._writer, job, seen, memory)
            if todo is not None:
                await self._delete(todo, memory)
        except InTheWay:
            return Pass(again=IN_THE_WAY_AGAIN_AFTER)
        except (ApiError, Retryable) as error:  # a Conflict too: it was decided on an old job
            return Pass(failed=failed or error)
        due_at = [each for each in (wait, self._until(decision.look_again)) if each is not None]
        return Pass(min(due_at, default=None), failed)

    async def _apply(
        self, document: Object, job: LegacyJob, seen: Seen, objects: Sequence[Json], memory: Memory
    ) -> tuple[ApiError | Retryable | None, bool]:
        """Bring objects about in their order; why not all, and whether a JobSet was made."""
        obstacle, is_new = in_the_way(job, objects, seen.existing), False
        for each in objects:
            name = each["metadata"]["name"]
            if each["kind"] == "JobSet" and name in seen.going:
                continue  # its end wakes us
            is_made_once = each["kind"] == "Secret" or may_be_anothers(job, each)
            if is_made_once and self._has_made(name, job, seen, memory):
                continue
            stored = seen.existing.get((each["kind"], name))
            try:
                if each is obstacle and stored is not None:
                    refuse_to_touch(stored, job)
                is_written = await self._writer.bring_about(each, stored, job, memory)
            except InTheWay as theirs:
                self._tell(document, memory, clash(job, theirs.target))
                if each["kind"] in LATER:
                    return Retryable(str(theirs), after=IN_THE_WAY_AGAIN_AFTER), is_new
                raise
            except (ApiError, Retryable) as error:
                self._refused(document, each, error, memory)
                return error, is_new
            is_new |= is_written and stored is None and each["kind"] == "JobSet"
        return None, is_new

    async def _hold(self, job: LegacyJob, seen: Seen, todo: Changes) -> None:
        """Let each Job run its pod, or not."""
        for name, uid, parallelism in self._world.parallelism(job, seen):
            wanted = 0 if name in todo.held else 1
            if parallelism != wanted:
                await self._writer.hold(job, name, uid, wanted)

    def _has_made(self, name: str, job: LegacyJob, seen: Seen, memory: Memory) -> bool:
        """A job that has its JobSet has its Secrets, and the account it names: they are made before."""
        return name in memory.secrets or _has_jobset(job, seen)

    def _refused(self, document: Object, child: Object, error: ApiError | Retryable, memory: Memory) -> None:
        """Tell of a refusal, unless it will pass."""
        if not isinstance(error, Unreachable | TooMany | Conflict | Retryable):
            text = f"Error creating: {child['kind']} {child['metadata']['name']}: {error}"
            self._tell(document, memory, Event(f"FailedCreate{child['kind']}", text, warning=True))

    async def _report(
        self, document: Object, job: LegacyJob, decision: Decision, memory: Memory
    ) -> float | None:
        """Write the status, or say when it is to be written."""
        change = change_of(document.get("status") or {}, decision.status)
        if not change:
            memory.differs_since = None
            return None
        now = self._around.clock()
        since = now if memory.differs_since is None else memory.differs_since
        when = due(change, now=now, since=since, written_at=memory.written_at)
        if when > now:
            memory.differs_since = since
            return when - now
        await self._writer.status(job, change)
        memory.differs_since, memory.written_at = None, now
        for event in decision.events:
            memory.told.pop(event.reason, None)
            self._tell(document, memory, event)
        return None

    def _count_end(self, job: LegacyJob, decision: Decision) -> None:
        how = SUCCEEDED if is_true(decision.status["conditions"], SUCCEEDED) else FAILED
        self._around.metrics.older_ended.labels(job.kind.name, how).inc()

    async def _delete(self, todo: Changes, memory: Memory) -> None:
        """Let go of what is not wanted any more; a JobSet goes after its pods, for its name is used again."""
        for each in todo.delete:
            await self._writer.delete(each)
            memory.deleted[each["metadata"]["uid"]] = self._around.clock()

    def _tell(self, document: Object, memory: Memory, event: Event) -> None:
        level = "Warning" if event.warning else "Normal"
        self._decisions.say(document, memory, event.reason, event.message, type_=level)

    def _until(self, moment: datetime | None) -> float | None:
        return None if moment is None else max((moment - self._around.now()).total_seconds(), 0.0)


def _ends(before: Json, after: Json) -> bool:
    return not is_finished(before.get("conditions") or ()) and is_finished(after.get("conditions") or ())


def _has_jobset(job: LegacyJob, seen: Seen) -> bool:
    return any(kind == "JobSet" and is_owned(each, job) for (kind, _), each in seen.existing.items())

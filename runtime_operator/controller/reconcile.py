"""One pass over a TrainJob: look, decide, write what differs.

The decision is made by `next_step`, without doing anything. Here the world is read from the caches, children
are applied, the status is written and what is to go is deleted, in this order; what failed is tried again by
the next pass, from the beginning. A pass over an unchanged world writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from ..api import TrainJob
from ..api.names import FAILED
from ..conditions import find, is_finished, read_time
from ..errors import Retryable, SpecError
from ..key_material import FreshKeys
from ..kube.cache import Key
from ..kube.errors import ApiError, Conflict, TooMany, Unreachable
from ..render.admission import admit
from ..render.dry_run import Runtime, read_job
from ..render.facts import Facts
from ..render.plan import Object, Plan
from ..render.registry import end_of
from ..render.render import render
from .apply_rules import existing_like
from .decisions import Decisions
from .last_words import LastWords
from .memory import Memory
from .next_step import NextStep, next_step
from .ownership import is_managed_elsewhere, is_ours
from .passes import Pass, Surroundings
from .seen import Seen
from .sight import trouble_in
from .status_write import APART, difference, may_wait
from .waiting import with_why
from .world import Existing, World
from .writer import Writer

CAUSE_WAITS = 1.0  # seconds in which the pods of a failed JobSet may tell what happened


class Reconciler:
    """Called with the key of a TrainJob."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._world = World(around.transport, around.caches)
        self._writer = Writer(around.transport, around.caches, around.metrics)
        self._decisions = Decisions(around.recorder)
        self._last_words = LastWords(around.transport, around.caches)
        self._memories: dict[Key, Memory] = {}

    async def __call__(self, key: Key) -> Pass:
        """Make one pass."""
        cached = self._around.caches.jobs.get(key)
        if cached is None:
            self._memories.pop(key, None)
            return Pass()
        job = cached.document()
        if cached.head.is_deleted or is_managed_elsewhere(job):
            return Pass()
        memory = self._memory_of(key, cached.head.uid)
        existing = await self._world.existing(key, job, memory)
        now = self._around.now()
        seen = Seen(
            trouble_in(self._around.caches.book, self._world.refusals(key), existing, key, now=now),
            queued=self._world.queued(key, job),
        )
        memory.trouble = seen.trouble
        step = next_step(job, existing, self._build(job, existing, memory), now=now, seen=seen)
        if _fails_now(job, existing, step):
            cause = await self._last_words.cause(key, existing["JobSet", key[1]], memory)
            if cause is None and not memory.waited_for_cause:
                memory.waited_for_cause = True
                return Pass(again=CAUSE_WAITS)
            step = next_step(job, existing, _never, now=now, seen=replace(seen, cause=cause))
        return await self._do(job, existing, step, memory)

    def _memory_of(self, key: Key, uid: str) -> Memory:
        memory = self._memories.get(key)
        if memory is None or memory.uid != uid:
            memory = self._memories[key] = Memory(uid)
        return memory

    def _build(self, job: Object, existing: Existing, memory: Memory) -> Callable[[], Plan]:
        """The plan, when it is asked for. Keys are drawn only for a job that has no JobSet yet."""

        def build() -> Plan:
            facts = self._around.settings.facts
            found: dict[tuple[str, str], Object] = dict(existing)
            certificate = self._around.certificate()
            if certificate is not None:
                found["Secret", facts.certificate] = certificate
            keys: Mapping[str, str] = {} if _jobset(job, existing) is not None else FreshKeys()
            facts = replace(facts, existing=found, keys=keys)
            parsed, runtime = read_job(job), self._world.runtime(job)
            if self._around.settings.judges and runtime is not None and _jobset(job, existing) is None:
                _refuse_what_breaks_rules(parsed, runtime, facts)
            return render(parsed, runtime, facts)

        return build

    async def _do(self, job: Object, existing: Existing, step: NextStep, memory: Memory) -> Pass:
        failed, status = await self._apply(job, existing, step, memory)
        for event in step.events:
            self._decisions.say(job, memory, event.reason, event.message, type_=event.type)
        is_trouble = memory.trouble is not None or bool(step.events) or failed is not None
        wait: float | None = None
        try:
            wait = await self._report(job, status, memory, is_trouble=is_trouble)
        except Conflict as stale:  # decided on an old job: look again before anything is deleted
            return Pass(failed=failed or stale)
        except ApiError as error:
            failed = failed or error
        failed = await self._delete(job, step, memory) or failed
        due = [each for each in (wait, step.requeue_after) if each is not None]
        return Pass(min(due, default=None), failed)

    async def _apply(
        self, job: Object, existing: Existing, step: NextStep, memory: Memory
    ) -> tuple[ApiError | Retryable | None, Object | None]:
        """Bring the children about in their order; the first that fails stops the others."""
        for each in step.apply:
            if each["kind"] == "Secret" and self._has_secret(each, job, existing, memory):
                continue
            stored = existing_like(each, existing)
            try:
                if await self._world.keeps(each, job, existing, memory):
                    continue
                is_written = await self._writer.apply(each, stored, job, memory)
            except (ApiError, Retryable) as error:
                return error, self._refused(job, each, error, step.status, memory)
            if is_written:
                self._decisions.applied(job, memory, each, is_new=stored is None)
                self._measure(job, each, is_new=stored is None)
        return None, step.status

    def _has_secret(self, wanted: Object, job: Object, existing: Existing, memory: Memory) -> bool:
        """A job that has its JobSet has its Secrets, which are made before."""
        return wanted["metadata"]["name"] in memory.secrets or _jobset(job, existing) is not None

    def _refused(
        self, job: Object, child: Object, error: ApiError | Retryable, status: Object | None, memory: Memory
    ) -> Object | None:
        """The status with what the API server said, unless it will pass."""
        if isinstance(error, Unreachable | TooMany | Conflict) or status is None:
            return status
        name = f"{child['kind']} {child['metadata']['name']}"
        said = str(error) if isinstance(error, Retryable) else f"the API server refuses its {name}: {error}"
        self._decisions.say(job, memory, "TrainJobResourcesCreationFailed", said, type_="Warning")
        return with_why(status, said)

    async def _report(
        self, job: Object, status: Object | None, memory: Memory, *, is_trouble: bool
    ) -> float | None:
        """Write the status, or say when it is to be written."""
        change = {} if status is None else difference(job.get("status") or {}, status)
        if status is None or not change:
            memory.differs_since = None
            return None
        now, patience = self._around.clock(), may_wait(job, change, is_trouble=is_trouble)
        since = now if memory.differs_since is None else memory.differs_since
        apart = memory.written_at + APART if patience and not is_trouble else since
        due = max(since + patience, apart)
        if due > now:
            memory.differs_since = since
            return due - now
        await self._writer.status(job, change)
        memory.differs_since, memory.written_at = None, now
        self._decisions.reported(job, memory, status)
        if is_finished(status.get("conditions") or ()):
            self._forget_what_led_here(job, status)
        return None

    async def _delete(self, job: Object, step: NextStep, memory: Memory) -> ApiError | None:
        """Let go of what is not wanted any more; each is tried, whatever became of the others."""
        failed: ApiError | None = None
        for each in step.delete:
            try:
                await self._writer.delete(each, job)
            except ApiError as error:
                failed = failed or error
                continue
            memory.deleted[each["metadata"]["uid"]] = self._around.clock()
            self._decisions.deleted(job, memory, each)
        return failed

    def _measure(self, job: Object, child: Object, *, is_new: bool) -> None:
        if is_new and child["kind"] == "JobSet" and "creationTimestamp" in job["metadata"]:
            age = self._around.now() - read_time(job["metadata"]["creationTimestamp"])
            self._around.metrics.to_jobset.observe(max(age.total_seconds(), 0.0))

    def _forget_what_led_here(self, job: Object, status: Object) -> None:
        key = (job["metadata"]["namespace"], job["metadata"]["name"])
        if not is_finished((job.get("status") or {}).get("conditions") or ()):
            condition = "Failed" if find(status["conditions"], FAILED) else "Complete"
            self._around.metrics.ended.labels(condition).inc()
        self._around.caches.book.forget(key)
        self._around.caches.ended_jobsets.pop(key, None)


def _jobset(job: Object, existing: Existing) -> Object | None:
    found = existing.get(("JobSet", job["metadata"]["name"]))
    return found if found is not None and is_ours(found, job) else None


def _refuse_what_breaks_rules(job: TrainJob, runtime: Runtime, facts: Facts) -> None:
    """Say to a job that nobody judged what admission would have said."""
    verdict = admit(job, runtime, facts)
    if verdict.errors:
        raise SpecError(verdict.errors)


def _fails_now(job: Object, existing: Existing, step: NextStep) -> bool:
    """Whether the JobSet has just told of a bad end."""
    before, after = (each.get("conditions") or () for each in (job.get("status") or {}, step.status or {}))
    jobset = _jobset(job, existing)
    if is_finished(before) or find(after, FAILED) is None or jobset is None:
        return False
    end = end_of(job, (jobset,))
    return end is not None and end.type == FAILED


def _never() -> Plan:
    raise AssertionError("a job that has ended is not built")


def utc_now() -> datetime:
    """The time of the wall clock."""
    return datetime.now(UTC)

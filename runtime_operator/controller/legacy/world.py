"""What exists of one job of an older kind: its objects, its pods as v1's rules look at them, their Jobs.

An object that somebody else owns is shown, too, for it is in the way. A JobSet that is being deleted has no
pods any more, and nothing of its name can be made until it is gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ...api.legacy import LegacyJob
from ...kube.cache import Cached, Json
from ...kube.resource import JOBS
from ...render.facts import Facts
from ...render.legacy.gang import may_have_pods
from ...render.legacy.installation import Installation
from ...render.legacy.parts import Layout, Part, lay_out, stem_of
from ...render.legacy.render import made_before
from ..memory import Memory
from .caches import OlderCaches
from .foreign import is_owned
from .indices import OF_JOB, OF_JOBSET
from .pods import FAILED, RUNNING, SUCCEEDED, PodState
from .replica_view import ReplicaView

Existing = Mapping[tuple[str, str], Json]
"""by kind and name"""
Places = Mapping[str, tuple[Part, int]]
"""each replica by the name of its Job"""


@dataclass(frozen=True, slots=True)
class Seen:
    """What there is."""

    existing: Existing
    """but for what is being deleted"""
    going: frozenset[str]
    """the names of JobSets that are"""
    layout: Layout
    places: Places
    views: Mapping[str, ReplicaView]
    """pods that nobody has deleted, by their names"""
    pods: tuple[PodState, ...]

    def is_placed(self, installation: Installation) -> bool:
        """Whether the job may have pods."""
        group = self.existing.get(("PodGroup", self.layout.job.name))
        return bool(self.pods) or may_have_pods(group, installation)


class OlderWorld:
    """Reads the caches for one job at a time."""

    def __init__(self, caches: OlderCaches) -> None:
        self._caches = caches

    def look(self, job: LegacyJob, memory: Memory) -> Seen:
        """Look at everything around a job."""
        near = list(self._near(job))
        lost = [each for each in near if _is_lost(each, memory)]
        existing = {
            (each["kind"], each["metadata"]["name"]): each for each in near if not _is_lost(each, memory)
        }
        layout = lay_out(job, made_before(job, Facts(existing=existing)))
        places = {layout.job_name(part, index): (part, index) for part, index in layout.places()}
        known = [each for each in self._views(job, existing) if each.place in places]
        known.sort(key=lambda each: (each.created, each.name))
        return Seen(
            existing,
            frozenset(each["metadata"]["name"] for each in lost if each["kind"] == "JobSet"),
            layout,
            places,
            {each.name: each for each in known if not each.is_going},
            (
                *_states(job, places, [each for each in known if counts_yet(job, each)]),
                *self._over(job, existing, places, {each.place for each in known}),
            ),
        )

    def parallelism(self, job: LegacyJob, seen: Seen) -> Iterator[tuple[str, str, int]]:
        """Name, uid and parallelism of each Job of its JobSets."""
        for name, cached in self._jobs(job, (*seen.places, *seen.layout.idle()), seen.existing):
            yield name, cached.head.uid, cached.value.parallelism

    def _over(
        self, job: LegacyJob, existing: Existing, places: Places, with_pods: set[str]
    ) -> Iterator[PodState]:
        """The replicas that have ended well and whose pods somebody has deleted since: their Jobs know."""
        for name, cached in self._jobs(job, places, existing):
            if cached.value.is_complete and name not in with_pods:
                part, index = places[name]
                yield PodState(part.role.name, index, name, SUCCEEDED, exit_code=0)

    def _jobs(self, job: LegacyJob, names: Iterable[str], existing: Existing) -> Iterator[tuple[str, Cached]]:
        """The Jobs of these names that the job's JobSets have made; those of a namesake's are not ours."""
        informer = self._caches.owned[JOBS]
        jobsets = {each["metadata"]["uid"] for each in _jobsets(job, existing)}
        for name in names:
            cached = informer.get((job.namespace, name))
            if cached is not None and cached.head.owner_uid in jobsets:
                yield name, cached

    def _near(self, job: LegacyJob) -> Iterator[Json]:
        """The objects that have this job's label or its JobSet's name, and what gangs are reckoned by."""
        caches, name = self._caches, f"{job.namespace}/{job.name}"
        stem = caches.shared.jobsets.get((job.namespace, stem_of(job)))
        if stem is not None:
            yield stem.document()
        for cached in caches.shared.jobsets.by_index(OF_JOB, name):
            yield cached.document()
        for resource, informer in caches.owned.items():
            if resource != JOBS:
                for cached in informer.by_index(OF_JOB, name):
                    yield cached.document()
        if caches.priority_classes is not None:
            for _, cached in caches.priority_classes.items():
                yield cached.document()

    def _views(self, job: LegacyJob, existing: Existing) -> Iterator[ReplicaView]:
        for each in _jobsets(job, existing):
            for cached in self._caches.shared.pods.by_index(OF_JOBSET, each["metadata"]["uid"]):
                yield cached.value.replica


def _jobsets(job: LegacyJob, existing: Existing) -> Iterator[Json]:
    for (kind, _), each in existing.items():
        if kind == "JobSet" and is_owned(each, job):
            yield each


def _is_lost(target: Json, memory: Memory) -> bool:
    metadata = target["metadata"]
    return "deletionTimestamp" in metadata or metadata["uid"] in memory.deleted


def counts_yet(job: LegacyJob, view: ReplicaView) -> bool:
    """Tell whether a pod counts; of those that are being deleted one that ran, where v1 looks at that."""
    return not view.is_going or (view.phase == RUNNING and job.kind.name != "MPIJob")


def _states(
    job: LegacyJob, places: Mapping[str, tuple[Part, int]], views: list[ReplicaView]
) -> Iterator[PodState]:
    """The pods, each with its number among those of its place."""
    before: dict[str, int] = {}
    for each in views:
        part, index = places[each.place]
        attempt = before.get(each.place, 0)
        before[each.place] = attempt + 1
        yield PodState(
            part.role.name,
            index,
            each.name,
            FAILED if each.is_going else each.phase,
            attempt,
            dict(each.exits).get(job.kind.container),
            each.restarts,
            each.evicted,
            each.is_going,
            each.reason,
            each.message,
        )

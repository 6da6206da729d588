"""Everything the controller knows of the cluster, and which job each piece of news is about.

TrainJobs, runtimes and JobSets are kept as they are; of ConfigMaps only those with our label, of pods and
events a few values. Secrets are never read. Kinds that may not be there yet (PodGroups) are asked for again
and again, and kept from the moment their CRD is there. Where a right is missing in an installation for one
namespace, as that to read ClusterTrainingRuntimes, the rest works without.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from ..api.names import CLUSTER_TRAINING_RUNTIME, JOBSET_LABEL, TRAIN_JOB, TRAINING_RUNTIME
from ..errors import Retryable
from ..kube.cache import Cached, Key
from ..kube.errors import ApiError
from ..kube.informer import Informer
from ..kube.resource import CONFIG_MAPS, EVENTS, LIMIT_RANGES, PODS, RUNTIME_CLASSES, Resource
from ..kube.store import OnChange
from ..kube.transport import Transport
from ..render.framework import Watch
from ..render.plan import Object
from ..render.registry import end_of, watches
from ..render.render import OWN_LABEL
from . import queueing, refusals
from .indices import job_of_label, job_of_owner, jobs_of_event, names_in, runtime_of
from .kinds import BUILT_IN, CLUSTER_TRAINING_RUNTIMES, JOBSETS, TRAIN_JOBS, TRAINING_RUNTIMES, served
from .legacy.indices import OF_JOB, OF_JOBSET, job_of_jobset, jobset_of_pod
from .pod_book import PodBook
from .pod_view import view
from .settings import ControllerSettings

LOG = logging.getLogger(__name__)

NOT_INSTALLED_AGAIN_AFTER = 15.0


class Caches:
    """The informers; `wake` gets the key of each TrainJob that is worth another look."""

    def __init__(
        self, transport: Transport, settings: ControllerSettings, wake: Callable[[Key], None]
    ) -> None:
        self._transport, self._settings, self._wake = transport, settings, wake
        self._group: asyncio.TaskGroup | None = None
        self._looked, self._look_now = asyncio.Event(), asyncio.Event()
        self._told_too: dict[Resource, OnChange] = {}
        self.ended_jobsets: dict[Key, Object] = {}
        """JobSets that ended and are gone, until the end of their job is written"""
        self.book = PodBook(lambda key: self.jobs.get(key) is not None)
        self.jobs = self.informer(TRAIN_JOBS, self._job_changed, indices={"runtime": runtime_of})
        self.runtimes = {
            TRAINING_RUNTIME: self.informer(TRAINING_RUNTIMES, self._runtime_changed),
            CLUSTER_TRAINING_RUNTIME: self.informer(CLUSTER_TRAINING_RUNTIMES, self._runtime_changed),
        }
        older = bool(settings.older_kinds)
        of_older = {OF_JOB: job_of_jobset} if older else None
        self.jobsets = self.informer(JOBSETS, self._jobset_changed, indices=of_older)
        self.config_maps = self.informer(
            CONFIG_MAPS, self._owned_changed, labels=OWN_LABEL, indices={"job": job_of_label}
        )
        of_older = {OF_JOBSET: jobset_of_pod} if older else None
        self.pods = self.informer(
            PODS, self._pod_changed, labels=JOBSET_LABEL, condense=view, indices=of_older
        )
        self.refusals = [
            self.informer(
                EVENTS,
                self._refused,
                fields=fields,
                condense=refusals.refusal,
                indices={"job": jobs_of_event},
            )
            for fields in (refusals.OF_JOBS, refusals.OF_JOBSETS)
        ]
        self.limit_ranges = self.informer(LIMIT_RANGES, self._limits_changed)
        self.runtime_classes = self.informer(RUNTIME_CLASSES, self._limits_changed)
        self.others: dict[tuple[str, str], Informer] = {}
        """informers of kinds that were found, by apiVersion and kind"""
        self.queue: Informer | None = None
        """Kueue's Workloads, once they are found"""

    def tell_too(self, *, jobsets: OnChange, pods: OnChange) -> None:
        """Have somebody else hear of changes, who reads the same collections."""
        self._told_too = {JOBSETS: jobsets, PODS: pods}

    def informer(self, resource: Resource, on_change: OnChange, **options: Any) -> Informer:
        """An informer of what this installation looks at; its maker runs it."""
        namespace = self._settings.namespace if resource.namespaced else ""
        return Informer(
            self._transport,
            resource,
            on_change,
            namespace=namespace,
            resync_every=self._settings.resync_every,
            **options,
        )

    @property
    def required(self) -> tuple[Informer, ...]:
        """Without these nothing is decided."""
        known = (self.jobs, self.runtimes[TRAINING_RUNTIME], self.jobsets, self.config_maps, self.pods)
        cluster = self.runtimes[CLUSTER_TRAINING_RUNTIME]
        return known if self._settings.namespace else (*known, cluster)

    @property
    def optional(self) -> tuple[Informer, ...]:
        """Without these something is not known, and the rest works."""
        beside = (*self.refusals, self.limit_ranges, self.runtime_classes)
        cluster = self.runtimes[CLUSTER_TRAINING_RUNTIME]
        return (cluster, *beside) if self._settings.namespace else beside

    @property
    def found(self) -> tuple[Informer, ...]:
        """Of kinds that came with their CRDs."""
        return (*self.others.values(), *([self.queue] if self.queue else []))

    async def run(self) -> None:
        """Keep everything up to date until cancelled."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            for each in (*self.required, *self.optional):
                group.create_task(each.run(), name=str(each.resource))
            group.create_task(self._look_for_kinds(), name="kinds")

    async def synced(self) -> None:
        """Wait until all is known; of what is optional, until it is known or refused."""
        for each in self.required:
            await each.synced.wait()
        await self._looked.wait()
        for each in (*self.optional, *self.found):
            while not each.synced.is_set() and not each.trouble:
                await asyncio.sleep(0.05)

    def resource_of(self, document: Object) -> Resource:
        """Where objects of this kind are written; Retryable if the API server has no such kind yet."""
        place = (document["apiVersion"], document["kind"])
        if place in BUILT_IN:
            return BUILT_IN[place]
        if place in self.others and self.others[place].synced.is_set():
            return self.others[place].resource
        self._look_now.set()
        version, kind = place
        text = f"the cluster knows no {kind} of {version}: install what serves it"
        raise Retryable(text, after=NOT_INSTALLED_AGAIN_AFTER)

    def wrote(self, resource: Resource, raw: bytes) -> str:
        """Take in the answer to our own write, and return its version."""
        informer = self._informer_of(resource)
        return "" if informer is None else informer.wrote(raw).head.resource_version

    def _informer_of(self, resource: Resource) -> Informer | None:
        if resource == JOBSETS:
            return self.jobsets
        if resource == CONFIG_MAPS:
            return self.config_maps
        return self.others.get((resource.api_version, resource.kind))

    async def _look_for_kinds(self) -> None:
        """Find the kinds of plug-ins as their CRDs come."""
        wanted = [each for each in watches() if (each.api_version, each.kind) not in BUILT_IN]
        while missing := [each for each in (*wanted, *queueing.WORKLOADS) if not self._has(each)]:
            self._look_now.clear()
            try:
                for watch, resource in (await served(self._transport, missing)).items():
                    self._found(watch, resource)
                self._looked.set()
            except ApiError as error:
                LOG.warning("cannot ask which kinds there are: %s", error)
            try:
                async with asyncio.timeout(self._settings.look_for_kinds_every):
                    await self._look_now.wait()
                    await asyncio.sleep(1.0)  # many jobs may ask at once
            except TimeoutError:
                continue

    def _has(self, watch: Watch) -> bool:
        if watch in queueing.WORKLOADS:
            return self.queue is not None
        return (watch.api_version, watch.kind) in self.others

    def _found(self, watch: Watch, resource: Resource) -> None:
        assert self._group is not None
        if self._has(watch):  # in a newer version
            return
        LOG.info("found %s of %s", watch.kind, watch.api_version)
        if watch in queueing.WORKLOADS:
            of_job = {"job": job_of_owner}
            informer = self.informer(resource, self._owned_changed, condense=queueing.queued, indices=of_job)
            self.queue = informer
        else:
            on_change = self._owned_changed if watch.owned else self._limits_changed
            informer = self.informer(resource, on_change, labels=OWN_LABEL if watch.owned else "")
            self.others[watch.api_version, watch.kind] = informer
        self._group.create_task(informer.run(), name=str(resource))
        self._group.create_task(self._wake_all_after(informer.synced), name=f"jobs of {resource}")

    async def _wake_all_after(self, synced: asyncio.Event) -> None:
        await synced.wait()
        for key, _ in self.jobs.items():
            self._wake(key)

    # who is woken by what

    def _job_changed(self, key: Key, old: Cached | None, new: Cached | None) -> None:
        if new is None or (old is not None and old.head.uid != new.head.uid):
            self.ended_jobsets.pop(key, None)
            self.book.forget(key)
        self._wake(key)

    def _jobset_changed(self, key: Key, old: Cached | None, new: Cached | None) -> None:
        if JOBSETS in self._told_too:
            self._told_too[JOBSETS](key, old, new)
        if self.jobs.get(key) is None:
            return
        if new is None and old is not None:
            gone = old.document()
            if end_of({"metadata": {}}, (gone,)) is not None:
                self.ended_jobsets[key] = gone
        self._wake(key)

    def _owned_changed(self, key: Key, old: Cached | None, new: Cached | None) -> None:
        head = (new or old or _nothing()).head
        if head.owner_kind == TRAIN_JOB:
            self._wake((key[0], head.owner_name))

    def _pod_changed(self, key: Key, old: Cached | None, new: Cached | None) -> None:
        if PODS in self._told_too:
            self._told_too[PODS](key, old, new)
        job = self.book.changed(key, old, new)
        if job is not None and self.jobs.get(job) is not None:
            self._wake(job)

    def _runtime_changed(self, key: Key, old: Cached | None, new: Cached | None) -> None:
        """A runtime is read once in a job's life: only those that have no JobSet yet wait for it."""
        if new is None:
            return
        kind = TRAINING_RUNTIME if key[0] else CLUSTER_TRAINING_RUNTIME
        for each in self.jobs.by_index("runtime", "/".join((kind, *key))):
            if self.jobsets.get(each.head.key) is None:
                self._wake(each.head.key)

    def _limits_changed(self, key: Key, old: Cached | None, new: Cached | None) -> None:
        """What a gang asks for may be another now: jobs that rest look again."""
        for job, each in self.jobs.items():
            if key[0] in ("", job[0]) and each.document().get("spec", {}).get("suspend"):
                self._wake(job)

    def _refused(self, key: Key, old: Cached | None, new: Cached | None) -> None:
        for name in names_in((new or old or _nothing()).value):
            if self.jobs.get((key[0], name)) is not None:
                self._wake((key[0], name))


def _nothing() -> Cached:
    raise LookupError("a change of nothing to nothing")

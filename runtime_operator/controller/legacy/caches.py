"""What is known of the older kinds' jobs and of what they became, and which job each piece of news is about.

JobSets and pods are those that the caches of TrainJobs keep. A kind that is served here is looked for until
its CRD is there; only then is watched what its jobs become, by our label, so that a kind that nobody
installed costs a question now and then.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ...api.legacy import LEGACY_KINDS
from ...api.legacy.names import API_VERSION
from ...conditions import is_true
from ...errors import Retryable
from ...kube.cache import Cached, Json, Key
from ...kube.discovery import discover
from ...kube.errors import ApiError
from ...kube.informer import Informer
from ...kube.resource import JOBS, PRIORITY_CLASSES, Resource
from ...kube.transport import Transport
from ...render.legacy.render import OWN_LABEL
from ..caches import NOT_INSTALLED_AGAIN_AFTER, Caches
from ..kinds import JOBSETS
from ..settings import ControllerSettings
from .indices import OF_JOB, job_of_label
from .kinds import AUTOSCALERS, OWNED, OlderKey, pod_groups, resource_of_kind, resources_for

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Replica:
    """What is remembered of a batch Job."""

    parallelism: int
    is_complete: bool
    """its pod has ended well, and may be gone"""


def _replica(job: Json) -> Replica:
    conditions = (job.get("status") or {}).get("conditions") or ()
    return Replica(int(job["spec"].get("parallelism", 1)), is_true(conditions, "Complete"))


class OlderCaches:
    """The informers of the older kinds; `wake` gets the key of each job that is worth another look."""

    def __init__(
        self,
        transport: Transport,
        settings: ControllerSettings,
        shared: Caches,
        wake: Callable[[OlderKey], None],
    ) -> None:
        self._transport, self._settings, self._wake = transport, settings, wake
        self._group: asyncio.TaskGroup | None = None
        self.shared = shared
        self.kinds: dict[str, Informer] = {}
        """jobs, by the kinds that were found"""
        self.owned: dict[Resource, Informer] = {}
        """what they became beside JobSets; batch Jobs as `Replica`"""
        self.priority_classes: Informer | None = None
        """where gangs are reckoned by them"""
        shared.tell_too(jobsets=self._jobset_changed, pods=self._pod_changed)

    @property
    def found(self) -> tuple[Informer, ...]:
        """All that run."""
        classes = (self.priority_classes,) if self.priority_classes else ()
        return (*self.kinds.values(), *self.owned.values(), *classes)

    def is_ready(self, kind: str) -> bool:
        """Whether all is known that a job of this kind is decided by."""
        needed = (*self.shared.required, self.kinds[kind], *self.owned.values())
        return all(each.synced.is_set() for each in needed)

    def keys(self) -> Iterator[OlderKey]:
        """Every job that is known."""
        for kind, informer in self.kinds.items():
            for (namespace, name), _ in informer.items():
                yield kind, namespace, name

    def job(self, key: OlderKey) -> Cached | None:
        """A job, if it is known."""
        informer = self.kinds.get(key[0])
        return None if informer is None else informer.get(key[1:])

    def resource_of(self, document: Json) -> Resource:
        """Where an object of a plan is written; Retryable if the API server has no such kind yet."""
        place = (document["apiVersion"], document["kind"])
        if place in OWNED:
            return OWNED[place]
        for resource in self.owned:
            if (resource.api_version, resource.kind) == place:
                return resource
        version, kind = place
        text = f"the cluster knows no {kind} of {version}: install what serves it"
        raise Retryable(text, after=NOT_INSTALLED_AGAIN_AFTER)

    def wrote(self, resource: Resource, raw: bytes) -> str:
        """Take in the answer to our own write, and return its version."""
        informer = self.shared.jobsets if resource == JOBSETS else self.owned.get(resource)
        return "" if informer is None else informer.wrote(raw).head.resource_version

    async def run(self) -> None:
        """Find kinds as their CRDs come, and keep what was found, until cancelled."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            while True:
                try:
                    await self._look_for_kinds()
                except ApiError as error:
                    LOG.warning("cannot ask which kinds there are: %s", error)
                await asyncio.sleep(self._settings.look_for_kinds_every)

    async def _look_for_kinds(self) -> None:
        wanted = {
            resource_of_kind(LEGACY_KINDS[name]) for name in self._settings.older_kinds - self.kinds.keys()
        }
        if wanted:
            served = set(await discover(self._transport, API_VERSION))
            for each in sorted(wanted & served, key=str):
                self._found_kind(each)
        groups = pod_groups(self._settings.installation)
        if (
            groups is not None
            and groups not in self.owned
            and self.kinds
            and groups in await discover(self._transport, groups.api_version)
        ):
            self._own(groups)

    def _found_kind(self, resource: Resource) -> None:
        LOG.info("serves %s", resource)
        if not self.kinds and self._settings.installation.gang_scheduler:
            self.priority_classes = self.shared.informer(PRIORITY_CLASSES, lambda key, old, new: None)
            self._start(self.priority_classes)
        kind = resource.kind

        def changed(key: Key, old: Cached | None, new: Cached | None) -> None:
            self._wake((kind, *key))

        self.kinds[kind] = self.shared.informer(resource, changed, keeps_managers=True)
        self._start(self.kinds[kind])
        for each in (JOBS, *resources_for(kind)):
            if each not in self.owned:
                self._own(each)

    def _own(self, resource: Resource) -> None:
        options: dict[str, Any] = {"labels": OWN_LABEL, "indices": {OF_JOB: job_of_label}}
        if resource == JOBS:
            self.owned[resource] = self.shared.informer(
                resource, self._replica_changed, condense=_replica, **options
            )
        elif resource == AUTOSCALERS:
            self.owned[resource] = self.shared.informer(resource, self._autoscaler_changed, **options)
        else:
            self.owned[resource] = self.shared.informer(resource, self._owned_changed, **options)
        self._start(self.owned[resource])

    def _start(self, informer: Informer) -> None:
        assert self._group is not None
        self._group.create_task(informer.run(), name=str(informer.resource))
        self._group.create_task(self._wake_all_after(informer.synced), name=f"jobs of {informer.resource}")

    async def _wake_all_after(self, synced: asyncio.Event) -> None:
        await synced.wait()
        for key in self.keys():
            self._wake(key)

    # who is woken by what

    def _owned_changed(self, key: Key, old: Cached | None, new: Cached | None) -> None:
        self._wake_owner(new or old)

    def _autoscaler_changed(self, key: Key, old: Cached | None, new: Cached | None) -> None:
        """Its status changes every few seconds and matters to nobody here."""
        if new is None:
            self._wake_owner(old)

    def _jobset_changed(self, key: Key, old: Cached | None, new: Cached | None) -> None:
        """A JobSet's status decides nothing: pods do."""
        if old is None or new is None or _shape(old) != _shape(new):
            self._wake_owner(new or old)

    def _replica_changed(self, key: Key, old: Cached | None, new: Cached | None) -> None:
        if old is None or new is None or old.value != new.value:
            head = (new or old or _nothing()).head
            self._wake_owner(self.shared.jobsets.get((head.namespace, head.owner_name)))

    def _pod_changed(self, key: Key, old: Cached | None, new: Cached | None) -> None:
        before, after = (None if each is None else each.value.replica for each in (old, new))
        if before != after:
            seen = (new or old or _nothing()).value
            self._wake_owner(self.shared.jobsets.get((key[0], seen.job)))

    def _wake_owner(self, child: Cached | None) -> None:
        if child is not None and child.head.owner_kind in self.kinds:
            self._wake((child.head.owner_kind, child.head.namespace, child.head.owner_name))


def _shape(jobset: Cached) -> tuple[str, int, bool]:
    return jobset.head.uid, jobset.head.generation, jobset.head.is_deleted


def _nothing() -> Cached:
    raise LookupError("a change of nothing to nothing")

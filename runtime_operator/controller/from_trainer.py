"""What Trainer 2.3 made for a job that it began, and we go on with.

Nothing of it carries our label, so no cache holds it: it is asked for once, and remembered with the job.

    the snapshot          the job is rendered from it, as before
    the PodGroup          stays while the job runs; of one that rests or ends it goes, as any does
    host lists, scripts   fit the JobSet that Trainer made, whose pods cannot change, and stay with it
    the authority         is that of our certificate from now on, for trainers that report progress already
"""

from __future__ import annotations

import orjson

from ..conditions import is_finished
from ..kube.cache import Key
from ..kube.errors import NotFound
from ..kube.resource import CONFIG_MAPS, Resource
from ..kube.transport import Transport
from ..render import snapshot
from ..render.plan import Object
from ..render.plugins.progress import is_authority
from ..render.render import OWN_LABEL
from .apply_rules import Existing
from .caches import Caches
from .memory import Memory
from .ownership import is_owned


class FromTrainer:
    """Looks for one job at a time."""

    def __init__(self, transport: Transport, caches: Caches) -> None:
        self._transport, self._caches = transport, caches

    async def beside(self, key: Key, job: Object, existing: Existing, memory: Memory) -> list[Object]:
        """The snapshot and the PodGroup of a job that has its JobSet, as far as no cache holds them."""
        jobset, name = existing.get(("JobSet", key[1])), key[1] + snapshot.SUFFIX
        if jobset is None or not is_owned(jobset, job):
            return []
        found = []
        if ("ConfigMap", name) not in existing:
            found.append(await self._config_map(key[0], name, memory))
        if ("PodGroup", key[1]) not in existing and not _has_label(jobset):
            is_over = is_finished((job.get("status") or {}).get("conditions") or ())
            found += [
                await self._group(each, key, memory, is_over=is_over) for each in self._kinds_of_groups()
            ]
        return [each for each in found if each is not None and each["metadata"]["uid"] not in memory.deleted]

    async def keeps(self, wanted: Object, job: Object, existing: Existing, memory: Memory) -> bool:
        """Whether a ConfigMap is to stay as Trainer made it for its JobSet, or away if it made none."""
        jobset, name = existing.get(("JobSet", job["metadata"]["name"])), wanted["metadata"]["name"]
        if wanted["kind"] != "ConfigMap" or ("ConfigMap", name) in existing:
            return False
        if jobset is None or not is_owned(jobset, job):
            return False
        found = await self._config_map(job["metadata"]["namespace"], name, memory)
        if is_authority(wanted):
            return found is None and not _has_label(jobset)
        return found is not None and is_owned(found, job) and not _has_label(found)

    def _kinds_of_groups(self) -> list[Resource]:
        return [each.resource for (_, kind), each in self._caches.others.items() if kind == "PodGroup"]

    async def _config_map(self, namespace: str, name: str, memory: Memory) -> Object | None:
        place = (str(CONFIG_MAPS), name)
        if place not in memory.from_trainer:
            try:
                raw = await self._transport.get(CONFIG_MAPS, namespace, name)
            except NotFound:
                raw = b"null"
            memory.from_trainer[place] = orjson.loads(raw)
        return memory.from_trainer[place]

    async def _group(self, kind: Resource, key: Key, memory: Memory, *, is_over: bool) -> Object | None:
        """Found by a list, for which we have the right; of a job that is over it is not looked for."""
        place = (str(kind), key[1])
        if place not in memory.from_trainer and not is_over:
            pages = self._transport.list(kind, namespace=key[0], fields=f"metadata.name={key[1]}")
            raw = [item async for page in pages for item in page.items]
            memory.from_trainer[place] = orjson.loads(raw[0]) if raw else None
        return memory.from_trainer.get(place)


def _has_label(found: Object) -> bool:
    return OWN_LABEL in (found["metadata"].get("labels") or {})

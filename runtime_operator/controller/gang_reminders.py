"""Has the coscheduling scheduler look again at gangs that wait, so that room is taken soon after it is free.

Its plug-in turns a gang away before any node is looked at where the cluster lacks room as a whole, and hears
then of new pods and changed PodGroups only. Pods that end make room that it does not hear of: the gang would
wait for the five minutes after which a scheduler tries everything again. One change of one PodGroup has it
look at all that wait; so now and then one is changed, in an annotation, while there is any.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

import orjson

from ..conditions import read_time, write_time
from ..kube.cache import Json
from ..kube.errors import ApiError
from ..kube.informer import Informer
from ..kube.transport import Transport
from ..render.plugins.coscheduling import GROUP
from .kinds import MANAGER
from .metrics import Metrics

LOG = logging.getLogger(__name__)

EVERY = 15.0  # seconds
NOT_YET = timedelta(seconds=10)
"""so long a gang is looked at as its pods come"""
PLACED = ("Scheduled", "Running", "Finished", "Succeeded", "Failed")
"""phases of PodGroups that wait for nothing"""
REMINDED = "kfp-trainer/reminded-at"


class GangReminders:
    """`informers` gives those of what the operator made, as far as their kinds were found."""

    def __init__(
        self,
        transport: Transport,
        metrics: Metrics,
        informers: Callable[[], Iterable[Informer]],
        now: Callable[[], datetime],
    ) -> None:
        self._transport, self._metrics, self._informers, self._now = transport, metrics, informers, now

    async def run(self) -> None:
        """Remind until cancelled."""
        while True:
            await asyncio.sleep(EVERY)
            try:
                await self._remind()
            except ApiError as error:
                LOG.info("cannot remind the scheduler of gangs that wait: %s", error)

    async def _remind(self) -> None:
        """Change the PodGroup that has waited longest, if any waits."""
        now = self._now()
        for informer in self._informers():
            if informer.resource.group != GROUP:
                continue
            found = longest_waiting((cached.document() for _, cached in informer.items()), now)
            if found is None:
                continue
            metadata = found["metadata"]
            change = {"uid": metadata["uid"], "annotations": {REMINDED: write_time(now)}}
            body = orjson.dumps({"metadata": change})
            place = (metadata["namespace"], metadata["name"])
            await self._transport.patch(informer.resource, *place, body, manager=MANAGER)
            self._metrics.wrote("patch", informer.resource.kind)
            return


def longest_waiting(groups: Iterable[Json], now: datetime) -> Json | None:
    """The oldest group whose pods are not placed though they have had the time for it."""
    waiting = [each for each in groups if _waits(each, now)]
    return min(waiting, key=lambda each: each["metadata"]["creationTimestamp"], default=None)


def _waits(group: Json, now: datetime) -> bool:
    metadata = group["metadata"]
    if "deletionTimestamp" in metadata or (group.get("status") or {}).get("phase") in PLACED:
        return False
    return now - read_time(metadata["creationTimestamp"]) >= NOT_YET

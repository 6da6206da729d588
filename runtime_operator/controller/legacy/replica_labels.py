"""The labels of one replica that a template shared by all replicas cannot hold.

Each is written once: whoever takes it off a pod again wants it so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from ...api.legacy import LegacyJob
from ...api.legacy.names import INDEX_LABEL, JOB_ROLE_LABEL
from ...render.legacy.pods import replica_labels
from ..memory import Memory
from .replica_view import ReplicaView
from .world import Seen
from .writer import OlderWriter

AT_A_TIME = 16


async def write_labels(writer: OlderWriter, job: LegacyJob, seen: Seen, memory: Memory) -> None:
    """Write what is missing on the pods of a job; what was written may not have been told yet."""
    memory.labelled &= {view.uid for view in seen.views.values()}
    missing = [
        (view, labels)
        for view in seen.views.values()
        if view.uid not in memory.labelled and (labels := _missing(job, seen, view))
    ]
    for start in range(0, len(missing), AT_A_TIME):
        some = missing[start : start + AT_A_TIME]
        await asyncio.gather(*(writer.label(job, view, labels) for view, labels in some))
        memory.labelled |= {view.uid for view, _ in some}


def _missing(job: LegacyJob, seen: Seen, view: ReplicaView) -> Mapping[str, str]:
    part, index = seen.places[view.place]
    there = dict(zip((INDEX_LABEL, JOB_ROLE_LABEL), view.labels, strict=True))
    wanted = replica_labels(job, part.role, index)
    return {name: value for name, value in wanted.items() if there.get(name) != value}

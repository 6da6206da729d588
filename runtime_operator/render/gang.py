"""Which pods are placed all at once or not at all.

A gang holds only pods that exist at the same time. Whatever others wait for (initializers, and with MPI the
nodes before their launcher) starts earlier, and counting it would make the gang wait for pods that wait for
it. So the gang is one wave: the trainer's, and with MPI that of the nodes, which do the work. Upstream counts
every pod of the job.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..api.names import DATASET_STEP, MODEL_STEP, NODE, OLDER_SPELLINGS_MANAGER
from ..errors import FieldError, SpecError
from .framework import Watch
from .info import Info
from .overlay import Object
from .plan import Gang
from .pod_requests import pod_requests
from .pods import Pods
from .quantity import read, total

INITIALIZERS = (DATASET_STEP, MODEL_STEP)


def plan_gang(info: Info, scheduler: str) -> list[Pods]:
    """Decide who is in the gang, write it down in the plan, and return the pods that get its mark."""
    policy = info.runtime.spec.podGroupPolicy
    if policy is not None and policy.coscheduling and policy.volcano and not info.upstream:
        raise SpecError(
            [
                FieldError(
                    "spec.runtimeRef",
                    f"the runtime {info.runtime.name!r} sets both coscheduling and volcano, and only one of "
                    "them can schedule a job: remove one from its podGroupPolicy",
                )
            ]
        )
    members = list(info.pods) if info.upstream else _members(info)
    least, requests = _minimum(info, members)
    info.gang = Gang(scheduler, tuple(pods.name for pods in members), least, requests)
    info.decide(
        "gang",
        least,
        "%s places the pods of %s all at once",
        scheduler,
        " and ".join(pods.name for pods in members) or "no job",
    )
    return members


def gang_watches(version: str) -> tuple[Watch, ...]:
    """PodGroups of a scheduler, and what changes the requests of a gang that is not placed yet."""
    return (
        Watch(version, "PodGroup"),
        Watch("v1", "LimitRange", owned=False),
        Watch("node.k8s.io/v1", "RuntimeClass", owned=False),
    )


def is_initializer(pods: Pods) -> bool:
    """Tell whether these pods run before the training and belong to no gang."""
    return pods.step in INITIALIZERS


def wants_pod_group(info: Info) -> bool:
    """Decide whether the job has a PodGroup now.

    A suspended job has none: Volcano would hold back room for pods that nobody creates. Upstream makes it
    at once. A gang of nobody needs none.
    """
    return info.upstream or (not info.job.spec.suspend and info.gang is not None and info.gang.min_member > 0)


def pod_group(info: Info, version: str, **spec: object) -> Object:
    """Build the PodGroup of the job's gang; labels and annotations of older TrainJobs stand on it too."""
    gang = info.gang
    assert gang is not None
    metadata = info.metadata(info.name)
    for field, values in () if info.upstream else _older_metadata(info).items():
        metadata[field] = {**values, **metadata.get(field, {})}
    body = {"minMember": gang.min_member, "minResources": dict(gang.min_resources), **spec}
    return {"apiVersion": version, "kind": "PodGroup", "metadata": metadata, "spec": body}


def _members(info: Info) -> list[Pods]:
    policy = info.runtime.spec.mlPolicy
    is_mpi = policy is not None and policy.mpi is not None
    working = [pods for pods in info.pods if not is_initializer(pods)]
    lead = (info.pod_set(NODE) if is_mpi else None) or info.trainer or next(iter(working), None)
    return [pods for pods in working if lead is not None and pods.wave == lead.wave]


def _minimum(info: Info, members: Sequence[Pods]) -> tuple[int, dict[str, str]]:
    """Count the pods that must be there, and what they ask for together."""
    counts = {pods.name: _least(info, pods) for pods in members}
    parts = [(_requests(info, pods), counts[pods.name]) for pods in members]
    sums = total(parts)
    if not info.upstream:
        sums = {name: amount for name, amount in sums.items() if read(amount).nano}
    return sum(counts.values()), sums


def _least(info: Info, pods: Pods) -> int:
    """Count the pods of one job that must be placed; an elastic one starts with its minimum."""
    if info.upstream:
        return pods.count
    everyone = pods.count * (1 if pods.step else pods.replicas)
    least = _elastic_minimum(info) if pods is info.trainer else None
    return everyone if least is None else min(least, everyone)


def _elastic_minimum(info: Info) -> int | None:
    gang, policy = info.runtime.spec.podGroupPolicy, info.runtime.spec.mlPolicy
    if gang is not None and gang.minNodes is not None:
        return gang.minNodes
    elastic = policy.torch.elasticPolicy if policy is not None and policy.torch is not None else None
    return elastic.minNodes if elastic is not None else None


def _requests(info: Info, pods: Pods) -> dict[str, str]:
    if info.upstream:
        return pod_requests(pods.built(), upstream=True)
    existing = info.facts.existing.items()
    return pod_requests(
        pods.built(),
        limit_ranges=[each for (kind, _), each in existing if kind == "LimitRange"],
        runtime_classes={name: each for (kind, name), each in existing if kind == "RuntimeClass"},
    )


def _older_metadata(info: Info) -> dict[str, dict[str, str]]:
    """Find what a TrainJob of Trainer 2.0 or 2.1 says in spec.labels and spec.annotations."""
    found: dict[str, dict[str, str]] = {}
    for patch in info.job.spec.runtimePatches:
        if patch.manager == OLDER_SPELLINGS_MANAGER:
            template = (patch.trainingRuntimeSpec or {}).get("template") or {}
            found |= {
                field: dict(values) for field, values in (template.get("metadata") or {}).items() if values
            }
    return found

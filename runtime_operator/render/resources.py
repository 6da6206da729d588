"""What one node of the trainer gets: the runtime's resources with the job's merged in, key by key.

Upstream merges where an mlPolicy stands and loses claims on the way; with a launcher apart it gives the
job's resources to the launcher, not to the nodes that train. By default neither happens. Kueue counts with
upstream's code, so a job it manages keeps upstream's requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..api.legacy_names import is_extended, limits_from_requests, limits_notice
from ..api.names import NODE, TRAINER_STEP
from .accelerators import accelerators
from .merged import merged_jobs
from .overlay import Object
from .pods import pod_spec
from .quantity import read
from .steps import main_container, steps

if TYPE_CHECKING:
    from .framework import Proposal
    from .info import Info
    from .pods import Pods


def merge_resources(info: Info) -> None:
    """Put the job's resourcesPerNode into the main containers of the pods that train."""
    trainer = info.job.spec.trainer
    wanted = trainer.resourcesPerNode if trainer is not None else None
    if wanted is None:
        return
    for pods in targets(info):
        if pods.main is not None:
            base = pods.main.source.get("resources") or {}
            pods.main.put("resources", _merged_for(info, base, wanted))


def _merged_for(info: Info, base: Object, wanted: Object) -> Object:
    if info.upstream:
        return merged(base, wanted, claims=False)
    requests, limits = wanted.get("requests") or {}, wanted.get("limits") or {}
    if not requests.keys() <= limits.keys():
        wanted, missing = limits_from_requests(wanted)
        if missing:
            info.warn(limits_notice(missing, path="spec.trainer.resourcesPerNode"))
    result = merged(base, wanted, claims=True)
    if not info.kueue:
        _follow_limits(result, limits, requests)
    return result


def _follow_limits(result: dict[str, Any], limits: Object, requests: Object) -> None:
    """Devices are requested as they are limited, or no API server takes the pod."""
    asked = result.get("requests")
    if not asked or asked is requests:
        return
    stale = [name for name in limits if name in asked and name not in requests and is_extended(name)]
    if stale:
        result["requests"] = {**asked, **{name: limits[name] for name in stale}}


def targets(info: Info) -> Sequence[Pods]:
    """The pods whose main container gets the resources of one node."""
    if not info.upstream_pods:
        return _that_train(info)
    counted = _upstreams(info)
    if info.kueue and not info.upstream:
        _tell_what_kueue_counts(info, counted)
    return counted


def _that_train(info: Info) -> Sequence[Pods]:
    policy = info.runtime.spec.mlPolicy
    mpi = policy.mpi if policy is not None else None
    if mpi is None:
        return info.trainers
    nodes = [each for each in info.pods if each.name == NODE]
    if nodes and not mpi.runLauncherAsNode:
        return nodes
    return [*nodes, *(each for each in info.trainers if each.name != NODE)]


def _upstreams(info: Info) -> Sequence[Pods]:
    policy = info.runtime.spec.mlPolicy
    if policy is None:
        return []
    as_node = policy.mpi is not None and policy.mpi.runLauncherAsNode
    return [each for each in info.pods if each.labelled or (as_node and each.name == NODE)]


def _tell_what_kueue_counts(info: Info, counted: Sequence[Pods]) -> None:
    """Say so where the pods that Kueue counts are not those that train."""
    wanted = [each.name for each in _that_train(info)]
    got = [each.name for each in counted]
    if sorted(wanted) != sorted(got):
        info.warn(
            f"spec.trainer.resourcesPerNode: applied to {', '.join(got) or 'no job'} and not to "
            f"{', '.join(wanted)}, because Kueue counts as Trainer 2.3 does: set resources in the runtime"
        )


def merged(base: Object, wanted: Object, *, claims: bool) -> dict[str, Any]:
    """Merge requests and limits key by key, and claims by name."""
    result: dict[str, Any] = {}
    for part in ("limits", "requests"):
        old, new = base.get(part), wanted.get(part)
        if old or new:
            result[part] = {**old, **new} if old and new else old or new
    if claims:
        named = {each["name"]: each for each in (*(base.get("claims") or ()), *(wanted.get("claims") or ()))}
        if named:
            result["claims"] = list(named.values())
    return result


def resolved(info: Info, pods: Pods | None) -> Object:
    """The resources that decide how many processes run on one node.

    Upstream takes the job's alone as soon as it names any, although the pod still gets the runtime's.
    """
    if not info.upstream:
        return (pods.main.get("resources") or {}) if pods is not None and pods.main is not None else {}
    trainer = info.job.spec.trainer
    if trainer is not None and trainer.resourcesPerNode is not None:
        return trainer.resourcesPerNode
    for each in info.pods:
        if (each.name == NODE or each.step == TRAINER_STEP) and each.main is not None:
            return each.main.source.get("resources") or {}
    return {}


def proposed_resources(proposal: Proposal) -> Object:
    """What `resolved` will say of a job that nobody has rendered yet."""
    trainer = proposal.job.spec.trainer
    wanted = trainer.resourcesPerNode if trainer is not None else None
    if proposal.upstream and wanted is not None:
        return wanted
    upstream, jobs = proposal.upstream, merged_jobs(proposal)
    for job, step in zip(jobs, steps(jobs, mpi=False, upstream=upstream), strict=True):
        if step == TRAINER_STEP or (upstream and job["name"] == NODE):
            main = main_container(job, TRAINER_STEP, mpi=False, upstream=upstream)
            for each in pod_spec(job).get("containers") or ():
                if each["name"] == main:
                    return merged(each.get("resources") or {}, wanted or {}, claims=False)
    return wanted or {}


def accelerator_count(info: Info, pods: Pods | None) -> int:
    """How many accelerators one node has, whatever their vendor; upstream: the first that says gpu."""
    return accelerators(resolved(info, pods), upstream=info.upstream)


def cpu_count(info: Info, pods: Pods | None) -> int:
    """How many whole CPUs one node has, rounded up; zero when nobody says."""
    resources = resolved(info, pods)
    cpu = (resources.get("requests") or {}).get("cpu") or (resources.get("limits") or {}).get("cpu")
    return read(cpu).ceil() if cpu else 0

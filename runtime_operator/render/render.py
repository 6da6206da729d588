"""From a TrainJob and its runtime to a Plan: the one way every job goes.

The runtime (or its snapshot) is prepared once; the job's patches and resources are merged in; then each
plug-in has its say, hook by hook, in the order that `framework` writes down; at the end the objects are
sorted so that what others refer to is applied first. Pure: no I/O, no clock, no randomness, inputs stay
as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..api.names import KUEUE_MANAGER, KUEUE_QUEUE_LABEL, TRAINER_STEP
from . import snapshot
from .facts import NO_FACTS, Facts
from .framework import Runtime
from .info import Info
from .overlay import Object
from .plan import Plan
from .pods import Pods
from .prepared import Prepared, draft_jobs, prepare
from .refusals import check_pods
from .resources import merge_resources
from .strategic_merge import merged_field, patched_metadata, patched_spec, pod_fields
from .typed import typed

if TYPE_CHECKING:
    from ..api.trainjob import TrainJob
    from ..api.wire import Compat

OWN_LABEL = "kfp-trainer/train-job"
"""on every object of ours: a controller watches these and no other"""
_RANK: Mapping[str, int] = {"Secret": 0, "ConfigMap": 0, "PodGroup": 2, "JobSet": 3}


def render(job: TrainJob, runtime: Runtime | None, facts: Facts = NO_FACTS, compat: Compat = None) -> Plan:
    """Say which objects a TrainJob becomes, and why; SpecError where it cannot become any."""
    info, prepared, text = begin(job, runtime, facts, compat)
    for enforce in prepared.enforcing:
        enforce(info)
    objects = [info.owned("v1", "ConfigMap", info.name + snapshot.SUFFIX, data={snapshot.KEY: text})]
    for build in prepared.building:
        objects.extend(build(info))
    if len(objects) > 2:
        objects.sort(key=_rank)
    return Plan(tuple(objects), info)


def begin(
    job: TrainJob, runtime: Runtime | None, facts: Facts = NO_FACTS, compat: Compat = None
) -> tuple[Info, Prepared, str]:
    """The value that plug-ins work on, before the first of them has touched it."""
    upstream = compat == "upstream"
    runtime, text = snapshot.runtime_of(job, runtime, facts, compat)
    kueue = managed_by_kueue(job)
    prepared = prepare(runtime, upstream=upstream, counts=upstream or kueue)
    info = Info(job, runtime, facts, upstream=upstream, kueue=kueue)
    if prepared.subdomain:
        info.subdomain = prepared.subdomain
    if not upstream:
        info.own_labels = {OWN_LABEL: info.name}
    _patch(info, prepared)
    info.old_runtime = prepared.is_old
    for pods in info.pods:
        if pods.step == TRAINER_STEP:
            info.trainers.append(pods)
    if info.trainers:
        info.trainer = info.trainers[0]
    if not upstream:
        check_pods(info)
    merge_resources(info)
    return info, prepared, text if text is not None else prepared.snapshot(runtime, upstream=upstream)


def managed_by_kueue(job: TrainJob) -> bool:
    """Whether Kueue counts this job's pods: then names, order, counts and requests are upstream's."""
    if KUEUE_QUEUE_LABEL in (job.metadata.get("labels") or ()):
        return True
    patches = job.spec.runtimePatches
    return bool(patches) and KUEUE_MANAGER in [patch.manager for patch in patches]


def _patch(info: Info, prepared: Prepared) -> None:
    """Merge the job's patches into the template, and make the pods that plug-ins work on."""
    info.spec, info.labels, info.annotations = prepared.spec, prepared.labels, prepared.annotations
    if not info.job.spec.runtimePatches:
        info.pods = [Pods(each) for each in prepared.drafts]
        return
    changes = [each.trainingRuntimeSpec for each in info.job.spec.runtimePatches if each.trainingRuntimeSpec]
    if info.upstream:
        changes = typed(changes)
    fields = pod_fields(changes)
    if fields is not None and prepared.names.issuperset(fields):
        info.pods = [Pods(each) for each in prepared.drafts]
        for pods in info.pods:
            for pod in fields.get(pods.name, ()):
                _put_fields(info, pods, pod)
        return
    patches = [{"trainingRuntimeSpec": each} for each in changes]
    metadata = patched_metadata({"labels": info.labels, "annotations": info.annotations}, patches)
    info.labels, info.annotations = metadata["labels"], metadata["annotations"]
    info.spec = patched_spec(prepared.spec, patches, upstream=info.upstream)
    jobs = info.spec.get("replicatedJobs") or ()
    policy = info.runtime.spec.mlPolicy
    drafts = draft_jobs(jobs, policy, upstream=info.upstream, counts=info.upstream_pods)
    info.pods = [Pods(each) for each in drafts]


def _put_fields(info: Info, pods: Pods, pod: Object) -> None:
    for key, change in pod.items():
        merged = merged_field(key, pods.get(key), change, upstream=info.upstream)
        if merged is not None:
            pods.put(key, merged)


def _rank(target: Object) -> int:
    return _RANK.get(target["kind"], 1)

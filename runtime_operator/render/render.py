"""From a TrainJob and its runtime to a Plan: the one way every job goes.

The runtime (or its snapshot) is prepared once; the job's patches and resources are merged in; then each
plug-in has its say, hook by hook, in the order that `framework` writes down; at the end the objects are
sorted so that what others refer to is applied first. Pure: no I/O, no clock, no randomness, inputs stay
as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from ..api.names import API_VERSION, KUEUE_MANAGER, KUEUE_QUEUE_LABEL, TRAIN_JOB
from . import snapshot
from .facts import NO_FACTS, Facts
from .framework import Plugin
from .info import Info
from .plan import Plan, PodSet
from .pod_requests import pod_requests
from .pods import Pods
from .prepared import Draft, Prepared, draft_jobs, prepare
from .refusals import check_pods
from .registry import installed
from .resources import merge_resources
from .strategic_merge import patched_metadata, patched_spec

if TYPE_CHECKING:
    from ..api.runtime import ClusterTrainingRuntime, TrainingRuntime
    from ..api.trainjob import TrainJob
    from ..api.wire import Compat

    Runtime = TrainingRuntime | ClusterTrainingRuntime

OWN_LABEL = "kfp-trainer/train-job"
"""on every object of ours: a controller watches these and no other"""
_RANK: Mapping[str, int] = {"Secret": 0, "ConfigMap": 0, "PodGroup": 2, "JobSet": 3}


def render(job: TrainJob, runtime: Runtime | None, facts: Facts = NO_FACTS, compat: Compat = None) -> Plan:
    """Say which objects a TrainJob becomes, and why; SpecError where it cannot become any."""
    info, prepared, text = begin(job, runtime, facts, compat)
    for hook in ("enforce_ml_policy", "enforce_pod_group_policy", "slice_data"):
        for enforce in prepared.hooks[hook]:
            enforce(info)
    objects = [info.owned("v1", "ConfigMap", job.name + snapshot.SUFFIX, data={snapshot.KEY: text})]
    for build in prepared.hooks["build_components"]:
        objects.extend(build(info))
    objects.sort(key=lambda each: _RANK.get(each["kind"], 1))
    return Plan(
        tuple(objects),
        gang=info.gang,
        warnings=tuple(dict.fromkeys(info.warnings)),
        decisions=tuple(info.decisions),
        pod_sets=partial(_pod_sets, info),
        endpoints=partial(_endpoints, info),
    )


def begin(
    job: TrainJob, runtime: Runtime | None, facts: Facts = NO_FACTS, compat: Compat = None
) -> tuple[Info, Prepared, str]:
    """The value that plug-ins work on, before the first of them has touched it."""
    upstream = compat == "upstream"
    runtime, text = snapshot.runtime_of(job, runtime, facts, compat)
    kueue = managed_by_kueue(job)
    plugins: tuple[Plugin, ...] = installed(upstream=upstream)
    prepared = prepare(runtime, plugins, upstream=upstream, kueue=kueue)
    info = Info(job, runtime, facts, upstream=upstream, kueue=kueue)
    _set_names(info, prepared)
    _patch(info, prepared)
    trainers = info.trainers()
    info.trainer = trainers[0] if trainers else None
    if not upstream:
        check_pods(info, trainers)
    merge_resources(info)
    return info, prepared, text if text is not None else prepared.snapshot(runtime)


def managed_by_kueue(job: TrainJob) -> bool:
    """Whether Kueue counts this job's pods: then names, order, counts and requests are upstream's."""
    return KUEUE_QUEUE_LABEL in job.labels or any(
        patch.manager == KUEUE_MANAGER for patch in job.spec.runtimePatches
    )


def _set_names(info: Info, prepared: Prepared) -> None:
    metadata = info.job.metadata
    info.name = metadata["name"]
    info.namespace = metadata.get("namespace") or "default"
    info.subdomain = prepared.subdomain or info.name
    uid = metadata.get("uid")
    if uid:
        info.owner = {
            "apiVersion": API_VERSION,
            "kind": TRAIN_JOB,
            "name": info.name,
            "uid": uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
    if not info.upstream:
        info.own_labels = {OWN_LABEL: info.name}


def _patch(info: Info, prepared: Prepared) -> None:
    patches = [{"trainingRuntimeSpec": each.trainingRuntimeSpec} for each in info.job.spec.runtimePatches]
    template = info.runtime.spec.template
    metadata = patched_metadata(template.metadata if template is not None else None, patches)
    info.labels, info.annotations = metadata["labels"], metadata["annotations"]
    info.spec = patched_spec(prepared.spec, patches, upstream=info.upstream)
    if info.spec is prepared.spec:
        info.pods = [Pods(each) for each in prepared.drafts]
    else:
        info.pods = [Pods(each) for each in _patched_drafts(info, prepared)]


def _patched_drafts(info: Info, prepared: Prepared) -> Iterable[Draft]:
    """Draft anew when a patch may have moved a label; jobs that no patch touches stay as they were."""
    return draft_jobs(
        info.spec.get("replicatedJobs") or (),
        info.runtime.spec.mlPolicy,
        upstream=info.upstream,
        counts=info.upstream_pods,
    )


def _pod_sets(info: Info) -> tuple[PodSet, ...]:
    return tuple(
        PodSet(
            each.name,
            each.step,
            each.count * each.replicas,
            pod_requests(each.built_spec(), upstream=info.upstream),
            each.wave,
        )
        for each in info.pods
    )


def _endpoints(info: Info) -> Mapping[str, tuple[str, ...]]:
    return {each.name: tuple(info.hosts(each)) for each in info.pods}

"""From a job of an older kind to its Plan: the objects in the order in which they are applied, and why.

Pure, as `render.render` is. A suspended job is its JobSet alone; a gang that Volcano has not let in has its
PodGroup besides. What pods need of others (addresses, hosts) is applied before the JobSet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...api.legacy import LegacyJob
from ...api.legacy.names import JOB_LABEL, OPERATOR_LABEL
from ...api.shapes import at
from ...errors import SpecError
from ..facts import NO_FACTS, Facts
from ..overlay import Object
from ..plan import Plan
from ..plugins.jobset import VERSION as JOBSET_VERSION
from ..plugins.mpi_files import keys_body
from .autoscaler import autoscaler
from .gang import plan_gang, pod_group_spec
from .installation import Installation
from .mpi import Workers, account, config_data, config_name, launcher_name, role_rules
from .mpi_ssh import hosts_data, keys_name
from .parts import NOTHING, Layout, Part, lay_out, stem_of
from .pods import pod_template
from .policies import job_spec, jobset_policies, network, waits_for
from .services import service_bodies
from .story import Story, tell

OWN_LABEL = "kfp-trainer/legacy-job"
"""on every object of ours: a controller watches these and no other"""
DEFAULT = Installation()
NOBODY = Workers()


def render_legacy(
    job: LegacyJob,
    facts: Facts = NO_FACTS,
    installation: Installation = DEFAULT,
    *,
    workers: Workers = NOBODY,
    is_placed: bool = True,
) -> Plan:
    """Say what a job becomes.

    `workers` are those of an MPI launcher as they are now; `is_placed` says that the gang may have pods.
    """
    layout = lay_out(job, made_before(job, facts))
    if not job.replicas and installation.judge == "jobset":
        raise SpecError(
            f"spec.{job.kind.field}: no role has replicas, so nothing would run; give one at least 1"
        )
    story = tell(layout, plan_gang(job, installation, facts), installation)
    objects: list[Object] = []
    if not job.policy.suspend:
        if is_placed:
            running = _reachable(job, workers, installation)
            if job.kind.uses_ssh:
                objects += _ssh(layout, running, facts, installation)
            elif job.kind.uses_kubectl:
                objects += _mpi(job, workers, running, facts, installation)
            objects += [*_services(layout), *_autoscaler(job)]
        objects += _pod_group(job, story, installation)
    objects += _jobsets(layout, installation, rests=job.policy.suspend or not is_placed)
    return Plan(tuple(objects), story)


def made_before(job: LegacyJob, facts: Facts) -> Mapping[str, int]:
    """How many replicas the job's JobSet has, by part; of one that rests nothing need be kept."""
    jobset = facts.existing.get(("JobSet", stem_of(job)))
    owners = at(jobset, "metadata").get("ownerReferences") or ()
    if (
        jobset is None
        or job.policy.suspend
        or all(each.get("uid") != job.metadata.get("uid") for each in owners)
    ):
        return NOTHING
    return {each["name"]: int(each.get("replicas", 1)) for each in jobset["spec"]["replicatedJobs"]}


def _jobsets(layout: Layout, installation: Installation, *, rests: bool) -> Iterator[Object]:
    """The job's JobSet, and one for each replica that was added later; none without replicas."""
    if first := [part for part in layout.parts if not part.added]:
        yield _jobset(layout, first, installation, rests=rests)
    for part in layout.parts:
        if part.added:
            yield _jobset(layout, [part], installation, rests=rests)


def _jobset(layout: Layout, parts: Sequence[Part], installation: Installation, *, rests: bool) -> Object:
    job = layout.job
    jobs = [
        {
            "name": part.name,
            **waits_for(layout, part),
            "replicas": part.count,
            "template": {
                "metadata": {"labels": {OWN_LABEL: job.name}},
                "spec": job_spec(layout, part, pod_template(layout, part, installation), installation),
            },
        }
        for part in parts
    ]
    spec: dict[str, Any] = {"replicatedJobs": jobs, **jobset_policies(layout, installation)}
    if installation.judge == "operator":
        spec["network"] = network(layout, parts[0])
    if rests:
        spec["suspend"] = True
    labels = {OPERATOR_LABEL: job.kind.operator, JOB_LABEL: job.name}
    return _owned(job, JOBSET_VERSION, "JobSet", layout.jobset_name(parts[0]), labels, spec=spec)


def _services(layout: Layout) -> Iterator[Object]:
    for name, labels, spec in service_bodies(layout):
        yield _owned(layout.job, "v1", "Service", name, labels, spec=spec)


def _autoscaler(job: LegacyJob) -> Iterator[Object]:
    spec = autoscaler(job)
    if spec is not None:
        yield _owned(job, "autoscaling/v2", "HorizontalPodAutoscaler", job.name, {}, spec=spec)


def _pod_group(job: LegacyJob, story: Story, installation: Installation) -> Iterator[Object]:
    if story.gang is None:
        return
    version, spec = pod_group_spec(job, story.gang, installation)
    group = _owned(job, version, "PodGroup", job.name, {}, spec=spec)
    annotations = at(job.metadata, "annotations")
    if annotations:
        group = {**group, "metadata": {**group["metadata"], "annotations": dict(annotations)}}
    yield group


def _reachable(job: LegacyJob, workers: Workers, installation: Installation) -> frozenset[int]:
    """The workers that a launcher is told of; where nobody tells it later, all of them."""
    worker = job.role("Worker")
    if installation.judge == "operator" or worker is None:
        return workers.running
    return frozenset(range(worker.replicas))


def _is_anothers(job: LegacyJob, account: Object | None) -> bool:
    """Tell whether an account that the launcher names is there already; one of our name has to be ours."""
    if account is None or account["metadata"]["name"] == launcher_name(job):
        return False
    owners = at(account, "metadata").get("ownerReferences") or ()
    return all(each.get("uid") != job.metadata.get("uid") for each in owners)


def _mpi(
    job: LegacyJob, workers: Workers, running: frozenset[int], facts: Facts, installation: Installation
) -> Iterator[Object]:
    labels, name = {"app": job.name}, launcher_name(job)
    if not _is_anothers(job, facts.existing.get(("ServiceAccount", account(job)))):
        yield _owned(job, "v1", "ServiceAccount", account(job), labels)
    yield _owned(
        job, "v1", "ConfigMap", config_name(job), labels, data=config_data(job, running, installation)
    )
    group = "rbac.authorization.k8s.io"
    yield _owned(job, f"{group}/v1", "Role", name, labels, rules=role_rules(workers.pods.values()))
    yield _owned(
        job,
        f"{group}/v1",
        "RoleBinding",
        name,
        labels,
        subjects=[{"kind": "ServiceAccount", "name": account(job), "namespace": job.namespace}],
        roleRef={"apiGroup": group, "kind": "Role", "name": name},
    )


def _ssh(
    layout: Layout, running: frozenset[int], facts: Facts, installation: Installation
) -> Iterator[Object]:
    """The hosts and the keys of an MPIJob of v2beta1."""
    job, labels = layout.job, {"app": layout.job.name}
    hosts = hosts_data(layout, running, installation)
    yield _owned(job, "v1", "ConfigMap", config_name(job), labels, data=hosts)
    yield _owned(job, "v1", "Secret", keys_name(job), labels, **keys_body(facts.keys))


def _owned(
    job: LegacyJob, version: str, kind: str, name: str, labels: Mapping[str, str], **body: Any
) -> dict[str, Any]:
    """An object of the job's namespace that goes when the job goes."""
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": job.namespace,
        "labels": {**labels, OWN_LABEL: job.name},
    }
    if uid := job.metadata.get("uid"):
        owner = {"apiVersion": job.kind.api_version, "kind": job.kind.name, "name": job.name, "uid": uid}
        metadata["ownerReferences"] = [{**owner, "controller": True, "blockOwnerDeletion": True}]
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **body}

"""From a job of an older kind to the TrainJob and the runtime that do the same, and what is lost on the way.

A role becomes one replicated job with an index a replica, as runtimes have it. Master and workers of PyTorch
and XGBoost are told apart by their rank alone, so they become nodes of one job. Programs get the variables
that they had, with the host names of the new pods; torchrun and mpirun get what Trainer's policies give them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...api.legacy import LegacyJob, Role
from ...api.legacy.names import OUR_MANAGER
from ...api.names import (
    ANCESTOR_LABEL,
    API_VERSION,
    INDEX_FIELD_PATH,
    LAUNCHER,
    NODE,
    TRAIN_JOB,
    TRAINER_STEP,
    TRAINING_RUNTIME,
)
from ...api.shapes import at, items
from ..overlay import Object
from .convert_mpi import mpi_parts
from .frameworks import elastic_bounds, environment
from .installation import Installation
from .losses import losses
from .parts import Layout, Part, short_name
from .policies import job_spec, jobset_policies
from .values import merged

ALONE = Installation(judge="jobset", init_tries=0)
TORCHRUN = ("torchrun", "torch.distributed.run", "torch.distributed.launch")
"""programs that Trainer's policy for torch is made for"""
MERGED = ("PyTorchJob", "XGBoostJob")


@dataclass(frozen=True, slots=True)
class Converted:
    """What takes the place of a job."""

    runtime: Object
    train_job: Object
    lost: tuple[str, ...]
    """what is not carried over, one sentence each"""


class NewLayout(Layout):
    """The parts of a TrainJob, whose pods have the names that JobSet gives them."""

    def host(self, role: Role, index: int = 0) -> str:
        """The host name within the namespace."""
        if self.parts[0].name == NODE and role.name == "Worker":
            index += self.parts[0].count - role.replicas
        name = new_name(self.job)
        return f"{name}-{self._part(role)}-0-{index}.{name}"

    def address(self, role: Role, index: str) -> str:
        """The host name with the namespace."""
        name = new_name(self.job)
        return f"{name}-{self._part(role)}-0-{index}.{name}.{self.job.namespace}.svc"

    def _part(self, role: Role) -> str:
        return NODE if self.parts[0].name == NODE else role.lower


def convert(job: LegacyJob) -> Converted:
    """Return the TrainJob and the runtime that do what a job does."""
    if job.kind.name == "MPIJob":
        policy, jobs, rules = mpi_parts(job)
    else:
        policy, jobs, rules = _parts(job)
    spec = {"mlPolicy": policy, "template": {"spec": {**rules, "replicatedJobs": jobs}}}
    return Converted(
        _document(TRAINING_RUNTIME, job, spec),
        _document(TRAIN_JOB, job, _train_job(job)),
        (*_renamed(job), *losses(job)),
    )


def new_name(job: LegacyJob) -> str:
    """The name of the TrainJob: the job's, or what of it leaves room for the names of pods."""
    parts = [NODE, LAUNCHER] if job.kind.name == "MPIJob" else [part.name for part in _roles_or_nodes(job)]
    return short_name(job.name, max(len(f"-{name}-0-{job.replicas}-abcde") for name in parts))


def uses_torchrun(job: LegacyJob) -> bool:
    """Tell whether every role of a PyTorchJob starts torchrun."""
    words = [
        {str(word).rpartition("/")[2] for word in (*items(each.get("command")), *items(each.get("args")))}
        for role in job.roles
        for each in items(role.pod.get("containers"))
        if each.get("name") == job.kind.container
    ]
    return job.kind.name == "PyTorchJob" and all(found.intersection(TORCHRUN) for found in words)


def _renamed(job: LegacyJob) -> Iterator[str]:
    if new_name(job) != job.name:
        yield f"metadata.name: is {new_name(job)} now, which leaves room for the names of pods"


def _train_job(job: LegacyJob) -> dict[str, Any]:
    policy = job.policy
    terms = {
        "suspend": policy.suspend or None,
        "activeDeadlineSeconds": policy.deadline_seconds,
        "ttlSecondsAfterFinished": policy.ttl_seconds,
        "managedBy": None if policy.managed_by == OUR_MANAGER else policy.managed_by,
    }
    spec: dict[str, Any] = {"runtimeRef": {"kind": TRAINING_RUNTIME, "name": new_name(job)}}
    return {**spec, **{name: value for name, value in terms.items() if value is not None}}


def _document(kind: str, job: LegacyJob, spec: Mapping[str, Any]) -> Object:
    metadata: dict[str, Any] = {"name": new_name(job)}
    if job.metadata.get("namespace"):
        metadata["namespace"] = job.namespace
    if kind == TRAIN_JOB:
        metadata |= {
            field: dict(at(job.metadata, field))
            for field in ("labels", "annotations")
            if at(job.metadata, field)
        }
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": dict(spec)}


def _parts(job: LegacyJob) -> tuple[Object, list[Object], Object]:
    """The policy, the replicated jobs and the rules by which the JobSet ends."""
    layout = NewLayout(job, tuple(_roles_or_nodes(job)), INDEX_FIELD_PATH, INDEX_FIELD_PATH)
    trains = _trainer(layout)
    policy: dict[str, Any] = {"numNodes": trains.count}
    if uses_torchrun(job):
        policy = _torch_policy(job, trains.count)
    return policy, [_replicated_job(layout, part, trains) for part in layout.parts], _rules(layout)


def _rules(layout: Layout) -> Object:
    rules = jobset_policies(layout, ALONE)
    return {"failurePolicy": rules["failurePolicy"]} if len(layout.parts) == 1 else rules


def _torch_policy(job: LegacyJob, nodes: int) -> dict[str, Any]:
    processes = str(
        job.spec.get("nprocPerNode") or at(job.spec, "elasticPolicy").get("nProcPerNode") or "auto"
    )
    torch: dict[str, Any] = {"numProcPerNode": int(processes) if processes.isdecimal() else processes}
    elastic = at(job.spec, "elasticPolicy")
    if not elastic:
        return {"numNodes": nodes, "torch": torch}
    least, most = elastic_bounds(job)
    torch["elasticPolicy"] = {"minNodes": least, "maxNodes": most}
    if elastic.get("maxRestarts") is not None:
        torch["elasticPolicy"]["maxRestarts"] = elastic["maxRestarts"]
    return {"torch": torch}


def _roles_or_nodes(job: LegacyJob) -> Iterator[Part]:
    roles = [role for role in job.roles if role.replicas]
    if job.kind.name in MERGED:
        yield Part(job.role("Worker") or roles[0], NODE, 0, sum(role.replicas for role in roles))
        return
    for role in roles:
        yield Part(role, role.lower, 0, role.replicas)


def _trainer(layout: Layout) -> Part:
    """The part that the TrainJob's trainer is: the workers, or whoever leads."""
    return next((part for part in layout.parts if part.role.name == "Worker"), layout.parts[0])


def _replicated_job(layout: Layout, part: Part, trains: Part) -> Object:
    pod = dict(part.role.pod)
    env = [] if uses_torchrun(layout.job) else environment(layout, part, ALONE)
    pod["containers"] = [_container(layout.job, each, env) for each in items(pod.get("containers"))]
    pod["restartPolicy"] = "Never" if part.role.restart_policy in ("Never", "ExitCode") else "OnFailure"
    spec = job_spec(layout, part, part.role.template_with(pod), ALONE)
    spec |= {"parallelism": part.count, "completions": part.count}
    for rule in at(spec, "podFailurePolicy").get("rules") or ():
        if "onExitCodes" in rule:
            rule["onExitCodes"]["containerName"] = NODE
    template: dict[str, Any] = {"spec": spec}
    if part is trains:
        template["metadata"] = {"labels": {ANCESTOR_LABEL: TRAINER_STEP}}
    return {"name": part.name, "template": template}


def _container(job: LegacyJob, container: Object, env: list[Object]) -> Object:
    """The framework's container is called `node`; of its ports those that the user named stay."""
    is_main = container.get("name") == job.kind.container
    wanted = env if is_main or job.kind.name != "TFJob" else []
    made = {**container, "env": merged(items(container.get("env")), wanted)}
    if not made["env"]:
        del made["env"]
    return {**made, "name": NODE} if is_main else made

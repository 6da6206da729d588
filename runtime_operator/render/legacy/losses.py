"""What a TrainJob cannot say of a job of an older kind: the field, and what happens instead."""

from __future__ import annotations

from collections.abc import Iterator

from ...api.legacy import LegacyJob
from ...api.legacy.mpi import read_mpi
from ...api.shapes import at


def losses(job: LegacyJob) -> Iterator[str]:
    """Tell what is not carried over."""
    yield from _roles(job)
    yield from _run_policy(job)
    yield from _kind(job)


def _roles(job: LegacyJob) -> Iterator[str]:
    path = f"spec.{job.kind.field}"
    worker = job.role("Worker")
    for role in job.roles:
        if role.restart_policy == "Always":
            yield f"{path}[{role.name}].restartPolicy: Always is OnFailure, as Jobs know no other"
        if role.pod.get("restartPolicy"):
            yield f"{path}[{role.name}].template.spec.restartPolicy: the role's takes its place, as before"
    master = job.role("Master")
    if job.kind.name in ("PyTorchJob", "XGBoostJob") and master and worker:
        if master.pod != worker.pod:
            yield f"{path}[Master].template: all nodes are alike, so the master runs what the workers do"
        if master.restart_policy != worker.restart_policy:
            yield f"{path}[Master].restartPolicy: all nodes have that of the workers, {worker.restart_policy}"


def _run_policy(job: LegacyJob) -> Iterator[str]:
    policy, path = at(job.spec, "runPolicy"), "spec.runPolicy"
    if policy.get("cleanPodPolicy") or job.spec.get("cleanPodPolicy"):
        yield f"{path}.cleanPodPolicy: pods that still run end with the job, and those that have ended stay"
    if policy.get("backoffLimit") is not None:
        yield f"{path}.backoffLimit: counts for each role by itself"
    if policy.get("ttlSecondsAfterFinished") is not None:
        yield f"{path}.ttlSecondsAfterFinished: is kept to here; Kubeflow Trainer's own controller drops it"
    if policy.get("schedulingPolicy"):
        yield f"{path}.schedulingPolicy: name your gangs' scheduler in the runtime's spec.podGroupPolicy"


def _kind(job: LegacyJob) -> Iterator[str]:
    spec, elastic = job.spec, at(job.spec, "elasticPolicy")
    if job.kind.uses_ssh:
        yield from _mpi_by_ssh(job)
        return
    if job.kind.name == "MPIJob":
        yield "transport: workers are reached by ssh and no more by kubectl, so the images need ssh and sshd"
        yield "transport: sshd reads /home/mpiuser/.sshd_config, as in the images of mpirun's community"
        return
    if job.replicas > 1:
        yield "host names: programs that spell them themselves need the new ones, which `explain` tells"
    if _first_worker_decides(job):
        yield "success: the job has succeeded when all its workers have, not when the first has"
    if spec.get("enableDynamicWorker"):
        yield "spec.enableDynamicWorker: a worker that fails ends the job, and their number is fixed"
    if elastic.get("metrics"):
        yield "spec.elasticPolicy.metrics: nothing scales a TrainJob"
    for field in ("rdzvBackend", "rdzvHost", "rdzvPort", "rdzvId", "rdzvConf", "standalone"):
        if elastic.get(field) is not None:
            yield f"spec.elasticPolicy.{field}: torchrun meets on the first node instead"


def _mpi_by_ssh(job: LegacyJob) -> Iterator[str]:
    yield "host names: programs that spell them themselves need the new ones, which `explain` tells"
    yield "K_MPI_JOB_ROLE: is not set; entrypoints that ask for it need it in the runtime"
    if not read_mpi(job).launcher_waits and job.role("Worker"):
        yield "spec.launcherCreationPolicy: the launcher starts once its workers are ready"


def _first_worker_decides(job: LegacyJob) -> bool:
    worker = job.role("Worker")
    leads = job.role("Chief", "Master") is not None or bool(job.spec.get("successPolicy"))
    return job.kind.name == "TFJob" and not leads and worker is not None and worker.replicas > 1

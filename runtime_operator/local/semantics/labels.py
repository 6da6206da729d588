"""The names of a JobSet's Jobs and pods, and the labels that say what is what.

Programs inside the pods and tools around them read these: ranks come from indexes, peers from host
names, dashboards select by label. So they are exactly those that a cluster gives.
"""

from __future__ import annotations

import hashlib

from .model import Json, State

GROUP = "jobset.sigs.k8s.io"
JOBSET_NAME = f"{GROUP}/jobset-name"
JOBSET_UID = f"{GROUP}/jobset-uid"
REPLICATED_JOB = f"{GROUP}/replicatedjob-name"
REPLICAS = f"{GROUP}/replicatedjob-replicas"
GLOBAL_REPLICAS = f"{GROUP}/global-replicas"
ATTEMPT = f"{GROUP}/restart-attempt"
JOB_INDEX = f"{GROUP}/job-index"
JOB_KEY = f"{GROUP}/job-key"
JOB_GLOBAL_INDEX = f"{GROUP}/job-global-index"
GROUP_NAME = f"{GROUP}/group-name"
GROUP_REPLICAS = f"{GROUP}/group-replicas"
JOB_GROUP_INDEX = f"{GROUP}/job-group-index"
COORDINATOR = f"{GROUP}/coordinator"
PRIORITY = f"{GROUP}/priority"
EXCLUSIVE = f"alpha.{GROUP}/exclusive-topology"

COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
JOB_NAME = "batch.kubernetes.io/job-name"
CONTROLLER_UID = "batch.kubernetes.io/controller-uid"


def job_name(jobset: str, replicated_job: str, index: int) -> str:
    """Name of the Job with that index."""
    return f"{jobset}-{replicated_job}-{index}"


def subdomain(state: State) -> str:
    """The domain that the host names stand in, which is the name of the Service too."""
    return str((state.spec.get("network") or {}).get("subdomain") or state.name)


def has_hostnames(state: State) -> bool:
    """Whether pods are to be found by name."""
    return bool((state.spec.get("network") or {}).get("enableDNSHostnames"))


def coordinator_endpoint(state: State) -> str | None:
    """Where the coordinator is to be found, if one is named."""
    who = state.spec.get("coordinator")
    if not who:
        return None
    pod = f"{state.name}-{who['replicatedJob']}-{who.get('jobIndex', 0)}-{who.get('podIndex', 0)}"
    return f"{pod}.{subdomain(state)}"


def replicas_of(replicated_job: Json) -> int:
    """How many Jobs a replicated Job has."""
    return int(replicated_job.get("replicas", 1))


def child_labels(state: State, replicated_job: Json, index: int) -> dict[str, str]:
    """What each Job and each pod carries, as labels and as annotations."""
    name, group = replicated_job["name"], replicated_job.get("groupName", "default")
    everyone = state.replicated_jobs
    same_group = [each for each in everyone if each.get("groupName", "default") == group]
    job = job_name(state.name, name, index)
    labels = {
        JOBSET_NAME: state.name,
        JOBSET_UID: str(state.jobset["metadata"].get("uid", "")),
        REPLICATED_JOB: name,
        ATTEMPT: str(state.status.restarts),
        REPLICAS: str(replicas_of(replicated_job)),
        GLOBAL_REPLICAS: str(sum(map(replicas_of, everyone))),
        JOB_INDEX: str(index),
        JOB_KEY: hashlib.sha1(f"{state.namespace}/{job}".encode()).hexdigest(),
        JOB_GLOBAL_INDEX: str(_before(everyone, name) + index),
        GROUP_NAME: group,
        GROUP_REPLICAS: str(sum(map(replicas_of, same_group))),
        JOB_GROUP_INDEX: str(_before(same_group, name) + index),
    }
    coordinator = coordinator_endpoint(state)
    return labels | ({COORDINATOR: coordinator} if coordinator else {})


def _before(replicated_jobs: list[Json], name: str) -> int:
    """How many Jobs the replicated Jobs before that one have."""
    names = [each["name"] for each in replicated_jobs]
    return sum(map(replicas_of, replicated_jobs[: names.index(name)]))

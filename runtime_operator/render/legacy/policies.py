"""What a role's restart policy means to its Jobs, and when the JobSet ends.

On a cluster our controller judges by v1's rules, as no policy of JobSet says `leave the others running` or
`the first worker decides`: Jobs replace failed pods without end, and the controller holds the one that is not
to come back. Where a JobSet stands alone, it gets the nearest policies of its own.
"""

from __future__ import annotations

from typing import Any

from ...api.legacy import LegacyJob, Role
from ...api.legacy.mpi import read_mpi
from ..overlay import Object
from .installation import Installation
from .parts import Layout, Part

MOST = 2**31 - 1
LAUNCHER_TRIES = 6
"""how often a Job tries again that says nothing of it"""
PERMANENT = range(1, 128)
"""exit codes that ExitCode takes for final; what is above may be tried again"""


def job_spec(layout: Layout, part: Part, template: Object, installation: Installation) -> dict[str, Any]:
    """The spec of the Jobs of a part."""
    spec: dict[str, Any] = {"parallelism": 1, "completions": 1, "backoffLimit": MOST, "template": template}
    if installation.judge == "operator":
        return {**spec, "completionMode": "Indexed" if needs_hostnames(layout.job) else "NonIndexed"}
    spec["completionMode"] = "Indexed"
    if layout.job.kind.uses_ssh and part.role.name == "Launcher":
        return {**spec, **_tries(layout.job)}
    policy = part.role.restart_policy
    if policy == "Never":
        spec["backoffLimit"] = 0
    elif layout.job.policy.backoff_limit is not None:
        spec["backoffLimit"] = layout.job.policy.backoff_limit
    if policy == "ExitCode":
        spec["podReplacementPolicy"] = "Failed"
        spec["podFailurePolicy"] = {"rules": _exit_codes(layout.job, part.role)}
    return spec


def network(layout: Layout, part: Part) -> Object:
    """Where pods of the cluster find each other besides the Services of their replicas: mostly nowhere."""
    if not needs_hostnames(layout.job):
        return {"enableDNSHostnames": False}
    return {"enableDNSHostnames": True, "subdomain": f"{layout.jobset_name(part)}-hosts"}


def needs_hostnames(job: LegacyJob) -> bool:
    """Tell whether pods announce their own host names, as torchrun's agents do where they come and go.

    v1's pods were called as their Services. Ours bear random letters, so they get host names from JobSet,
    unless the user has given them some.
    """
    elastic = job.kind.name == "PyTorchJob" and job.spec.get("elasticPolicy") is not None
    return elastic and not any(role.pod.get("hostname") for role in job.roles)


def jobset_policies(layout: Layout, installation: Installation) -> dict[str, Any]:
    """When the JobSet ends; under our controller it ends when all of its Jobs have."""
    if installation.judge == "operator":
        return {}
    targets = [part.name for part in layout.parts if _decides(layout.job, part.role)]
    policies: dict[str, Any] = {"failurePolicy": {"maxRestarts": 0}}
    return (
        {**policies, "successPolicy": {"operator": "All", "targetReplicatedJobs": targets}}
        if targets
        else policies
    )


def waits_for(layout: Layout, part: Part) -> Object:
    """What a launcher waits for that is to be made when its workers are ready."""
    job, workers = layout.job, [each.name for each in layout.parts if each.role.name == "Worker"]
    if part.role.name != "Launcher" or not job.kind.uses_ssh or not read_mpi(job).launcher_waits:
        return {}
    return {"dependsOn": [{"name": name, "status": "Ready"} for name in workers]} if workers else {}


def _tries(job: LegacyJob) -> Object:
    """The launcher of v2beta1 is tried as often as Jobs are, unless the job says how often."""
    limit, deadline = job.policy.backoff_limit, job.policy.deadline_seconds
    tries = {"backoffLimit": LAUNCHER_TRIES if limit is None else limit, "podReplacementPolicy": "Failed"}
    return tries if deadline is None else {**tries, "activeDeadlineSeconds": deadline}


def _decides(job: LegacyJob, role: Role) -> bool:
    """Tell whether the job has succeeded once all replicas of this role have."""
    lead = job.role("Chief", "Master", "Launcher", "Scheduler")
    if lead is not None:
        return role is lead
    return role.name == "Worker"


def _exit_codes(job: LegacyJob, role: Role) -> list[Object]:
    """The rules of ExitCode; what no rule names is tried again."""
    lost = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    container = job.kind.container
    if all(each.get("name") != container for each in role.pod.get("containers") or ()):
        return [lost]
    codes = {"containerName": container, "operator": "In", "values": list(PERMANENT)}
    return [{"action": "FailJob", "onExitCodes": codes}, lost]

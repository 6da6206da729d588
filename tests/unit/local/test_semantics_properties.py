"""What holds of every JobSet, whatever happens to it: played at random, with seeds that repeat."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from kfp_trainer.runtime_operator.local import semantics
from kfp_trainer.runtime_operator.local.semantics import State
from tests.conformance_jobset.cluster import Cluster

Json = dict[str, Any]
SEEDS = range(30)
HAPPENINGS = 25


def a_jobset(dice: random.Random) -> Json:
    """Two or three replicated Jobs with policies at random."""
    names = ["a", "b", "c"][: dice.choice([2, 3])]
    jobs = [a_replicated_job(dice, name, names[:place]) for place, name in enumerate(names)]
    spec: Json = {"replicatedJobs": jobs, "suspend": dice.random() < 0.2}
    if dice.random() < 0.7:
        strategy = dice.choice(["Recreate", "BlockingRecreate"])
        spec["failurePolicy"] = {"maxRestarts": dice.choice([0, 1, 3]), "restartStrategy": strategy}
    if dice.random() < 0.4:
        spec["successPolicy"] = {"operator": dice.choice(["All", "Any"]), "targetReplicatedJobs": ["b"]}
    if dice.random() < 0.3:
        spec["ttlSecondsAfterFinished"] = dice.choice([0, 30])
    if dice.random() < 0.3 and not any("dependsOn" in job for job in jobs):
        spec["startupPolicy"] = {"startupPolicyOrder": "InOrder"}
    head = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "alpha"}}
    return {**head, "spec": spec}


def a_replicated_job(dice: random.Random, name: str, earlier: list[str]) -> Json:
    """One replicated Job, its limits and its wishes at random."""
    policy = dice.choice(["Never", "OnFailure"])
    labels = {"stop": dice.choice(["held", "at-once"]), "ready": dice.choice(["later", "now"])}
    pod = {"restartPolicy": policy, "containers": [{"name": "main", "image": "train"}]}
    work: Json = {
        "parallelism": dice.choice([1, 2, 3]),
        "completions": dice.choice([1, 2, 4]),
        "completionMode": dice.choice(["Indexed", "Indexed", "NonIndexed"]),
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    if work["completionMode"] == "Indexed" and policy == "Never" and dice.random() < 0.3:
        work["backoffLimitPerIndex"] = dice.choice([0, 1])
    else:
        work["backoffLimit"] = dice.choice([0, 1, 3])
    if dice.random() < 0.2:
        work["activeDeadlineSeconds"] = 60
    if dice.random() < 0.2:
        work["podReplacementPolicy"] = "Failed"
    job: Json = {"name": name, "replicas": dice.choice([1, 1, 2]), "template": {"spec": work}}
    if earlier and dice.random() < 0.5:
        job["dependsOn"] = [{"name": earlier[-1], "status": dice.choice(["Ready", "Complete"])}]
    return job


def happen(cluster: Cluster, dice: random.Random) -> None:
    """Something happens."""
    pods = [pod for pod in cluster.state.pods if not pod.ended]
    if not pods or dice.random() < 0.3:
        anything_else(cluster, dice)
        return
    pod = dice.choice(pods)
    name = cluster.short_name(pod)
    if pod.terminating:
        cluster.stopped(name)
    else:
        match dice.choice(["success", "failure", "eviction", "readiness", "deletion"]):
            case "success":
                cluster.end(name, 0)
            case "failure":
                cluster.end(name, 1)
            case "eviction":
                cluster.evict(name)
            case "readiness":
                cluster.become_ready(name)
            case _:
                cluster.delete_pod(name)


def anything_else(cluster: Cluster, dice: random.Random) -> None:
    """Time passes, or a person wants something."""
    wish = dice.choice(["wait", "wait", "wait", "suspend", "job"])
    if wish == "wait":
        cluster.wait(dice.choice([1.0, 12.0, 70.0]))
    elif wish == "suspend" and not cluster.state.gone:
        old = cluster.state.jobset
        admitted = semantics.admit_change(
            old, {**old, "spec": {**old["spec"], "suspend": dice.random() < 0.3}}
        )
        assert admitted.errors == ()
        cluster.state = semantics.replace_jobset(cluster.state, admitted.jobset)
    elif wish == "job" and cluster.state.jobs and dice.random() < 0.2:
        cluster.state = semantics.delete_job(cluster.state, dice.choice(cluster.state.jobs).name)


def check(state: State, now: float) -> None:
    """What must hold once all has settled."""
    again = semantics.settle(state, now)
    assert (again.state, again.events) == (state, ())
    assert again.look_again is None or again.look_again > now
    assert semantics.from_json(semantics.to_json(state)) == state
    assert len({pod.uid for pod in state.pods}) == len(state.pods)
    assert len({job.name for job in state.jobs}) == len(state.jobs)
    for job in state.jobs:
        active = [pod for pod in state.pods_of(job) if pod.active]
        indexes = Counter(pod.index for pod in active if pod.index is not None)
        assert len(active) == job.status.active <= job.spec["parallelism"]
        assert all(count == 1 for count in indexes.values())
        assert sum(pod.terminating for pod in state.pods_of(job)) == job.status.terminating
        assert not active or not (job.ended or job.suspended or job.deleted is not None)
    if state.gone:
        assert not state.jobs and not any(pod.active for pod in state.pods)
    elif state.status.ended:
        assert all(job.ended or job.deleted is not None for job in state.jobs)
        assert state.status.terminal_state in ("Completed", "Failed")


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_happens(seed: int) -> None:
    dice = random.Random(seed)
    admitted = semantics.admit(a_jobset(dice))
    assert admitted.errors == ()
    cluster = Cluster(admitted.jobset)
    cluster.quiet()
    restarts = 0
    for _ in range(HAPPENINGS):
        happen(cluster, dice)
        cluster.settle()
        check(cluster.state, cluster.now)
        assert cluster.state.status.restarts >= restarts
        restarts = cluster.state.status.restarts
    for _ in range(HAPPENINGS):
        for pod in cluster.state.pods:
            if pod.terminating:
                cluster.stopped(cluster.short_name(pod))
        cluster.settle()
    assert not any(pod.terminating for pod in cluster.state.pods)

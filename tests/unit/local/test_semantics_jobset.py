"""What a JobSet comes to: its Jobs, their names and labels, its restarts and its end."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

from kfp_trainer.runtime_operator.errors import Fatal
from kfp_trainer.runtime_operator.local import semantics
from kfp_trainer.runtime_operator.local.semantics import (
    PodReport,
    Remove,
    Settled,
    Start,
    State,
    Stop,
    commands_between,
    settle,
)
from kfp_trainer.runtime_operator.local.semantics.actions import CreateJob
from kfp_trainer.runtime_operator.local.semantics.jobset import reconcile_jobset
from kfp_trainer.runtime_operator.local.semantics.labels import coordinator_endpoint
from kfp_trainer.runtime_operator.local.semantics.patterns import matches
from tests.conformance_jobset.answer import CASES, answer
from tests.conformance_jobset.cluster import Cluster
from tests.recorded_cases import read_cases

Json = dict[str, Any]
RUNS = PodReport("Running", ready=True)


def replicated(
    name: str, *, pods: int = 1, pod: Json | None = None, job: Json | None = None, **fields: Any
) -> Json:
    """One replicated Job."""
    spec = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "train"}], **(pod or {})}
    work = {
        "parallelism": pods,
        "completions": pods,
        "backoffLimit": 0,
        "template": {"spec": spec},
        **(job or {}),
    }
    return {"name": name, "template": {"spec": work}, **fields}


def state(*jobs: Json, metadata: Json | None = None, **spec: Any) -> State:
    """The state of a new JobSet."""
    document = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "alpha", **(metadata or {})},
        "spec": {"replicatedJobs": list(jobs) or [replicated("worker", pods=2)], **spec},
    }
    admitted = semantics.admit(document)
    assert admitted.errors == ()
    return semantics.create(admitted.jobset)


def running(given: State, now: float = 0.0) -> State:
    """The state once all pods run."""
    while True:
        settled = settle(given, now).state
        waiting = [pod for pod in settled.pods if pod.report.phase == "Pending"]
        if not waiting:
            return settled
        given = settled
        for pod in waiting:
            given = semantics.report(given, pod.uid, RUNS)


def end(given: State, name: str, code: int = 0, now: float = 5.0) -> Settled:
    """Settle after the pods of a Job have ended."""
    for pod in given.pods:
        if pod.job == f"alpha-{name}":
            phase = "Failed" if code else "Succeeded"
            news = PodReport(phase, exits=(("main", code),), finished=now)
            given = semantics.report(given, pod.uid, news)
    return settle(given, now)


def test_jobs_and_pods_are_named_and_labelled_as_on_a_cluster() -> None:
    given = state(
        replicated("a", replicas=2, groupName="g1"),
        replicated("b", pods=2, groupName="g2"),
        replicated("c", groupName="g1"),
        metadata={"uid": "u-1", "namespace": "team"},
        coordinator={"replicatedJob": "b", "podIndex": 1},
        network={"subdomain": "net"},
    )
    settled = settle(given, 0.0).state
    assert [job.name for job in settled.jobs] == ["alpha-a-0", "alpha-a-1", "alpha-b-0", "alpha-c-0"]
    assert settled.services == ("net",)
    pod = next(pod for pod in settled.pods if pod.job == "alpha-c-0")
    metadata, spec = pod.manifest["metadata"], pod.manifest["spec"]
    prefix = "jobset.sigs.k8s.io/"
    own = {
        key.removeprefix(prefix): value for key, value in metadata["labels"].items() if key.startswith(prefix)
    }
    assert own == {
        "jobset-name": "alpha",
        "jobset-uid": "u-1",
        "replicatedjob-name": "c",
        "replicatedjob-replicas": "1",
        "global-replicas": "4",
        "restart-attempt": "0",
        "job-index": "0",
        "job-key": "5ecd9a5b3fbdb8f9cbff2d2c8f4bb7d8b1cc7ba2",
        "job-global-index": "3",
        "group-name": "g1",
        "group-replicas": "3",
        "job-group-index": "2",
        "coordinator": "alpha-b-0-1.net",
        "priority": "0",
    } | {"job-key": own["job-key"]}
    assert len(own["job-key"]) == 40
    assert {key: value for key, value in metadata["annotations"].items() if key.startswith(prefix)} == {
        prefix + key: value for key, value in own.items() if key != "priority"
    }
    assert (spec["hostname"], spec["subdomain"], metadata["namespace"]) == ("alpha-c-0-0", "net", "team")
    assert pod.name.startswith("alpha-c-0-0-") and len(pod.name) == len("alpha-c-0-0-") + 5
    assert metadata["labels"]["batch.kubernetes.io/job-completion-index"] == "0"


def test_without_a_coordinator_none_is_named() -> None:
    assert coordinator_endpoint(state()) is None


def test_every_container_knows_its_index_unless_it_sets_it() -> None:
    mine = {"name": "main", "image": "x", "env": [{"name": "JOB_COMPLETION_INDEX", "value": "7"}]}
    pod = {"initContainers": [{"name": "prepare", "image": "x"}], "containers": [mine]}
    spec = settle(state(replicated("worker", pod=pod)), 0.0).state.pods[0].manifest["spec"]
    path = "metadata.labels['batch.kubernetes.io/job-completion-index']"
    given = {"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": {"fieldPath": path}}}
    assert spec["initContainers"][0]["env"] == [given]
    assert spec["containers"][0]["env"] == mine["env"]


def test_pods_without_an_index_have_no_host_name() -> None:
    given = state(replicated("worker", pods=2, job={"completionMode": "NonIndexed"}))
    pods = settle(given, 0.0).state.pods
    assert len({pod.name for pod in pods}) == 2
    assert all("hostname" not in pod.manifest["spec"] and pod.index is None for pod in pods)


def test_without_names_there_is_no_service() -> None:
    settled = settle(state(network={"enableDNSHostnames": False}), 0.0).state
    assert settled.services == () and "subdomain" not in settled.pods[0].manifest["spec"]


def test_a_claim_is_mounted_where_a_container_asks_for_it() -> None:
    claims = [
        {
            "templates": [
                {"metadata": {"name": "data"}, "spec": {}},
                {"metadata": {"name": "more"}, "spec": {}},
            ]
        }
    ]
    mounts = [{"name": "data", "mountPath": "/data"}]
    asks = {"containers": [{"name": "main", "image": "x", "volumeMounts": mounts}]}
    both = [{"name": "more", "mountPath": "/more"}]
    prepares = {"initContainers": [{"name": "prepare", "image": "x", "volumeMounts": both}]}
    given = state(replicated("a", pod=asks), replicated("b", pod=prepares), volumeClaimPolicies=claims)
    volumes = {pod.job: pod.manifest["spec"].get("volumes") for pod in settle(given, 0.0).state.pods}
    assert volumes == {
        f"alpha-{job}-0": [{"name": claim, "persistentVolumeClaim": {"claimName": f"{claim}-alpha"}}]
        for job, claim in (("a", "data"), ("b", "more"))
    }


def test_what_the_api_server_fills_in_is_filled_in() -> None:
    bare = {"parallelism": None, "completions": None, "backoffLimit": None, "completionMode": "NonIndexed"}
    (job,) = settle(state(replicated("worker", job=bare)), 0.0).state.jobs
    assert {key: job.spec[key] for key in ("parallelism", "completions", "backoffLimit")} == {
        "parallelism": 1,
        "completions": 1,
        "backoffLimit": 6,
    }
    only = {"parallelism": None, "backoffLimit": None, "backoffLimitPerIndex": 1}
    (job,) = settle(state(replicated("worker", pods=3, job=only)), 0.0).state.jobs
    assert (job.spec["parallelism"], job.spec["backoffLimit"]) == (1, 2**31 - 1)


def test_someone_else_manages_it() -> None:
    given = state(managedBy="example.com/other")
    assert settle(given, 0.0) == Settled(given)
    assert settle(state(managedBy="jobset.sigs.k8s.io/jobset-controller"), 0.0).state.jobs


def test_commands_follow_from_two_states() -> None:
    given = state(replicated("a"), replicated("b", pods=2), failurePolicy={"maxRestarts": 1})
    begun = settle(given, 0.0).state
    assert commands_between(given, begun) == tuple(Start(pod) for pod in begun.pods)
    runs = running(begun)
    failed = end(runs, "a-0", 1).state
    old_b = [pod for pod in runs.pods if pod.job == "alpha-b-0"]
    commands = commands_between(runs, failed)
    stops = [each.pod.uid for each in commands if isinstance(each, Stop)]
    assert stops == [pod.uid for pod in old_b]
    assert [each.pod.job for each in commands if isinstance(each, Remove)] == ["alpha-a-0"]
    assert [each.pod.job for each in commands if isinstance(each, Start)] == ["alpha-a-0"]
    assert failed.status.restarts == 1
    gone = end(failed, "b-0", 143).state
    starts = [each.pod.name for each in commands_between(failed, gone) if isinstance(each, Start)]
    assert len(starts) == 2 and all(name.startswith("alpha-b-0-") for name in starts)
    assert commands_between(gone, gone) == ()


def test_a_pod_that_never_ran_is_stopped_all_the_same() -> None:
    begun = settle(state(), 0.0).state
    deleted = semantics.delete_pod(begun, begun.pods[0].uid, 1.0)
    assert deleted == semantics.delete_pod(deleted, begun.pods[0].uid, 2.0)
    after = settle(deleted, 1.0).state
    assert {each.pod.uid for each in commands_between(begun, after)} == {pod.uid for pod in begun.pods}
    assert all(isinstance(each, Stop) for each in commands_between(begun, after))


def test_a_jobset_that_goes_takes_its_jobs_and_pods_with_it() -> None:
    runs = running(state())
    deleted = settle(semantics.delete_jobset(runs, 1.0), 1.0).state
    assert deleted.gone and not deleted.jobs and all(pod.terminating for pod in deleted.pods)
    for pod in deleted.pods:
        deleted = semantics.report(deleted, pod.uid, PodReport("Failed", finished=2.0))
    assert settle(deleted, 2.0).state.pods == ()


def test_a_ttl_waits_for_what_still_stops() -> None:
    given = state(
        replicated("a"), replicated("b"), successPolicy={"operator": "Any"}, ttlSecondsAfterFinished=3
    )
    done = end(running(given), "a-0")
    assert done.look_again == 8.0
    assert done.state.status.ended and done.state.status.terminal_state == "Completed"
    expired = settle(done.state, 8.0).state
    assert not expired.gone and [job.name for job in expired.jobs] == ["alpha-b-0"]
    assert end(expired, "b-0", 143, now=9.0).state.gone


def test_events_tell_what_happened() -> None:
    failed = end(running(state()), "worker-0", 1)
    assert [(each.kind, each.reason, each.warning) for each in failed.events] == [
        ("Job", "BackoffLimitExceeded", True),
        ("JobSet", "FailedJobs", True),
    ]
    done = end(running(state()), "worker-0")
    assert [(each.kind, each.name, each.reason) for each in done.events] == [
        ("Job", "alpha-worker-0", "Completed"),
        ("JobSet", "alpha", "AllJobsCompleted"),
    ]


def test_news_of_a_pod_that_is_gone_change_nothing() -> None:
    begun = settle(state(), 0.0).state
    assert semantics.report(begun, "nobody", RUNS) == begun


def test_rules_that_never_come_to_rest_are_our_own_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module(settle.__module__)
    without_pods = replace(settle(state(), 0.0).state, pods=())
    monkeypatch.setattr(module, "MOST_ROUNDS", 1)
    with pytest.raises(Fatal, match="JobSet alpha: does not come to rest"):
        settle(state(), 0.0)
    with pytest.raises(Fatal, match="Jobs of alpha: do not come to rest"):
        settle(without_pods, 0.0)


def test_a_jobset_settles_in_passes_that_each_see_what_the_last_came_to() -> None:
    decision = reconcile_jobset(
        state(replicated("a"), replicated("b", dependsOn=[{"name": "a", "status": "Ready"}])), 0.0
    )
    created = [each.manifest["metadata"]["name"] for each in decision.actions if isinstance(each, CreateJob)]
    assert created == ["alpha-a-0"]


PATTERNS = {
    "found anywhere": (r"code 4\d", True),
    "the whole line": (r"^exit code 42 of main$", True),
    "another": (r"code 5", False),
    "no expression": (r"(", False),
    "look-ahead, which RE2 has not": (r"(?=exit)exit", False),
    "look-behind, which RE2 has not": (r"(?<=exit )code", False),
    "a reference back, which RE2 has not": (r"(o)de \d\d \1", False),
    "a possessive repeat, which RE2 has not": (r"e++", False),
    "a class that only looks like one": (r"[+*+]*exit", True),
    "an escaped bracket": (r"\(?exit", True),
    "the end of the text": (r"main\z", True),
    "a POSIX class": (r"[[:digit:]]{2}", True),
    "an unknown POSIX class": (r"[[:digits:]]", False),
    "a bracket in a class": (r"[[e]xit", True),
    "a named group": (r"(?<code>42)", True),
    "case folded": (r"(?i)EXIT", True),
}


@pytest.mark.parametrize("sentence", PATTERNS)
def test_patterns_mean_what_they_mean_to_re2(sentence: str) -> None:
    pattern, found = PATTERNS[sentence]
    assert matches(pattern, "exit code 42 of main") is found


class Kept(Cluster):
    """A cluster whose state is written down and read again before each look at it."""

    def settle(self) -> None:
        text = json.dumps(semantics.to_json(self.state))
        self.state = semantics.from_json(json.loads(text))
        super().settle()


TAKEN_UP = {path.stem: case for path, case in read_cases(CASES) if case["expect"].get("steps")}


@pytest.mark.parametrize("name", TAKEN_UP)
def test_a_state_can_be_kept_and_taken_up_at_any_moment(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    straight = answer(TAKEN_UP[name])
    monkeypatch.setattr("tests.conformance_jobset.answer.Cluster", Kept)
    assert answer(TAKEN_UP[name]) == straight


def test_a_state_is_the_same_after_it_was_kept() -> None:
    given = end(running(state()), "worker-0", 1).state
    assert semantics.from_json(json.loads(json.dumps(semantics.to_json(given)))) == given
    assert replace(given, serial=0) != given

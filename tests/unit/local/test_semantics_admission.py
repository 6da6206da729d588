"""What is admitted on one machine, what is filled in, and what is refused by name."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kfp_trainer.runtime_operator.local.semantics import admit, admit_change, refuse_unsupported

Json = dict[str, Any]


def jobset(job: Json | None = None, *, pod: Json | None = None, **spec: Any) -> Json:
    """A JobSet of one Job of two pods, with some fields changed."""
    container = {"name": "main", "image": "train", "command": ["train"]}
    template = {"spec": {"containers": [container], **(pod or {})}}
    work = {"parallelism": 2, "completions": 2, "template": template, **(job or {})}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "alpha"},
        "spec": {"replicatedJobs": [{"name": "worker", "template": {"spec": work}}], **spec},
    }


def replicated(**fields: Any) -> list[Json]:
    """One replicated Job with some fields changed."""
    return [{**jobset()["spec"]["replicatedJobs"][0], **fields}]


WORK = "spec.replicatedJobs[0].template.spec"
POD = f"{WORK}.template.spec"
CODES = {"operator": "In", "values": [1]}


def rules(*each: Json) -> Json:
    """A Job with these rules of a podFailurePolicy, whose pods are never restarted."""
    return {"podFailurePolicy": {"rules": list(each)}}


NEVER = {"restartPolicy": "Never"}
REFUSED: dict[str, tuple[Any, str]] = {
    "no mapping": (["alpha"], ""),
    "another kind": (jobset() | {"kind": "Job"}, ""),
    "another version": (jobset() | {"apiVersion": "jobset.x-k8s.io/v1"}, ""),
    "no spec": ({**jobset(), "spec": None}, "spec"),
    "no metadata": ({**jobset(), "metadata": "alpha"}, "metadata"),
    "no name": ({**jobset(), "metadata": {"generateName": "a-"}}, "metadata.name"),
    "a capital in the name": ({**jobset(), "metadata": {"name": "Alpha"}}, "metadata.name"),
    "a text for a number": (jobset({"completions": "two"}), f"{WORK}.completions"),
    "half a restart": (jobset(failurePolicy={"maxRestarts": 0.5}), "spec.failurePolicy.maxRestarts"),
    "a list for a mapping": (jobset(network=[]), "spec.network"),
    "a mapping for a list": (jobset(replicatedJobs={"a": 1}), "spec.replicatedJobs"),
    "a text for a rule": (jobset(failurePolicy={"rules": ["stop"]}), "spec.failurePolicy.rules[0]"),
    "an empty dependency first": (jobset(replicatedJobs=replicated(dependsOn=[])), ""),
    "nothing to run": (jobset(replicatedJobs=[]), "spec.replicatedJobs"),
    "a negative limit": (jobset(failurePolicy={"maxRestarts": -1}), "spec.failurePolicy.maxRestarts"),
    "an action behind a gate": (jobset(failurePolicy={"rules": [{"action": "RestartJob"}]}), ""),
    "a strategy behind a gate": (jobset(failurePolicy={"restartStrategy": "InPlaceRestart"}), ""),
    "another manager of the Job": (jobset({"managedBy": "example.com/x"}), f"{WORK}.managedBy"),
    "a ttl of the Job": (jobset({"ttlSecondsAfterFinished": 0}), f"{WORK}.ttlSecondsAfterFinished"),
    "a selector of its own": (jobset({"manualSelector": True}), f"{WORK}.manualSelector"),
    "a gate that nobody lifts": (jobset(pod={"schedulingGates": [{"name": "x"}]}), f"{POD}.schedulingGates"),
    "a deadline of the pod": (jobset(pod={"activeDeadlineSeconds": 5}), f"{POD}.activeDeadlineSeconds"),
    "no pod at all": (jobset({"template": {}}), f"{POD}.containers"),
    "no containers": (jobset(pod={"containers": []}), f"{POD}.containers"),
    "no image": (jobset(pod={"containers": [{"name": "main"}]}), f"{POD}.containers[0].image"),
    "restarted for ever": (jobset(pod={"restartPolicy": "Always"}), f"{POD}.restartPolicy"),
    "two containers of one name": (
        jobset(pod={"initContainers": [{"name": "main", "image": "prepare"}]}),
        f"{POD}.containers",
    ),
    "no completions": (jobset({"completions": None}), f"{WORK}.completions"),
    "fewer than no pods": (jobset({"parallelism": -1}), f"{WORK}.parallelism"),
    "too many pods": (jobset({"parallelism": 100_001}), f"{WORK}.parallelism"),
    "a mode that nobody knows": (jobset({"completionMode": "Some"}), f"{WORK}.completionMode"),
    "indexes without a mode": (
        jobset({"completionMode": "NonIndexed", "backoffLimitPerIndex": 1}),
        f"{WORK}.backoffLimitPerIndex",
    ),
    "failed indexes without a limit": (jobset({"maxFailedIndexes": 1}), f"{WORK}.backoffLimitPerIndex"),
    "more failed indexes than indexes": (
        jobset({"maxFailedIndexes": 3, "backoffLimitPerIndex": 1}),
        f"{WORK}.maxFailedIndexes",
    ),
    "a success policy without rules": (
        jobset({"successPolicy": {"rules": []}}),
        f"{WORK}.successPolicy.rules",
    ),
    "an empty success rule": (jobset({"successPolicy": {"rules": [{}]}}), f"{WORK}.successPolicy.rules[0]"),
    "an index out of range": (
        jobset({"successPolicy": {"rules": [{"succeededIndexes": "0,2"}]}}),
        f"{WORK}.successPolicy.rules[0].succeededIndexes",
    ),
    "indexes that fall": (
        jobset({"successPolicy": {"rules": [{"succeededIndexes": "1,0"}]}}),
        f"{WORK}.successPolicy.rules[0].succeededIndexes",
    ),
    "no indexes": (
        jobset({"successPolicy": {"rules": [{"succeededIndexes": "all"}]}}),
        f"{WORK}.successPolicy.rules[0].succeededIndexes",
    ),
    "a range of three ends": (
        jobset({"successPolicy": {"rules": [{"succeededIndexes": "0-1-2"}]}}),
        f"{WORK}.successPolicy.rules[0].succeededIndexes",
    ),
    "more successes than indexes": (
        jobset({"successPolicy": {"rules": [{"succeededIndexes": "0", "succeededCount": 2}]}}),
        f"{WORK}.successPolicy.rules[0].succeededCount",
    ),
    "an unknown action": (
        jobset(rules({"action": "Stop", "onExitCodes": CODES}), pod=NEVER),
        f"{WORK}.podFailurePolicy.rules[0].action",
    ),
    "an index to fail where there are none": (
        jobset(rules({"action": "FailIndex", "onExitCodes": CODES}), pod=NEVER),
        f"{WORK}.podFailurePolicy.rules[0].action",
    ),
    "a rule on nothing": (
        jobset(rules({"action": "Ignore"}), pod=NEVER),
        f"{WORK}.podFailurePolicy.rules[0]",
    ),
    "a rule on codes and conditions": (
        jobset(
            rules({"action": "Count", "onExitCodes": CODES, "onPodConditions": [{"type": "X"}]}), pod=NEVER
        ),
        f"{WORK}.podFailurePolicy.rules[0]",
    ),
    "codes that fall": (
        jobset(rules({"action": "Count", "onExitCodes": {"operator": "In", "values": [2, 1]}}), pod=NEVER),
        f"{WORK}.podFailurePolicy.rules[0].onExitCodes.values",
    ),
    "0 is no failure": (
        jobset(rules({"action": "Count", "onExitCodes": {"operator": "In", "values": [0]}}), pod=NEVER),
        f"{WORK}.podFailurePolicy.rules[0].onExitCodes.values",
    ),
    "an unknown operator": (
        jobset(rules({"action": "Count", "onExitCodes": {"operator": "Is", "values": [1]}}), pod=NEVER),
        f"{WORK}.podFailurePolicy.rules[0].onExitCodes.operator",
    ),
    "an unknown container": (
        jobset(rules({"action": "Count", "onExitCodes": {**CODES, "containerName": "x"}}), pod=NEVER),
        f"{WORK}.podFailurePolicy.rules[0].onExitCodes.containerName",
    ),
    "a policy and restarts in place": (
        jobset(rules({"action": "Count", "onExitCodes": CODES})),
        f"{POD}.restartPolicy",
    ),
    "a policy and early replacement": (
        jobset(
            rules({"action": "Count", "onExitCodes": CODES})
            | {"podReplacementPolicy": "TerminatingOrFailed"},
            pod=NEVER,
        ),
        f"{WORK}.podReplacementPolicy",
    ),
    "fewer than no Jobs": (jobset(replicatedJobs=replicated(replicas=-1)), "spec.replicatedJobs[0].replicas"),
    "an exclusive topology": (
        {
            **jobset(),
            "metadata": {
                "name": "alpha",
                "annotations": {"alpha.jobset.sigs.k8s.io/exclusive-topology": "rack"},
            },
        },
        "metadata.annotations[alpha.jobset.sigs.k8s.io/exclusive-topology]",
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_refused_by_name(sentence: str) -> None:
    document, field = REFUSED[sentence]
    before = copy.deepcopy(document)
    found = [error.field for error in admit(document).errors]
    assert field in found and len([each for each in found if each]) <= 2
    assert document == before


def waits(*on: str) -> Json:
    """A JobSet whose second replicated Job waits for others."""
    first, second = (jobset(pod=NEVER)["spec"]["replicatedJobs"][0] for _ in range(2))
    second |= {"name": "launcher", "dependsOn": [{"name": name, "status": "Ready"} for name in on]}
    for each in (first, second):
        each["template"]["spec"]["completionMode"] = "Indexed"
    return jobset(replicatedJobs=[first, second])


def test_a_dependency_on_itself_is_refused() -> None:
    assert admit(waits("worker", "launcher")).errors
    (error,) = refuse_unsupported(waits("worker", "launcher"))
    assert str(error) == "spec.replicatedJobs[1].dependsOn: launcher waits for itself, so for ever"


def test_what_the_webhook_refuses_is_said_alone() -> None:
    itself = [{"name": "worker", "status": "Ready"}]
    (error,) = admit(jobset(replicatedJobs=replicated(dependsOn=itself))).errors
    assert error.detail == "DependsOn can't be set for the first ReplicatedJob"


def test_what_is_refused_here_is_refused_without_a_webhook_too() -> None:
    bare = jobset({"completionMode": "Indexed", "template": {}, "ttlSecondsAfterFinished": 1})
    fields = [error.field for error in refuse_unsupported(bare)]
    assert fields == [f"{WORK}.ttlSecondsAfterFinished", f"{POD}.restartPolicy", f"{POD}.containers"]


ADMITTED = {
    "two pods": jobset(),
    "a dependency": waits("worker"),
    "an empty dependency second": waits(),
    "nodes and tolerations": jobset(
        pod={"nodeSelector": {"a": "b"}, "tolerations": [{"operator": "Exists"}]}
    ),
    "no mode, no completions": jobset({"completionMode": "NonIndexed", "completions": None}),
    "neither parallelism nor completions": jobset(
        {"completionMode": "NonIndexed", "completions": None, "parallelism": None}
    ),
    "a success policy": jobset(
        {
            "successPolicy": {
                "rules": [{"succeededCount": 1}, {"succeededIndexes": "0-1", "succeededCount": 2}]
            }
        }
    ),
    "no index named": jobset({"successPolicy": {"rules": [{"succeededIndexes": ""}]}}),
    "rules": jobset(
        rules(
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
            {"action": "Count", "onExitCodes": {**CODES, "containerName": "main"}},
            {"action": "FailIndex", "onExitCodes": {"operator": "NotIn", "values": [0]}},
        )
        | {"backoffLimitPerIndex": 1, "maxFailedIndexes": 2},
        pod=NEVER,
    ),
    "late replacement": jobset({"podReplacementPolicy": "Failed"}),
    "managed by another": jobset(managedBy="example.com/other"),
}


@pytest.mark.parametrize("sentence", ADMITTED)
def test_admitted(sentence: str) -> None:
    admitted = admit(ADMITTED[sentence])
    assert [str(error) for error in admitted.errors] == []
    assert refuse_unsupported(admitted.jobset) == ()
    assert admit_change(admitted.jobset, admitted.jobset).errors == ()


def test_what_is_left_out_is_filled_in() -> None:
    rule = {"action": "FailJobSet"}
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    mounts = [{"name": "data", "mountPath": "/data"}]
    container = {"name": "main", "image": "train", "volumeMounts": mounts}
    admitted = admit(
        jobset(
            pod={"containers": [container]},
            failurePolicy={"rules": [rule, {**rule, "name": "mine"}]},
            volumeClaimPolicies=[{"templates": [claim]}],
            network={"subdomain": "net"},
        )
    )
    spec = admitted.jobset["spec"]
    job = spec["replicatedJobs"][0]["template"]["spec"]
    assert admitted.errors == ()
    assert spec["successPolicy"] == {"operator": "All"}
    assert spec["startupPolicy"] == {"startupPolicyOrder": "AnyOrder"}
    assert spec["network"] == {
        "enableDNSHostnames": True,
        "publishNotReadyAddresses": True,
        "subdomain": "net",
    }
    assert spec["failurePolicy"]["restartStrategy"] == "Recreate"
    assert [each["name"] for each in spec["failurePolicy"]["rules"]] == ["failurePolicyRule0", "mine"]
    assert spec["volumeClaimPolicies"][0]["retentionPolicy"] == {"whenDeleted": "Delete"}
    assert (spec["replicatedJobs"][0]["replicas"], spec["replicatedJobs"][0]["groupName"]) == (1, "default")
    assert (job["completionMode"], job["template"]["spec"]["restartPolicy"]) == ("Indexed", "OnFailure")


def test_an_unknown_field_is_dropped_with_a_warning() -> None:
    admitted = admit({**jobset({"speed": 1}, backoffLimit=3), "extra": 1})
    assert admitted.errors == ()
    assert admitted.warnings == (
        'unknown field "extra"',
        'unknown field "spec.backoffLimit"',
        'unknown field "spec.replicatedJobs[0].template.spec.speed"',
    )
    assert "backoffLimit" not in admitted.jobset["spec"]


def patch(**spec: Any) -> Any:
    """Change some fields of the spec."""
    return lambda document: document["spec"].update(spec)


def pod_patch(**fields: Any) -> Any:
    """Change some fields of the pods."""

    def change(document: Json) -> None:
        pod = document["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
        pod["spec"].update(fields)

    return change


CHANGES: dict[str, tuple[bool, Any, list[str]]] = {
    "suspended": (False, patch(suspend=True), []),
    "a ttl": (False, patch(ttlSecondsAfterFinished=5), []),
    "a policy that was not there": (False, patch(failurePolicy={"maxRestarts": 1}), []),
    "another success policy": (False, patch(successPolicy={"operator": "Any"}), ["spec.successPolicy"]),
    "a node while it runs": (False, pod_patch(nodeSelector={"a": "b"}), ["spec.replicatedJobs"]),
    "a node while suspended": (True, pod_patch(nodeSelector={"a": "b"}), []),
    "a gate while suspended": (True, pod_patch(schedulingGates=[{"name": "x"}]), [f"{POD}.schedulingGates"]),
    "another grace while suspended": (
        True,
        pod_patch(terminationGracePeriodSeconds=5),
        ["spec.replicatedJobs"],
    ),
    "another manager": (False, patch(managedBy="example.com/x"), ["spec.managedBy"]),
    "no kind": (False, lambda document: document.pop("kind"), [""]),
}


@pytest.mark.parametrize("sentence", CHANGES)
def test_a_change_is_judged(sentence: str) -> None:
    suspended, change, fields = CHANGES[sentence]
    old = admit(jobset(suspend=suspended)).jobset
    new = copy.deepcopy(old)
    change(new)
    found = [error.field for error in admit_change(old, new).errors]
    assert found == fields

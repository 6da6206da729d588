"""What JobSet refuses is known before it is asked."""

# ruff: noqa: E501 (JobSet's messages stand here as they are, one line each)

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from kfp_trainer.runtime_operator.render.jobset_rules import check_jobset

CASES = Path(__file__).parents[2] / "conformance" / "cases"
IMAGE = {"name": "node", "image": "a"}


def job(
    name: str = "node", *, pods: int = 1, pod: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    spec = {"containers": [IMAGE], **(pod or {})}
    template = {"spec": {"parallelism": pods, "completions": pods, "template": {"spec": spec}}}
    return {"name": name, "template": template, **more}


def jobset(
    *jobs: dict[str, Any], name: str = "bert", annotations: dict[str, str] | None = None, **spec: Any
) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"replicatedJobs": list(jobs), **spec},
    }


def said(*args: Any, **kwargs: Any) -> list[str]:
    return [str(error) for error in check_jobset(*args, **kwargs)]


def test_an_error_names_the_jobset() -> None:
    assert {error.object for error in check_jobset(jobset(job(), name="B"))} == {"JobSet/B"}


ACCEPTED = {
    "one job": jobset(job()),
    "a name of 48 characters and ten nodes": jobset(job(pods=10), name="a" * 48),
    "a pod without an index has no long name": jobset(
        {
            "name": "n",
            "template": {
                "spec": {
                    "completions": 1,
                    "completionMode": "NonIndexed",
                    "template": {"spec": {"containers": [IMAGE]}},
                }
            },
        },
        name="a" * 59,
    ),
    "a job that waits for an earlier one": jobset(
        job("a"), job("b", dependsOn=[{"name": "a", "status": "Ready"}])
    ),
    "a subdomain": jobset(job(), network={"subdomain": "ring"}),
    "a manager": jobset(job(), managedBy="acme.io/mine"),
    "a coordinator": jobset(job(pods=2), coordinator={"replicatedJob": "node", "podIndex": 1}),
    "targets that exist": jobset(
        job(),
        successPolicy={"operator": "All", "targetReplicatedJobs": ["node"]},
        failurePolicy={
            "rules": [
                {
                    "action": "FailJobSet",
                    "targetReplicatedJobs": ["node"],
                    "onJobFailureReasons": ["PodFailurePolicy"],
                }
            ]
        },
    ),
    "a claim that is mounted": jobset(
        job(
            pod={
                "volumes": [{"name": "x"}],
                "containers": [{"name": "node", "volumeMounts": [{"name": "data", "mountPath": "/d"}]}],
            }
        ),
        volumeClaimPolicies=[{"templates": [{"metadata": {"name": "data"}}]}],
    ),
    "a claim that only an init container mounts": jobset(
        job(pod={"initContainers": [{"name": "i", "volumeMounts": [{"name": "data", "mountPath": "/d"}]}]}),
        volumeClaimPolicies=[{"templates": [{"metadata": {"name": "data"}}]}],
    ),
    "a failure policy for pods that never start again": jobset(
        {
            "name": "n",
            "template": {
                "spec": {
                    "podFailurePolicy": {"rules": []},
                    "template": {"spec": {"containers": [IMAGE], "restartPolicy": "Never"}},
                }
            },
        }
    ),
    "startup order without waiting": jobset(job(), startupPolicy={"startupPolicyOrder": "InOrder"}),
    "nothing": {"metadata": {"name": "empty"}, "spec": {}},
}


@pytest.mark.parametrize("sentence", ACCEPTED)
def test_accepts(sentence: str) -> None:
    assert said(ACCEPTED[sentence]) == []


REFUSED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a name of 49 characters": (
        jobset(job(), name="a" * 49),
        [
            "spec.replicatedJobs[0].name: JobSet name is too long, pod names generated for this JobSet will exceed 63 characters"
        ],
    ),
    "48 characters and eleven nodes": (
        jobset(job(pods=11), name="a" * 48),
        [
            "spec.replicatedJobs[0].name: JobSet name is too long, pod names generated for this JobSet will exceed 63 characters"
        ],
    ),
    "the second job has the longer name": (
        jobset(job("n"), job("dataset-initializer"), name="a" * 40),
        [
            "spec.replicatedJobs[1].name: JobSet name is too long, pod names generated for this JobSet will exceed 63 characters"
        ],
    ),
    "a hundred replicas lengthen the Job": (
        jobset({**job(), "replicas": 101}, name="a" * 56),
        [
            "spec.replicatedJobs[0].name: JobSet name is too long, job names generated for this JobSet will exceed 63 characters",
            "spec.replicatedJobs[0].name: JobSet name is too long, pod names generated for this JobSet will exceed 63 characters",
        ],
    ),
    "the first job waits": (
        jobset(job(dependsOn=[{"name": "a", "status": "Ready"}]), job("a")),
        [
            "DependsOn can't be set for the first ReplicatedJob",
            "replicatedJob: node cannot depend on replicatedJob: a",
        ],
    ),
    "a job that waits for itself": (
        jobset(job("a"), job("b", dependsOn=[{"name": "b", "status": "Ready"}])),
        ["spec.replicatedJobs[1].dependsOn: must not name the job itself: it would never start"],
    ),
    "a job waits for a later one": (
        jobset(job("a"), job("b", dependsOn=[{"name": "c", "status": "Ready"}]), job("c")),
        ["replicatedJob: b cannot depend on replicatedJob: c"],
    ),
    "six dependencies": (
        jobset(
            *[job(f"a{n}") for n in range(6)],
            job("z", dependsOn=[{"name": f"a{n}", "status": "Ready"} for n in range(6)]),
        ),
        ["spec.replicatedJobs[6].dependsOn: must have at most 5 items"],
    ),
    "startup order and waiting": (
        jobset(
            job("a"),
            job("b", dependsOn=[{"name": "a", "status": "Ready"}]),
            startupPolicy={"startupPolicyOrder": "InOrder"},
        ),
        ["spec: StartupPolicy and DependsOn APIs are mutually exclusive"],
    ),
    "a job without containers": (
        jobset({"name": "ghost", "template": {"spec": {"template": {"spec": {}}}}}),
        ["spec.replicatedJobs[0].template.spec.template.spec.containers: required: give it a value"],
    ),
    "a job without anything": (
        jobset({"name": "ghost"}),
        ["spec.replicatedJobs[0].template.spec.template.spec.containers: required: give it a value"],
    ),
    "more pods than a number holds": (
        jobset({**job(pods=2**20), "replicas": 2**12}),
        ["the product of replicas and parallelism must not exceed 2147483647 for replicatedJob 'node'"],
    ),
    "a long group": (
        jobset(job(groupName="g" * 64)),
        [
            "spec.replicatedJobs[0].groupName: .spec.replicatedJob[].groupName is too long, must be less than 63 characters"
        ],
    ),
    "a manager without a domain": (
        jobset(job(), managedBy="me"),
        ['spec.managedBy: must be a domain-prefixed path (such as "acme.io/foo")'],
    ),
    "an empty manager": (jobset(job(), managedBy=""), ["spec.managedBy: required: give it a value"]),
    "a long manager": (
        jobset(job(), managedBy="acme.io/" + "x" * 60),
        ["spec.managedBy: may not be more than 63 bytes"],
    ),
    "a manager with a blank": (
        jobset(job(), managedBy="acme.io/a b"),
        ["spec.managedBy: Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"],
    ),
    "a success target that is no job": (
        jobset(job(), successPolicy={"operator": "Any", "targetReplicatedJobs": ["launcher"]}),
        ["invalid replicatedJob name 'launcher' does not appear in .spec.ReplicatedJobs"],
    ),
    "restarts in place": (
        jobset(job(), failurePolicy={"restartStrategy": "InPlaceRestart"}),
        ["InPlaceRestart restart strategy cannot be set when InPlaceRestart feature gate is disabled"],
    ),
    "restart of one job": (
        jobset(job(), failurePolicy={"rules": [{"action": "RestartJob", "name": "1"}]}),
        [
            "RestartJob and RestartJobAndIgnoreMaxRestarts failure policy actions are not allowed when RestartJob feature gate is disabled"
        ],
    ),
    "rules of one name": (
        jobset(
            job(),
            failurePolicy={
                "rules": [{"action": "FailJobSet", "name": "a"}, {"action": "FailJobSet", "name": "a"}]
            },
        ),
        ["rule names are not unique, rules with indices [0 1] all have the same name 'a'"],
    ),
    "a rule that is wrong in every way": (
        jobset(
            job(),
            failurePolicy={
                "rules": [
                    {
                        "action": "FailJobSet",
                        "name": "9" * 129,
                        "targetReplicatedJobs": ["x"],
                        "onJobFailureReasons": ["Sad"],
                    }
                ]
            },
        ),
        [
            "invalid failure policy rule name of length 129, the rule name must be at least 1 characters long and at most 128 characters long",
            f"invalid failure policy rule name '{'9' * 129}', a failure policy rule name must start with an alphabetic character, "
            "optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
            "invalid replicatedJob name 'x' in failure policy does not appear in .spec.ReplicatedJobs",
            "invalid job failure reason 'Sad' in failure policy is not a recognized job failure reason",
        ],
    ),
    "a coordinator that is no job": (
        jobset(job(), coordinator={"replicatedJob": "boss"}),
        ["coordinator replicatedJob boss does not exist"],
    ),
    "a coordinator beyond the jobs": (
        jobset(job(), coordinator={"replicatedJob": "node", "jobIndex": 1}),
        ["coordinator job index 1 is invalid for replicatedJob node"],
    ),
    "a coordinator beyond the pods": (
        jobset(job(), coordinator={"replicatedJob": "node", "podIndex": 1}),
        ["coordinator pod index 1 is invalid for replicatedJob node job index 0"],
    ),
    "a coordinator without an index": (
        jobset(
            {"name": "node", "template": {"spec": {"template": {"spec": {"containers": [IMAGE]}}}}},
            coordinator={"replicatedJob": "node"},
        ),
        ["job for coordinator pod must be indexed completion mode, and completions number must be set"],
    ),
    "a claim nobody mounts": (
        jobset(job(), volumeClaimPolicies=[{"templates": [{"metadata": {"name": "data"}}]}]),
        [
            "spec.replicatedJobs: replicatedJob containers don't have a matching volumeMount: data from VolumeClaimPolicies"
        ],
    ),
    "pods that always start again": (
        jobset(job(pod={"restartPolicy": "Always"})),
        [
            "spec.replicatedJobs[0].template.spec.template.spec.restartPolicy: must be OnFailure or Never, got Always: "
            "a Job ends with its pods"
        ],
    ),
    "a failure policy for pods that start again in their place": (
        jobset(
            {
                "name": "n",
                "template": {
                    "spec": {"podFailurePolicy": {"rules": []}, "template": {"spec": {"containers": [IMAGE]}}}
                },
            }
        ),
        [
            "spec.replicatedJobs[0].template.spec.podFailurePolicy: needs restartPolicy Never, got OnFailure: "
            "set restartPolicy of the pod template"
        ],
    ),
    "a ttl in a Job template": (
        jobset(
            {
                "name": "node",
                "template": {
                    "spec": {"ttlSecondsAfterFinished": 0, "template": {"spec": {"containers": [IMAGE]}}}
                },
            }
        ),
        [
            "spec.replicatedJobs[0].template.spec.ttlSecondsAfterFinished: must not be set: JobSet would see the finished Job missing "
            "and run it again; set ttlSecondsAfterFinished of the TrainJob or of the JobSet"
        ],
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_refuses(sentence: str) -> None:
    doc, want = REFUSED[sentence]
    assert said(doc) == want


def test_a_subdomain_that_is_too_long_and_malformed() -> None:
    words = said(jobset(job(), network={"subdomain": "-" + "a" * 70}))
    assert [word.split(": ")[1][:60] for word in words] == [
        "a lowercase RFC 1123 subdomain must consist of lower case al",
        ".spec.network.subdomain is too long, must be less than 63 ch",
        "a DNS-1035 label must consist of lower case alphanumeric cha",
    ]


def test_a_subdomain_beyond_all_bounds() -> None:
    assert "spec.network.subdomain: must be no more than 253 characters" in said(
        jobset(job(), network={"subdomain": "a" * 254})
    )


def test_an_address_that_is_no_label_value() -> None:
    (word,) = said(jobset(job(), coordinator={"replicatedJob": "node"}, network={"subdomain": "s" * 60}))
    assert word.startswith(f'spec will lead to invalid label value "bert-node-0-0.{"s" * 60}"')
    assert word.endswith("must be no more than 63 bytes")


def test_names_of_claims() -> None:
    mount = {"name": "node", "volumeMounts": [{"name": "C", "mountPath": "/c"}]}
    doc = jobset(
        job(pod={"containers": [mount], "volumes": [{"name": "C"}]}),
        name="b" * 48,
        volumeClaimPolicies=[{"templates": [{"metadata": {"name": "C"}}, {"metadata": {"name": "C"}}]}, {}],
    )
    words = [word[:90] for word in said(doc)]
    conflict = "spec.replicatedJobs[0].template.spec.template.spec.volumes[0].name: volume name conflicts "
    assert words == [
        "spec.volumeClaimPolicies[0].template[0].name: a lowercase RFC 1123 subdomain must consist ",
        conflict,
        "spec.volumeClaimPolicies[0].template[1].name: names must be unique for VolumeClaimPolicies",
        "spec.volumeClaimPolicies[0].template[1].name: a lowercase RFC 1123 subdomain must consist ",
        conflict,
    ]


def test_a_claim_with_a_long_name() -> None:
    mount = {"name": "node", "volumeMounts": [{"name": "c" * 60, "mountPath": "/c"}]}
    doc = jobset(
        job(pod={"containers": [mount]}),
        volumeClaimPolicies=[{"templates": [{"metadata": {"name": "c" * 60}}]}],
    )
    assert said(doc) == [
        "spec.volumeClaimPolicies[0].template[0].name: VolumeClaimPolicies template name is too long"
    ]


EXCLUSIVE = {"alpha.jobset.sigs.k8s.io/exclusive-topology": "rack"}
GANGS = {
    "coscheduling": {"labels": {"scheduling.x-k8s.io/pod-group": "bert"}},
    "volcano": {"annotations": {"scheduling.k8s.io/group-name": "bert"}},
}


def gang(metadata: dict[str, Any], *, pods: int = 2) -> dict[str, Any]:
    member = job(pods=pods)
    member["template"]["spec"]["template"]["metadata"] = metadata
    return member


@pytest.mark.parametrize("scheduler", GANGS)
def test_exclusive_topology_starves_a_gang(scheduler: str) -> None:
    (word,) = said(jobset(gang(GANGS[scheduler]), annotations=EXCLUSIVE))
    assert word.startswith(
        "spec.replicatedJobs[0].template.metadata.annotations[alpha.jobset.sigs.k8s.io/exclusive-topology]: "
        "must not be used with a gang"
    )


def test_exclusive_topology_of_one_job() -> None:
    member = gang(GANGS["volcano"])
    member["template"]["metadata"] = {"annotations": EXCLUSIVE}
    assert len(said(jobset(job("a", pods=2), member))) == 1


FINE = {
    "without a gang": jobset(job(pods=2), annotations=EXCLUSIVE),
    "with one pod": jobset(gang(GANGS["volcano"], pods=1), annotations=EXCLUSIVE),
    "by labels of the nodes": jobset(
        gang(GANGS["volcano"]), annotations={**EXCLUSIVE, "alpha.jobset.sigs.k8s.io/node-selector": "true"}
    ),
}


@pytest.mark.parametrize("sentence", FINE)
def test_exclusive_topology_is_fine(sentence: str) -> None:
    assert said(FINE[sentence]) == []


OLD = jobset(job(pods=2, pod={"nodeSelector": {"a": "1"}}), suspend=True)
FROZEN = "spec.replicatedJobs: field is immutable"
CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "nothing": (OLD, OLD, []),
    "the node selector, while suspended": (OLD, jobset(job(pods=2, pod={"nodeSelector": {"b": "2"}})), []),
    "all five, while suspended": (
        OLD,
        jobset(
            {
                "name": "node",
                "template": {
                    "spec": {
                        "parallelism": 2,
                        "completions": 2,
                        "template": {
                            "metadata": {"labels": {"l": "1"}, "annotations": {"a": "1"}},
                            "spec": {
                                "containers": [IMAGE],
                                "tolerations": [{"key": "t"}],
                                "schedulingGates": [{"name": "g"}],
                            },
                        },
                    }
                },
            },
            suspend=True,
        ),
        [],
    ),
    "the node selector, while it runs": (
        jobset(job(pod={"nodeSelector": {"a": "1"}})),
        jobset(job(pod={"nodeSelector": {"b": "2"}})),
        [FROZEN],
    ),
    "the number of pods": (
        OLD,
        jobset(job(pods=3, pod={"nodeSelector": {"a": "1"}}), suspend=True),
        [FROZEN],
    ),
    "affinity": (
        OLD,
        jobset(
            job(pods=2, pod={"affinity": {"nodeAffinity": {"x": []}, "podAffinity": {"y": [1]}}}),
            suspend=True,
        ),
        [FROZEN],
    ),
    "a job more": (OLD, jobset(*OLD["spec"]["replicatedJobs"], job("more"), suspend=True), [FROZEN]),
    "a job whose template says nothing": (
        jobset({"name": "node", "template": {}}, suspend=True),
        jobset(job(), suspend=True),
        [FROZEN],
    ),
    "what the webhook filled in is no change": (
        jobset(
            {
                "name": "node",
                "replicas": 1,
                "groupName": "default",
                "template": {
                    "metadata": {},
                    "spec": {
                        "completionMode": "Indexed",
                        "parallelism": 1,
                        "completions": 1,
                        "template": {
                            "metadata": {},
                            "spec": {
                                "restartPolicy": "OnFailure",
                                "containers": [{**IMAGE, "resources": {}}],
                            },
                        },
                    },
                },
            },
            network={"enableDNSHostnames": True, "publishNotReadyAddresses": True, "subdomain": "ring"},
            successPolicy={"operator": "All"},
            startupPolicy={"startupPolicyOrder": "AnyOrder"},
        ),
        jobset(job(), network={"subdomain": "ring"}),
        [],
    ),
    "another spelling of a quantity": (
        jobset(job(pod={"containers": [{**IMAGE, "resources": {"limits": {"cpu": "1"}}}]})),
        jobset(job(pod={"containers": [{**IMAGE, "resources": {"limits": {"cpu": "1000m"}}}]})),
        [],
    ),
    "the subdomain": (
        jobset(job(), network={"subdomain": "ring"}),
        jobset(job(), network={"subdomain": "loop"}),
        ["spec.network: Value is immutable"],
    ),
    "a failure policy that was absent": (jobset(job()), jobset(job(), failurePolicy={"maxRestarts": 3}), []),
    "the claims": (
        jobset(job(), volumeClaimPolicies=[{"templates": [{"metadata": {"name": "a"}}]}]),
        jobset(job(), volumeClaimPolicies=[{"templates": [{"metadata": {"name": "b"}}]}]),
        ["spec.volumeClaimPolicies: Value is immutable"],
    ),
    "the manager": (
        jobset(job()),
        jobset(job(), managedBy="acme.io/x"),
        ["spec.managedBy: field is immutable"],
    ),
    "the ttl": (jobset(job()), jobset(job(), ttlSecondsAfterFinished=4), []),
}


@pytest.mark.parametrize("sentence", CHANGES)
def test_changes(sentence: str) -> None:
    old, new, want = CHANGES[sentence]
    assert said(new, old=old) == want


def refused_by_jobset() -> dict[str, dict[str, Any]]:
    cases = ((path.stem, path.read_text(encoding="utf-8")) for path in sorted(CASES.glob("*.yaml")))
    return {name: yaml.safe_load(text) for name, text in cases if "jobSetErrors:" in text}


REAL = refused_by_jobset()


@pytest.mark.skipif(not CASES.is_dir(), reason="the conformance cases are not in this checkout")
def test_there_are_real_answers() -> None:
    assert len(REAL) >= 6


@pytest.mark.parametrize("case", [name for name, case in REAL.items() if not name.startswith("update-")])
def test_says_what_jobset_says(case: str) -> None:
    expect = REAL[case]["expect"]
    built = next(each for each in expect["objects"] if each["kind"] == "JobSet")
    answer = " ".join(expect["jobSetErrors"])
    errors = check_jobset(built)
    assert errors
    assert all(error.field in answer and error.detail in answer for error in errors)


@pytest.mark.parametrize("case", [name for name in REAL if name.startswith("update-")])
def test_says_what_jobset_says_to_a_change(case: str) -> None:
    built = next(each for each in REAL[case]["expect"]["objects"] if each["kind"] == "JobSet")
    before = {**built, "spec": {**built["spec"], "replicatedJobs": [job()]}}
    (error,) = check_jobset(built, old=before)
    assert (
        f"{error.field}: Invalid value: <the value>: {error.detail}"
        in REAL[case]["expect"]["jobSetErrors"][0]
    )

"""What admission lets pass, and what it says to the rest."""

# ruff: noqa: E501 (messages stand here as they are, one line each)

from __future__ import annotations

import copy
from typing import Any

import pytest

from kfp_trainer.runtime_operator.api import read
from kfp_trainer.runtime_operator.render.admission import admit
from kfp_trainer.runtime_operator.render.facts import Facts
from kfp_trainer.runtime_operator.render.render import render

STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
UID = "6f1d1d0e-0000-4000-8000-000000000001"


def replicated(
    name: str, *, step: str = "", containers: Any = None, waits: str = "", **pod: Any
) -> dict[str, Any]:
    made: dict[str, Any] = {
        "name": name,
        "template": {
            "spec": {
                "template": {"spec": {"containers": containers or [{"name": "node", "image": "a"}], **pod}}
            }
        },
    }
    if step:
        made["template"]["metadata"] = {"labels": {STEP: step}}
    if waits:
        made["dependsOn"] = [{"name": waits, "status": "Complete"}]
    return made


NODE = replicated("node", step="trainer")


def runtime(
    *jobs: Any, labels: Any = None, compat: Any = None, kind: str = "ClusterTrainingRuntime", **spec: Any
) -> Any:
    document = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": kind,
        "metadata": {"name": "rt", "labels": labels or {}},
        "spec": {
            "mlPolicy": {"torch": {}},
            "template": {"spec": {"replicatedJobs": list(jobs or (NODE,)), **spec}},
        },
    }
    return read(document, compat=compat)


def train_job(
    *, name: str = "tj", compat: Any = None, ref: Any = None, metadata: Any = None, **spec: Any
) -> Any:
    document = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": name, "namespace": "ns", "uid": UID, **(metadata or {})},
        "spec": {"runtimeRef": {"name": "rt", **(ref or {})}, **spec},
    }
    return read(document, compat=compat)


def said(*args: Any, **kwargs: Any) -> list[str]:
    return [str(each) for each in admit(*args, **kwargs).errors]


def patch(*jobs: Any, manager: str = "acme.io/p", **more: Any) -> dict[str, Any]:
    return {
        "manager": manager,
        "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": list(jobs)}}},
        **more,
    }


def patched(name: str, **pod: Any) -> dict[str, Any]:
    return {"name": name, "template": {"spec": {"template": {"spec": pod}}}}


def test_a_plain_job_passes_without_a_word() -> None:
    verdict = admit(train_job(), runtime())
    assert (verdict.errors, verdict.warnings) == ((), ())


def test_errors_name_the_job() -> None:
    assert {each.object for each in admit(train_job(), None).errors} == {"TrainJob/tj"}


MISSING: dict[str, tuple[dict[str, Any], str]] = {
    "a cluster runtime": (
        {},
        'spec.RuntimeRef: clustertrainingruntimes.trainer.kubeflow.org "rt" not found: specified '
        "clusterTrainingRuntime must be created before the TrainJob is created",
    ),
    "a runtime of the namespace": (
        {"kind": "TrainingRuntime"},
        'spec.runtimeRef: trainingruntimes.trainer.kubeflow.org "rt" not found: specified trainingRuntime '
        "must be created before the TrainJob is created",
    ),
    "a kind that is no runtime": (
        {"kind": "Deployment"},
        "unsupported runtime: Deployment.trainer.kubeflow.org",
    ),
    "a foreign group": ({"apiGroup": "acme.io"}, "unsupported runtime: ClusterTrainingRuntime.acme.io"),
    "no group": ({"apiGroup": ""}, "unsupported runtime: ClusterTrainingRuntime"),
}


@pytest.mark.parametrize("compat", [None, "upstream"])
@pytest.mark.parametrize("sentence", MISSING)
def test_no_runtime(sentence: str, compat: Any) -> None:
    ref, want = MISSING[sentence]
    assert said(train_job(ref=ref, compat=compat), None, compat=compat) == [want]


@pytest.mark.parametrize("compat", [None, "upstream"])
def test_a_deprecated_runtime_warns(compat: Any) -> None:
    given = runtime(labels={"trainer.kubeflow.org/support": "deprecated"}, compat=compat)
    (warning,) = admit(train_job(compat=compat), given, compat=compat).warnings
    assert warning.startswith('Referenced ClusterTrainingRuntime "rt" is deprecated')


def test_a_deprecated_runtime_of_a_namespace_does_not() -> None:
    given = runtime(labels={"trainer.kubeflow.org/support": "deprecated"}, kind="TrainingRuntime")
    assert admit(train_job(ref={"kind": "TrainingRuntime"}), given).warnings == ()


def test_warnings_of_the_build_are_told() -> None:
    gang = read(
        {
            "kind": "ClusterTrainingRuntime",
            "metadata": {"name": "rt"},
            "spec": {
                "mlPolicy": {"torch": {}},
                "podGroupPolicy": {"volcano": {}},
                "template": {
                    "spec": {"replicatedJobs": [replicated("node", step="trainer", schedulerName="x")]}
                },
            },
        }
    )
    assert "names the scheduler 'x'" in admit(train_job(), gang).warnings[0]


def test_what_cannot_be_built_is_refused() -> None:
    empty = read(
        {"kind": "ClusterTrainingRuntime", "metadata": {"name": "rt"}, "spec": {"template": {"metadata": {}}}}
    )
    (error,) = admit(train_job(), empty).errors
    assert (error.field, "has no jobs" in error.detail) == ("spec.runtimeRef", True)


def test_what_the_installation_lacks_is_no_fault_of_the_job() -> None:
    verdict = admit(train_job(), runtime(), Facts(features=frozenset({"TrainJobStatus"})))
    assert verdict.errors == ()
    assert "failed to look up status server tls secret" in verdict.warnings[0]


def test_a_job_for_another_cluster_is_not_built_here() -> None:
    job = train_job(name="a" * 63, managedBy="kueue.x-k8s.io/multikueue")
    assert said(job, runtime()) == []


LONG: dict[str, tuple[dict[str, Any], dict[str, Any], int]] = {
    "one node": ({"name": "a" * 49}, {}, 48),
    "ten nodes": ({"name": "a" * 49, "trainer": {"numNodes": 10}}, {}, 48),
    "eleven nodes": ({"name": "a" * 48, "trainer": {"numNodes": 11}}, {}, 47),
    "a thousand nodes": ({"name": "a" * 47, "trainer": {"numNodes": 1000}}, {}, 46),
    "initializers have long names": (
        {"name": "a" * 40},
        {
            "jobs": (
                replicated(
                    "dataset-initializer",
                    step="dataset-initializer",
                    containers=[{"name": "dataset-initializer", "image": "i"}],
                ),
                replicated("node", step="trainer", waits="dataset-initializer"),
            )
        },
        33,
    ),
    "claims carry the name too": (
        {"name": "a" * 20},
        {
            "jobs": (
                replicated(
                    "node",
                    step="trainer",
                    containers=[
                        {
                            "name": "node",
                            "image": "a",
                            "volumeMounts": [{"name": "c" * 50, "mountPath": "/c"}],
                        }
                    ],
                ),
            ),
            "volumeClaimPolicies": [{"templates": [{"metadata": {"name": "c" * 50}}]}],
        },
        12,
    ),
    "all of 63": ({"name": "a" * 63}, {}, 48),
}


@pytest.mark.parametrize("sentence", LONG)
def test_a_name_too_long_for_its_pods(sentence: str) -> None:
    job, given, budget = LONG[sentence]
    jobs = given.get("jobs", ())
    rest = {key: value for key, value in given.items() if key != "jobs"}
    (error,) = admit(train_job(**job), runtime(*jobs, **rest)).errors
    assert error.field == "metadata.name"
    assert error.detail.startswith(
        f"must be no more than {budget} characters, so that '{job['name']}-node-0-"
    ) or budget in (12, 33)
    assert f"got {len(job['name'])}: shorten it, as in '{'a' * budget}'" in error.detail
    fitting = train_job(**{**job, "name": "a" * budget})
    assert said(fitting, runtime(*jobs, **rest)) == []
    assert (
        said(
            train_job(compat="upstream", **job), runtime(*jobs, compat="upstream", **rest), compat="upstream"
        )
        == []
    )


def test_the_suggested_name_does_not_end_with_a_dash() -> None:
    (error,) = admit(train_job(name="a" * 47 + "-bb"), runtime()).errors
    assert f"as in '{'a' * 47}'" in error.detail


def test_what_else_jobset_refuses_is_told_with_its_words() -> None:
    given = runtime(replicated("side"), replicated("node", step="trainer"), replicated("x", waits="y"))
    assert said(train_job(), given) == [
        "spec.runtimeRef: its JobSet would be refused: replicatedJob: x cannot depend on replicatedJob: y"
    ]


def test_a_ttl_in_a_template_is_refused() -> None:
    node = copy.deepcopy(NODE)
    node["template"]["spec"]["ttlSecondsAfterFinished"] = 60
    (word,) = said(train_job(), runtime(node))
    assert word.startswith(
        "spec.runtimeRef: its JobSet would be refused: spec.replicatedJobs[0].template.spec.ttl"
    )


FETCHES = [
    {
        "name": "dataset-initializer",
        "image": "i",
        "volumeMounts": [{"name": "initializer", "mountPath": "/w"}],
    }
]
SHARED = [
    {"name": "dataset-initializer", "image": "i", "volumeMounts": [{"name": "lake", "mountPath": "/w"}]}
]
USES = [{"name": "node", "image": "a", "volumeMounts": [{"name": "lake", "mountPath": "/w"}]}]
MOUNT = (
    "spec.runtimeRef: must have volumeMount with name - initializer in container dataset-initializer "
    "of the dataset-initializer job"
)
INITIALIZERS: dict[str, tuple[tuple[Any, ...], dict[str, Any], list[str], list[str]]] = {
    "a runtime that fetches": (
        (replicated("dataset-initializer", step="dataset-initializer", containers=FETCHES), NODE),
        {"dataset": {"storageUri": "hf://a/b"}},
        [],
        [],
    ),
    "a job known by its label": (
        (replicated("fetch", step="dataset-initializer", containers=FETCHES), NODE),
        {"dataset": {"storageUri": "hf://a/b"}},
        [],
        [
            "spec.runtimeRef: must have dataset-initializer job when trainJob is configured with input datasetConfig"
        ],
    ),
    "no job for the model": (
        (NODE,),
        {"model": {"storageUri": "hf://a/b"}},
        [
            "spec.runtimeRef: must have model-initializer job when trainJob is configured with input modelConfig"
        ],
        [
            "spec.runtimeRef: must have model-initializer job when trainJob is configured with input modelConfig"
        ],
    ),
    "a container of another name": (
        (replicated("dataset-initializer", containers=[{"name": "main", "image": "i"}]), NODE),
        {"dataset": {}},
        [
            "spec.runtimeRef: must have container with name - dataset-initializer in the dataset-initializer job"
        ],
        [
            "spec.runtimeRef: must have container with name - dataset-initializer in the dataset-initializer job"
        ],
    ),
    "nothing is mounted": (
        (replicated("dataset-initializer", containers=[{"name": "dataset-initializer", "image": "i"}]), NODE),
        {"dataset": {}},
        [MOUNT],
        [MOUNT],
    ),
    "a volume of another name that both mount": (
        (
            replicated("dataset-initializer", step="dataset-initializer", containers=SHARED),
            replicated("node", step="trainer", containers=USES),
        ),
        {"dataset": {"storageUri": "hf://a/b"}},
        [],
        [MOUNT],
    ),
    "a cache needs no volume": (
        (
            replicated(
                "dataset-initializer",
                step="dataset-initializer",
                containers=[{"name": "dataset-initializer", "image": "i"}],
            ),
            NODE,
        ),
        {"dataset": {"storageUri": "cache://schema/table"}},
        [],
        [MOUNT],
    ),
}


@pytest.mark.parametrize("sentence", INITIALIZERS)
def test_initializers(sentence: str) -> None:
    jobs, wanted, ours, theirs = INITIALIZERS[sentence]
    assert said(train_job(initializer=wanted), runtime(*jobs)) == ours
    job = train_job(initializer=wanted, compat="upstream")
    assert said(job, runtime(*jobs, compat="upstream"), compat="upstream") == theirs


SIDE = [{"name": "node", "image": "a"}, {"name": "side", "image": "s"}]
NO_DOMAIN = 'spec.runtimePatches.manager: must be a domain-prefixed path (such as "acme.io/foo")'
NO_JOB = "spec.runtimePatches: must not have replicated job that doesn't exist in the runtime job template"
NO_ENV = (
    "spec.runtimePatches: must not have envs for the dataset-initializer, model-initializer, node containers"
)
A = [{"name": "A", "value": "1"}]
PATCHES: dict[str, tuple[Any, list[str], list[str]]] = {
    "a node selector": (patch(patched("node", nodeSelector={"a": "b"})), [], []),
    "nothing at all": ({"manager": "acme.io/p"}, [], []),
    "a manager without a domain": ({"manager": "me"}, [NO_DOMAIN], [NO_DOMAIN]),
    "a domain that is none": (
        {"manager": "UP.io/x"},
        [
            "spec.runtimePatches.manager: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
            "characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex "
            r"used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        ],
        [
            "spec.runtimePatches.manager: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
            "characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex "
            r"used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        ],
    ),
    "env of the main container": (
        patch(patched("node", containers=[{"name": "node", "env": A}])),
        [NO_ENV],
        [NO_ENV],
    ),
    "env of a sidecar": (patch(patched("node", containers=[{"name": "side", "env": A}])), [], []),
    "a job that the runtime lacks": (patch(patched("launcher", nodeSelector={"a": "b"})), [NO_JOB], []),
    "a container that the job lacks": (
        patch(patched("node", containers=[{"name": "ghost"}])),
        ["spec.runtimePatches: must not have container that doesn't exist in the runtime job node"],
        [],
    ),
    "an init container that the job lacks": (
        patch(patched("node", initContainers=[{"name": "side"}])),
        ["spec.runtimePatches: must not have initContainer that doesn't exist in the runtime job node"],
        [],
    ),
    "env of an init container": (
        patch(patched("node", initContainers=[{"name": "setup", "env": A}])),
        [],
        [],
    ),
}


@pytest.mark.parametrize("sentence", PATCHES)
def test_patches(sentence: str) -> None:
    given, ours, theirs = PATCHES[sentence]
    node = replicated(
        "node", step="trainer", containers=SIDE, initContainers=[{"name": "setup", "image": "i"}]
    )
    assert said(train_job(runtimePatches=[given]), runtime(node)) == ours
    job = train_job(runtimePatches=[given], compat="upstream")
    assert said(job, runtime(node, compat="upstream"), compat="upstream") == theirs


def test_an_empty_manager() -> None:
    assert "spec.runtimePatches.manager: required: give it a value" in said(
        train_job(runtimePatches=[{"manager": ""}]), runtime()
    )


SELECTOR = patch(patched("node", nodeSelector={"a": "b"}))
VOLUME = patch(patched("node", volumes=[{"name": "v", "emptyDir": {}}]))
RUNS = "spec.runtimePatches: RuntimePatches can only be modified when the TrainJob is suspended before or after the update"
ACTIVE = "spec.runtimePatches: RuntimePatches cannot be modified when the JobSet's ReplicatedJob node is still active"


def existing(active: int, *, suspend: bool = True, spec: Any = None) -> Facts:
    jobset = {
        "kind": "JobSet",
        "metadata": {"name": "tj"},
        "spec": spec or {"suspend": suspend, "replicatedJobs": []},
        "status": {"replicatedJobsStatus": [{"name": "side"}, {"name": "node", "active": active}]},
    }
    return Facts(existing={("JobSet", "tj"): jobset})


CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any], Facts, list[str]]] = {
    "a patch while it runs": ({}, {"runtimePatches": [SELECTOR]}, Facts(), [RUNS]),
    "a patch while suspended": (
        {"suspend": True},
        {"suspend": True, "runtimePatches": [SELECTOR]},
        existing(0),
        [],
    ),
    "a patch in the request that resumes": (
        {"suspend": True},
        {"runtimePatches": [SELECTOR]},
        existing(0),
        [],
    ),
    "a patch while pods are still there": (
        {"suspend": True},
        {"suspend": True, "runtimePatches": [SELECTOR]},
        existing(1),
        [ACTIVE],
    ),
    "the same patches while pods are there": (
        {"runtimePatches": [SELECTOR]},
        {"suspend": True, "runtimePatches": [{**SELECTOR, "time": "2026-02-02T00:00:00Z"}]},
        existing(1, suspend=False),
        [],
    ),
    "no JobSet yet": ({"suspend": True}, {"suspend": True, "runtimePatches": [SELECTOR]}, Facts(), []),
}


@pytest.mark.parametrize("sentence", CHANGES)
@pytest.mark.parametrize("compat", [None, "upstream"])
def test_when_patches_change(sentence: str, compat: Any) -> None:
    old, new, facts, want = CHANGES[sentence]
    before, after = (train_job(compat=compat, **spec) for spec in (old, new))
    assert said(after, runtime(compat=compat), facts, old=before, compat=compat) == want


def stored(**spec: Any) -> Facts:
    jobset = render(train_job(**spec), runtime()).find("JobSet")
    assert jobset is not None
    return Facts(existing={("JobSet", "tj"): jobset})


AFFINITY = patch(patched("node", affinity={"podAffinity": {"x": [1]}}))
TOO_LATE: dict[str, tuple[dict[str, Any], dict[str, Any], Any, str]] = {
    "a volume, beside the JobSet that exists": (
        {"suspend": True},
        {"suspend": True, "runtimePatches": [VOLUME]},
        stored(suspend=True),
        "node.volumes",
    ),
    "a volume, and nobody looked for the JobSet": (
        {"suspend": True},
        {"suspend": True, "runtimePatches": [VOLUME]},
        Facts(),
        "node.volumes",
    ),
    "affinity, in the request that resumes": (
        {"suspend": True},
        {"runtimePatches": [AFFINITY]},
        stored(suspend=True),
        "node.affinity",
    ),
    "a service account and a grace period": (
        {"suspend": True},
        {
            "suspend": True,
            "runtimePatches": [
                patch(patched("node", serviceAccountName="s", terminationGracePeriodSeconds=9))
            ],
        },
        stored(suspend=True),
        "node.serviceAccountName, node.terminationGracePeriodSeconds",
    ),
}


@pytest.mark.parametrize("sentence", TOO_LATE)
def test_what_comes_too_late_for_jobset(sentence: str) -> None:
    old, new, facts, what = TOO_LATE[sentence]
    (error,) = admit(train_job(**new), runtime(), facts, old=train_job(**old)).errors
    assert (error.field, error.type) == ("spec.runtimePatches", "FieldValueForbidden")
    assert error.detail == (
        f"must not change {what} once the JobSet exists (spec.replicatedJobs: field is immutable): of a suspended "
        "job only labels, annotations, nodeSelector, tolerations and schedulingGates of its pods may change; "
        "delete the TrainJob and create it anew"
    )
    upstream = [train_job(compat="upstream", **each) for each in (new, old)]
    assert said(upstream[0], runtime(compat="upstream"), facts, old=upstream[1], compat="upstream") == []


CHANGED = runtime(replicated("node", step="trainer", serviceAccountName="other"))


def test_what_differed_before_is_no_fault_of_an_update() -> None:
    for spec in ({}, {"suspend": True, "ttlSecondsAfterFinished": 4}):
        assert said(train_job(**spec), CHANGED, stored(suspend=True), old=train_job(suspend=True)) == []


def test_what_differed_before_hides_nothing() -> None:
    job = train_job(suspend=True, runtimePatches=[VOLUME])
    (error,) = admit(job, CHANGED, stored(suspend=True), old=train_job(suspend=True)).errors
    assert error.detail.startswith("must not change node.volumes once")


def test_a_label_that_changes_the_counts() -> None:
    node, launcher = replicated("node"), replicated("launcher", step="trainer", waits="node")
    policy = {"mpi": {"runLauncherAsNode": True}}
    spec = {"mlPolicy": policy, "template": {"spec": {"replicatedJobs": [node, launcher]}}}
    given = read({"kind": "ClusterTrainingRuntime", "metadata": {"name": "rt"}, "spec": spec})
    queued = train_job(metadata={"labels": {"kueue.x-k8s.io/queue-name": "q"}})
    (error,) = admit(queued, given, old=train_job(suspend=True)).errors
    assert (error.field, error.detail[:40]) == ("spec.runtimeRef", "must not change launcher.dependsOn, node")


def test_the_order_of_containers_may_not_change() -> None:
    sides = [{"name": "side", "image": "s"}, {"name": "other", "image": "o"}]
    given = runtime(replicated("node", step="trainer", containers=[{"name": "node", "image": "a"}, *sides]))
    swap = patch(patched("node", containers=[{"name": "other"}, {"name": "side"}]))
    (error,) = admit(train_job(runtimePatches=[swap]), given, old=train_job(suspend=True)).errors
    assert error.detail.startswith("must not change node.containers once")


def test_a_running_job_is_left_alone() -> None:
    changed = runtime(replicated("node", step="trainer", serviceAccountName="other"))
    job = train_job(metadata={"labels": {"l": "1"}}, ttlSecondsAfterFinished=5)
    assert said(job, changed, stored(), old=train_job()) == []


def test_what_was_never_built_does_not_bind() -> None:
    elastic = {"minNodes": 1, "maxNodes": 2}
    template = {"spec": {"replicatedJobs": [NODE]}}
    spec = {"mlPolicy": {"torch": {"elasticPolicy": elastic}}, "template": template}
    given = read({"kind": "ClusterTrainingRuntime", "metadata": {"name": "rt"}, "spec": spec})
    old = train_job(trainer={"numNodes": 9})
    assert len(said(old, given)) == 1
    assert said(train_job(trainer={"numNodes": 2}), given, old=old) == []


def test_an_untouched_spec_always_passes() -> None:
    job = train_job(name="a" * 63, metadata={"labels": {"l": "1"}})
    assert said(job, None, old=train_job(name="a" * 63)) == []


def test_a_job_on_its_way_out_always_passes() -> None:
    job = train_job(suspend=True, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert said(job, None, old=train_job()) == []


def test_a_job_whose_runtime_is_gone_can_be_suspended() -> None:
    verdict = admit(train_job(suspend=True), None, old=train_job())
    assert verdict.errors == ()
    assert verdict.warnings == (
        "spec.runtimeRef: ClusterTrainingRuntime 'rt' is not found and the job has no snapshot of it: "
        "what is built stays, nothing new can be built; create the runtime again",
    )
    upstream = [train_job(compat="upstream", suspend=each) for each in (True, False)]
    assert len(said(upstream[0], None, old=upstream[1], compat="upstream")) == 1


def test_the_snapshot_serves_when_the_runtime_is_gone_or_changed() -> None:
    snapshot = render(train_job(), runtime()).find("ConfigMap")
    facts = Facts(existing={("ConfigMap", "tj-runtime-snapshot"): snapshot, **stored(suspend=True).existing})  # type: ignore[dict-item]
    changed = runtime(replicated("node", step="trainer", serviceAccountName="other"))
    for found in (None, changed):
        assert said(train_job(), found, facts, old=train_job(suspend=True)) == []
        assert len(said(train_job(runtimePatches=[VOLUME]), found, facts, old=train_job(suspend=True))) == 1


def test_a_snapshot_of_someone_else_is_told() -> None:
    foreign = {"kind": "ConfigMap", "metadata": {"name": "tj-runtime-snapshot"}, "data": {}}
    facts = Facts(existing={("ConfigMap", "tj-runtime-snapshot"): foreign})
    (word,) = said(train_job(suspend=True), runtime(), facts, old=train_job())
    assert "owned by another object" in word


def test_the_snapshot_of_a_namesake_keeps_nobody_out() -> None:
    foreign = {"kind": "ConfigMap", "metadata": {"name": "tj-runtime-snapshot"}, "data": {}}
    facts = Facts(existing={("ConfigMap", "tj-runtime-snapshot"): foreign, ("Secret", "x"): {}})
    assert said(train_job(), runtime(), facts) == []


def test_admission_changes_nothing_it_is_given() -> None:
    job, given = train_job(runtimePatches=[VOLUME]), runtime()
    before = copy.deepcopy((job.raw, given.raw))
    admit(job, given)
    assert (job.raw, given.raw) == before

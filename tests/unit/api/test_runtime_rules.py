from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.api import check_runtime, deprecation

LABEL = "trainer.kubeflow.org/trainjob-ancestor-step"
JOBS = "spec.template.spec.replicatedJobs"
CONTAINERS = "template.spec.template.spec.containers"


def _job(name, step=None, containers=("node",), **more):
    pod = {"containers": [{"name": container} for container in containers]}
    labels = {LABEL: step} if step else {}
    return {
        "name": name,
        "template": {"metadata": {"labels": labels}, "spec": {"template": {"spec": pod}}},
        **more,
    }


def _template(*jobs):
    return {"spec": {"replicatedJobs": list(jobs)}}


MISSING = "must contain the required container for the ancestor: "
CASES = {
    "a trainer with its node": (_template(_job("node", "trainer")), [], []),
    "two replicas of a trainer": (
        _template(_job("node", "trainer", replicas=2)),
        [(f"{JOBS}[0].replicas", "always must be 1")],
        [(f"{JOBS}[0].replicas", "always must be 1")],
    ),
    "two replicas of a job without a step": (
        _template(_job("ps", replicas=2), _job("node", "trainer")),
        [],
        [],
    ),
    "an unknown step is none": (_template(_job("node", "evaluator", ("x", "y"))), [], []),
    "an initializer without its container": (
        _template(_job("a", "dataset-initializer"), _job("node", "trainer")),
        [(f"{JOBS}[0].{CONTAINERS}", MISSING + "dataset-initializer")],
        [(f"{JOBS}[0].{CONTAINERS}", MISSING + "dataset-initializer")],
    ),
    "a trainer whose only container has another name is understood": (
        _template(_job("node", "trainer", ("main",))),
        [(f"{JOBS}[0].{CONTAINERS}", MISSING + "trainer")],
        [],
    ),
    "a trainer without a container": (
        _template(_job("node", "trainer", ())),
        [(f"{JOBS}[0].{CONTAINERS}", MISSING + "trainer")],
        [(f"{JOBS}[0].{CONTAINERS}", MISSING + "trainer")],
    ),
    "a trainer with two containers and no sign": (
        _template(_job("node", "trainer", ("a", "b"))),
        [(f"{JOBS}[0].{CONTAINERS}", MISSING + "trainer")],
        [
            (
                f"{JOBS}[0].{CONTAINERS}",
                "cannot tell which container is the main one, got a, b: name one of them node",
            )
        ],
    ),
    "no jobs": (
        _template(),
        [],
        [(JOBS, "a runtime needs at least one job, got none: add the job that trains")],
    ),
    "no template": (
        None,
        [],
        [(JOBS, "a runtime needs at least one job, got none: add the job that trains")],
    ),
}


@pytest.mark.parametrize("sentence", CASES)
def test_a_runtime(runtime, sentence):
    template, upstream, ours = CASES[sentence]
    document = runtime(template=template)
    for compat, want in (("upstream", upstream), (None, ours)):
        checked = check_runtime(document, compat=compat)
        assert [(error.field, error.detail) for error in checked.errors] == want
        assert {error.object for error in checked.errors} <= {"ClusterTrainingRuntime/torch"}
        assert checked.stored == document


def test_an_mpi_runtime_may_come_without_a_template(runtime):
    checked = check_runtime(runtime(mlPolicy={"mpi": {}}, template=None))
    assert checked.errors == ()
    assert [text.split(":")[0] for text in checked.warnings] == ["LauncherMoved"]


def test_a_launcher_is_known_by_its_own_container(runtime):
    template = _template(_job("launcher", "trainer", ("proxy", "mpi-launcher")), _job("node"))
    checked = check_runtime(runtime(mlPolicy={"mpi": {}}, template=template))
    assert checked.errors == ()
    (error,) = check_runtime(runtime(mlPolicy={"torch": {}}, template=template)).errors
    assert error.detail.startswith("cannot tell which container is the main one, got proxy, mpi-launcher")


def test_updates_of_a_namespaced_runtime_slip_past_upstream_alone(runtime):
    bad = runtime(template=_template(_job("node", "trainer", replicas=2)))
    namespaced = bad | {"kind": "TrainingRuntime"}
    assert check_runtime(namespaced, old=namespaced, compat="upstream").errors == ()
    assert len(check_runtime(namespaced, compat="upstream").errors) == 1
    assert len(check_runtime(bad, old=bad, compat="upstream").errors) == 1
    assert len(check_runtime(namespaced, old=namespaced).errors) == 1


def test_a_label_keeps_a_runtime_from_the_rules(runtime):
    bad = runtime(template=_template(_job("node", "trainer", replicas=2)))
    bad["metadata"]["labels"] = {"trainer.kubeflow.org/webhook-validation": "disabled"}
    assert check_runtime(bad).errors == check_runtime(bad, compat="upstream").errors == ()


def test_a_deprecated_runtime_warns_when_it_is_created(runtime):
    document = runtime()
    document["metadata"]["labels"] = {"trainer.kubeflow.org/support": "deprecated"}
    text = (
        'ClusterTrainingRuntime "torch" is deprecated and will be removed in a future release of '
        "Kubeflow Trainer. See runtime deprecation policy: https://trainer.kubeflow.org/en/latest/operator-guides/runtime.html"
        "#runtime-deprecation-policy"
    )
    for compat in (None, "upstream"):
        assert check_runtime(document, compat=compat).warnings == (text,)
        assert check_runtime(document, old=document, compat=compat).warnings == ()
    assert list(deprecation(document, prefix="Referenced ")) == [f"Referenced {text}"]
    assert list(deprecation(document | {"kind": "TrainingRuntime"})) == []

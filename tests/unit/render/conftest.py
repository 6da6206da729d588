"""One runtime, one job, and the Plan they become."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from kfp_trainer.runtime_operator.api import read
from kfp_trainer.runtime_operator.render.facts import NO_FACTS, Facts
from kfp_trainer.runtime_operator.render.plan import Plan
from kfp_trainer.runtime_operator.render.render import render

GROUP = "trainer.kubeflow.org"
STEP = f"{GROUP}/trainjob-ancestor-step"


def replicated_job(name: str = "node", *, step: str = "trainer", **more: Any) -> dict[str, Any]:
    """A replicated job of one container; `container`, `pod`, `job` and other keys add to it."""
    main = step if step.endswith("initializer") else "node"
    container = {"name": main, "image": "lab/img:1", **more.pop("container", {})}
    pod = {"containers": [container, *more.pop("sidecars", ())], **more.pop("pod", {})}
    template: dict[str, Any] = {"spec": {"template": {"spec": pod}, **more.pop("job", {})}}
    if step:
        template["metadata"] = {"labels": {STEP: step}}
    return {"name": name, "template": template, **more}


def runtime_of(
    policy: Any = None, *jobs: Mapping[str, Any], version: str = "v1alpha1", **more: Any
) -> dict[str, Any]:
    """A runtime with this mlPolicy; without jobs it has one that trains."""
    template = {"spec": {"replicatedJobs": list(jobs) or [replicated_job()], **more.pop("spec", {})}}
    if "metadata" in more:
        template["metadata"] = more.pop("metadata")
    spec = {"template": template, **more}
    if policy is not None:
        spec["mlPolicy"] = policy
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "rt"},
        "spec": spec,
    }


def train_job(name: str = "bert", *, labels: Any = None, runtime: str = "rt", **spec: Any) -> dict[str, Any]:
    """A TrainJob of that runtime."""
    metadata = {"name": name, "namespace": "lab", "uid": "uid-1"}
    if labels:
        metadata["labels"] = labels
    return {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "TrainJob",
        "metadata": metadata,
        "spec": {"runtimeRef": {"name": runtime}, **spec},
    }


def plan_of(runtime: Any, job: Any, *, facts: Facts = NO_FACTS, compat: Any = None) -> Plan:
    """What the job becomes."""
    return render(read(job, compat=compat), runtime and read(runtime, compat=compat), facts, compat)


def jobset_of(plan: Plan) -> Mapping[str, Any]:
    found = plan.find("JobSet")
    assert found is not None
    return found


def job_of(plan: Plan, name: str = "node") -> Mapping[str, Any]:
    """A replicated job of the plan's JobSet."""
    return next(each for each in jobset_of(plan)["spec"]["replicatedJobs"] if each["name"] == name)


def pod_of(plan: Plan, name: str = "node") -> Mapping[str, Any]:
    """The spec of its pods."""
    return job_of(plan, name)["template"]["spec"]["template"]["spec"]


def container_of(plan: Plan, name: str = "node", job: str = "node") -> Mapping[str, Any]:
    """A container or init container of its pods."""
    pod = pod_of(plan, job)
    return next(each for each in (*pod["containers"], *pod.get("initContainers", ())) if each["name"] == name)


def env_of(plan: Plan, name: str = "node", job: str = "node") -> dict[str, Any]:
    """The variables of a container, in their order; `index` is the pod's own number."""
    entries = container_of(plan, name, job).get("env") or ()
    return {each["name"]: each.get("value", "index") for each in entries}


@pytest.fixture
def world() -> SimpleNamespace:
    """Builders of documents, and looks at a Plan."""
    parts: list[Callable[..., Any]] = [
        replicated_job,
        runtime_of,
        train_job,
        plan_of,
        jobset_of,
        job_of,
        pod_of,
        container_of,
        env_of,
    ]
    return SimpleNamespace(**{each.__name__: each for each in parts})

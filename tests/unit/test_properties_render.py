"""What holds for every job: same in, same out; nothing given is changed; what is admitted JobSet takes."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kfp_trainer.runtime_operator import api
from kfp_trainer.runtime_operator.render.dry_run import Outcome, dry_run, read_job, read_runtime
from kfp_trainer.runtime_operator.render.facts import Facts
from kfp_trainer.runtime_operator.render.jobset_rules import check_jobset
from kfp_trainer.runtime_operator.render.render import render
from tests.counts import SOAK, count
from tests.real_jobset import refusals

Document = dict[str, Any]
VERSION = "trainer.kubeflow.org/v1alpha1"
LABEL = "trainer.kubeflow.org/trainjob-ancestor-step"

often = settings(
    max_examples=count(500, sampled=60),
    deadline=None,
    derandomize=not SOAK,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


def some(optional: dict[str, st.SearchStrategy[Any]], **required: st.SearchStrategy[Any]) -> Any:
    return st.fixed_dictionaries(required, optional=optional)


NAMES = st.sampled_from(["a", "bert", "node", "x-1", "a" * 40, "a" * 47, "a" * 63])
WORDS = st.sampled_from(["train.py", "--lr=1", "$(A)", "two words", "output_dir=/o", "dataset=x", ""])
COMMANDS = st.sampled_from(
    [["torchrun", "train.py"], ["tune", "run"], ["torchrun train.py"], ["sh", "-c", "a; b"], []]
)
QUANTITIES = st.sampled_from([0, 1, 2, 4, "1", "500m", "2.5", "4Gi", "1e3", "0"])
RESOURCES = st.dictionaries(
    st.sampled_from(
        ["cpu", "memory", "nvidia.com/gpu", "amd.com/gpu", "nvidia.com/mig-1g.5gb", "google.com/tpu"]
    ),
    QUANTITIES,
    max_size=3,
)
ENV = st.lists(
    st.one_of(
        some(
            {"value": WORDS},
            name=st.sampled_from(["A", "B", "MASTER_ADDR", "PET_NNODES", "DMLC_TASK_ID", "HF_HOME"]),
        ),
        st.just({"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}),
    ),
    max_size=3,
    unique_by=lambda each: each["name"],
)
AMOUNTS = some({"limits": RESOURCES, "requests": RESOURCES})
NUMBERS = st.integers(min_value=1, max_value=200)
VOLUMES = st.lists(
    st.sampled_from(
        [
            {"name": "v", "emptyDir": {}},
            {"name": "w", "hostPath": {"path": "/mnt"}},
            {"name": "initializer", "persistentVolumeClaim": {"claimName": "c"}},
            {"name": "i", "image": {"reference": "lab.example/data:1"}},
        ]
    ),
    max_size=2,
    unique_by=lambda each: each["name"],
)


@st.composite
def containers(draw: st.DrawFn, name: str, volumes: list[Document]) -> Document:
    optional = {"command": COMMANDS, "args": st.lists(WORDS, max_size=2), "env": ENV, "resources": AMOUNTS}
    container = draw(some({**optional}, name=st.just(name), image=st.just("lab.example/img:1")))
    mounts = [{"name": each["name"], "mountPath": f"/{each['name']}"} for each in volumes]
    ports = draw(st.sampled_from([[], [{"containerPort": 8080}], [{"containerPort": 29500, "name": "meet"}]]))
    return {**container, "volumeMounts": mounts, "ports": ports}


@st.composite
def replicated_jobs(draw: st.DrawFn, name: str, step: str, main: str, earlier: list[str]) -> Document:
    volumes = draw(VOLUMES)
    pod: Document = {"containers": [draw(containers(main, volumes))], "volumes": volumes}
    if draw(st.booleans()):
        pod["containers"].append(draw(containers("side", [])))
    if draw(st.booleans()):
        pod["initContainers"] = [{**draw(containers("first", [])), "restartPolicy": "Always"}]
    metadata = draw(st.sampled_from([{"labels": {LABEL: step}}] * 3 + [{}])) if step else {}
    spec: Document = {
        "template": {"spec": pod},
        **draw(some({"parallelism": NUMBERS, "backoffLimit": NUMBERS})),
    }
    job: Document = {"name": name, "template": {"metadata": metadata, "spec": spec}}
    needed = draw(st.lists(st.sampled_from(earlier), max_size=2, unique=True)) if earlier else []
    states = st.sampled_from(["Ready", "Complete"])
    return (
        {**job, "dependsOn": [{"name": each, "status": draw(states)} for each in needed]} if needed else job
    )


POLICIES: dict[str, st.SearchStrategy[Any]] = {
    "torch": some({"numProcPerNode": st.sampled_from([1, 4, "auto", "cpu", "gpu"])}),
    "mpi": some(
        {
            "numProcPerNode": NUMBERS,
            "mpiImplementation": st.sampled_from(["OpenMPI", "Intel", "MPICH"]),
            "runLauncherAsNode": st.booleans(),
        }
    ),
    "jax": st.just({}),
    "xgboost": st.just({}),
    "flux": some({"numProcPerNode": NUMBERS}),
}


@st.composite
def runtimes(draw: st.DrawFn) -> Document:
    framework = draw(st.sampled_from([*POLICIES, "plain", "none"]))
    jobs: list[Document] = []
    for step in ("dataset-initializer", "model-initializer"):
        if draw(st.booleans()):
            jobs.append(draw(replicated_jobs(step, step, step, [])))
    earlier = [job["name"] for job in jobs]
    if framework == "mpi":
        jobs.append(draw(replicated_jobs("node", "", "node", earlier)))
        jobs.append(draw(replicated_jobs("launcher", "trainer", "node", [*earlier, "node"])))
    else:
        jobs.append(draw(replicated_jobs("node", "trainer", "node", earlier)))
    spec: Document = {"template": {"spec": {"replicatedJobs": jobs, **draw(JOBSET_SETTINGS)}}}
    if framework != "none":
        policy = {} if framework == "plain" else {framework: draw(POLICIES[framework])}
        spec["mlPolicy"] = {**policy, **draw(some({"numNodes": NUMBERS}))}
    gang = draw(st.sampled_from([None, {"coscheduling": {}}, {"volcano": {}}]))
    if gang is not None:
        spec["podGroupPolicy"] = gang
    return {
        "apiVersion": VERSION,
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "runtime"},
        "spec": spec,
    }


JOBSET_SETTINGS = some(
    {
        "network": some(
            {"subdomain": st.sampled_from(["mesh", "a.b", "x" * 64]), "enableDNSHostnames": st.booleans()}
        ),
        "failurePolicy": some({"maxRestarts": st.integers(0, 3)}),
        "ttlSecondsAfterFinished": st.integers(0, 100),
    }
)

SOURCES = some(
    {"env": ENV, "secretRef": st.just({"name": "hf"})}, storageUri=st.sampled_from(["hf://a/b", "s3://a/b"])
)
PATCHED_PODS = some(
    {
        "nodeSelector": st.just({"disk": "ssd"}),
        "tolerations": st.just([{"operator": "Exists"}]),
        "volumes": VOLUMES,
        "containers": st.lists(some({"env": ENV}, name=st.sampled_from(["side", "nobody"])), max_size=1),
        "serviceAccountName": st.just("runner"),
    }
)


@st.composite
def patches(draw: st.DrawFn, manager: str) -> Document:
    target = draw(st.sampled_from(["node", "launcher", "dataset-initializer"]))
    job = {"name": target, "template": {"spec": {"template": {"spec": draw(PATCHED_PODS)}}}}
    template = {
        "spec": {"replicatedJobs": [job]},
        **draw(some({"metadata": st.just({"labels": {"a": "b"}})})),
    }
    return {"manager": manager, "trainingRuntimeSpec": {"template": template}}


@st.composite
def jobs(draw: st.DrawFn) -> Document:
    trainer = some(
        {
            "image": st.just("lab.example/own:1"),
            "command": COMMANDS,
            "args": st.lists(WORDS, max_size=3),
            "env": ENV,
            "numNodes": NUMBERS,
            "numProcPerNode": NUMBERS,
            "resourcesPerNode": AMOUNTS,
        }
    )
    optional: dict[str, Any] = {
        "trainer": trainer,
        "initializer": some({"dataset": SOURCES, "model": SOURCES}),
        "suspend": st.booleans(),
        "activeDeadlineSeconds": NUMBERS,
    }
    spec = draw(some(optional, runtimeRef=st.just({"name": "runtime"})))
    chosen = [draw(patches(f"acme.io/{n}")) for n in range(draw(st.integers(0, 2)))]
    labels = draw(st.sampled_from([{}, {}, {"kueue.x-k8s.io/queue-name": "q"}]))
    metadata = {"name": draw(NAMES), "namespace": "lab", "uid": "u", "labels": labels}
    return {
        "apiVersion": VERSION,
        "kind": "TrainJob",
        "metadata": metadata,
        "spec": {**spec, **({"runtimePatches": chosen} if chosen else {})},
    }


def tried(runtime: Document, job: Document) -> Outcome:
    (outcome,) = dry_run([runtime, job]).jobs
    return outcome


@often
@given(runtimes(), jobs())
def test_the_same_documents_give_the_same_answer(runtime: Document, job: Document) -> None:
    one, other = tried(runtime, job), tried(copy.deepcopy(runtime), copy.deepcopy(job))
    assert one.errors == other.errors
    assert one.warnings == other.warnings
    assert one.plan == other.plan
    if one.plan is not None and other.plan is not None:
        assert json.dumps(one.plan.objects) == json.dumps(other.plan.objects)


@often
@given(runtimes(), jobs())
def test_what_is_given_stays_as_it_was(runtime: Document, job: Document) -> None:
    before = copy.deepcopy((runtime, job))
    tried(runtime, job)
    assert (runtime, job) == before


@often
@given(runtimes(), jobs(), jobs())
def test_one_job_leaves_nothing_behind_for_the_next(
    runtime: Document, first: Document, second: Document
) -> None:
    shared = read_runtime(api.check(runtime).stored)
    alone = tried(runtime, second).plan
    if alone is not None and tried(runtime, first).plan is not None:
        render(read_job(api.check(first).stored), shared)
        again = render(read_job(api.check(second).stored), shared)
        assert [each for each in again.objects if each["kind"] != "ConfigMap"] == [
            each for each in alone.objects if each["kind"] != "ConfigMap"
        ]


@often
@given(runtimes(), jobs(), runtimes())
def test_a_snapshot_renders_as_its_runtime_did(runtime: Document, job: Document, other: Document) -> None:
    outcome = tried(runtime, job)
    if outcome.plan is not None:
        held = outcome.plan.find("ConfigMap", f"{job['metadata']['name']}-runtime-snapshot")
        facts = Facts(existing={("ConfigMap", held["metadata"]["name"]): held})
        changed = read_runtime(api.check(other).stored)
        again = render(read_job(outcome.review.stored), changed, facts)
        assert again.objects == outcome.plan.objects


@often
@given(runtimes(), jobs())
def test_jobset_takes_what_we_admit(runtime: Document, job: Document) -> None:
    plan = tried(runtime, job).plan
    if plan is not None:
        jobset = plan.find("JobSet")
        assert [str(each) for each in check_jobset(jobset)] == []
        assert refusals(jobset) == []


def test_many_of_these_jobs_are_admitted() -> None:
    admitted: list[bool] = []

    @settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(runtimes(), jobs())
    def look(runtime: Document, job: Document) -> None:
        admitted.append(tried(runtime, job).plan is not None)

    look()
    assert sum(admitted) > len(admitted) / 6, "properties of what is never admitted would prove little"

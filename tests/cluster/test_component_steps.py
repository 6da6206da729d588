"""Steps of pipelines as pods, with only the rights that are shipped: they launch, adopt, stop, clean up."""

import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kfp_trainer.components.training.delete_train_jobs import delete_train_jobs
from kfp_trainer.runtime_operator.images import image
from tests.cluster.component_pods import ACCOUNT, STORE, Run, Since, prepare, shipped_rights
from tests.cluster.control_plane.client import Client, Json, collection, eventually, exists
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.control_plane.plane import Plane
from tests.cluster.manifests import JOBSET, condition, pod_template
from tests.cluster.operator import (
    TRAINER,
    Simulated,
    ended,
    path_of,
    running_operator,
    runtime,
    step,
    train_job,
)
from tests.cluster.pod_programs import python
from tests.cluster.process_node.starting import PROCESS_NODE
from tests.counts import SOAK, count
from tests.katib_rules import wrapped

pytestmark = [
    pytest.mark.parts("scheduler", "process-node", "kwok", "jobset"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

AFTER_TERM = 0.3 if SOAK else 3.0
"""seconds between SIGTERM and SIGKILL: what is promised on a quiet machine, and what a busy one keeps"""
NewRun = Callable[[], Run]
CANARY = "a-word-that-stands-in-one-secret"
NAMESPACES: list[str] = []
"""in which the tests of this file have run"""
TRAIN = """
import os, torch
assert len(os.environ["TOKEN"]) == 32
torch.manual_seed(0)
inputs = torch.randn(64, 4)
wanted, model = inputs.sum(1, keepdim=True), torch.nn.Linear(4, 1)
steps = torch.optim.SGD(model.parameters(), lr=0.3)
for number in range(20):
    loss = torch.nn.functional.mse_loss(model(inputs), wanted)
    steps.zero_grad(); loss.backward(); steps.step()
    print(f"step {number} loss={loss.item():.5f}", flush=True)
torch.save(model.state_dict(), "/kfp-workspace/model.pt")
print("for run", os.environ["RUN"], "beside", os.listdir("/data"), flush=True)
"""
UNTIL_TOLD = """
import os, time
for number in range(3):
    print("line", number, flush=True)
while not os.path.exists("/minio/finish"):
    time.sleep(0.1)
print("loss=0.25", flush=True)
"""


@pytest.fixture(scope="module", autouse=True)
def operator(whole_cluster: Cluster) -> Iterator[None]:
    """Our operator, and Workflows as a kind."""
    with running_operator(whole_cluster):
        prepare(whole_cluster.client)
        yield


@pytest.fixture
def new_run(
    operator: None, client: Client, namespace: str, simulated: Simulated, tmp_path: Path
) -> Iterator[NewRun]:
    """Starts runs in a namespace where pipelines may launch TrainJobs of a few runtimes."""
    store = tmp_path / "store"
    store.mkdir()
    store.chmod(0o777)
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT}}
    for document in (account, *shipped_rights(namespace)):
        client.create(document, namespace)
    for name, template in runtimes(simulated(2), store).items():
        client.create(runtime(step("node", "trainer", template), name=name), namespace)
    NAMESPACES.append(namespace)
    runs: list[Run] = []

    def make() -> Run:
        runs.append(Run(client, namespace, store))
        return runs[-1]

    yield make
    for run in runs:
        run.delete()


def runtimes(pool: str, store: Path) -> dict[str, Json]:
    """What trains: a process where the task wants it, one that ends when it is told, simulated ones."""
    plain = {"name": "node", "image": "example.com/any:1"}
    told = {
        **plain,
        "command": python(UNTIL_TOLD),
        "volumeMounts": [{"name": "minio", "mountPath": "/minio"}],
    }
    volume = {"name": "minio", "hostPath": {"path": str(store)}}
    here = {"restartPolicy": "Never", "nodeSelector": {"pool": PROCESS_NODE}}
    return {
        "anywhere": {"spec": {"restartPolicy": "Never", "containers": [plain]}},
        "until-told": {"spec": {**here, "containers": [told], "volumes": [volume]}},
        "at-once": {"spec": {**here, "containers": [{**plain, "command": ["true"]}]}},
        "endless": pod_template(pool, run="forever"),
    }


def claim(client: Client, namespace: str, name: str) -> None:
    """A claim that a process node fills."""
    spec = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
    client.create(
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec},
        namespace,
    )


def task_config() -> Json:
    """What a person has set on the task, as the driver writes it."""
    secret = {"secretKeyRef": {"name": "hub", "key": "token"}}
    label = {"fieldRef": {"fieldPath": "metadata.labels['pipeline/runid']"}}
    return {
        "affinity": None,
        "tolerations": [{"key": "gpu", "operator": "Exists", "effect": None}],
        "nodeSelector": {"pool": PROCESS_NODE},
        "env": [{"name": "TOKEN", "valueFrom": secret}, {"name": "RUN", "valueFrom": label}],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        "resources": {"limits": {"cpu": "1", "memory": "2Gi", "nvidia.com/gpu": "1"}, "requests": None},
    }


def test_a_real_training_gets_what_is_set_on_the_task(
    client: Client, namespace: str, new_run: NewRun
) -> None:
    run = new_run()
    workspace = f"{run.workflow}-kfp-workspace"
    for name in ("data", workspace):
        claim(client, namespace, name)
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "hub"},
        "stringData": {"token": CANARY},
    }
    client.create(secret, namespace)
    execution = run.execution()
    values = {"runtime": "anywhere", "script": TRAIN, "job": {"nodes": 1.0}, "task_config": task_config()}
    pod = run.start(
        execution,
        values,
        volumes=[{"name": "kfp-workspace", "persistentVolumeClaim": {"claimName": workspace}}],
        mounts=[{"name": "kfp-workspace", "mountPath": "/kfp-workspace"}],
    )
    assert run.ended(pod) == "Succeeded", run.log(pod)
    log = run.log(pod)
    assert "step 19 loss=0.0" in log
    assert f"for run {run.id} beside []" in log
    (job,) = run.train_jobs()
    assert condition(job, "Complete")
    outputs = run.outputs(execution)
    assert outputs["job_name"] == job["metadata"]["name"]
    assert "| runtime | anywhere |" in outputs["summary"]
    (owner,) = job["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("Workflow", run.workflow)
    assert not owner.get("controller") and not owner.get("blockOwnerDeletion")
    assert job["spec"]["trainer"]["resourcesPerNode"]["limits"]["nvidia.com/gpu"] == "1"
    assert CANARY not in everything(client, namespace, run.store)


def everything(client: Client, namespace: str, store: Path) -> str:
    """All objects of a namespace but its Secrets, all logs, and all outputs."""
    kinds = (
        (TRAINER, "TrainJob"),
        (JOBSET, "JobSet"),
        ("batch/v1", "Job"),
        ("v1", "Pod"),
        ("v1", "Event"),
        ("v1", "ConfigMap"),
    )
    found = [client.text("GET", collection(*kind, namespace)) for kind in kinds]
    pods = collection("v1", "Pod", namespace)
    found += [client.text("GET", f"{pods}/{each['metadata']['name']}/log") for each in client.items(pods)]
    found += [each.read_text(errors="replace") for each in store.rglob("*") if each.is_file()]
    return "\n".join(found)


def test_a_step_that_is_killed_again_and_again_has_one_job_and_the_same_outputs(
    plane: Plane, namespace: str, new_run: NewRun
) -> None:
    run = new_run()
    execution = run.execution()
    chance = random.Random(time.time_ns())
    lives = [random_life(chance) for _ in range(count(100, sampled=10))]
    first = run.start(execution, {"runtime": "until-told"}, lives=lives)
    eventually(
        "it has been killed as often as it shall be",
        lambda: run.log_so_far(first).count("killed") == len(lives),
        limit=120 + 10 * len(lives),
        say=lambda: run.log_so_far(first),
    )
    (run.store / "finish").touch()
    assert run.ended(first) == "Succeeded", run.log(first)
    outputs = run.outputs(execution)
    second = run.start(execution, {"runtime": "until-told"})
    assert run.ended(second) == "Succeeded", run.log(second)
    assert run.outputs(execution) == outputs
    assert "loss=0.25" in run.log(second)
    (job,) = run.train_jobs()
    assert outputs["job_name"] == job["metadata"]["name"]
    assert created(plane, namespace) == 1, lives


def random_life(chance: random.Random) -> tuple[Since, float]:
    """Until some moment of starting, or until one of launching and following."""
    return (
        ("started", chance.uniform(0.0, 1.0)) if chance.random() < 0.3 else ("said", chance.uniform(0.0, 0.8))
    )


def created(plane: Plane, namespace: str) -> int:
    """How many TrainJobs steps have made."""
    asked = plane.audited(f"system:serviceaccount:{namespace}:{ACCOUNT}")
    return sum(
        (each["verb"], each["objectRef"]["resource"]) == ("create", "trainjobs")
        and (each["stage"], each["responseStatus"]["code"]) == ("ResponseComplete", 201)
        for each in asked
    )


def test_a_job_that_rests_is_waited_for_and_goes_on_when_its_step_is_started_again(
    client: Client, namespace: str, new_run: NewRun
) -> None:
    run = new_run()
    pod = run.start(run.execution(), {"runtime": "until-told"}, lives=[("said", 1000.0)])
    (job,) = eventually("there is a job", run.train_jobs)
    path = path_of(namespace, job["metadata"]["name"])
    eventually("it runs", lambda: "startTime" in (client.get(path).get("status") or {}))
    client.patch(path, {"spec": {"suspend": True}})
    eventually("the step tells that it waits", lambda: "waits: " in run.log_so_far(pod))
    (run.store / "kill").touch()
    eventually("it goes on", lambda: not client.get(path)["spec"]["suspend"])
    (run.store / "finish").touch()
    assert run.ended(pod) == "Succeeded", run.log(pod)


def test_a_step_that_is_told_to_stop_deletes_its_job_before_it_is_killed(
    client: Client, namespace: str, new_run: NewRun
) -> None:
    run, chance = new_run(), random.Random(time.time_ns())
    total, at_once, left = count(100, sampled=5), 5, 0
    for _ in range(0, total, at_once):
        pods = [
            run.start(run.execution(), {"runtime": "endless"}, after_term=AFTER_TERM) for _ in range(at_once)
        ]
        eventually("each has its job", lambda: len(run.train_jobs()) == at_once, limit=120)
        for pod in pods:
            time.sleep(chance.uniform(0.0, 0.3))
            client.delete(f"{collection('v1', 'Pod', namespace)}/{pod}")
        for pod in pods:
            gone = f"{collection('v1', 'Pod', namespace)}/{pod}"
            eventually("the pod is gone", lambda gone=gone: not exists(client, gone), limit=120)
        time.sleep(1.0)  # for deletions that have been taken, not for others
        left += sum("deletionTimestamp" not in each["metadata"] for each in run.train_jobs())
        client.delete(collection(TRAINER, "TrainJob", namespace))
        eventually("all jobs are gone", lambda: not run.train_jobs(), limit=120)
    assert left <= 1, f"{left} of {total} were left"


GONE_AT_ONCE = """
import http.client, os, sys
from pathlib import Path
from kfp_trainer.runtime_operator.kube.credentials import load_credentials
from kfp_trainer.runtime_operator.launch.farewell import Farewell
http.client.HTTPResponse = lambda *_words, **_more: os._exit(9)
for name in sys.argv[3:]:
    if os.fork() == 0:
        with Farewell(load_credentials(Path(sys.argv[1])), sys.argv[2], name) as will:
            will.say()
    os.wait()
"""
"""says farewell to each job in a process that is gone before there is an answer"""


def test_a_farewell_is_heard_though_who_said_it_is_gone(
    cluster: Cluster, client: Client, namespace: str
) -> None:
    names = [f"job-{index}" for index in range(count(100, sampled=5))]
    for name in names:
        client.create(train_job(name, suspend=True), namespace)
    command = python(GONE_AT_ONCE, str(cluster.kubeconfig), namespace, *names)
    subprocess.run(command, check=True, timeout=60 + 10 * len(names))
    jobs = collection(TRAINER, "TrainJob", namespace)
    eventually("all are deleted", lambda: not client.items(jobs))


def test_the_steps_of_a_run_do_not_meet_and_nothing_is_left_of_it(
    client: Client, namespace: str, new_run: NewRun
) -> None:
    run, other = new_run(), new_run()
    iterations = [run.execution() for _ in range(count(20, sampled=4))]
    pods = [run.start(each, {"runtime": "at-once"}) for each in iterations]
    sibling = run.start(run.execution("train-job-2"), {"runtime": "endless"})
    foreign = other.start(other.execution(), {"runtime": "endless"})
    for pod in pods:
        assert run.ended(pod) == "Succeeded", run.log(pod)
    names = {run.outputs(each)["job_name"] for each in iterations}
    assert len(names) == len(iterations)
    eventually("all have jobs", lambda: len(run.train_jobs()) == len(pods) + 1 and other.train_jobs())
    status = {
        "state": "RUNNING",
        "pipelineTaskName": "exit-handler-1",
        "pipelineJobResourceName": run.workflow,
    }
    last = run.start(run.execution("delete-train-jobs"), {"status": status}, component=delete_train_jobs)
    assert run.ended(last) == "Succeeded", run.log(last)
    assert run.ended(sibling) == "Failed"
    assert "was deleted while it was followed" in run.log(sibling)
    assert {each["metadata"]["name"] for each in run.train_jobs()} == names
    assert len(other.train_jobs()) == 1
    client.delete(run.workflow_path, {"propagationPolicy": "Background"})
    eventually("nothing is left of the run", lambda: not run.train_jobs() and not run.pods(), limit=180)
    assert other.train_jobs()
    assert foreign in other.pods()


def test_a_job_that_fails_is_made_anew_and_then_told_of(
    client: Client, namespace: str, new_run: NewRun
) -> None:
    run = new_run()
    execution = run.execution()
    values = {
        "runtime": "anywhere",
        "script": "import sys; sys.exit('no such data')",
        "job": {"retries": 1.0},
    }
    config = {"nodeSelector": {"pool": PROCESS_NODE}}
    pod = run.start(execution, {**values, "task_config": config})
    assert run.ended(pod) == "Failed"
    log = run.log(pod)
    assert log.count("another try") == 1
    assert "no such data" in log.rpartition("error:")[2]
    (job,) = run.train_jobs()
    assert ended(client, namespace, job["metadata"]["name"])[0] == "Failed"
    assert "no such data" in (run.store / STORE / execution / "summary").read_text()


def test_a_job_of_katib_launches_a_train_job_that_goes_with_it(
    client: Client, namespace: str, new_run: NewRun
) -> None:
    run = new_run()
    (run.store / "finish").touch()
    command = [sys.executable, "-m", "kfp_trainer.runtime_operator.steps.train_job", "--runtime=until-told"]
    container = {
        "name": "launcher",
        "image": image("workload"),
        "command": wrapped(command, "/minio/metrics.log", "/minio/1.pid"),
        "volumeMounts": [{"name": "minio", "mountPath": "/minio"}],
    }
    pod = {
        "serviceAccountName": ACCOUNT,
        "restartPolicy": "Never",
        "nodeSelector": {"pool": PROCESS_NODE},
        "containers": [container],
        "volumes": [{"name": "minio", "hostPath": {"path": str(run.store)}}],
    }
    spec = {"backoffLimit": 0, "template": {"spec": pod}}
    client.create(
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "trial"}, "spec": spec}, namespace
    )
    path, log = f"{collection('batch/v1', 'Job', namespace)}/trial", run.store / "metrics.log"
    eventually(
        "the trial is complete",
        lambda: condition(client.get(path), "Complete"),
        limit=120,
        say=lambda: log.read_text() if log.exists() else "",
    )
    assert (run.store / "1.pid").read_text() == "completed\n"
    assert "loss=0.25" in log.read_text().splitlines()
    (job,) = client.items(collection(TRAINER, "TrainJob", namespace))
    assert job["metadata"]["name"].startswith("trial-")
    assert [(each["kind"], each["name"]) for each in job["metadata"]["ownerReferences"]] == [("Job", "trial")]
    client.delete(path, {"propagationPolicy": "Background"})
    eventually("the TrainJob is gone", lambda: not client.items(collection(TRAINER, "TrainJob", namespace)))


def test_what_is_granted_is_what_is_used(plane: Plane, request: pytest.FixtureRequest) -> None:
    here = {item.name for item in request.session.items if item.path == request.path}
    if not {name for name in globals() if name.startswith("test_")} <= here:
        pytest.skip("not all tests of this file have run, so not all rights were used")
    used = {right for namespace in NAMESPACES for right in rights_used(plane, namespace)}
    (role, _) = shipped_rights("any")
    granted = {
        (resource, verb) for rule in role["rules"] for resource in rule["resources"] for verb in rule["verbs"]
    }
    assert granted - used == set()


def rights_used(plane: Plane, namespace: str) -> Iterator[tuple[str, str]]:
    """What the steps of a namespace have asked for and got."""
    for each in plane.audited(f"system:serviceaccount:{namespace}:{ACCOUNT}"):
        about: Any = each.get("objectRef") or {}
        sub = f"/{about['subresource']}" if about.get("subresource") else ""
        if (each.get("responseStatus") or {}).get("code", 500) < 400:
            yield about.get("resource", "") + sub, each["verb"]

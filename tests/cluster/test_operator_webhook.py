"""What the API server answers to people when it has asked our webhook."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.control_plane.client import ApiError, Client, Json, collection, eventually
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.operator import TRAINER, delete_jobs, path_of, runtime, step, train_job
from tests.cluster.operator_install import Installed, installation, run_kubectl
from tests.cluster.pod_programs import container, kubectl, python
from tests.cluster.process_node.starting import PROCESS_NODE

pytestmark = pytest.mark.parts("scheduler", "process-node", "jobset")

DENIED = 'admission webhook "validator.trainjob.trainer.kubeflow.org" denied the request: '


@pytest.fixture(scope="module")
def installed(whole_cluster: Cluster) -> Iterator[Installed]:
    """The installation, for all tests of this file."""
    whole_cluster.need("scheduler", "process-node", "jobset")
    with installation(whole_cluster) as made:
        yield made


@pytest.fixture(autouse=True)
def plain(installed: Installed, client: Client, namespace: str) -> Iterator[Json]:
    """A runtime `plain`; no job is left after the test."""
    made = a_runtime()
    client.create(made, namespace)
    yield made
    delete_jobs(client, namespace)


def a_runtime(name: str = "plain", **replicated: Any) -> Json:
    made = container(*python("import time; time.sleep(600)"))
    spec = {"restartPolicy": "Never", "nodeSelector": {"pool": PROCESS_NODE}, "containers": [made]}
    template = {"metadata": {}, "spec": spec}
    steps = step("node", "trainer", template, container="node", **replicated)
    return {**runtime(steps, name=name), "spec": {**runtime(steps)["spec"], "mlPolicy": {"torch": {}}}}


REFUSED: dict[str, tuple[Json, int, str]] = {
    "a runtime that is not there": (
        train_job("a", runtime="other"),
        403,
        DENIED + 'spec.runtimeRef: trainingruntimes.trainer.kubeflow.org "other" not found: ',
    ),
    "a kind of runtime that nobody serves": (
        train_job("a") | {"spec": {"runtimeRef": {"name": "plain", "kind": "Deployment"}}},
        403,
        DENIED + "unsupported runtime: Deployment.trainer.kubeflow.org",
    ),
    "a variable that is ours to set": (
        train_job("a", trainer={"numNodes": 1, "env": [{"name": "PET_NNODES", "value": "3"}]}),
        403,
        DENIED + "spec.trainer.env: ",
    ),
    "a patch of a job that the runtime lacks": (
        train_job(
            "a",
            runtimePatches=[
                {
                    "manager": "example.com/me",
                    "trainingRuntimeSpec": {
                        "template": {
                            "spec": {
                                "replicatedJobs": [
                                    {
                                        "name": "nowhere",
                                        "template": {
                                            "spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}
                                        },
                                    }
                                ]
                            }
                        }
                    },
                }
            ],
        ),
        403,
        DENIED + "spec.runtimePatches",
    ),
    "a name that is too long for its JobSet": (
        train_job("a" * 60),
        403,
        DENIED + "metadata.name: must be no more than ",
    ),
    "what the schema refuses is not ours to say": (
        train_job("a", trainer={"numNodes": -1}),
        422,
        "spec.trainer.numNodes",
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_a_job_that_is_refused(sentence: str, client: Client, namespace: str) -> None:
    manifest, code, words = REFUSED[sentence]
    with pytest.raises(ApiError) as told:
        client.create(manifest, namespace)
    assert told.value.code == code
    assert words in told.value.message
    assert client.items(collection(TRAINER, "TrainJob", namespace)) == []


def test_a_runtime_that_is_refused_when_it_is_made_and_when_it_changes(
    client: Client, namespace: str, plain: Json
) -> None:
    wrong = a_runtime("two", replicas=2)
    words = r"spec\.template\.spec\.replicatedJobs\[0\]\.replicas: always must be 1"
    with pytest.raises(ApiError, match=words):
        client.create(wrong, namespace)
    path = f"{collection(TRAINER, 'TrainingRuntime', namespace)}/plain"
    with pytest.raises(ApiError, match=words):
        client.patch(path, {"spec": wrong["spec"]})
    client.patch(path, {"metadata": {"labels": {"trainer.kubeflow.org/webhook-validation": "disabled"}}})
    wide = {**wrong, "kind": "ClusterTrainingRuntime", "metadata": {"name": f"two-{namespace}"}}
    with pytest.raises(ApiError, match=words):
        client.create(wide)


def test_a_person_sees_warnings(cluster: Cluster, namespace: str) -> None:
    said = run_kubectl(cluster, namespace, train_job("a", runtime="plane"))
    assert "Warning: spec.runtimeRef: did you mean TrainingRuntime 'plain' of namespace" in said.stderr
    said = run_kubectl(cluster, namespace, train_job("b", labels={}) | {"spec": older_spec()})
    assert said.returncode == 0, said.stderr
    assert "spec.labels: understood as labels of the JobSet" in said.stderr


def older_spec() -> Json:
    return {
        "runtimeRef": {"name": "plain", "kind": "TrainingRuntime"},
        "labels": {"team": "a"},
        "suspend": True,
    }


def test_a_dry_run_says_the_same_and_leaves_nothing(cluster: Cluster, client: Client, namespace: str) -> None:
    assert run_kubectl(cluster, namespace, train_job("a"), "--dry-run=server").returncode == 0
    said = run_kubectl(cluster, namespace, train_job("a", runtime="other"), "--dry-run=server")
    assert DENIED in said.stderr
    for kind in ((TRAINER, "TrainJob"), ("jobset.x-k8s.io/v1alpha2", "JobSet")):
        assert client.items(collection(*kind, namespace)) == []
    (only,) = [each["metadata"]["name"] for each in client.items(collection("v1", "ConfigMap", namespace))]
    assert only == "kube-root-ca.crt"


def test_patches_are_stamped_when_they_change_and_only_then(client: Client, namespace: str) -> None:
    patch = {
        "manager": "example.com/me",
        "trainingRuntimeSpec": {"template": {"metadata": {"labels": {"a": "b"}}}},
    }
    job = client.create(train_job("a", suspend=True, runtimePatches=[patch]), namespace)
    (first,) = job["spec"]["runtimePatches"]
    assert first["time"]
    path = path_of(namespace, "a")
    forged = {**first, "time": "2001-01-01T00:00:00Z"}
    assert client.patch(path, {"spec": {"runtimePatches": [forged]}})["spec"]["runtimePatches"] == [first]
    other = {**forged, "trainingRuntimeSpec": {"template": {"metadata": {"labels": {"a": "c"}}}}}
    (second,) = client.patch(path, {"spec": {"runtimePatches": [other]}})["spec"]["runtimePatches"]
    assert second["time"] != forged["time"]


def test_a_job_outlives_its_runtime(client: Client, namespace: str) -> None:
    client.create(train_job("a", suspend=True), namespace)
    snapshot = f"{collection('v1', 'ConfigMap', namespace)}/a-runtime-snapshot"
    eventually("the snapshot is taken", lambda: exists(client, snapshot))
    client.delete(f"{collection(TRAINER, 'TrainingRuntime', namespace)}/plain")
    path = path_of(namespace, "a")
    client.patch(path, {"metadata": {"labels": {"a": "b"}}})
    client.patch(path, {"spec": {"suspend": False}})
    eventually("it runs", lambda: client.get(path).get("status", {}).get("startTime"))
    client.patch(path, {"spec": {"suspend": True}})
    with pytest.raises(ApiError, match='"plain" not found'):
        client.create(train_job("b"), namespace)


def exists(client: Client, path: str) -> bool:
    try:
        return bool(client.get(path))
    except ApiError as refused:
        assert refused.code == 404
        return False


def test_a_name_that_the_server_makes(client: Client, namespace: str) -> None:
    manifest = train_job("", suspend=True)
    manifest["metadata"] = {"generateName": "run-"}
    assert client.create(manifest, namespace)["metadata"]["name"].startswith("run-")


def test_what_nobody_changed_is_not_sent(installed: Installed, client: Client, namespace: str) -> None:
    """Kueue, garbage collection and our own status writes must not wait for us."""
    job = client.create(train_job("a", suspend=True), namespace)
    before = judged(installed)
    path = path_of(namespace, "a")
    client.patch(path, {"metadata": {"annotations": {"a": "b"}}})
    client.patch(path, {"metadata": {"finalizers": ["example.com/mine"]}})
    client.patch(f"{path}/status", {"status": {"why": "somebody writes"}})
    client.delete(path)
    client.patch(path, {"metadata": {"finalizers": []}})
    assert judged(installed) == before
    assert job["metadata"]["generation"] == 1


def judged(installed: Installed) -> list[str]:
    """What the operator counted of its verdicts."""
    (pod,) = installed.pods()
    ask = (
        "import ssl,urllib.request as r; t=ssl._create_unverified_context(); "
        "print(r.urlopen('https://127.0.0.1:8443/metrics', context=t).read().decode())"
    )
    done = kubectl(installed.plane, installed.namespace, "exec", pod["metadata"]["name"], "--", *python(ask))
    assert done.returncode == 0, done.stderr
    return [
        line for line in done.stdout.splitlines() if line.startswith("kfp_trainer_admission_verdicts_total")
    ]


def test_two_hundred_jobs_at_once_are_all_judged(client: Client, namespace: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def create(number: int) -> bool:
        right = number % 2 == 0
        manifest = train_job(f"job-{number}", runtime="plain" if right else "other", suspend=True)
        try:
            client.create(manifest, namespace)
        except ApiError as refused:
            assert DENIED in refused.message
            return not right
        return right

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(create, range(200)))
    assert len(client.items(collection(TRAINER, "TrainJob", namespace))) == 100


def test_the_message_names_every_mistake(client: Client, namespace: str) -> None:
    env = [{"name": name, "value": "3"} for name in ("PET_NNODES", "PET_NODE_RANK")]
    patch = {"manager": "no path", "trainingRuntimeSpec": {"template": {"metadata": {"labels": {"a": "b"}}}}}
    manifest = train_job("a", trainer={"numNodes": 1, "env": env}, runtimePatches=[patch])
    with pytest.raises(ApiError) as told:
        client.create(manifest, namespace)
    message = json.dumps(told.value.message)
    for words in ("PET_NNODES", "PET_NODE_RANK", "spec.runtimePatches"):
        assert words in message

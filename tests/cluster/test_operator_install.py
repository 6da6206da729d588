"""Our manifests give a ready operator: in seconds, restricted, replaceable, and for everybody to use."""

import base64
import json
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cluster.control_plane.client import ApiError, Client, Json, collection, eventually
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.control_plane.plane import Plane
from tests.cluster.manifests import condition
from tests.cluster.operator import TRAINER, delete_jobs, ended, path_of, runtime, step, train_job
from tests.cluster.operator_install import NAME, NAMESPACE, Installed, installation
from tests.cluster.pod_programs import container, pod, python
from tests.cluster.process_node.starting import PROCESS_NODE
from tests.counts import SOAK, count

pytestmark = pytest.mark.parts("scheduler", "process-node", "jobset")

READY_SECONDS = 20.0
OUTAGE = float(count(30, sampled=13))
"""seconds; after ten of them whoever leads ends"""
MOST_AFTER_OUTAGE = 5.0
RBAC = "rbac.authorization.k8s.io"
WAIT = "import os, time\nwhile not os.path.exists('/state/go'): time.sleep(0.2)"
GO = "open('/state/go', 'w').close()"
CHANGES_OF_NO_SPEC: dict[str, Json] = {
    "a label": {"metadata": {"labels": {"a": "b"}}},
    "a finalizer": {"metadata": {"finalizers": ["example.com/mine"]}},
    "no finalizer": {"metadata": {"finalizers": []}},
}
POST = """
import json, os, ssl, time, urllib.error, urllib.request
tls = ssl.create_default_context(cafile=os.environ["KUBEFLOW_TRAINER_SERVER_CA_CERT"])
token = open(os.environ["KUBEFLOW_TRAINER_SERVER_TOKEN"]).read()
def post(url, token, **progress):
    status = {"lastUpdatedTime": "2026-01-02T03:04:05Z", **progress}
    head = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps({"trainerStatus": status}).encode(), head)
    try:
        return urllib.request.urlopen(request, context=tls, timeout=30).status
    except urllib.error.HTTPError as refused:
        return refused.code
url = os.environ["KUBEFLOW_TRAINER_SERVER_URL"]
print("mine", post(url, token, progressPercentage=42, metrics=[{"name": "loss", "value": "0.5"}]))
print("another's", post(url.replace("/posts/", "/other/"), token, progressPercentage=1))
print("no token", post(url, "nobody", progressPercentage=1))
print("nonsense", post(url, token, progressPercentage=1000))
"""


@pytest.fixture(scope="module")
def installed(whole_cluster: Cluster) -> Iterator[Installed]:
    """The installation, for all tests of this file."""
    whole_cluster.need("scheduler", "process-node", "jobset")
    with installation(whole_cluster) as made:
        yield made


@pytest.fixture(autouse=True)
def no_job_is_left(installed: Installed, client: Client, namespace: str) -> Iterator[None]:
    yield
    delete_jobs(client, namespace)


def processes(program: str, *arguments: str) -> Json:
    """A runtime whose nodes are processes that run a program."""
    container = {"name": "node", "image": "example.com/any:1", "command": python(program, *arguments)}
    spec = {"restartPolicy": "Never", "nodeSelector": {"pool": PROCESS_NODE}, "containers": [container]}
    return runtime(step("node", "trainer", {"metadata": {}, "spec": spec}))


def test_it_is_ready_in_seconds(installed: Installed) -> None:
    assert installed.seconds <= READY_SECONDS * crowd()


def crowd() -> float:
    """How much slower everything is on this machine than on one that does nothing else."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def test_its_namespace_takes_no_pod_that_is_not_restricted(installed: Installed, client: Client) -> None:
    pods = collection("v1", "Pod", NAMESPACE)
    with pytest.raises(ApiError, match=r'violates PodSecurity "restricted:latest"'):
        client.post(f"{pods}?dryRun=All", pod("loose", container("true")))


def test_a_job_runs_to_its_end(installed: Installed, client: Client, namespace: str) -> None:
    client.create(processes("print('trained')"), namespace)
    client.create(train_job("runs", nodes=2), namespace)
    assert ended(client, namespace, "runs")[0] == "Complete"


def test_a_trainer_posts_its_progress_and_nobody_elses(
    installed: Installed, client: Client, namespace: str
) -> None:
    client.create(processes(POST), namespace)
    client.create(train_job("other", suspend=True), namespace)
    client.create(train_job("posts"), namespace)
    assert ended(client, namespace, "posts")[0] == "Complete"
    status = client.get(path_of(namespace, "posts"))["status"]
    assert status["trainerStatus"] == {
        "lastUpdatedTime": "2026-01-02T03:04:05Z",
        "metrics": [{"name": "loss", "value": "0.5"}],
        "progressPercentage": 42,
    }, installed.words()
    assert "trainerStatus" not in client.get(path_of(namespace, "other")).get("status", {})
    pods = client.items(
        f"{collection('v1', 'Pod', namespace)}?labelSelector=jobset.sigs.k8s.io/jobset-name=posts"
    )
    log = client.text("GET", f"{collection('v1', 'Pod', namespace)}/{pods[0]['metadata']['name']}/log")
    assert log.splitlines() == ["mine 200", "another's 403", "no token 403", "nonsense 422"]


def test_a_running_job_survives_a_dead_webhook(installed: Installed, client: Client, namespace: str) -> None:
    made = processes(WAIT)
    pod = made["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pod["containers"][0] |= {"volumeMounts": [{"name": "state", "mountPath": "/state"}]}
    pod["volumes"] = [{"name": "state", "persistentVolumeClaim": {"claimName": "state"}}]
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}
    client.create(
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "state"}, "spec": claim},
        namespace,
    )
    client.create(made, namespace)
    path = path_of(namespace, "survives")
    client.create(train_job("survives"), namespace)
    eventually("it runs", lambda: client.get(path).get("status", {}).get("startTime"))
    installed.scale(0)
    try:
        for change in CHANGES_OF_NO_SPEC.values():
            client.patch(path, change)
        client.patch(f"{path}/status", {"status": {"why": "somebody writes"}})
        with pytest.raises(ApiError, match=r"failed calling webhook \"validator\.trainjob"):
            client.create(train_job("new"), namespace)
        with pytest.raises(ApiError, match=r"failed calling webhook \"validator\.trainjob"):
            client.patch(path, {"spec": {"suspend": True}})
        client.create(goes(GO), namespace)
        jobset = f"{collection('jobset.x-k8s.io/v1alpha2', 'JobSet', namespace)}/survives"
        eventually("its pods end", lambda: condition(client.get(jobset), "Completed"))
        assert condition(client.get(path), "Complete") is None
    finally:
        installed.scale(1)
    assert ended(client, namespace, "survives")[0] == "Complete"


def goes(program: str) -> Json:
    """A pod that runs a program on the claim."""
    container = {
        "name": "main",
        "image": "example.com/any:1",
        "command": python(program),
        "volumeMounts": [{"name": "state", "mountPath": "/state"}],
    }
    volumes = [{"name": "state", "persistentVolumeClaim": {"claimName": "state"}}]
    spec = {"restartPolicy": "Never", "nodeSelector": {"pool": PROCESS_NODE}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "goes"},
        "spec": {**spec, "containers": [container], "volumes": volumes},
    }


def test_applied_again_nothing_changes(installed: Installed, client: Client, namespace: str) -> None:
    kind = "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"
    path = f"{collection(*kind)}/validator.trainer.kubeflow.org"
    before = client.get(path)["webhooks"]
    assert all(each["clientConfig"]["caBundle"] for each in before)
    generation = client.get(installed.deployment)["metadata"]["generation"]
    installed.apply()
    assert client.get(path)["webhooks"] == before
    assert client.get(installed.deployment)["metadata"]["generation"] == generation
    client.create(processes("pass"), namespace)


def test_of_two_replicas_the_other_goes_on(installed: Installed, client: Client, namespace: str) -> None:
    installed.scale(2)
    lease = f"{collection('coordination.k8s.io/v1', 'Lease', NAMESPACE)}/trainer.kubeflow.org"

    def leader() -> str:
        return str(client.get(lease)["spec"].get("holderIdentity", "")).partition("_")[0]

    try:
        first = eventually("one leads", leader)
        pods = {each["metadata"]["name"] for each in installed.pods()}
        assert first in pods
        client.delete(f"{collection('v1', 'Pod', NAMESPACE)}/{first}", {"gracePeriodSeconds": 10})
        second = eventually("another leads", lambda: leader() not in ("", first) and leader())
        assert second
        client.create(processes("pass"), namespace)
        client.create(train_job("later"), namespace)
        assert ended(client, namespace, "later")[0] == "Complete"
    finally:
        installed.scale(1)


def test_the_runtimes_of_older_trainers_can_be_deleted(
    installed: Installed, client: Client, namespace: str
) -> None:
    made = processes("pass")
    made["metadata"]["finalizers"] = ["trainer.kubeflow.org/resource-in-use", "example.com/mine"]
    client.create(made, namespace)
    path = f"{collection(TRAINER, 'TrainingRuntime', namespace)}/plain"
    mine = ["example.com/mine"]
    eventually("it is stripped", lambda: client.get(path)["metadata"]["finalizers"] == mine)
    client.patch(path, {"metadata": {"finalizers": []}})


MAY: dict[str, tuple[str, str, str, bool]] = {
    "an editor creates jobs": ("edit", "create", "trainjobs", True),
    "an editor changes runtimes of the namespace": ("edit", "update", "trainingruntimes", True),
    "an editor writes no status": ("edit", "patch", "trainjobs/status", False),
    "a viewer lists jobs": ("view", "list", "trainjobs", True),
    "a viewer creates no jobs": ("view", "create", "trainjobs", False),
    "an administrator of the namespace deletes runtimes": ("admin", "delete", "trainingruntimes", True),
    "everybody lists the cluster's runtimes": ("", "list", "clustertrainingruntimes", True),
    "nobody changes the cluster's runtimes": ("admin", "update", "clustertrainingruntimes", False),
    "nobody lists jobs without a role": ("", "list", "trainjobs", False),
}


@pytest.fixture
def may(client: Client, namespace: str) -> Callable[[str, str, str], bool]:
    """Whether somebody with a role in the namespace may do something there."""
    authorization = "authorization.k8s.io/v1"

    def ask(account: str, group: str, verb: str, resource: str) -> bool:
        plural, _, sub = resource.partition("/")
        asked = {"group": group, "verb": verb, "resource": plural, "subresource": sub}
        place = {} if plural.startswith("cluster") else {"namespace": namespace}
        spec = {
            "user": f"system:serviceaccount:{namespace}:{account}",
            "groups": ["system:authenticated"],
            "resourceAttributes": asked | place,
        }
        review = {"apiVersion": authorization, "kind": "SubjectAccessReview", "spec": spec}
        answer = client.post(f"/apis/{authorization}/subjectaccessreviews", review)
        return bool(answer["status"]["allowed"])

    def bound(role: str, verb: str, resource: str) -> bool:
        account = f"with-{role or 'nothing'}"
        subject = {"kind": "ServiceAccount", "name": account, "namespace": namespace}
        client.create(
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account}}, namespace
        )
        if role:
            reference = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}
            head = {"apiVersion": f"{RBAC}/v1", "kind": "RoleBinding", "metadata": {"name": account}}
            client.create({**head, "subjects": [subject], "roleRef": reference}, namespace)
            eventually("the API server knows", lambda: ask(account, "", "list", "pods"))
        return ask(account, TRAINER.partition("/")[0], verb, resource)

    return bound


@pytest.mark.parametrize("sentence", MAY)
def test_who_may_do_what(sentence: str, installed: Installed, may: Callable[[str, str, str], bool]) -> None:
    role, verb, resource, want = MAY[sentence]
    assert may(role, verb, resource) is want


def test_everybody_reads_the_version_and_nothing_else_there(
    installed: Installed, cluster: Cluster, client: Client, namespace: str
) -> None:
    somebody = cluster.client_of(namespace, "default")
    path = collection("v1", "ConfigMap", NAMESPACE)
    assert somebody.get(f"{path}/kubeflow-trainer-public")["data"]["kubeflow_trainer_version"] == "v2.3.0"
    for refused in (path, f"{path}/kube-root-ca.crt", collection("v1", "Secret", NAMESPACE)):
        with pytest.raises(ApiError, match="forbidden"):
            somebody.get(refused)


def test_its_lines_are_json(installed: Installed) -> None:
    (pod,) = installed.pods()
    path = f"{collection('v1', 'Pod', NAMESPACE)}/{pod['metadata']['name']}/log"
    lines: list[dict[str, Any]] = [
        json.loads(line) for line in installed.client.text("GET", path).splitlines()
    ]
    assert any(each["message"] == "serves" for each in lines)
    assert pod["spec"]["serviceAccountName"] == NAME


def test_a_new_version_rolls_out_while_jobs_are_created(
    installed: Installed, client: Client, namespace: str
) -> None:
    client.create(processes("pass"), namespace)
    (before,) = (each["metadata"]["name"] for each in installed.pods())
    annotations = {"kfp-trainer.test/version": "next"}
    client.patch(installed.deployment, {"spec": {"template": {"metadata": {"annotations": annotations}}}})
    number = 0
    while before in (names := [each["metadata"]["name"] for each in installed.pods()]) or len(names) > 1:
        client.create(train_job(f"job-{number}", suspend=True), namespace)
        number += 1
        assert number < 1000, installed.words()
        time.sleep(0.1)
    installed.is_ready()
    assert number > 10


def test_after_an_outage_of_the_api_server_a_new_job_is_built_at_once(
    installed: Installed, plane: Plane, namespace: str
) -> None:
    client = plane.client
    client.create(processes("pass"), namespace)
    plane.kill("kube-apiserver")
    time.sleep(OUTAGE)
    plane.start_again("kube-apiserver")
    began = time.monotonic()
    eventually("it is created", lambda: is_created(client, train_job("new", suspend=True), namespace))
    created = time.monotonic() - began
    jobset = f"{collection('jobset.x-k8s.io/v1alpha2', 'JobSet', namespace)}/new"
    eventually("it has a JobSet", lambda: is_there(client, jobset))
    built = time.monotonic() - began
    print(f"created after {created:.1f} s, built after {built:.1f} s")
    assert built <= MOST_AFTER_OUTAGE * crowd(), installed.words()


def is_created(client: Client, manifest: Json, namespace: str) -> bool:
    try:
        client.create(manifest, namespace)
    except ApiError as refused:
        assert "failed calling webhook" in refused.message
        return False
    return True


def is_there(client: Client, path: str) -> bool:
    try:
        return bool(client.get(path))
    except ApiError as missing:
        assert missing.code == 404
        return False


@pytest.mark.skipif(not SOAK, reason="a replica looks at its certificate once a minute: make soak")
def test_a_new_authority_takes_over_while_jobs_are_created(
    installed: Installed, client: Client, namespace: str
) -> None:
    kind = "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"
    path = f"{collection(*kind)}/validator.trainer.kubeflow.org"

    def bundle() -> str:
        return str(client.get(path)["webhooks"][0]["clientConfig"]["caBundle"])

    eventually(
        "the webhook is there again, which an outage before took away",
        lambda: is_created(client, processes("pass"), namespace),
    )
    before, created = bundle(), 0
    secret = f"{collection('v1', 'Secret', NAMESPACE)}/kubeflow-trainer-webhook-cert"
    client.patch(secret, {"data": dict.fromkeys(client.get(secret)["data"])})
    seen: list[str] = []
    end = time.monotonic() + 150
    while time.monotonic() < end and len(seen) < 3:  # the old one, both, the new one
        client.create(train_job(f"job-{created}", suspend=True), namespace)
        created += 1
        if bundle() not in seen:
            seen.append(bundle())
        time.sleep(0.2)
    assert seen[0] == before
    assert len(seen) == 3
    assert base64.b64decode(seen[1]) == base64.b64decode(seen[2]) + base64.b64decode(before)

"""What the API server answers about jobs of the older kinds, with our CRDs and our admission as installed."""

from collections.abc import Iterator
from typing import Any

import pytest

from kfp_trainer.runtime_operator.api.legacy import LEGACY_KINDS
from tests.cluster.control_plane.client import ApiError, Client, Json, collection, eventually
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.older_kinds import KUBEFLOW, older_path
from tests.cluster.operator_install import Installed, installation, run_kubectl
from tests.cluster.pod_programs import kubectl
from tests.conformance_v1.__main__ import CASES
from tests.conformance_v1.compare import faults
from tests.legacy_jobs import ROLES, legacy_document
from tests.recorded_cases import read_cases

pytestmark = pytest.mark.parts("scheduler", "process-node", "jobset")

ALL = {path.stem: case for path, case in read_cases(CASES)}
JUDGED = [name for name, case in ALL.items() if case["topic"] == "admission"]
CHANGED = ["invalid-tf-managed-by-changed", "invalid-pytorch-managed-by-changed"]
EXAMPLES = [name for name in ALL if name.startswith("example-")]
FEWEST = 36
DENIED = 'admission webhook "older-kinds.validator.trainer.kubeflow.org" denied the request: '
STAMP = "kfp-trainer/operator"
SCALED = ["PyTorchJob", "PaddleJob", "JAXJob"]


@pytest.fixture(scope="module")
def installed(whole_cluster: Cluster) -> Iterator[Installed]:
    """The installation, for all tests of this file."""
    whole_cluster.need("scheduler", "process-node", "jobset")
    with installation(whole_cluster, "older-kinds") as made:
        yield made


@pytest.fixture(autouse=True)
def there(installed: Installed, cluster: Cluster) -> None:
    """All tests of this file need the installation."""


def a_job(kind: str, name: str = "job", **spec: Any) -> Json:
    """A job that asks for nothing to run."""
    document = legacy_document(kind, {role: {} for role in ROLES[kind]}, name=name, **spec)
    document["spec"].setdefault("runPolicy", {})["suspend"] = True
    document["metadata"] = {"name": name}
    return document


def test_all_that_was_recorded_is_here() -> None:
    assert len(JUDGED) >= FEWEST
    assert len(EXAMPLES) == 13
    assert ROLES.keys() == LEGACY_KINDS.keys() - {"MXJob"}


@pytest.mark.parametrize("name", JUDGED)
def test_the_verdict_is_the_recorded_one(name: str, cluster: Cluster, client: Client) -> None:
    case = ALL[name]
    document = placed(case["input"][-1], "default")
    told = verdict(client, document)
    if told["allowed"]:
        told["warnings"] = warnings_of(cluster, document)
    expected = {"admission": case["expect"]["admission"]}
    assert [str(each) for each in faults({**case, "expect": expected}, {"admission": told})] == []


@pytest.mark.parametrize("name", CHANGED)
def test_the_verdict_on_a_change_is_the_recorded_one(name: str, client: Client, namespace: str) -> None:
    case = ALL[name]
    document = placed(case["input"][-1], namespace)
    client.create(document, namespace)
    (action,) = case["script"]
    expected = {"steps": [{"admission": case["expect"]["steps"][1]["admission"]}]}
    told = {"steps": [{"admission": verdict(client, document, action["patch"])}]}
    may_differ = [each.replace("steps.1.", "steps.0.") for each in case.get("mayDiffer", ())]
    assert [str(each) for each in faults({"mayDiffer": may_differ, "expect": expected}, told)] == []


def placed(document: Json, namespace: str) -> Json:
    """A document that goes to a namespace."""
    return {**document, "metadata": {**document["metadata"], "namespace": namespace}}


def verdict(client: Client, document: Json, patch: Json | None = None) -> Json:
    """What is said of a document or of its change, without storing it."""
    try:
        if patch is None:
            place = collection(KUBEFLOW, document["kind"], document["metadata"]["namespace"])
            client.post(f"{place}?dryRun=All", document)
        else:
            client.patch(f"{older_path(document)}?dryRun=All", patch)
    except ApiError as refused:
        return {"allowed": False, "message": refused.message.removeprefix(DENIED)}
    return {"allowed": True}


def warnings_of(cluster: Cluster, document: Json) -> list[str]:
    """What a person is told of a document that is allowed, without storing it."""
    said = run_kubectl(cluster, "default", document, "--dry-run=server", "--validate=warn")
    assert said.returncode == 0, said.stderr
    return [line.removeprefix("Warning: ") for line in said.stderr.splitlines()]


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_passes_as_it_is(name: str, cluster: Cluster) -> None:
    (document,) = ALL[name]["input"]
    said = run_kubectl(cluster, "default", placed(document, "default"), "--dry-run=server")
    assert (said.returncode, said.stderr) == (0, "")


@pytest.mark.parametrize("kind", ROLES)
def test_columns_are_v1s(kind: str, cluster: Cluster, client: Client, namespace: str) -> None:
    client.create(a_job(kind), namespace)
    plural = LEGACY_KINDS[kind].plural
    waited = kubectl(cluster, namespace, "wait", plural, "job", "--for=condition=Suspended", "--timeout=120s")
    assert waited.returncode == 0, waited.stderr
    head, line = kubectl(cluster, namespace, "get", plural).stdout.splitlines()
    columns = ["NAME", "AGE", "STATE"] if kind == "MPIJob" else ["NAME", "STATE", "AGE"]
    assert head.split() == columns
    assert dict(zip(columns, line.split(), strict=True))["STATE"] == "Suspended"


@pytest.mark.parametrize("kind", ROLES)
def test_workers_are_scaled_where_v1_lets_them(
    kind: str, cluster: Cluster, client: Client, namespace: str
) -> None:
    client.create(a_job(kind), namespace)
    said = kubectl(cluster, namespace, "scale", f"{LEGACY_KINDS[kind].plural}/job", "--replicas=3")
    spec = client.get(f"{collection(KUBEFLOW, kind, namespace)}/job")["spec"]
    assert (said.returncode == 0) is (kind in SCALED), said.stderr
    assert spec[LEGACY_KINDS[kind].field]["Worker"]["replicas"] == (3 if kind in SCALED else 1)
    if kind in SCALED:
        scale = client.get(f"{collection(KUBEFLOW, kind, namespace)}/job/scale")
        assert scale["spec"]["replicas"] == 3


def test_a_job_is_stamped_once_and_for_all(cluster: Cluster, client: Client, namespace: str) -> None:
    job = client.create(a_job("TFJob"), namespace)
    assert job["spec"]["runPolicy"]["managedBy"] == STAMP
    path = older_path(job, namespace=namespace)
    with pytest.raises(ApiError, match=r"managedBy: Invalid value.*field is immutable"):
        client.patch(path, {"spec": {"runPolicy": {"managedBy": "kueue.x-k8s.io/multikueue"}}})
    changed = client.patch(path, {"spec": {"runPolicy": {"managedBy": None, "ttlSecondsAfterFinished": 5}}})
    assert changed["spec"]["runPolicy"] == {
        "suspend": True,
        "managedBy": STAMP,
        "ttlSecondsAfterFinished": 5,
    }


def test_an_mpi_job_stays_what_it_was_written_as(client: Client, namespace: str) -> None:
    document = {**a_job("MPIJob"), "apiVersion": "kubeflow.org/v2beta1"}
    client.create(document, namespace)
    stored = client.get(f"{collection(KUBEFLOW, 'MPIJob', namespace)}/job")
    assert stored["metadata"]["annotations"]["kfp-trainer/written-as"] == "kubeflow.org/v2beta1"
    assert stored["spec"]["runPolicy"]["managedBy"] == STAMP


def test_an_mx_job_is_refused_with_what_to_do(cluster: Cluster, namespace: str) -> None:
    document = legacy_document("MXJob", {"Worker": {}}) | {"metadata": {"name": "job"}}
    said = run_kubectl(cluster, namespace, document)
    assert said.returncode != 0
    assert "MXJob is not served here" in said.stderr
    assert "an administrator adds it to the option --older-kinds" in said.stderr


MAY: dict[str, tuple[str, str, str, bool]] = {
    "an editor creates jobs": ("edit", "create", "pytorchjobs", True),
    "an editor scales them": ("edit", "update", "jaxjobs/scale", True),
    "an editor writes no status": ("edit", "patch", "tfjobs/status", False),
    "a viewer lists jobs": ("view", "list", "xgboostjobs", True),
    "a viewer deletes none": ("view", "delete", "tfjobs", False),
    "an administrator of a namespace deletes all": ("admin", "deletecollection", "mpijobs", True),
}


@pytest.mark.parametrize("sentence", MAY)
def test_who_may_do_what(sentence: str, cluster: Cluster, client: Client, namespace: str) -> None:
    role, verb, resource, want = MAY[sentence]
    who = f"--serviceaccount={namespace}:default"
    bound = kubectl(cluster, namespace, "create", "rolebinding", "bound", f"--clusterrole={role}", who)
    assert bound.returncode == 0, bound.stderr
    plural, _, sub = resource.partition("/")
    asked = [verb, f"{plural}.kubeflow.org", *([f"--subresource={sub}"] if sub else [])]
    somebody = f"--as=system:serviceaccount:{namespace}:default"

    def may() -> bool:
        return kubectl(cluster, namespace, "auth", "can-i", *asked, somebody).stdout.strip() == "yes"

    if want:  # the API server may hear of the binding a moment later
        eventually("he may", may)
    else:
        eventually("he may list", lambda: can_list(cluster, namespace, somebody))
        assert not may()


def can_list(cluster: Cluster, namespace: str, somebody: str) -> bool:
    words = ("auth", "can-i", "list", "tfjobs.kubeflow.org", somebody)
    return kubectl(cluster, namespace, *words).stdout.strip() == "yes"

"""The API server itself lets our pods in where the Pod Security standard `restricted` is enforced."""

import subprocess

import pytest
import yaml

from tests.cluster.control_plane.client import ApiError, Client, Json, collection
from tests.cluster.control_plane.parts import PARTS
from tests.cluster.control_plane.shipped import documents
from tests.cluster.control_plane.site import ROOT
from tests.cluster.pod_programs import container, pod

pytestmark = pytest.mark.parts()

OVERLAYS = ("standalone", "kubeflow", "namespaced")
"""those of the schedulers have the pod of the first"""
ENFORCED = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}


@pytest.fixture
def restricted(client: Client, namespace: str) -> str:
    """A namespace in which the standard is enforced."""
    client.patch(f"{collection('v1', 'Namespace')}/{namespace}", ENFORCED)
    return namespace


def is_let_in(client: Client, namespace: str, deployment: Json) -> None:
    """Try a pod of a Deployment; ApiError if it is refused."""
    spec = {**deployment["spec"]["template"]["spec"], "serviceAccountName": "default"}
    tried = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "tried"}, "spec": spec}
    client.post(f"{collection('v1', 'Pod', namespace)}?dryRun=All", tried)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_operator_is_let_in(client: Client, restricted: str, overlay: str) -> None:
    command = ["kubectl", "kustomize", str(ROOT / "manifests" / "overlays" / overlay)]
    built = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    objects = yaml.load_all(built, Loader=yaml.CSafeLoader)
    (deployment,) = (each for each in objects if each["kind"] == "Deployment")
    is_let_in(client, restricted, deployment)


def test_so_is_the_jobset_that_trainers_manifests_put_beside_it(client: Client, restricted: str) -> None:
    file = PARTS["jobset"].sources() / "config/components/manager/manager.yaml"
    (deployment,) = documents(file, "Deployment")
    is_let_in(client, restricted, deployment)


def test_any_other_pod_is_not(client: Client, restricted: str) -> None:
    with pytest.raises(ApiError, match='violates PodSecurity "restricted:'):
        client.post(f"{collection('v1', 'Pod', restricted)}?dryRun=All", pod("loose", container("true")))

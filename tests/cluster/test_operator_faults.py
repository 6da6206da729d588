"""Our operator behind an API server that answers late, wrongly, twice, or not at all: every job ends once."""

import time
from collections.abc import Iterator

import pytest

from tests.cluster.control_plane.client import Client, collection, eventually
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.control_plane.plane import Plane
from tests.cluster.control_plane.processes import Process
from tests.cluster.faults.proxy import FaultProxy, fault_proxy
from tests.cluster.faults.rules import Fault
from tests.cluster.manifests import JOBSET, pod_template
from tests.cluster.operator import (
    Simulated,
    delete_jobs,
    ended,
    kill,
    running_operator,
    runtime,
    start_again,
    step,
    train_job,
)
from tests.counts import SOAK, count

pytestmark = pytest.mark.parts("scheduler", "kwok", "jobset")

ACCOUNT = "operator-behind-a-proxy"
OF_THE_START = ("gone", "stale")
TRAINJOBS, JOBSETS = "trainjobs", "/jobsets"


@pytest.fixture(scope="module")
def proxy(whole_cluster: Cluster) -> Iterator[FaultProxy]:
    """What lies between the operator and the API server."""
    if not isinstance(whole_cluster, Plane):
        pytest.skip("an existing cluster: nothing can lie between it and our operator")
    with fault_proxy(whole_cluster.site) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def operator(whole_cluster: Cluster, proxy: FaultProxy) -> Iterator[Process]:
    """Our operator behind the proxy, for all tests of this file."""
    client = whole_cluster.client
    client.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT}}, "default")
    rbac = "rbac.authorization.k8s.io"
    binding = {"apiVersion": f"{rbac}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": ACCOUNT}}
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": "default"}
    role = {"apiGroup": rbac, "kind": "ClusterRole", "name": "cluster-admin"}
    client.apply({**binding, "subjects": [subject], "roleRef": role})
    kubeconfig = whole_cluster.kubeconfig_of("default", ACCOUNT, port=proxy.port)
    with running_operator(whole_cluster, kubeconfig=kubeconfig) as process:
        yield process


@pytest.fixture(autouse=True)
def no_job_is_left(operator: Process, proxy: FaultProxy, client: Client, namespace: str) -> Iterator[None]:
    yield
    proxy.faults.clear()
    delete_jobs(client, namespace)


FAULTS = {
    "writes are refused for a while": [Fault("status", method="PATCH", code=500, times=12)],
    "the server wants to be asked later": [Fault("status", code=429, retry_after=1, times=12)],
    "answers to writes are lost": [Fault("cut", method="PATCH", times=8)],
    "writes hang": [Fault("hang", method="PATCH", times=2)],
    "all is slow": [Fault("slow", seconds=0.5, times=60)],
    "watches are told that they are too old": [
        Fault("gone", path=f"{TRAINJOBS}.*watch=", times=3),
        Fault("gone", path=f"{JOBSETS}.*watch=", times=3),
    ],
    "lists are stale": [Fault("stale", path=TRAINJOBS, method="GET", times=4)],
}


SLOW = {"writes hang": "an answer is waited for 40 s"}


@pytest.mark.parametrize("sentence", FAULTS)
def test_every_job_ends_once(
    plane: Plane,
    operator: Process,
    proxy: FaultProxy,
    namespace: str,
    simulated: Simulated,
    sentence: str,
) -> None:
    if sentence in SLOW and not SOAK:
        pytest.skip(f"{SLOW[sentence]}: `make soak` does")
    client = plane.client
    template = pod_template(simulated(1), run="2s")
    client.create(runtime(step("node", "trainer", template)), namespace)
    for fault in FAULTS[sentence]:
        proxy.faults.add(Fault(**{**vars(fault), "hits": 0}))
    if any(fault.kind in OF_THE_START for fault in FAULTS[sentence]):
        kill(operator)
        start_again(plane, operator)
    names = [f"job-{index}" for index in range(count(60, sampled=6))]
    for name in names:
        client.create(train_job(name), namespace)
        time.sleep(0.1)
    for name in names:
        assert ended(client, namespace, name, limit=180)[0] == "Complete"
    jobsets = client.items(collection(JOBSET, "JobSet", namespace))
    assert sorted(each["metadata"]["name"] for each in jobsets) == sorted(names)
    assert len(client.items(collection("batch/v1", "Job", namespace))) == len(names)


def test_a_deadline_is_kept_although_deletions_fail(
    client: Client, proxy: FaultProxy, namespace: str, simulated: Simulated
) -> None:
    client.create(runtime(step("node", "trainer", pod_template(simulated(1), run="forever"))), namespace)
    broken = proxy.faults.add(Fault("status", method="DELETE", path=JOBSETS, code=500, times=5))
    client.create(train_job("late", activeDeadlineSeconds=5), namespace)
    assert ended(client, namespace, "late") == ("Failed", "TrainJob exceeded its active deadline")
    jobsets = collection(JOBSET, "JobSet", namespace)
    eventually("its JobSet goes", lambda: not client.items(jobsets))
    assert broken.hits == 5


@pytest.mark.skipif(not SOAK, reason="a silent watch is waited for 75 s: `make soak` does")
def test_half_open_watches_are_noticed(
    plane: Plane, operator: Process, proxy: FaultProxy, namespace: str, simulated: Simulated
) -> None:
    client = plane.client
    client.create(runtime(step("node", "trainer", pod_template(simulated(1)))), namespace)
    proxy.faults.add(Fault("hang", path="watch=", times=12))
    kill(operator)
    start_again(plane, operator)
    client.create(train_job("unheard"), namespace)
    began = time.monotonic()
    jobsets = collection(JOBSET, "JobSet", namespace)
    eventually("its JobSet is made", lambda: client.items(jobsets), limit=150)
    assert time.monotonic() - began <= 100
    assert ended(client, namespace, "unheard", limit=180)[0] == "Complete"

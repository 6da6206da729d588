"""One cluster a run, with what the collected tests ask for, and a namespace a test.

A test names the parts it needs: `pytestmark = pytest.mark.parts("jobset", "kwok")`. They start when the first
such test runs. Where the programs cannot be built the tests are skipped, with the reason. With
KFP_TRAINER_KUBECONFIG the cluster is one that exists: what it does not carry is skipped, and so are the tests
that ask for `plane`, for they break programs or look into their files.
"""

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.control_plane.build import why_not
from tests.cluster.control_plane.client import Client, collection, eventually, exists
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.control_plane.existing import VARIABLE, ExistingCluster, UnusableCluster
from tests.cluster.control_plane.nodes import add_nodes, remove_nodes
from tests.cluster.control_plane.parts import PARTS
from tests.cluster.control_plane.plane import Plane, running_plane
from tests.cluster.control_plane.processes import Process
from tests.cluster.operator import delete_jobs, running_operator

NUMBERS = itertools.count(1)
RUN = os.getpid()
"""in the names of what a test makes, for a cluster may have been used before"""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "parts(*names): what the control plane must carry for a test")


def parts_of(item: pytest.Item) -> list[str]:
    """The parts that a test asks for, in the order in which they start."""
    asked = {name for mark in item.iter_markers("parts") for name in mark.args}
    if unknown := asked - set(PARTS):
        raise pytest.UsageError(
            f"{item.nodeid}: parts: no {', '.join(unknown)}; there are {', '.join(PARTS)}"
        )
    return [name for name in PARTS if name in asked]


@pytest.fixture(scope="session")
def whole_cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """The cluster of this run."""
    if kubeconfig := os.environ.get(VARIABLE):
        try:
            existing = ExistingCluster(Path(kubeconfig).absolute(), tmp_path_factory.mktemp("existing"))
        except UnusableCluster as refusal:
            pytest.exit(str(refusal), returncode=pytest.ExitCode.USAGE_ERROR)
        yield existing
        existing.close()
        return
    if reason := why_not():
        pytest.skip(reason)
    asked = {name for item in request.session.items for name in parts_of(item)}
    capture = request.config.pluginmanager.getplugin("capturemanager")

    def say(line: str) -> None:
        with capture.global_and_fixture_disabled():
            print(f"\n{line}", flush=True)

    with running_plane([name for name in PARTS if name in asked], say) as plane:
        yield plane


@pytest.fixture
def cluster(whole_cluster: Cluster, request: pytest.FixtureRequest) -> Cluster:
    """The cluster, with what this test needs."""
    names = parts_of(request.node)
    for name in names:
        if reason := whole_cluster.why_not(name):
            pytest.skip(reason)
    whole_cluster.need(*names)
    return whole_cluster


@pytest.fixture
def plane(cluster: Cluster) -> Iterator[Plane]:
    """The cluster as one that this run has started, whose programs and files are its own."""
    if not isinstance(cluster, Plane):
        pytest.skip("an existing cluster: its programs are not this run's")
    yield cluster
    cluster.wake_up()


@pytest.fixture
def client(cluster: Cluster) -> Client:
    """A client that may do everything."""
    return cluster.client


@pytest.fixture
def new_namespace(client: Client) -> Iterator[Callable[[], str]]:
    """Makes namespaces in which pods can be created; they are gone after the test."""
    made: list[str] = []

    def make() -> str:
        name = f"test-{RUN}-{next(NUMBERS)}"
        client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        made.append(name)
        account = f"{collection('v1', 'ServiceAccount', name)}/default"
        eventually(f"{name} has its default ServiceAccount", lambda: exists(client, account))
        return name

    yield make
    for name in made:
        client.delete(f"{collection('v1', 'Namespace')}/{name}")


@pytest.fixture
def namespace(new_namespace: Callable[[], str]) -> str:
    """A namespace of this test alone."""
    return new_namespace()


@pytest.fixture
def simulated(client: Client) -> Iterator[Callable[..., str]]:
    """Adds a pool of simulated nodes, which only pods that select it get; they are gone after the test."""
    made: list[str] = []

    def add(count: int, *, pool: str = "", **options: Any) -> str:
        pool = pool or f"pool-{RUN}-{next(NUMBERS)}"
        made.extend(add_nodes(client, count, pool=pool, **options))
        return pool

    yield add
    remove_nodes(client, made)


@pytest.fixture(scope="module")
def operator(whole_cluster: Cluster) -> Iterator[Process]:
    """Our operator, for all tests of a file."""
    with running_operator(whole_cluster) as process:
        yield process


@pytest.fixture
def no_job_is_left(operator: Process, client: Client, namespace: str) -> Iterator[None]:
    """The operator acts, and after the test the namespace has no jobs."""
    yield
    delete_jobs(client, namespace)

"""One real control plane a run, started for what the collected tests ask for, and a namespace a test.

A test names the parts it needs: `pytestmark = pytest.mark.parts("jobset", "kwok")`. They start when the first
such test runs. Where the programs cannot be built the tests are skipped, with the reason.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cluster.control_plane.build import why_not
from tests.cluster.control_plane.client import ApiError, Client, collection, eventually
from tests.cluster.control_plane.nodes import add_nodes, remove_nodes
from tests.cluster.control_plane.parts import PARTS
from tests.cluster.control_plane.plane import Plane, running_plane

NUMBERS = itertools.count(1)


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
def whole_plane(request: pytest.FixtureRequest) -> Iterator[Plane]:
    """The plane of this run."""
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
def plane(whole_plane: Plane, request: pytest.FixtureRequest) -> Plane:
    """The plane, with what this test needs."""
    names = parts_of(request.node)
    for name in names:
        if reason := PARTS[name].why_not():
            pytest.skip(reason)
    whole_plane.need(*names)
    return whole_plane


@pytest.fixture
def client(plane: Plane) -> Client:
    """A client that may do everything."""
    return plane.client


@pytest.fixture
def new_namespace(client: Client) -> Iterator[Callable[[], str]]:
    """Makes namespaces in which pods can be created; they are gone after the test."""
    made: list[str] = []

    def make() -> str:
        name = f"test-{next(NUMBERS)}"
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
        pool = pool or f"pool-{next(NUMBERS)}"
        made.extend(add_nodes(client, count, pool=pool, **options))
        return pool

    yield add
    remove_nodes(client, made)


def exists(client: Client, path: str) -> bool:
    """Whether there is such an object."""
    try:
        client.get(path)
    except ApiError as refused:
        if refused.code == 404:
            return False
        raise
    return True

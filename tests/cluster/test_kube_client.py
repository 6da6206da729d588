"""Our client against a real API server: what it is promised, and what it does when the server fails it."""

import asyncio
import contextlib
import gc
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from kfp_trainer.runtime_operator.kube.cache import Cached, Key
from kfp_trainer.runtime_operator.kube.credentials import load_credentials
from kfp_trainer.runtime_operator.kube.discovery import is_served
from kfp_trainer.runtime_operator.kube.election import Election, LeadershipLost
from kfp_trainer.runtime_operator.kube.errors import Forbidden, Gone
from kfp_trainer.runtime_operator.kube.events import Recorder
from kfp_trainer.runtime_operator.kube.http_transport import HttpTransport
from kfp_trainer.runtime_operator.kube.informer import Informer
from kfp_trainer.runtime_operator.kube.resource import CONFIG_MAPS, EVENTS, LEASES, PODS, Resource
from tests.cluster.control_plane.plane import Plane
from tests.cluster.faults.proxy import FaultProxy, fault_proxy
from tests.cluster.faults.rules import Fault
from tests.fake_api.contract import CONTRACT, CRD, JOBS, configmap

# a TLS handshake that is given up leaves its socket to Python's garbage collector, which comes in any test
LEFT_OVER = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
pytestmark = [pytest.mark.parts(), LEFT_OVER]

WATCHES = "configmaps.*watch=true"


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left_over() -> Iterator[None]:
    """Collects what these tests leave before other files run."""
    yield
    gc.collect()


@pytest.fixture
def proxy(plane: Plane) -> Iterator[FaultProxy]:
    with fault_proxy(plane.site) as proxy:
        yield proxy


@pytest.fixture
def connect(plane: Plane, namespace: str, proxy: FaultProxy) -> Callable[..., HttpTransport]:
    """Makes transports through the proxy, as a ServiceAccount that may edit its namespace."""
    subject = {"kind": "ServiceAccount", "name": "default", "namespace": namespace}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    binding = {"metadata": {"name": "all"}, "subjects": [subject], "roleRef": role}
    kind = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding"}
    plane.client.create({**kind, **binding}, namespace)

    def make(**options: Any) -> HttpTransport:
        return HttpTransport(
            load_credentials(plane.kubeconfig_of(namespace, "default", port=proxy.port)), **options
        )

    return make


@pytest.fixture
def jobs(plane: Plane) -> None:
    """Serves the kind of the contract."""
    plane.client.apply(CRD)


class Watched:
    """An informer of one namespace's ConfigMaps, and the names that its changes tell."""

    def __init__(self, transport: HttpTransport, namespace: str) -> None:
        self.names: set[str] = set()
        self.told = 0
        self.informer = Informer(
            transport, CONFIG_MAPS, self.change, namespace=namespace, fields="metadata.name!=kube-root-ca.crt"
        )

    def change(self, key: Key, old: Cached | None, new: Cached | None) -> None:
        self.told += 1
        assert (key[1] in self.names) == (old is not None)
        if new:
            self.names.add(key[1])
        else:
            self.names.remove(key[1])

    async def knows(self, *names: str, limit: float = 30.0) -> float:
        """Wait until exactly these are known, and return how long it took."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while self.names != set(names):
            assert loop.time() - began < limit, f"{self.names} instead of {names}: {self.informer.trouble}"
            await asyncio.sleep(0.02)
        return loop.time() - began


@contextlib.asynccontextmanager
async def watching(transport: HttpTransport, namespace: str) -> AsyncIterator[Watched]:
    async with transport:
        watched = Watched(transport, namespace)
        task = asyncio.create_task(watched.informer.run())
        try:
            async with asyncio.timeout(30):
                await watched.informer.synced.wait()
            yield watched
            assert not task.done()
        finally:
            task.cancel()
            await asyncio.wait((task,))


async def add(plane: Plane, namespace: str, name: str) -> None:
    await asyncio.to_thread(plane.client.create, json.loads(configmap(name)), namespace)


async def drop(plane: Plane, namespace: str, name: str) -> None:
    await asyncio.to_thread(plane.client.delete, CONFIG_MAPS.path(namespace, name))


@contextlib.asynccontextmanager
async def hung(plane: Plane) -> AsyncIterator[None]:
    """The API server hangs while the block runs."""
    plane.hang("kube-apiserver")
    try:
        yield
    finally:
        plane.go_on("kube-apiserver")


async def start_again(plane: Plane) -> None:
    """Start the API server in this thread, whose end is its end, and wait in another."""
    plane.site.processes["kube-apiserver"].start()
    await asyncio.to_thread(plane.wait_until_ready)
    plane.wait_until_ready()  # with this thread's connection too


@pytest.mark.parametrize("sentence", CONTRACT)
async def test_a_real_api_server_keeps_the_contract(
    sentence: str, jobs: None, connect: Callable[..., HttpTransport], namespace: str
) -> None:
    play, expected = CONTRACT[sentence]
    async with connect() as transport:
        assert await play(transport, namespace) == expected


async def test_what_happens_is_known(
    plane: Plane, namespace: str, connect: Callable[..., HttpTransport]
) -> None:
    async with watching(connect(), namespace) as watched:
        await add(plane, namespace, "a")
        await watched.knows("a")
        await add(plane, namespace, "b")
        await drop(plane, namespace, "a")
        await watched.knows("b")
        assert watched.told == 3


async def test_a_list_of_many_pages_is_complete(
    plane: Plane, namespace: str, connect: Callable[..., HttpTransport]
) -> None:
    async with connect() as transport:
        for number in range(23):
            await transport.create(CONFIG_MAPS, namespace, configmap(f"c{number:02}"))
        pages = [page async for page in transport.list(CONFIG_MAPS, namespace=namespace, limit=5)]
    names = [json.loads(raw)["metadata"]["name"] for page in pages for raw in page.items]
    assert [name for name in names if name != "kube-root-ca.crt"] == [f"c{number:02}" for number in range(23)]
    assert len(pages) == 5


async def add_one_a_second(transport: HttpTransport, namespace: str) -> None:
    for number in range(5):
        await asyncio.sleep(1)
        await transport.create(CONFIG_MAPS, namespace, configmap(f"unseen-{number}"))


async def test_bookmarks_come(connect: Callable[..., HttpTransport], namespace: str) -> None:
    async with connect() as transport:
        select = {"namespace": namespace, "labels": "nobody=wears-it"}
        (page,) = [page async for page in transport.list(CONFIG_MAPS, **select)]
        version, events = page.resource_version, []
        async with asyncio.TaskGroup() as group:  # one comes before a watch ends, if anything has happened
            group.create_task(add_one_a_second(transport, namespace))
            async for line in transport.watch(CONFIG_MAPS, **select, resource_version=version, timeout=8):
                events.append(json.loads(line))
    assert {event["type"] for event in events} == {"BOOKMARK"}
    assert int(events[-1]["object"]["metadata"]["resourceVersion"]) > int(version)


async def test_a_gone_watch_leads_to_a_list_that_shows_what_went(
    plane: Plane, namespace: str, proxy: FaultProxy, connect: Callable[..., HttpTransport]
) -> None:
    await add(plane, namespace, "a")
    await add(plane, namespace, "b")
    silent = proxy.faults.add(Fault("hang", path=WATCHES, method="GET", times=1))
    async with watching(connect(silence_seconds=2.0), namespace) as watched:
        await watched.knows("a", "b")
        async with asyncio.timeout(30):
            while not silent.hits:
                await asyncio.sleep(0.02)
        proxy.faults.add(Fault("gone", path=WATCHES, times=1))
        await drop(plane, namespace, "a")
        await add(plane, namespace, "c")
        await watched.knows("b", "c", limit=20)
        assert silent.hits == 1
        assert watched.informer.lists == 2


FAULTS = {
    "watches are cut as they open": Fault("cut", path=WATCHES, times=3),
    "watches are refused for being too many": Fault("status", path=WATCHES, times=2, code=429, retry_after=1),
    "the server is in trouble": Fault("status", path=WATCHES, times=3, code=500),
    "a watch is half-open": Fault("hang", path=WATCHES, times=1),
    "lists are refused": Fault("status", path=r"configmaps\?.*limit", times=2, code=429, retry_after=1),
    "lists are cut": Fault("cut", path=r"configmaps\?.*limit", times=2),
    "lists are slow": Fault("slow", path=r"configmaps\?.*limit", times=1, seconds=2.0),
}


@pytest.mark.parametrize("sentence", FAULTS)
async def test_events_flow_again(
    sentence: str, plane: Plane, namespace: str, proxy: FaultProxy, connect: Callable[..., HttpTransport]
) -> None:
    fault = Fault(**vars(FAULTS[sentence]))
    proxy.faults.add(fault)
    await add(plane, namespace, "before")
    async with watching(connect(silence_seconds=3.0), namespace) as watched:
        await add(plane, namespace, "a")
        await watched.knows("before", "a", limit=30)
        await drop(plane, namespace, "before")
        await watched.knows("a")
    assert fault.hits


async def test_a_refused_write_is_sent_again_when_the_server_says(
    proxy: FaultProxy, namespace: str, connect: Callable[..., HttpTransport]
) -> None:
    proxy.faults.add(Fault("status", method="PATCH", times=2, code=429, retry_after=1))
    async with connect() as transport:
        began = asyncio.get_running_loop().time()
        await transport.apply(CONFIG_MAPS, namespace, "a", configmap("a"), manager="m")
        assert asyncio.get_running_loop().time() - began >= 2


async def test_an_api_server_that_hung_and_one_that_died_are_followed_again(
    plane: Plane, namespace: str, connect: Callable[..., HttpTransport]
) -> None:
    async with watching(connect(silence_seconds=4.0, answer_seconds=4.0), namespace) as watched:
        async with hung(plane), asyncio.timeout(60):
            while not watched.informer.trouble:
                await asyncio.sleep(0.1)
        await add(plane, namespace, "a")
        await watched.knows("a")
        plane.kill("kube-apiserver")
        await asyncio.sleep(3)
        await start_again(plane)
        await add(plane, namespace, "b")
        assert await watched.knows("a", "b") < 10
        assert await is_gone(watched.informer._transport, namespace)
        await drop(plane, namespace, "a")
        await watched.knows("b")
        assert watched.informer.trouble == ""


async def is_gone(transport: HttpTransport, namespace: str) -> bool:
    """Whether an API server that was started again has forgotten what was first."""
    try:
        async for line in transport.watch(CONFIG_MAPS, namespace=namespace, resource_version="1"):
            event = json.loads(line)
            return event["type"] == "ERROR" and event["object"]["code"] == 410
    except Gone:
        return True
    return False


async def test_a_kind_is_discovered_once_it_is_served(
    jobs: None, connect: Callable[..., HttpTransport]
) -> None:
    async with connect() as transport:
        assert await is_served(transport, PODS)
        assert not await is_served(transport, Resource("none.test", "v1", "jobs", "Job"))
        async with asyncio.timeout(30):
            while not await is_served(transport, JOBS):
                await asyncio.sleep(0.2)


async def test_what_is_not_allowed_is_forbidden(connect: Callable[..., HttpTransport]) -> None:
    async with connect() as transport:
        with pytest.raises(Forbidden, match="cannot list"):
            _ = [page async for page in transport.list(CONFIG_MAPS)]


async def test_events_are_told_and_counted(connect: Callable[..., HttpTransport], namespace: str) -> None:
    async with connect() as transport:
        about = json.loads(await transport.create(CONFIG_MAPS, namespace, configmap("a")))
        about |= {"apiVersion": "v1", "kind": "ConfigMap"}
        recorder = Recorder(transport, "trainer", instance="trainer-0")
        recorder.record(about, "Created", "made it")
        await recorder.flush()
        recorder.record(about, "Created", "made it")
        recorder.record(about, "Waits", "for room", type="Warning")
        await recorder.flush()
        fields = f"involvedObject.uid={about['metadata']['uid']}"
        (page,) = [page async for page in transport.list(EVENTS, namespace=namespace, fields=fields)]
    told = [json.loads(raw) for raw in page.items]
    assert {(each["message"], each["type"], each["count"]) for each in told} == {
        ("made it", "Normal", 2),
        ("for room", "Warning", 1),
    }
    assert recorder.dropped == 0


class Replica:
    """One candidate, over its own connections, and when it acted."""

    def __init__(self, transport: HttpTransport, namespace: str, name: str) -> None:
        self.election = Election(
            transport, namespace, "lead", name, lease_seconds=6, renew_within=4, renew_every=1
        )
        self.acts = False

    async def run(self) -> None:
        while True:  # as a process that is started again
            with contextlib.suppress(LeadershipLost):
                await self.election.lead(self.work)

    async def work(self) -> None:
        self.acts = True
        try:
            await asyncio.Event().wait()
        finally:
            self.acts = False


async def test_never_two_lead_though_the_api_server_hangs_or_dies(
    plane: Plane, namespace: str, proxy: FaultProxy, connect: Callable[..., HttpTransport]
) -> None:
    async with connect() as one, connect() as two:
        both = [Replica(one, namespace, "one"), Replica(two, namespace, "two")]
        leads: list[tuple[bool, ...]] = []

        async def witness() -> None:
            while True:
                now = tuple(each.acts for each in both)
                assert not all(now)
                assert not all(each.election.is_leader for each in both)
                if not leads or leads[-1] != now:
                    leads.append(now)
                await asyncio.sleep(0.02)

        async def one_leads() -> None:
            async with asyncio.timeout(40):
                while not any(each.acts for each in both):
                    await asyncio.sleep(0.1)

        tasks = [asyncio.create_task(each) for each in (witness(), *(each.run() for each in both))]
        try:
            await one_leads()
            async with hung(plane):
                await asyncio.sleep(6)
                assert not any(each.acts for each in both)
            await one_leads()
            plane.kill("kube-apiserver")
            await asyncio.sleep(6)
            assert not any(each.acts for each in both)
            await start_again(plane)
            await one_leads()
            proxy.faults.add(Fault("hang", path="leases", method="PATCH", times=4))
            await asyncio.sleep(12)
            await one_leads()
            assert not any(task.done() for task in tasks)
            assert len(leads) >= 6
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        await one.delete(LEASES, namespace, "lead")

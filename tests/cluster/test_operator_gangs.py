"""Our gangs on the real schedulers: with initializers in exactly the room for the nodes, and two at once.

`test_peer.py` shows what becomes of the same job under Trainer 2.3.
"""

import random
import time

import pytest

from tests.cluster.control_plane.client import Client, Json, collection, eventually
from tests.cluster.control_plane.nodes import pods_of
from tests.cluster.manifests import GANGS, condition, pod_template, with_gpus, with_scheduler
from tests.cluster.operator import (
    Simulated,
    ended,
    path_of,
    runtime,
    step,
    train_job,
    why,
)
from tests.counts import count

pytestmark = [
    pytest.mark.parts("scheduler", "kwok", "jobset", "volcano", "coscheduling"),
    pytest.mark.usefixtures("no_job_is_left"),
]

POLICIES: dict[str, Json] = {
    "volcano": {"volcano": {}},
    "coscheduling": {"coscheduling": {"scheduleTimeoutSeconds": 10}},
}
INITIALIZERS = ("dataset-initializer", "model-initializer")
NODES = 8
TWELVE = 12


def gang(
    scheduler: str,
    pool: str,
    *,
    initializers: tuple[str, ...] = INITIALIZERS,
    name: str = "plain",
    **script: str,
) -> Json:
    """A runtime whose nodes take a whole node of the pool each; its initializers take hardly anything."""
    template = with_gpus(pod_template(pool, **script), 1)
    placed = with_scheduler(template, GANGS[scheduler].scheduler)
    first = [step(each, each, pod_template(pool)) for each in initializers]
    after = [{"name": each, "status": "Complete"} for each in initializers]
    trainer = step("node", "trainer", placed, **({"dependsOn": after} if after else {}))
    return runtime(*first, trainer, name=name, policy=POLICIES[scheduler])


def group_path(scheduler: str, namespace: str, name: str) -> str:
    return f"{collection(GANGS[scheduler].version, 'PodGroup', namespace)}/{name}"


@pytest.mark.parametrize("scheduler", GANGS)
def test_a_gang_with_initializers_completes_in_exactly_the_room_of_its_nodes(
    client: Client, namespace: str, simulated: Simulated, scheduler: str
) -> None:
    client.create(gang(scheduler, simulated(NODES, gpus=1)), namespace)
    client.create(train_job("gang", nodes=NODES), namespace)
    path = group_path(scheduler, namespace, "gang")
    group = eventually("it has its group", lambda: _read(client, path))
    assert group["spec"]["minMember"] == NODES
    assert ended(client, namespace, "gang", limit=180)[0] == "Complete"
    for name in INITIALIZERS:
        selector = f"jobset.sigs.k8s.io/replicatedjob-name={name}"
        (pod,) = pods_of(client, namespace, selector)
        assert "nvidia.com/gpu" not in str(pod["spec"]["containers"])
    eventually("the group is gone", lambda: not _read(client, path))


@pytest.mark.parametrize("scheduler", GANGS)
def test_with_a_node_too_few_nothing_of_the_gang_is_placed(
    client: Client, namespace: str, simulated: Simulated, scheduler: str
) -> None:
    client.create(gang(scheduler, simulated(NODES - 1, gpus=1), run="forever"), namespace)
    client.create(train_job("gang", nodes=NODES), namespace)
    nodes = "jobset.sigs.k8s.io/replicatedjob-name=node"
    eventually("its pods are made", lambda: len(pods_of(client, namespace, nodes)) == NODES)
    eventually("it says what it waits for", lambda: "cannot be placed" in why(client, namespace, "gang"))
    assert not [pod for pod in pods_of(client, namespace, nodes) if "nodeName" in pod["spec"]]


@pytest.mark.parametrize("scheduler", GANGS)
def test_two_gangs_in_room_for_one_and_a_half_never_wait_for_each_other(
    client: Client, namespace: str, simulated: Simulated, scheduler: str
) -> None:
    client.create(gang(scheduler, simulated(TWELVE, gpus=1), initializers=(), run="1s"), namespace)
    chance = random.Random(13)
    for start in range(count(100, sampled=5)):
        names = [f"left-{start}", f"right-{start}"]
        chance.shuffle(names)
        for name in names:
            client.create(train_job(name, nodes=NODES), namespace)
            time.sleep(chance.uniform(0, 0.3))  # the starts are random, and part of what is tried
        for name in names:
            assert ended(client, namespace, name, limit=180)[0] == "Complete"


@pytest.mark.parametrize("scheduler", GANGS)
def test_room_that_other_pods_leave_is_taken_within_a_minute(
    client: Client, namespace: str, simulated: Simulated, scheduler: str
) -> None:
    pool = simulated(NODES, gpus=1)
    other = with_gpus(pod_template(pool, run="forever"), 1)
    other["metadata"]["name"] = "other"
    client.create({"apiVersion": "v1", "kind": "Pod", **other}, namespace)
    pods = collection("v1", "Pod", namespace)
    eventually("it has its node", lambda: "nodeName" in client.get(f"{pods}/other")["spec"])
    client.create(gang(scheduler, pool, initializers=(), run="1s"), namespace)
    client.create(train_job("gang", nodes=NODES), namespace)
    eventually("it says what it waits for", lambda: "cannot be placed" in why(client, namespace, "gang"))
    client.delete(f"{pods}/other?gracePeriodSeconds=0")
    assert ended(client, namespace, "gang", limit=60)[0] == "Complete"


def test_a_job_that_rests_reserves_nothing_in_volcano_s_queue(
    client: Client, namespace: str, simulated: Simulated
) -> None:
    client.create(gang("volcano", simulated(NODES, gpus=1), initializers=(), run="forever"), namespace)
    client.create(train_job("rests", nodes=NODES, suspend=True), namespace)
    path, group = path_of(namespace, "rests"), group_path("volcano", namespace, "rests")
    eventually("it rests", lambda: condition(client.get(path), "Suspended"))
    assert not _read(client, group)
    client.patch(path, {"spec": {"suspend": False}})
    eventually("it runs", lambda: "startTime" in (client.get(path).get("status") or {}))
    assert _read(client, group)
    client.patch(path, {"spec": {"suspend": True}})
    eventually("its group is gone", lambda: not _read(client, group))
    eventually("its pods are gone", lambda: not pods_of(client, namespace))


def test_a_queue_of_volcano_s_that_is_not_there_is_told_and_waited_for(
    client: Client, namespace: str, simulated: Simulated
) -> None:
    client.create(gang("volcano", simulated(1, gpus=1), initializers=()), namespace)
    job = train_job("early", nodes=1)
    job["metadata"]["annotations"] = {"scheduling.volcano.sh/queue-name": namespace}
    client.create(job, namespace)
    eventually("it says so", lambda: "unable to find queue" in why(client, namespace, "early"))
    queue = {"apiVersion": GANGS["volcano"].version, "kind": "Queue", "metadata": {"name": namespace}}
    client.create({**queue, "spec": {"weight": 1}})
    try:
        assert ended(client, namespace, "early", limit=180)[0] == "Complete"
    finally:
        client.delete(f"{collection(GANGS['volcano'].version, 'Queue')}/{namespace}")


def test_mpi_whose_launcher_waits_for_ready_nodes_gangs(
    client: Client, namespace: str, simulated: Simulated
) -> None:
    pool = simulated(NODES, gpus=1)
    nodes = with_scheduler(with_gpus(pod_template(pool, run="forever"), 1), "volcano")
    launcher = with_scheduler(pod_template(pool, run="3s"), "volcano")
    node = step("node", "", nodes)
    del node["template"]["metadata"]
    made = runtime(
        node,
        step(
            "launcher", "trainer", launcher, container="node", dependsOn=[{"name": "node", "status": "Ready"}]
        ),
        policy={"volcano": {}},
        successPolicy={"operator": "All", "targetReplicatedJobs": ["launcher"]},
    )
    made["spec"]["mlPolicy"] = {"numNodes": 1, "mpi": {"mpiImplementation": "OpenMPI"}}
    client.create(made, namespace)
    client.create(train_job("mpi", nodes=NODES), namespace)
    group = eventually("it has its group", lambda: _read(client, group_path("volcano", namespace, "mpi")))
    assert group["spec"]["minMember"] == NODES
    assert ended(client, namespace, "mpi", limit=180)[0] == "Complete"


def _read(client: Client, path: str) -> Json | None:
    """An object, if it is there."""
    folder, _, name = path.rpartition("/")
    return next((each for each in client.items(folder) if each["metadata"]["name"] == name), None)

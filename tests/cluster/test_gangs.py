"""Volcano and coscheduling place a gang whole or not at all; the default scheduler places what fits."""

from collections.abc import Callable

import pytest

from tests.cluster.control_plane.client import Client, eventually
from tests.cluster.control_plane.nodes import pods_of
from tests.cluster.manifests import (
    GANGS,
    bound,
    condition,
    create_gang,
    create_pods,
    pod_template,
    with_gpus,
)

pytestmark = pytest.mark.parts("scheduler", "kwok", "volcano", "coscheduling")

MEMBERS = 8


def refused(client: Client, namespace: str) -> bool:
    """Whether the scheduler has said of some pod that it cannot be placed."""
    conditions = (
        each for pod in pods_of(client, namespace) for each in pod["status"].get("conditions") or []
    )
    return any(each["type"] == "PodScheduled" and each["status"] == "False" for each in conditions)


@pytest.mark.parametrize("scheduler", GANGS)
def test_a_gang_of_eight_is_placed_whole_where_eight_fit(
    client: Client, namespace: str, simulated: Callable[..., str], scheduler: str
) -> None:
    create_gang(client, namespace, simulated(MEMBERS, gpus=1), scheduler, members=MEMBERS)
    eventually("all are placed", lambda: bound(client, namespace) == MEMBERS)


@pytest.mark.parametrize("scheduler", GANGS)
def test_of_a_gang_of_eight_none_is_placed_where_seven_fit(
    client: Client, namespace: str, simulated: Callable[..., str], scheduler: str
) -> None:
    create_gang(client, namespace, simulated(MEMBERS - 1, gpus=1), scheduler, members=MEMBERS)
    eventually("the scheduler refuses", lambda: refused(client, namespace))
    assert bound(client, namespace) == 0


def test_volcano_places_the_gang_when_the_eighth_node_comes(
    client: Client, namespace: str, simulated: Callable[..., str]
) -> None:
    pool = simulated(MEMBERS - 1, gpus=1)
    create_gang(client, namespace, pool, "volcano", members=MEMBERS)
    eventually("the scheduler refuses", lambda: refused(client, namespace))
    simulated(1, pool=pool, first=MEMBERS - 1, gpus=1)
    eventually("all are placed", lambda: bound(client, namespace) == MEMBERS)


def test_the_default_scheduler_places_seven_of_eight(
    client: Client, namespace: str, simulated: Callable[..., str]
) -> None:
    pool = simulated(MEMBERS - 1, gpus=1)
    create_pods(client, namespace, with_gpus(pod_template(pool, run="forever"), 1), MEMBERS)
    eventually("seven are placed", lambda: bound(client, namespace) == MEMBERS - 1)
    eventually("the eighth is refused", lambda: refused(client, namespace))
    left = [pod for pod in pods_of(client, namespace) if "nodeName" not in pod["spec"]]
    assert [condition(pod, "PodScheduled") for pod in left] == [None]

"""Simulated nodes: KWOK plays their pods, and the schedulers see real room."""

import time

from .client import ApiError, Client, Json, collection, eventually
from .node_parts import NODE_SELECTOR

NODES = collection("v1", "Node")
BETWEEN_REMINDERS = 5.0


def add_nodes(
    client: Client, count: int, *, pool: str, first: int = 0, cpu: int = 64, gpus: int = 8
) -> list[str]:
    """Add nodes with this room each; a pod can select them by the label `pool`, and they take it at once."""
    key, value = NODE_SELECTOR.split("=")
    room = {"cpu": str(cpu), "memory": "256Gi", "ephemeral-storage": "1Ti", "pods": "250"}
    room["nvidia.com/gpu"] = str(gpus)
    names = [f"{pool}-{index}" for index in range(first, first + count)]
    for name in names:
        labels = {key: value, "pool": pool, "kubernetes.io/hostname": name}
        status = {
            "capacity": room,
            "allocatable": room,
            "conditions": [{"type": "Ready", "status": "True", "reason": "Simulated"}],
        }
        node = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "status": status,
        }
        client.create(node)
    _see_to_it_that_they_are_played(client, names)
    return names


def _see_to_it_that_they_are_played(client: Client, names: list[str]) -> None:
    """Wait until nodes take pods; KWOK gives up on one that it could not write to, until it is changed."""
    last = time.monotonic()

    def all_take_pods() -> bool:
        nonlocal last
        waiting = [name for name in names if not _takes_pods(client.get(f"{NODES}/{name}"))]
        if waiting and time.monotonic() > last + BETWEEN_REMINDERS:
            last = time.monotonic()
            for name in waiting:
                change = {"annotations": {"kfp-trainer.test/reminded": f"{last:.0f}"}}
                client.patch(f"{NODES}/{name}", {"metadata": change})
        return not waiting

    eventually("the nodes take pods", all_take_pods)


def _takes_pods(node: Json) -> bool:
    """Whether KWOK plays it and the taint of a new node is gone."""
    return node["status"].get("phase") == "Running" and not node["spec"].get("taints")


def lose_node(client: Client, name: str) -> None:
    """Nobody answers for the node any more, as when its machine has gone; its pods stay as they were."""
    key = NODE_SELECTOR.split("=")[0]
    client.patch(f"{NODES}/{name}", {"metadata": {"labels": {key: None}}})


def remove_nodes(client: Client, names: list[str]) -> None:
    """Delete nodes."""
    for name in names:
        try:
            client.delete(f"{NODES}/{name}")
        except ApiError as refused:
            if refused.code != 404:
                raise


def pods_of(client: Client, namespace: str, selector: str = "") -> list[Json]:
    """The pods of a namespace."""
    return client.items(f"{collection('v1', 'Pod', namespace)}?labelSelector={selector}")

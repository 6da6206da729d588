"""Builders of the objects that the tests of this ring create."""

from typing import Any, NamedTuple

from tests.cluster.control_plane.client import Client, Json, collection, eventually
from tests.cluster.control_plane.nodes import pods_of

JOBSET = "jobset.x-k8s.io/v1alpha2"
SCRIPT = "kfp-trainer.test/"


def pod_template(pool: str, **script: str) -> dict[str, Any]:
    """A pod for one pool of simulated nodes, with what it does there: run, exit, ready, image."""
    return {
        "metadata": {"annotations": {SCRIPT + key: value for key, value in script.items()}},
        "spec": {
            "restartPolicy": "Never",
            "nodeSelector": {"pool": pool},
            "containers": [{"name": "node", "image": "example.com/train:1"}],
        },
    }


def with_gpus(template: dict[str, Any], gpus: int) -> dict[str, Any]:
    """The template with so many GPUs a pod."""
    first, *others = template["spec"]["containers"]
    containers = [{**first, "resources": {"limits": {"nvidia.com/gpu": gpus}}}, *others]
    return {**template, "spec": {**template["spec"], "containers": containers}}


def with_scheduler(template: dict[str, Any], scheduler: str, **metadata: dict[str, str]) -> dict[str, Any]:
    """The template for another scheduler, with its labels or annotations."""
    merged = {**template["metadata"]}
    for key, values in metadata.items():
        merged[key] = {**merged.get(key, {}), **values}
    return {**template, "metadata": merged, "spec": {**template["spec"], "schedulerName": scheduler}}


def job(template: dict[str, Any], pods: int, **spec: Any) -> dict[str, Any]:
    """The spec of an indexed Job that fails with its first pod."""
    indexed = {"parallelism": pods, "completions": pods, "completionMode": "Indexed", "backoffLimit": 0}
    return {**indexed, **spec, "template": template}


def jobset(
    name: str, template: dict[str, Any], *, replicas: int = 1, pods: int = 1, **spec: Any
) -> dict[str, Any]:
    """A JobSet with one replicated Job."""
    replicated = {"name": "node", "replicas": replicas, "template": {"spec": job(template, pods)}}
    return {
        "apiVersion": JOBSET,
        "kind": "JobSet",
        "metadata": {"name": name},
        "spec": {**spec, "replicatedJobs": [replicated]},
    }


def condition(found: Json, kind: str) -> Json | None:
    """The condition of this type, if it is true."""
    conditions = found.get("status", {}).get("conditions") or []
    return next((each for each in conditions if each["type"] == kind and each["status"] == "True"), None)


def read(client: Client, version: str, kind: str, namespace: str, name: str) -> Json:
    """One object of a namespace."""
    return client.get(f"{collection(version, kind, namespace)}/{name}")


class Gang(NamedTuple):
    """How a scheduler wants a gang to be written."""

    version: str
    """of its PodGroup"""
    scheduler: str
    place: str
    """in the metadata of a pod, the name of the group stands here"""
    key: str


GANGS = {
    "volcano": Gang(
        "scheduling.volcano.sh/v1beta1", "volcano", "annotations", "scheduling.k8s.io/group-name"
    ),
    "coscheduling": Gang(
        "scheduling.x-k8s.io/v1alpha1",
        "scheduler-plugins-scheduler",
        "labels",
        "scheduling.x-k8s.io/pod-group",
    ),
}


def create_pods(client: Client, namespace: str, template: Json, count: int) -> None:
    """So many pods of a template."""
    for index in range(count):
        metadata = {**template["metadata"], "name": f"member-{index}"}
        client.create({"apiVersion": "v1", "kind": "Pod", **template, "metadata": metadata}, namespace)


def create_gang(client: Client, namespace: str, pool: str, scheduler: str, *, members: int) -> None:
    """A group that wants all its members, of one GPU each, and these."""
    gang = GANGS[scheduler]
    if scheduler == "volcano":
        queue = f"{collection(gang.version, 'Queue')}/default"
        eventually(
            "Volcano opens its queue", lambda: client.get(queue).get("status", {}).get("state") == "Open"
        )
    group = {"apiVersion": gang.version, "kind": "PodGroup", "metadata": {"name": "gang"}}
    client.create({**group, "spec": {"minMember": members}}, namespace)
    template = with_gpus(pod_template(pool, run="forever"), 1)
    named = with_scheduler(template, gang.scheduler, **{gang.place: {gang.key: "gang"}})
    create_pods(client, namespace, named, members)


def bound(client: Client, namespace: str) -> int:
    """How many pods of a namespace have a node."""
    return sum("nodeName" in pod["spec"] for pod in pods_of(client, namespace))

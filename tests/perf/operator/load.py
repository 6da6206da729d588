"""TrainJobs in numbers, and what a manager makes of them, counted where the API server counts.

How many objects of a kind exist is told by the rest of a list of one (`remainingItemCount`), which costs the
server next to nothing; when each appeared, by a watch that is sent metadata only.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any

import aiohttp
import orjson

from kfp_trainer.runtime_operator.api.legacy import LEGACY_KINDS
from tests.cluster.control_plane.plane import Plane

from .managers import NAME, NAMESPACE

TRAINER = "trainer.kubeflow.org/v1alpha1"
OLDER_VERSION = "kubeflow.org/v1"
TRAIN_JOBS = f"/apis/{TRAINER}/namespaces/default/trainjobs"
JOB_SETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
RUNTIME = "bench"
LAUNCHING = "bench-mpi"
FIRST = "first"
"""a job that shows that the manager works; nobody measures it"""
NODES = 4
CONNECTIONS = 16
LIMIT = 300.0
METADATA_ONLY = {"Accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}
STORIES = ("events", "leases")
WRITING = ("create", "update", "patch", "delete", "deletecollection")


def runtime(*, run: str = "forever") -> dict[str, Any]:
    """A torch runtime of one container."""
    container = {"name": "node", "image": "example.com/train:1", "resources": {"requests": {"cpu": "10m"}}}
    pod = {
        "metadata": {"annotations": {"kfp-trainer.test/run": run}},
        "spec": {"restartPolicy": "Never", "containers": [container], "nodeSelector": {"pool": RUNTIME}},
    }
    template = {
        "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
        "spec": {"template": pod},
    }
    spec = {
        "mlPolicy": {"numNodes": 1, "torch": {}},
        "template": {"spec": {"replicatedJobs": [{"name": "node", "template": template}]}},
    }
    return {
        "apiVersion": TRAINER,
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": RUNTIME},
        "spec": spec,
    }


def launching_runtime() -> dict[str, Any]:
    """A runtime of MPI: a launcher, and nodes beside it."""
    found = runtime()
    template = found["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]
    bare = {"spec": template["spec"]}
    mpi = {"mpiImplementation": "OpenMPI", "sshAuthMountPath": "/root/.ssh"}
    found["metadata"] = {"name": LAUNCHING}
    found["spec"]["mlPolicy"] = {"numNodes": 1, "mpi": mpi}
    found["spec"]["template"]["spec"]["replicatedJobs"] = [
        {"name": "launcher", "template": template},
        {"name": "node", "template": bare},
    ]
    return found


def train_job(name: str, *, of: str = RUNTIME, nodes: int = NODES) -> dict[str, Any]:
    """A TrainJob of four pods."""
    spec = {"runtimeRef": {"name": of}, "trainer": {"numNodes": nodes}}
    return {"apiVersion": TRAINER, "kind": "TrainJob", "metadata": {"name": name}, "spec": spec}


Shapes = dict[str, tuple[str, dict[str, int]]]
OLDER: Shapes = {
    "PyTorchJob": ("pytorch", {"Worker": 4}),
    "TFJob": ("tensorflow", {"Worker": 4}),
    "PaddleJob": ("paddle", {"Worker": 4}),
    "JAXJob": ("jax", {"Worker": 4}),
}
"""older kinds, the container of the framework, and pods as a TrainJob of ours has them, four of a template"""
OLDER_OF_TWO_ROLES: Shapes = {
    "PyTorchJob": ("pytorch", {"Master": 1, "Worker": 3}),
    "TFJob": ("tensorflow", {"PS": 1, "Worker": 3}),
    "MPIJob": ("mpi", {"Launcher": 1, "Worker": 3}),
    "XGBoostJob": ("xgboost", {"Master": 1, "Worker": 3}),
    "PaddleJob": ("paddle", {"Master": 1, "Worker": 3}),
}


def older_job(name: str, kind: str, container: str, roles: dict[str, int]) -> dict[str, Any]:
    """A job of an older kind."""
    main = {"name": container, "image": "example.com/train:1", "resources": {"requests": {"cpu": "10m"}}}
    template = {"spec": {"containers": [main], "nodeSelector": {"pool": RUNTIME}}}
    replicas = {role: {"replicas": count, "template": template} for role, count in roles.items()}
    return {
        "apiVersion": OLDER_VERSION,
        "kind": kind,
        "metadata": {"name": name},
        "spec": {LEGACY_KINDS[kind].field: replicas},
    }


def older_jobs(number: int, *shapes: Shapes) -> dict[str, list[dict[str, Any]]]:
    """So many jobs of these kinds in turn, by where they are created."""
    found: dict[str, list[dict[str, Any]]] = {}
    kinds = [each for shape in shapes for each in shape.items()]
    for index in range(number):
        kind, (container, roles) = kinds[index % len(kinds)]
        path = f"/apis/{OLDER_VERSION}/namespaces/default/{LEGACY_KINDS[kind].plural}"
        found.setdefault(path, []).append(older_job(f"o{index}", kind, container, roles))
    return found


@asynccontextmanager
async def session(plane: Plane) -> AsyncIterator[aiohttp.ClientSession]:
    """Connections of the plane's administrator."""
    tls = plane.site.trust()
    tls.load_cert_chain(plane.site.pki / "admin.crt", plane.site.pki / "admin.key")
    connector = aiohttp.TCPConnector(ssl=tls, limit=CONNECTIONS + 2)
    base = f"https://{plane.site.address('api')}"
    async with aiohttp.ClientSession(base, connector=connector, read_bufsize=2**22) as opened:
        yield opened


async def create(opened: aiohttp.ClientSession, path: str, bodies: Iterable[bytes]) -> None:
    """Create objects over all connections."""
    rest = iter(bodies)

    async def work() -> None:
        for body in rest:
            await _post(opened, path, body)

    await asyncio.gather(*(work() for _ in range(CONNECTIONS)))


async def create_jobs(opened: aiohttp.ClientSession, count: int) -> None:
    """Create so many TrainJobs."""
    await create(opened, TRAIN_JOBS, (orjson.dumps(train_job(f"b{n}")) for n in range(count)))


async def count(opened: aiohttp.ClientSession, path: str) -> int:
    """How many objects there are."""
    async with opened.get(path, params={"limit": "1"}) as answer:
        found = orjson.loads(await answer.read())
    return len(found["items"]) + int(found["metadata"].get("remainingItemCount", 0))


async def until_there_are(opened: aiohttp.ClientSession, path: str, wanted: int) -> None:
    """Wait until there are so many objects."""
    async with asyncio.timeout(LIMIT):
        while await count(opened, path) < wanted:
            await asyncio.sleep(0.05)


async def paced(opened: aiohttp.ClientSession, number: int, *, rate: float) -> list[float]:
    """Seconds from sending each TrainJob until its JobSet was seen; `rate` a second, 0 for all at once."""
    sent: dict[str, float] = {}
    seen: dict[str, float] = {}
    watching = asyncio.create_task(_watch(opened, seen, number))
    await asyncio.sleep(0.5)  # the watch stands
    began = time.perf_counter()
    rest = iter(range(number))

    async def work() -> None:
        for n in rest:
            if rate and (wait := began + n / rate - time.perf_counter()) > 0:
                await asyncio.sleep(wait)
            sent[f"b{n}"] = time.perf_counter()
            await _post(opened, TRAIN_JOBS, orjson.dumps(train_job(f"b{n}")))

    await asyncio.gather(*(work() for _ in range(CONNECTIONS)))
    async with asyncio.timeout(LIMIT):
        await watching
    return sorted(seen[name] - sent[name] for name in sent)


async def _post(opened: aiohttp.ClientSession, path: str, body: bytes) -> None:
    async with opened.post(path, data=body, headers={"Content-Type": "application/json"}) as answer:
        if answer.status >= 300:
            raise RuntimeError(await answer.text())


async def _watch(opened: aiohttp.ClientSession, seen: dict[str, float], wanted: int) -> None:
    options = {"watch": "1", "resourceVersion": "0"}
    endless = aiohttp.ClientTimeout(total=None)
    async with opened.get(JOB_SETS, params=options, headers=METADATA_ONLY, timeout=endless) as answer:
        async for line in answer.content:
            name = orjson.loads(line)["object"]["metadata"]["name"]
            if name != FIRST:
                seen.setdefault(name, time.perf_counter())
            if len(seen) == wanted:
                return


def writes(plane: Plane) -> Counter[str]:
    """What the managers' account has written, by verb and resource, leases and events left out."""
    account = f"system:serviceaccount:{NAMESPACE}:{NAME}"
    found: Counter[str] = Counter()
    with (plane.site.folder / "audit.log").open(encoding="utf-8") as log:
        for line in log:
            if account not in line:
                continue
            with suppress(ValueError):  # the last line may be half written
                entry = json.loads(line)
                if entry["user"]["username"] == account and entry["verb"] in WRITING:
                    found[_target(entry)] += entry["objectRef"]["resource"] not in STORIES
    return found


def _target(entry: dict[str, Any]) -> str:
    where = entry["objectRef"]
    return f"{entry['verb']} {where['resource']}" + (
        f"/{where['subresource']}" if "subresource" in where else ""
    )

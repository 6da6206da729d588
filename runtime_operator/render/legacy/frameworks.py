"""What each framework reads: environment variables by kind, as v1 sets them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...api.legacy import LegacyJob, Role
from ...api.shapes import at, items, mapping, named
from ..overlay import Object
from .installation import Installation
from .parts import Layout, Part
from .values import field, index_within, literal, own_index, own_rank, text

Env = list[Object]
Builder = Callable[[Layout, Part, Installation], Env]

UNBUFFERED = text("PYTHONUNBUFFERED", 1)


def environment(layout: Layout, part: Part, installation: Installation) -> Env:
    """The variables that a framework gets in the containers of one part."""
    return _BUILDERS[layout.job.kind.name](layout, part, installation)


def port_of(job: LegacyJob, role: Role) -> int:
    """The port of the framework in a role: the one of its name, else the kind's own."""
    containers = items(role.pod.get("containers"))
    place = named(containers, job.kind.container)
    for container in containers if place is None else [containers[place]]:
        ports = items(container.get("ports"))
        if (found := named(ports, job.kind.port_name)) is not None:
            return int(ports[found]["containerPort"])
    return job.kind.port


def _tensorflow(layout: Layout, part: Part, installation: Installation) -> Env:
    job = layout.job
    if job.replicas == 1:
        return []
    index, before = index_within(layout, part)
    task = _task(part, index)
    if job.spec.get("enableDynamicWorker"):
        cluster = _compact(_sparse_cluster(layout, part, index, installation))
        return [*before, text("TF_CONFIG", f'{{"cluster":{cluster},{task}}}')]
    cluster = _compact(_dense_cluster(layout, installation))
    return [*before, text("TF_CONFIG", f'{{"cluster":{cluster},{task},"environment":"cloud"}}')]


def _task(part: Part, index: str) -> str:
    """What a replica is told of itself; its number is no JSON before it is expanded."""
    return f'"task":{{"type":{json.dumps(part.role.lower)},"index":{index}}}'


def _dense_cluster(layout: Layout, installation: Installation) -> Mapping[str, Sequence[str]]:
    roles = sorted(layout.job.roles, key=lambda role: role.lower)
    return {role.lower: _addresses(layout, role, installation) for role in roles}


def _sparse_cluster(layout: Layout, part: Part, index: str, installation: Installation) -> Mapping[str, Any]:
    """Of the workers each knows itself alone, so that others may come and go."""
    role, servers = part.role, layout.job.role("PS")
    own = _address(layout, role, index, installation, port_of(layout.job, role))
    if role.name == "PS":
        return {"worker": {}, "ps": [own]}
    if role.name != "Worker":
        return {"worker": {}, "ps": []}
    everyone = _addresses(layout, servers, installation) if servers else None
    return {"worker": {index: own}, "ps": everyone}


def _addresses(layout: Layout, role: Role, installation: Installation) -> list[str]:
    """TensorFlow's servers listen on all addresses, so those of one machine get ports of their own."""
    job, port = layout.job, port_of(layout.job, role)
    if not installation.one_machine:
        return [_address(layout, role, str(index), installation, port) for index in range(role.replicas)]
    first = max(port_of(job, each) for each in job.roles)
    first += sum(each.replicas for each in job.roles[: job.roles.index(role)])
    return [_address(layout, role, str(index), installation, first + index) for index in range(role.replicas)]


def _address(layout: Layout, role: Role, index: str, installation: Installation, port: int) -> str:
    domain = f".{installation.custom_domain}" if installation.custom_domain else ""
    return f"{layout.address(role, index)}{domain}:{port}"


def _pytorch(layout: Layout, part: Part, _: Installation) -> Env:
    job = layout.job
    master = job.role("Master")
    processes = str(job.spec.get("nprocPerNode") or "auto")
    env = [UNBUFFERED]
    if master is not None:
        port, host = port_of(job, master), layout.host(master)
        each = int(processes) if processes.isdecimal() else 1
        env += [text("MASTER_PORT", port), text("PET_MASTER_PORT", port)]
        env += [text("MASTER_ADDR", host), text("PET_MASTER_ADDR", host)]
        env += [text("WORLD_SIZE", job.replicas * each)]
        env += [own_rank("RANK", layout, part), own_rank("PET_NODE_RANK", layout, part)]
    elastic = job.spec.get("elasticPolicy")
    if elastic is None:
        return [*env, text("PET_NPROC_PER_NODE", processes), text("PET_NNODES", job.replicas)]
    if elastic.get("nProcPerNode") is None:
        env.append(text("PET_NPROC_PER_NODE", processes))
    return [*env, *_elastic(layout, part, mapping(elastic))]


def _elastic(layout: Layout, part: Part, elastic: Mapping[str, Any]) -> Env:
    job = layout.job
    worker = job.role("Worker") or part.role
    least, most = elastic_bounds(job)
    host = elastic.get("rdzvHost") or layout.host(worker)
    env = [
        text("PET_RDZV_ENDPOINT", f"{host}:{elastic.get('rdzvPort') or port_of(job, worker)}"),
        text("PET_RDZV_BACKEND", elastic.get("rdzvBackend") or "c10d"),
        text("PET_NNODES", f"{least}:{most}"),
    ]
    for name, key in (
        ("PET_MAX_RESTARTS", "maxRestarts"),
        ("PET_NPROC_PER_NODE", "nProcPerNode"),
        ("PET_RDZV_ID", "rdzvId"),
    ):
        if elastic.get(key) is not None:
            env.append(text(name, elastic[key]))
    if conf := items(elastic.get("rdzvConf")):
        pairs = (f"{each.get('key', '')}={each.get('value', '')}" for each in conf)
        env.append(text("PET_RDZV_CONF", ",".join(pairs)))
    return [*env, text("PET_STANDALONE", "")] if elastic.get("standalone") else env


def elastic_bounds(job: LegacyJob) -> tuple[int, int]:
    """With how few and how many workers an elastic job runs; a bound that is left out is the other one."""
    elastic = at(job.spec, "elasticPolicy")
    worker = job.role("Worker")
    usual = worker.replicas if worker else 1
    least, most = elastic.get("minReplicas"), elastic.get("maxReplicas")
    return (
        int(next(each for each in (least, most, usual) if each is not None)),
        int(next(each for each in (most, least, usual) if each is not None)),
    )


def _xgboost(layout: Layout, part: Part, _: Installation) -> Env:
    job = layout.job
    master, worker = job.role("Master") or part.role, job.role("Worker")
    env = [
        text("MASTER_PORT", port_of(job, master)),
        text("MASTER_ADDR", layout.host(master)),
        text("WORLD_SIZE", job.replicas),
        own_rank("RANK", layout, part),
        UNBUFFERED,
    ]
    if job.replicas > 1 and worker is not None:
        env += [
            text("WORKER_PORT", port_of(job, worker)),
            text("WORKER_ADDRS", ",".join(layout.hosts(worker))),
        ]
    return env


def _paddle(layout: Layout, part: Part, installation: Installation) -> Env:
    job = layout.job
    master = job.role("Master")
    first = master or part.role
    env = [UNBUFFERED, text("PADDLE_JOB_ID", job.name), text("PADDLE_NNODES", job.replicas)]
    if part.role is first and part.first == 0 and installation.judge == "operator":
        address = f"$(POD_IP_DUMMY):{port_of(job, first)}"
        env += [field("POD_IP_DUMMY", "status.podIP"), text("PADDLE_MASTER", address)]
    else:
        env.append(text("PADDLE_MASTER", f"{layout.host(first)}:{port_of(job, first)}"))
    if master is not None:
        name = "PADDLE_SERVER_NUM" if part.role is master else "PADDLE_TRAINER_NUM"
        env.append(text(name, 1))
    return env


def _jax(layout: Layout, part: Part, _: Installation) -> Env:
    job = layout.job
    return [
        UNBUFFERED,
        text("COORDINATOR_PORT", port_of(job, part.role)),
        text("COORDINATOR_ADDRESS", layout.host(part.role)),
        text("NUM_PROCESSES", job.replicas),
        own_index("PROCESS_ID", layout, part),
    ]


def _mxnet(layout: Layout, part: Part, _: Installation) -> Env:
    job = layout.job
    index, before = index_within(layout, part)
    cluster = {
        role.lower: [{"url": host, "port": port_of(job, role)} for host in layout.hosts(role)]
        for role in sorted(job.roles, key=lambda role: role.lower)
    }
    keys = {role.lower: _tuner_key(role) for role in sorted(job.roles, key=lambda role: role.lower)}
    config = _compact({"cluster": cluster, "labels": keys})
    scheduler = job.role("Scheduler")
    env = [
        *before,
        text("MX_CONFIG", f"{config[:-1]},{_task(part, index)}}}"),
        text("DMLC_PS_ROOT_PORT", port_of(job, scheduler) if scheduler else 0),
        text("DMLC_PS_ROOT_URI", layout.host(scheduler) if scheduler else ""),
        text("DMLC_NUM_SERVER", _count(job, "Server")),
        text("DMLC_NUM_WORKER", _count(job, "Worker")),
        text("DMLC_ROLE", part.role.lower),
        text("DMLC_USE_KUBERNETES", 1),
    ]
    return [*env, own_index("DMLC_WORKER_ID", layout, part)] if part.role.name == "Worker" else env


def _tuner_key(role: Role) -> str:
    return literal(str(at(role.template, "metadata", "annotations").get("tuner-server-key", "")))


def _count(job: LegacyJob, name: str) -> int:
    role = job.role(name)
    return role.replicas if role else 0


def _nothing(_: Layout, __: Part, ___: Installation) -> Env:
    return []


def _compact(value: Mapping[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"))


_BUILDERS: Mapping[str, Builder] = {
    "TFJob": _tensorflow,
    "PyTorchJob": _pytorch,
    "MPIJob": _nothing,
    "XGBoostJob": _xgboost,
    "PaddleJob": _paddle,
    "JAXJob": _jax,
    "MXJob": _mxnet,
}

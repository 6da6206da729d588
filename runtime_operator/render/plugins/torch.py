"""PyTorch: what torchrun has to know, as PET_ variables, and where its workers meet.

A fixed number of nodes meets at node 0 (PET_MASTER_*), ranked by pod index. An elastic one (`elasticPolicy`)
meets through c10d at the same place, and torchrun itself ranks and restarts. The variables come after the
job's own and win. With `tune run` the recipe's command names the meeting point (see torchtune).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...api.legacy_names import stale_master_address
from ...api.names import OLD_API_VERSION, PET_ENVS, TRAINER_PORT, TRAINER_PORT_TEXT
from ...api.tolerances import Tolerance, notice
from ...errors import FieldError, SpecError
from ..framework import Plugin, Runtime
from ..info import Info
from ..overlay import Container, Object
from ..processes import processes
from ..rendezvous import host, index_variable, open_port, variable

if TYPE_CHECKING:
    from ...api.runtime import ElasticPolicy, TorchPolicy
    from ..pods import Pods

TUNE_RUN = ["tune", "run"]
_RANK = index_variable("PET_NODE_RANK")
_PORT = variable("PET_MASTER_PORT", TRAINER_PORT_TEXT)


class Torch(Plugin):
    """Serves runtimes with a torch policy."""

    name = "torch"
    after = ("plain", "trainer")

    def serves(self, runtime: Runtime) -> bool:
        """Only torch."""
        policy = runtime.spec.mlPolicy
        return policy is not None and policy.torch is not None

    def enforce_ml_policy(self, info: Info) -> None:
        """Tell torchrun how many nodes and processes there are, and where they meet."""
        policy, pods = _policy(info), info.trainer
        if pods is None:
            return
        elastic = None if info.upstream else _elastic(info, policy, pods)
        per_node = processes(info, pods)
        if pods.main is not None and not (info.upstream and info.job.spec.trainer is None):
            if elastic is not None:
                _meet_elastic(info, pods.main, _bounds(elastic), elastic, str(per_node))
            else:
                _meet(info, pods, pods.main, str(per_node))
        targets = policy.envInjection.targets if policy.envInjection is not None else None
        for target in targets or ():
            for name in target.containerNames:
                _injected(info, target.jobName, name).add_env(_fixed(info, pods, str(per_node)))


def _policy(info: Info) -> TorchPolicy:
    policy = info.runtime.spec.mlPolicy
    assert policy is not None and policy.torch is not None  # `serves` says so
    return policy.torch


def _fixed(info: Info, pods: Pods, per_node: str, port: Object = _PORT) -> tuple[Object, ...]:
    return (
        variable("PET_NNODES", str(pods.count)),
        variable("PET_NPROC_PER_NODE", per_node),
        _RANK,
        variable("PET_MASTER_ADDR", host(info)),
        port,
    )


def _meet(info: Info, pods: Pods, main: Container, per_node: str) -> None:
    """A fixed number of nodes; torchtune's command says itself where they meet."""
    if info.upstream:
        trainer = info.job.spec.trainer
        tune = trainer is not None and trainer.command == TUNE_RUN
        main.add_env(_fixed(info, pods, per_node)[: 3 if tune else 5])
        open_port(info, main)
        return
    if list(main.get("command") or ())[:2] == TUNE_RUN:
        _warn_of_replaced(info, main, PET_ENVS[:3])
        main.add_env(_fixed(info, pods, per_node)[:3])
        open_port(info, main)
        return
    _warn_of_replaced(info, main, PET_ENVS)
    port = _master_port(main)
    entry = _PORT if port == TRAINER_PORT else variable("PET_MASTER_PORT", str(port))
    main.add_env(_fixed(info, pods, per_node, entry))
    if _speaks_of_master(info, main):
        main.add_env(list(_master(info, main, port)))
    open_port(info, main, port)
    info.decide("PET_MASTER_ADDR", host(info), "node 0 of %s", pods.name)


def _master_port(main: Container) -> int:
    """The port of the runtime, if it names one as a number."""
    entry = main.env("MASTER_PORT")
    text = str(entry.get("value", "")) if entry is not None else ""
    return int(text) if text.isdecimal() and 0 < int(text) < 65536 else TRAINER_PORT


def _speaks_of_master(info: Info, main: Container) -> bool:
    """Whether the program may read MASTER_ADDR itself: its runtime sets it, or is written as of old."""
    if main.env("MASTER_ADDR") is not None or main.env("MASTER_PORT") is not None:
        return True
    policy = _policy(info)
    return policy.numProcPerNode is not None or info.runtime.raw.get("apiVersion") == OLD_API_VERSION


def _master(info: Info, main: Container, port: int) -> Iterable[Object]:
    """MASTER_ADDR and MASTER_PORT beside the PET_ variables; an address of one's own stays."""
    entry = main.env("MASTER_ADDR")
    if entry is None or stale_master_address(entry.get("value"), job=info.name):
        yield variable("MASTER_ADDR", host(info))
        info.decide("MASTER_ADDR", host(info), "replaces %s", "nothing" if entry is None else entry["value"])
    if main.env("MASTER_PORT") is None:
        yield variable("MASTER_PORT", str(port))


def _warn_of_replaced(info: Info, main: Container, names: Sequence[str]) -> None:
    for name in names:
        entry = main.env(name)
        if entry is not None:
            value = entry.get("value")
            text = f"{value!r} is replaced, because torchrun must know the job as it is; leave it out"
            info.warn(notice(Tolerance.ENVIRONMENT, f"env.{name}", text))


def _elastic(info: Info, policy: TorchPolicy, pods: Pods) -> ElasticPolicy | None:
    """The policy of a job whose number of nodes may change; Kueue cannot count such a job."""
    elastic = policy.elasticPolicy
    if elastic is None:
        return None
    if info.kueue:
        info.warn(
            "spec.mlPolicy.torch.elasticPolicy: not applied, because Kueue counts pods as Trainer 2.3 does, "
            "which knows no elastic jobs: take the job out of the queue or the policy out of the runtime"
        )
        return None
    least, most = _bounds(elastic)
    trainer = info.job.spec.trainer
    wanted = trainer.numNodes if trainer is not None else None
    if wanted is not None and not least <= wanted <= most:
        text = f"must be from {least} to {most}, as elasticPolicy of the runtime says, got {wanted}"
        raise SpecError([FieldError("spec.trainer.numNodes", text)])
    pods.count = wanted or most
    info.decide("numNodes", pods.count, "elastic: any number from %s to %s will do", least, most)
    return elastic


def _bounds(elastic: ElasticPolicy) -> tuple[int, int]:
    least = elastic.minNodes or 1
    return least, max(least, elastic.maxNodes or least)


def _meet_elastic(
    info: Info, main: Container, bounds: tuple[int, int], elastic: ElasticPolicy, per_node: str
) -> None:
    endpoint = f"{host(info)}:{TRAINER_PORT}"
    env = [
        variable("PET_NNODES", f"{bounds[0]}:{bounds[1]}"),
        variable("PET_NPROC_PER_NODE", per_node),
        variable("PET_RDZV_BACKEND", "c10d"),
        variable("PET_RDZV_ENDPOINT", endpoint),
        variable("PET_RDZV_ID", info.job.uid or info.name),
    ]
    if elastic.maxRestarts is not None:
        env.append(variable("PET_MAX_RESTARTS", str(elastic.maxRestarts)))
    main.add_env(env)
    open_port(info, main)
    info.decide("PET_RDZV_ENDPOINT", endpoint, "elastic nodes meet where node 0 is")


def _injected(info: Info, job: str, name: str) -> Container:
    pods = info.pod_set(job)
    container = pods.container(name) if pods is not None else None
    if container is None:
        text = f'envInjection target podSet "{job}" container "{name}" not found in runtime template'
        raise SpecError([FieldError("spec.runtimeRef", text)])
    return container

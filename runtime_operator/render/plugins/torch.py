"""PyTorch: what torchrun has to know, as PET_ variables, and where its workers meet.

A fixed number of nodes meets at node 0 (PET_MASTER_*), ranked by pod index. An elastic one (`elasticPolicy`)
meets through c10d at the same place, and torchrun itself ranks and restarts. The variables come after the
job's own and win. With `tune run` the recipe's command names the meeting point (see torchtune).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ...api.legacy_names import stale_master_address
from ...api.names import PET_ENVS, TRAINER_PORT, TRAINER_PORT_TEXT
from ...api.tolerances import Tolerance, notice
from ...errors import FieldError, SpecError
from ..framework import Plugin, Proposal, Runtime
from ..info import Info
from ..merged import merged_jobs
from ..overlay import Container, Object
from ..pods import pod_spec
from ..processes import processes
from ..rendezvous import host, index_variable, open_port, variable

if TYPE_CHECKING:
    from ...api.runtime import ElasticPolicy, TorchPolicy
    from ..pods import Pods

TUNE_RUN = ["tune", "run"]
_RENDEZVOUS = frozenset((*PET_ENVS, "MASTER_ADDR", "MASTER_PORT"))
"""what a runtime or a job may say about the meeting point"""
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

    def custom_validation(self, proposal: Proposal) -> Iterator[FieldError]:
        """Torchrun's variables are ours to set, and go only where there is a container."""
        yield from _missing_targets(proposal)
        trainer = proposal.job.spec.trainer
        taken = {entry["name"] for entry in (trainer.env if trainer is not None else None) or ()}
        if not taken.isdisjoint(PET_ENVS):
            listed = " ".join(sorted(taken.intersection(PET_ENVS)))
            yield FieldError(
                "spec.trainer.env", f"must not have reserved envs, invalid envs configured: [{listed}]"
            )

    def enforce_ml_policy(self, info: Info) -> None:
        """Tell torchrun how many nodes and processes there are, and where they meet."""
        pods, policy = info.trainer, _policy(info)
        if pods is None:
            if info.upstream:
                _inject(info, policy, _fixed(info, 1, str(processes(info, None))))
            return
        elastic = policy.elasticPolicy and _elastic(info, policy.elasticPolicy, pods)
        per_node = str(processes(info, pods))
        main = pods.main
        if main is not None:
            if info.upstream:
                _meet_as_upstream(info, main, _fixed(info, pods.count, per_node))
            elif elastic is not None:
                _meet_elastic(info, main, elastic, per_node)
            else:
                _meet(info, policy, pods, main, per_node)
        if policy.envInjection is not None:
            _inject(info, policy, _fixed(info, pods.count, per_node))


def _missing_targets(proposal: Proposal) -> Iterator[FieldError]:
    policy = proposal.runtime.spec.mlPolicy
    injection = policy.torch.envInjection if policy is not None and policy.torch is not None else None
    pods = {job["name"]: pod_spec(job) for job in merged_jobs(proposal)}
    for target in (injection.targets if injection is not None else None) or ():
        pod = pods.get(target.jobName) or {}
        there = {each["name"] for key in ("containers", "initContainers") for each in pod.get(key) or ()}
        for name in target.containerNames:
            if name not in there:
                yield _no_target(target.jobName, name)


def _no_target(job: str, container: str) -> FieldError:
    detail = f'envInjection target podSet "{job}" container "{container}" not found in runtime template'
    return FieldError("spec.runtimeRef", detail)


def _policy(info: Info) -> TorchPolicy:
    policy = info.runtime.spec.mlPolicy
    assert policy is not None and policy.torch is not None  # `serves` says so
    return policy.torch


def _inject(info: Info, policy: TorchPolicy, env: Sequence[Object]) -> None:
    """Give the variables to the containers beside the main one that the runtime names."""
    injection = policy.envInjection
    for target in (injection.targets if injection is not None else None) or ():
        for name in target.containerNames:
            _injected(info, target.jobName, name).add_env(env)


def _fixed(info: Info, nodes: int, per_node: str, port: Object = _PORT) -> tuple[Object, ...]:
    return (
        {"name": "PET_NNODES", "value": str(nodes)},
        {"name": "PET_NPROC_PER_NODE", "value": per_node},
        _RANK,
        {"name": "PET_MASTER_ADDR", "value": host(info)},
        port,
    )


def _meet_as_upstream(info: Info, main: Container, env: Sequence[Object]) -> None:
    trainer = info.job.spec.trainer
    if trainer is None:
        return
    main.add_env(env[:3] if trainer.command == TUNE_RUN else env)
    open_port(info, main)


def _meet(info: Info, policy: TorchPolicy, pods: Pods, main: Container, per_node: str) -> None:
    """A fixed number of nodes; torchtune's command says itself where they meet."""
    port, port_env = TRAINER_PORT, _PORT
    sets_own = main.has_env(_RENDEZVOUS)
    if sets_own:
        _warn_of_replaced(info, main)
        port = _master_port(main)
        port_env = variable("PET_MASTER_PORT", str(port))
    env = _fixed(info, pods.count, per_node, port_env)
    command = main.get("command")
    if command and command[0] == "tune" and list(command[:2]) == TUNE_RUN:
        main.add_env(env[:3])
    else:
        main.add_env(env)
        info.decide("PET_MASTER_ADDR", env[3]["value"], "all meet at the first pod of %s", pods.name)
        is_old = info.old_runtime or policy.numProcPerNode is not None
        if is_old or (sets_own and _names_master(main)):
            main.add_env(list(_master(info, main, port)))
    main.add_port(port)


def _names_master(main: Container) -> bool:
    return main.env("MASTER_ADDR") is not None or main.env("MASTER_PORT") is not None


def _master_port(main: Container) -> int:
    """The port of the runtime, if it names one as a number."""
    entry = main.env("MASTER_PORT")
    text = str(entry.get("value", "")) if entry is not None else ""
    return int(text) if text.isdecimal() and 0 < int(text) < 65536 else TRAINER_PORT


def _master(info: Info, main: Container, port: int) -> Iterable[Object]:
    """MASTER_ADDR and MASTER_PORT beside the PET_ variables; an address of one's own stays."""
    entry = main.env("MASTER_ADDR")
    if entry is None or stale_master_address(entry.get("value"), job=info.name):
        yield variable("MASTER_ADDR", host(info))
        info.decide("MASTER_ADDR", host(info), "replaces %s", "nothing" if entry is None else entry["value"])
    if main.env("MASTER_PORT") is None:
        yield variable("MASTER_PORT", str(port))


def _warn_of_replaced(info: Info, main: Container) -> None:
    for name in PET_ENVS:
        entry = main.env(name)
        if entry is not None:
            value = entry.get("value")
            text = f"{value!r} is replaced, because torchrun must know the job as it is; leave it out"
            info.warn(notice(Tolerance.ENVIRONMENT, f"env.{name}", text))


def _elastic(info: Info, elastic: ElasticPolicy, pods: Pods) -> ElasticPolicy | None:
    """The policy of a job whose number of nodes may change; Kueue cannot count such a job."""
    if info.upstream:
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


def _meet_elastic(info: Info, main: Container, elastic: ElasticPolicy, per_node: str) -> None:
    least, most = _bounds(elastic)
    endpoint = f"{host(info)}:{TRAINER_PORT}"
    env = [
        variable("PET_NNODES", f"{least}:{most}"),
        variable("PET_NPROC_PER_NODE", per_node),
        variable("PET_RDZV_BACKEND", "c10d"),
        variable("PET_RDZV_ENDPOINT", endpoint),
        variable("PET_RDZV_ID", info.job.uid or info.name),
    ]
    if elastic.maxRestarts is not None:
        env.append(variable("PET_MAX_RESTARTS", str(elastic.maxRestarts)))
    main.add_env(env)
    main.add_port(TRAINER_PORT)
    info.decide("PET_RDZV_ENDPOINT", endpoint, "elastic nodes meet where node 0 is")


def _injected(info: Info, job: str, name: str) -> Container:
    pods = info.pod_set(job)
    container = pods.container(name) if pods is not None else None
    if container is None:
        raise SpecError([_no_target(job, name)])
    return container

"""TorchTune: `tune run` of the job becomes a recipe with its configuration.

Settings in the runtime's own command follow. Upstream keeps four of them and drops the rest in silence; by
default all stay, but for a component (`dataset=…`) that the job's arguments choose anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...api.names import TRAINER_PORT
from ...errors import FieldError
from ..framework import Plugin, Proposal, Runtime
from ..info import Info
from ..processes import AUTO, Processes
from ..rendezvous import host
from ..resources import accelerator_count
from .torch import TUNE_RUN
from .torchtune_recipes import MANAGED_KEYS, adapter_of, model_of, recipe_of
from .torchtune_rules import without_recipe

if TYPE_CHECKING:
    from ..pods import Pods


class TorchTune(Plugin):
    """Serves torch runtimes whose job says `tune run`."""

    name = "torchtune"
    after = ("torch",)

    def serves(self, runtime: Runtime) -> bool:
        """Only torch."""
        policy = runtime.spec.mlPolicy
        return policy is not None and policy.torch is not None

    def custom_validation(self, proposal: Proposal) -> Iterator[FieldError]:
        """What TorchTune has no recipe for."""
        trainer = proposal.job.spec.trainer
        if trainer is not None and trainer.command == TUNE_RUN:
            yield from without_recipe(proposal, trainer)

    def enforce_ml_policy(self, info: Info) -> None:
        """Write out the command of a job that leaves the recipe to its runtime."""
        trainer, pods = info.job.spec.trainer, info.trainer
        if trainer is None or trainer.command != TUNE_RUN or pods is None or pods.main is None:
            return
        args = trainer.args or ()
        devices, per_node = accelerator_count(info, pods), processes_of(info, pods)
        recipe, suffix = recipe_of(nodes=pods.count, per_node=per_node, devices=devices, args=args)
        command = [*TUNE_RUN]
        if pods.count > 1 or (devices > 1 if per_node == AUTO else int(per_node) > 1):
            command.append(f"--rdzv_endpoint={host(info)}:{TRAINER_PORT}")
        mains = [each.main for each in info.trainers if each.main is not None]
        own = [word for main in mains for word in main.source.get("command") or ()]
        settings = _settings(own, args, upstream=info.upstream)
        config = model_of(info.job.spec.runtimeRef.name) + suffix
        command += [recipe, "--config", config, *settings]
        for main in mains:
            main.put("command", command)
        adapter = adapter_of(args) or "none"
        info.decide("recipe", recipe, "nodes: %s, devices: %s, adapter: %s", pods.count, devices, adapter)


def processes_of(info: Info, pods: Pods) -> Processes:
    """The number of processes that torch has decided on."""
    assert pods.main is not None  # the caller has looked
    entry = pods.main.env("PET_NPROC_PER_NODE")
    value = str(entry["value"]) if entry is not None else AUTO
    return AUTO if value == AUTO else int(value)


def _settings(command: Sequence[str], args: Sequence[str], *, upstream: bool) -> Iterator[str]:
    chosen = {arg.partition("=")[0] for arg in args}
    for word in command:
        key, equals, _ = word.partition("=")
        if not equals or key.startswith("-"):
            continue
        if key in MANAGED_KEYS or not (upstream or key.split(".")[0] in chosen):
            yield word

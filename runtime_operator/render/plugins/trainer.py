"""What the job says about its trainer goes into the main container: image, command, arguments, environment.

With MPI the launcher runs the command, and the nodes do the work: by default they get image and environment
too. Upstream gives a launcher that stands apart everything, and the nodes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...api.legacy_names import split_command
from ...api.names import NODE
from ..framework import Plugin
from ..info import Info
from ..overlay import Object
from ..pods import Pods
from ..typed import copied_env

if TYPE_CHECKING:
    from ...api.runtime import MPIPolicy
    from ...api.trainjob import Trainer


class TrainerOverrides(Plugin):
    """Serves every runtime."""

    name = "trainer"
    after = ("plain",)

    def enforce_ml_policy(self, info: Info) -> None:
        """Overlay the main containers with what spec.trainer says."""
        trainer = info.job.spec.trainer
        if trainer is None:
            return
        env: Sequence[Object] = trainer.env or ()
        if info.upstream:
            env = list(copied_env(env))
        command: Sequence[str] | None = trainer.command
        if command is not None and len(command) == 1 and not info.upstream:
            command = _words(info, command)
        for pods in info.trainers:
            _override(pods, trainer, command, env)
        policy = info.runtime.spec.mlPolicy
        if policy is not None and policy.mpi is not None:
            _override_nodes(info, policy.mpi, trainer, env)


def _words(info: Info, command: Sequence[str]) -> Sequence[str]:
    """A whole command line in one string is split into words, never given to a shell."""
    if " " not in command[0] and "\t" not in command[0]:
        return command
    words, warning = split_command(command, path="spec.trainer.command")
    if warning is not None:
        info.warn(warning)
    return words


def _override(pods: Pods, trainer: Trainer, command: Sequence[str] | None, env: Sequence[Object]) -> None:
    main = pods.main
    if main is None:
        return
    ours = main.ours()
    if trainer.image is not None:
        ours["image"] = trainer.image
    if command is not None:
        ours["command"] = command
    if trainer.args is not None:
        ours["args"] = trainer.args
    if env:
        main.add_env(env)


def _override_nodes(info: Info, mpi: MPIPolicy, trainer: Trainer, env: Sequence[Object]) -> None:
    """The nodes beside a launcher do the work."""
    if info.upstream and not mpi.runLauncherAsNode:
        return
    pods = info.pod_set(NODE)
    if pods is None or pods is info.trainer or pods.main is None:
        return
    if env:
        pods.main.add_env(env)
    if trainer.image is not None and not info.upstream:
        pods.main.put("image", trainer.image)

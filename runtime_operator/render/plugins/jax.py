"""JAX: how many processes, which one this is, and where process 0 coordinates.

The variables come before the job's own, so that those may refer to them, and may replace them.
"""

from __future__ import annotations

from ...api.names import TRAINER_PORT_TEXT
from ..framework import Plugin, Runtime
from ..info import Info
from ..rendezvous import host, index_variable, open_port, variable

_PROCESS_ID = index_variable("JAX_PROCESS_ID")


class JAX(Plugin):
    """Serves runtimes with a jax policy."""

    name = "jax"
    after = ("plain",)

    def serves(self, runtime: Runtime) -> bool:
        """Only jax."""
        policy = runtime.spec.mlPolicy
        return policy is not None and policy.jax is not None

    def enforce_ml_policy(self, info: Info) -> None:
        """Set the coordinator's variables; upstream does so only where spec.trainer stands."""
        pods = info.trainer
        if pods is None or pods.main is None or (info.upstream and info.job.spec.trainer is None):
            return
        address = f"{host(info)}:{TRAINER_PORT_TEXT}"
        pods.main.add_env(
            (
                variable("JAX_NUM_PROCESSES", str(pods.count)),
                _PROCESS_ID,
                variable("JAX_COORDINATOR_ADDRESS", address),
            )
        )
        open_port(info, pods.main)
        info.decide("JAX_COORDINATOR_ADDRESS", address, "process 0 of %s coordinates", pods.name)

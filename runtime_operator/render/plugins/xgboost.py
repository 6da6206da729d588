"""XGBoost: where the tracker is, which task this is, and how many workers there are in all.

A worker is a process: one for each accelerator of a node, or one where a node has none.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...api.names import TRAINER_PORT_TEXT
from ...api.paths import FORBIDDEN
from ...errors import FieldError
from ..framework import Plugin, Proposal, Runtime
from ..info import Info
from ..rendezvous import host, index_variable, open_port, variable
from ..resources import accelerator_count

_RESERVED = frozenset(("DMLC_TRACKER_URI", "DMLC_TRACKER_PORT", "DMLC_TASK_ID", "DMLC_NUM_WORKER"))
_TASK_ID = index_variable("DMLC_TASK_ID")


class XGBoost(Plugin):
    """Serves runtimes with an xgboost policy."""

    name = "xgboost"
    after = ("plain",)

    def serves(self, runtime: Runtime) -> bool:
        """Only xgboost."""
        policy = runtime.spec.mlPolicy
        return policy is not None and policy.xgboost is not None

    def custom_validation(self, proposal: Proposal) -> Iterator[FieldError]:
        """The tracker's variables are ours to set."""
        trainer = proposal.job.spec.trainer
        for place, entry in enumerate((trainer.env if trainer is not None else None) or ()):
            if entry["name"] in _RESERVED:
                detail = f"{entry['name']} is reserved for the XGBoost runtime"
                yield FieldError(f"spec.trainer.env[{place}]", detail, FORBIDDEN)

    def enforce_ml_policy(self, info: Info) -> None:
        """Set the tracker's variables; upstream does so only where spec.trainer stands."""
        pods = info.trainer
        if pods is None or pods.main is None or (info.upstream and info.job.spec.trainer is None):
            return
        per_node = max(1, accelerator_count(info, pods))
        workers = pods.count * per_node
        pods.main.add_env(
            (
                variable("DMLC_TRACKER_URI", host(info)),
                variable("DMLC_TRACKER_PORT", TRAINER_PORT_TEXT),
                _TASK_ID,
                variable("DMLC_NUM_WORKER", str(workers)),
            )
        )
        open_port(info, pods.main)
        info.decide("DMLC_NUM_WORKER", workers, "%s nodes of %s workers each", pods.count, per_node)

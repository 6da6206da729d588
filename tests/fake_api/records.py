"""What is remembered of the writes that came through a transport."""

from dataclasses import dataclass

from kfp_trainer.runtime_operator.kube.cache import Key
from kfp_trainer.runtime_operator.kube.resource import Resource


@dataclass(frozen=True)
class Write:
    """One write that came through a transport and was not refused."""

    verb: str
    resource: Resource
    key: Key
    sub: str
    manager: str
    changed: bool
    """whether it was an event for the watchers"""

"""What JobSet and the Job controller would do, as pure rules over values: no clock, no files, no processes.

Admit a JobSet, `create` its state, and `settle` it whenever something is reported or the time has come;
`commands_between` two states says which pods to start, to stop and to forget.

Admission needs the schema and so the whole API, which takes a good part of a second to load; it is loaded
when it is first asked for, since a runner never asks.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .actions import Event
from .codec import from_json, to_json
from .model import Job, Pod, PodReport, State
from .operations import create, delete_job, delete_jobset, delete_pod, replace_jobset, report
from .settle import Command, Remove, Settled, Start, Stop, commands_between, settle

if TYPE_CHECKING:
    from .admission import Admitted, admit, admit_change
    from .unsupported import refuse_unsupported

__all__ = [
    "Admitted",
    "Command",
    "Event",
    "Job",
    "Pod",
    "PodReport",
    "Remove",
    "Settled",
    "Start",
    "State",
    "Stop",
    "admit",
    "admit_change",
    "commands_between",
    "create",
    "delete_job",
    "delete_jobset",
    "delete_pod",
    "from_json",
    "refuse_unsupported",
    "replace_jobset",
    "report",
    "settle",
    "to_json",
]

_LATER = {
    "Admitted": "admission",
    "admit": "admission",
    "admit_change": "admission",
    "refuse_unsupported": "unsupported",
}


def __getattr__(name: str) -> Any:
    """Load what belongs to admission."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_LATER[name]}", __name__), name)

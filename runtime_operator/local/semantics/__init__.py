"""What JobSet and the Job controller would do, as pure rules over values: no clock, no files, no processes.

Admit a JobSet, `create` its state, and `settle` it whenever something is reported or the time has come;
`commands_between` two states says which pods to start, to stop and to forget.
"""

from .actions import Event
from .admission import Admitted, admit, admit_change
from .codec import from_json, to_json
from .model import Job, Pod, PodReport, State
from .operations import create, delete_job, delete_jobset, delete_pod, replace_jobset, report
from .settle import Command, Remove, Settled, Start, Stop, commands_between, settle
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

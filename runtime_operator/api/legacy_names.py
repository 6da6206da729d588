"""Which job trains, which container is the main one, and what a command in one string means.

Early texts put the ancestor label on the pod template or nowhere, called the container `trainer`, and wrote
`["torchrun train.py"]`. Today's place comes first; then each older habit in a fixed order, with a warning;
where several answers are as good, the document is refused with the list of them. No shell is ever added.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import FieldError, SpecError
from .names import (
    ANCESTOR_LABEL,
    NODE,
    OLD_LAUNCHER_CONTAINERS,
    OLD_TRAINER_CONTAINER,
    OLD_TRAINER_JOB,
    TRAINER_STEP,
)
from .paths import JOBS
from .shapes import at, items, mapping, named
from .tolerances import Tolerance, notice

Json = Mapping[str, Any]

SPLIT_COMMANDS = frozenset(
    ("torchrun", "python", "python3", "deepspeed", "mpirun", "mpiexec", "accelerate", "tune")
)
"""Programs whose whole command line people write into one string."""
SHELL = re.compile(r"[|&;<>()$`\\\"'*?\[\]{}#~\n]")
"""What only a shell would understand: such a string is left alone."""
STALE_ADDRESS = re.compile(r"^(?P<job>.+)-node-0-0\.(?P=job)$")
"""The address of node 0 of some job, as people copy it into a runtime."""
NATIVE_RESOURCES = ("kubernetes.io/", "requests.")
"""What an API server does not take for an extended resource."""


@dataclass(frozen=True, slots=True)
class Found:
    """Where something was found in a list, and the warning if it stands there under another name."""

    indices: tuple[int, ...]
    warning: str | None = None

    @property
    def index(self) -> int | None:
        """The first place, or None."""
        return self.indices[0] if self.indices else None


def split_command(argv: Sequence[str], *, path: str) -> tuple[Sequence[str], str | None]:
    """Return the words of a command given as one string; anything else comes back as it is."""
    if len(argv) != 1 or not isinstance(argv[0], str) or not re.search(r"\s", argv[0].strip()):
        return argv, None
    line = argv[0]
    words = line.split()
    if words[0] in SPLIT_COMMANDS and not SHELL.search(line):
        text = f"{line!r} is run as {len(words)} words; write one word an item"
        return words, notice(Tolerance.COMMAND, path, text)
    text = f"{line!r} is one word with blanks and no program has such a name; write one word an item"
    return argv, notice(Tolerance.COMMAND, path, text)


def trainer_job(jobs: Any) -> Found:
    """Return the jobs that train: by label, by the label's older place, by name, or the only one."""
    jobs = items(jobs)
    labelled = _jobs_with(jobs, ("template", "metadata", "labels"))
    if labelled:
        return Found(labelled)
    today = f"label its Job template {ANCESTOR_LABEL}: {TRAINER_STEP}"
    for index in _jobs_with(jobs, ("template", "spec", "template", "metadata", "labels")):
        where = f"{JOBS}[{index}].template.spec.template.metadata.labels"
        text = f"taken from the pod template for {_name(jobs[index])!r}; {today}"
        return Found((index,), notice(Tolerance.TRAINER_JOB, where, text))
    guess = _by_name(jobs, (NODE, OLD_TRAINER_JOB))
    if guess is None:
        return Found(())
    text = f"{_name(jobs[guess])!r} is taken for the trainer; {today}"
    return Found((guess,), notice(Tolerance.TRAINER_JOB, f"{JOBS}[{guess}]", text))


def launcher_job(jobs: Any) -> int | None:
    """Return the index of the job that runs mpirun, by name."""
    return next((index for name in OLD_LAUNCHER_CONTAINERS if (index := named(jobs, name)) is not None), None)


def trainer_container(pod_spec: Any, *, path: str) -> Found:
    """Return the container that trains: `node`, else `trainer`, else the only one."""
    return _container(pod_spec, (OLD_TRAINER_CONTAINER,), path=path)


def launcher_container(pod_spec: Any, *, path: str) -> Found:
    """Return the container that runs mpirun: `node`, else `launcher`, `mpi-launcher`, else the only one."""
    return _container(pod_spec, OLD_LAUNCHER_CONTAINERS, path=path)


def _container(pod_spec: Any, older: Sequence[str], *, path: str) -> Found:
    containers = items(mapping(pod_spec).get("containers"))
    if (index := named(containers, NODE)) is not None:
        return Found((index,))
    index = _by_name(containers, older)
    where = f"{path}.containers"
    if index is None:
        if not containers:
            return Found(())
        listed = ", ".join(_name(container) for container in containers)
        detail = f"cannot tell which container is the main one, got {listed}: name one of them {NODE}"
        raise SpecError([FieldError(where, detail)])
    text = f"{_name(containers[index])!r} is taken for the main container; name it {NODE}"
    return Found((index,), notice(Tolerance.CONTAINER, f"{where}[{index}].name", text))


def limits_from_requests(resources: Any) -> tuple[Json, tuple[str, ...]]:
    """Return resources in which extended resources are limited too, and which of them were requested only."""
    resources = mapping(resources)
    limits, requests = at(resources, "limits"), at(resources, "requests")
    missing = tuple(name for name in requests if is_extended(name) and name not in limits)
    if not missing:
        return resources, ()
    return {**resources, "limits": {**limits, **{name: requests[name] for name in missing}}}, missing


def limits_notice(missing: Sequence[str], *, path: str) -> str:
    """Return the warning about extended resources that were requested only."""
    text = f"{', '.join(missing)} requested and not limited, which no API server takes; copied to limits"
    return notice(Tolerance.LIMITS, f"{path}.requests", text)


def is_extended(resource: str) -> bool:
    """Tell whether an API server takes this for a device, which is limited and never shared."""
    domain, slash, _ = resource.partition("/")
    return (
        bool(slash)
        and not f"{domain}/".endswith(NATIVE_RESOURCES[0])
        and not domain.startswith(NATIVE_RESOURCES[1])
    )


def stale_master_address(value: Any, *, job: str) -> bool:
    """Tell whether a literal MASTER_ADDR is that of another job's node 0."""
    match = STALE_ADDRESS.match(value) if isinstance(value, str) else None
    return match is not None and match["job"] != job


def _jobs_with(jobs: Sequence[Any], labels: Sequence[str]) -> tuple[int, ...]:
    return tuple(
        index for index, job in enumerate(jobs) if at(job, *labels).get(ANCESTOR_LABEL) == TRAINER_STEP
    )


def _by_name(values: Sequence[Any], names: Sequence[str]) -> int | None:
    """The first of these names that is there, else the only item."""
    for name in names:
        if (index := named(values, name)) is not None:
            return index
    return 0 if len(values) == 1 else None


def _name(value: Any) -> str:
    return str(mapping(value).get("name", ""))

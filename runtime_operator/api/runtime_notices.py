"""The older habits in a runtime, each said once, whoever asks.

Render meets the same habits when it builds a job; the texts are the same, so that nobody reads one twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import SpecError
from .legacy_names import (
    Found,
    launcher_container,
    launcher_job,
    limits_from_requests,
    limits_notice,
    split_command,
    stale_master_address,
    trainer_container,
    trainer_job,
)
from .paths import JOBS
from .shapes import at, items, mapping
from .tolerances import Tolerance, notice


def runtime_notices(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the warnings about a runtime that `check` does not give already."""
    jobs = items(at(document, "spec", "template", "spec").get("replicatedJobs"))
    mpi = "mpi" in at(document, "spec", "mlPolicy")
    trainer = trainer_job(jobs)
    found = [trainer.warning] if trainer.warning else []
    if mpi:
        found += _mpi_notices(jobs, trainer)
    launcher = launcher_job(jobs) if mpi else None
    for index in sorted({*trainer.indices, *(() if launcher is None else (launcher,))}):
        found += _main_container(jobs[index], f"{JOBS}[{index}]", launches=index == launcher)
    return tuple(found)


def _mpi_notices(jobs: Any, trainer: Found) -> Iterator[str]:
    launcher = launcher_job(jobs)
    if not jobs:
        text = "there is no template; a launcher and nodes are made, with the image of the TrainJob"
        yield notice(Tolerance.LAUNCHER, JOBS, text)
    elif launcher is not None and trainer.index is not None and launcher < trainer.index:
        text = "the launcher stands before the nodes it starts; it is moved behind them and waits for them"
        yield notice(Tolerance.LAUNCHER, f"{JOBS}[{launcher}]", text)


def _main_container(job: Any, path: str, *, launches: bool) -> Iterator[str]:
    pod, where = at(job, "template", "spec", "template", "spec"), f"{path}.template.spec.template.spec"
    try:
        found = (launcher_container if launches else trainer_container)(pod, path=where)
    except SpecError as unclear:
        yield from (notice(Tolerance.CONTAINER, each.field, each.detail) for each in unclear.errors)
        return
    if found.warning:
        yield found.warning
    if found.index is not None:
        yield from _container_notices(
            items(pod["containers"])[found.index], f"{where}.containers[{found.index}]"
        )


def _container_notices(container: Any, path: str) -> Iterator[str]:
    container = mapping(container)
    _, warning = split_command(items(container.get("command")), path=f"{path}.command")
    if warning:
        yield warning
    _, missing = limits_from_requests(container.get("resources"))
    if missing:
        yield limits_notice(missing, path=f"{path}.resources")
    for index, env in enumerate(items(container.get("env"))):
        env = mapping(env)
        if env.get("name") == "MASTER_ADDR" and stale_master_address(env.get("value"), job=""):
            yield master_notice(env["value"], path=f"{path}.env[{index}].value")


def master_notice(value: str, *, path: str) -> str:
    """Return the warning about a MASTER_ADDR that belongs to one job."""
    text = f"{value!r} is the address of one job; every job gets its own"
    return notice(Tolerance.MASTER, path, text)

"""Which replicated job does which step, and in which of its containers.

Upstream reads one label on the Job template and knows one container name, `node`. By default the older
places and names count as well (`api.legacy_names`), because a trainer that nobody finds is a job whose
settings are ignored in silence. Of MPI jobs without a label the launcher is the trainer: it runs the command.
The author of the runtime is warned of them when it is checked.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..api.legacy_names import launcher_container, launcher_job, trainer_container, trainer_job
from ..api.names import ANCESTOR_LABEL, DATASET_STEP, LAUNCHER, MODEL_STEP, NODE, STEPS, TRAINER_STEP
from ..errors import SpecError
from .overlay import Object
from .pods import pod_spec

INITIALIZER_STEPS = (DATASET_STEP, MODEL_STEP)


def labelled_step(job: Object) -> str:
    """The step that the label on the Job template names, as upstream reads it."""
    labels = ((job.get("template") or {}).get("metadata") or {}).get("labels") or {}
    return str(labels.get(ANCESTOR_LABEL) or "")


def steps(jobs: Sequence[Object], *, mpi: bool, upstream: bool) -> list[str]:
    """The step of each job, in the order of the jobs; empty where it has none."""
    found = [labelled_step(job) for job in jobs]
    if upstream or TRAINER_STEP in found:
        return found if upstream else _with_initializers(jobs, found)
    launcher = launcher_job(jobs) if mpi else None
    trainer = trainer_job(jobs).index if launcher is None else launcher
    found = _with_initializers(jobs, found)
    if trainer is not None and not found[trainer] and _is_clear(jobs[trainer], mpi=mpi):
        found[trainer] = TRAINER_STEP
    return found


def _is_clear(job: Object, *, mpi: bool) -> bool:
    """Whether one container would train; of a job that is no trainer's by its label nobody has to know."""
    try:
        main_container(job, TRAINER_STEP, mpi=mpi, upstream=False)
    except SpecError:
        return False
    return True


def _with_initializers(jobs: Sequence[Object], found: Sequence[str]) -> list[str]:
    """Initializers are known by their name as well: admission asks for it, and nobody else has it."""
    return [
        step if step in STEPS else str(job["name"]) if job["name"] in INITIALIZER_STEPS else ""
        for step, job in zip(found, jobs, strict=True)
    ]


def main_container(job: Object, step: str, *, mpi: bool, upstream: bool) -> str:
    """The container of a job that does the work of its step; empty where there is none."""
    if step in INITIALIZER_STEPS:
        return step
    if upstream:
        return NODE
    name = job["name"]
    if step != TRAINER_STEP and not (mpi and name in (NODE, LAUNCHER)):
        return ""
    find = launcher_container if mpi and name != NODE else trainer_container
    pod = pod_spec(job)
    index = find(pod, path=f"spec.template.spec.replicatedJobs[{name}].template.spec.template.spec").index
    return "" if index is None else str(pod["containers"][index].get("name", ""))

"""Deletes what a run has left: for a pipeline's exit handler, which runs also when the run is terminated.

Jobs that have ended stay with the Workflow that owns them: they hold nothing, and their status tells what
happened. A retry in the Pipelines UI does not run the exit handler again; the owner is what remains then.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from ..errors import SpecError
from ..jobs import Job
from .following import patiently
from .place import open_place
from .step import read_step
from .surroundings import RUN_LABEL
from .telling import say_line

AT_ONCE = 8


def clean_up(run: str = "", *, say: Callable[[str], None] = say_line) -> list[str]:
    """Delete the TrainJobs of a run, this one if none is named, that have not ended; return their names."""
    place = open_place(os.environ, say)
    run = run or place.around.run or read_step(sys.argv).run
    if not run:
        raise SpecError("run: is not known, since this is no step of a pipeline; name the run")
    jobs = place.jobs
    left = [job.name for job in patiently(jobs.list, say) if not job.finished and _is_of(run, job)]
    for name in left:
        say(f"TrainJob {name}: has not ended, and is deleted")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda name: patiently(lambda: jobs.delete(name), say), left))
    return left


def _is_of(run: str, job: Job) -> bool:
    return (job.train_job["metadata"].get("labels") or {}).get(RUN_LABEL) == run

"""Launching a TrainJob in one step of a pipeline and waiting for it in another, with work between the two.

The job outlives the step that launches it, so nothing is deleted when that step is stopped; the exit handler
of the pipeline deletes what is left. The step that waits does not own the job, and may not replace it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

from ..errors import JobFailed
from ..jobs import open_jobs
from .following import follow_to_end, patiently
from .launched import Launched
from .launching import times_of
from .passthrough import read_task_config
from .place import open_place
from .step import read_step
from .telling import Say, Teller, say_line


def start(
    train_job: Mapping[str, Any], *, task: str = "train", task_config: object = None, say: Say = say_line
) -> Launched:
    """Make the job, or find the one that this step has made, and go on."""
    step = read_step(sys.argv)
    place = open_place(os.environ, say)
    name = place.name(train_job, step, task=task)
    asked = place.write(train_job, step, read_task_config(task_config), name=name)
    patiently(partial(place.jobs.adopt_or_create, asked, owner=step.key or name), say)
    say(f"TrainJob {name} in namespace {place.jobs.namespace}")
    return Launched(name, place.jobs.namespace, "launched")


def wait_for(name: str, *, say: Say = say_line) -> Launched:
    """Follow a job to its end; JobFailed says what died, where and why."""
    jobs, teller = open_jobs(), Teller(say)
    ended = follow_to_end(jobs, name, teller)
    if ended.phase != "Complete":
        raise JobFailed(teller.digest(patiently(partial(jobs.digest, name), say)))
    say(f"TrainJob {name}: {ended.message}")
    teller.take_status(ended.train_job.get("status") or {})
    return Launched(name, jobs.namespace, ended.message, teller.metrics, times_of(ended.train_job))

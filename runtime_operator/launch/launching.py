"""Launches a TrainJob for a step, follows it, and returns when it has ended well.

A job that ends badly is replaced within the budget of its step, for the pipeline's own retries do nothing for
a step that fails. A step that is started again (by a person who presses Retry, or since its pod was lost) and
finds its job failed begins with its whole budget.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from ..errors import JobFailed
from ..jobs import Job, Jobs
from .following import follow_to_end, patiently
from .launched import Launched
from .passthrough import read_task_config
from .place import open_place
from .step import read_step
from .stopping import Watch, taken_along
from .telling import Say, Teller, say_line

Json = Mapping[str, Any]


def launch(
    train_job: Json, *, task: str = "train", task_config: object = None, retries: int = 0, say: Say = say_line
) -> Launched:
    """Run a TrainJob to its end; JobFailed says what died, where and why.

    The job gets its name from the step that asks, so whoever asks again (Argo, the Pipelines UI, a person)
    finds the job that is there. A job that failed is replaced `retries` times. `train_job` needs no metadata;
    `task` is the beginning of the name where no pipeline says another. `task_config` is the `dsl.TaskConfig`
    of the step, or its JSON: what a person has set on the task goes to the pods that train. `say` gets the
    lines of the first node as they come, and what there is to tell besides.
    """
    step, teller = read_step(sys.argv), Teller(say)
    place = open_place(os.environ, say)
    name = place.name(train_job, step, task=task)
    say(f"TrainJob {name} in namespace {place.jobs.namespace}")
    with place.will(name) as will, taken_along(will, say) as watch:
        asked = place.write(train_job, step, read_task_config(task_config), name=name)
        attempts = Attempts(place.jobs, asked, teller, owner=step.key or name, retries=retries)
        job = attempts.run(watch)
    say(f"TrainJob {name}: {job.message}")
    teller.take_status(job.train_job.get("status") or {})
    return Launched(name, job.namespace, job.message, teller.metrics, times_of(job.train_job))


class Attempts:
    """The jobs of one name that a step has, one after the other, until one ends well."""

    def __init__(self, jobs: Jobs, asked: Json, teller: Teller, *, owner: str, retries: int) -> None:
        self._jobs, self._asked, self._teller = jobs, asked, teller
        self._owner, self._retries = owner, retries

    def run(self, watch: Watch) -> Job:
        """Run the job, again where it failed and the budget allows it; JobFailed where it does not."""
        job = self._next(watch)
        if job.phase == "Failed":
            self._teller.say("it has failed before; this step was started again, and so is its job")
            patiently(partial(self._jobs.delete, job.name), self._teller.say)
            job = self._next(watch)
        while True:
            ended = follow_to_end(self._jobs, job.name, self._teller)
            if ended.phase == "Complete":
                return ended
            told = self._teller.digest(patiently(partial(self._jobs.digest, ended.name), self._teller.say))
            job = self._next(watch)
            if _uid(job) == _uid(ended):
                raise JobFailed(told)
            self._teller.say(f"{told}\nanother try")

    def _next(self, watch: Watch) -> Job:
        """Take the job that is there, or make it."""
        watch.is_there = False
        ask = partial(self._jobs.adopt_or_create, self._asked, owner=self._owner, retries=self._retries)
        name = patiently(ask, self._teller.say)
        watch.is_there = True
        return patiently(partial(self._jobs.get, name), self._teller.say)


def times_of(train_job: Json) -> dict[str, float]:
    """Seconds from a job's creation until all its pods ran, and from then to its end; what is known of it."""
    status = train_job.get("status") or {}
    moments = (
        train_job["metadata"].get("creationTimestamp"),
        status.get("startTime"),
        status.get("completionTime"),
    )
    created, ran, ended = (datetime.fromisoformat(each) if each else None for each in moments)
    found: dict[str, float] = {}
    if created and ran:
        found["waiting"] = (ran - created).total_seconds()
    if ran and ended:
        found["running"] = (ended - ran).total_seconds()
    return found


def _uid(job: Job) -> str:
    return str(job.train_job["metadata"].get("uid", ""))

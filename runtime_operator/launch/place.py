"""Where a step's job runs, with what differs between this machine and a cluster.

On a cluster the step's pod says who owns the job, and stopping means a DELETE; on this machine nobody owns
it, and stopping means to cancel it, so that its logs stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from ..errors import SpecError
from ..jobs import Jobs, open_jobs
from ..jobs.place import usual_place
from .document import name_of, place_job, write_job
from .passthrough import TaskConfig
from .step import Step
from .stopping import Will
from .surroundings import Surroundings
from .telling import Say

Json = Mapping[str, Any]


class Place(Protocol):
    """Where jobs of steps run."""

    @property
    def jobs(self) -> Jobs:
        """The jobs there."""

    @property
    def around(self) -> Surroundings:
        """What is around the step."""

    def name(self, train_job: Json, step: Step, *, task: str) -> str:
        """The name of the TrainJob of a step."""

    def write(self, train_job: Json, step: Step, config: TaskConfig, *, name: str) -> Json:
        """The TrainJob as it is sent."""

    def will(self, name: str) -> AbstractContextManager[Will]:
        """What is done about a job when the step is told to stop; ready inside the context."""


class ThisMachine:
    """Jobs are processes of this machine."""

    def __init__(self) -> None:
        self.jobs, self.around = open_jobs(place="local"), Surroundings()

    def name(self, train_job: Json, step: Step, *, task: str) -> str:
        """The name of the TrainJob of a step."""
        return name_of(train_job, step, lambda: self.around, task=task)

    def write(self, train_job: Json, step: Step, config: TaskConfig, *, name: str) -> Json:
        """The TrainJob as it is sent."""
        named = write_job(train_job, step, self.around, name=name)
        return place_job(named, config, self.around, runtime={})

    @contextmanager
    def will(self, name: str) -> Iterator[Will]:
        """To cancel the job."""
        yield Cancel(self.jobs, name)


class Cancel:
    """Cancels a job of this machine."""

    def __init__(self, jobs: Jobs, name: str) -> None:
        self._jobs, self._name = jobs, name

    def say(self) -> bool:
        """Cancel it, if it is there."""
        try:
            self._jobs.cancel(self._name)
        except SpecError:  # it has not been made
            return False
        return True

    say_until_taken = say


def open_place(environ: Mapping[str, str], say: Say) -> Place:
    """Open the place where jobs run if nobody says otherwise."""
    if usual_place(environ, named=False) == "local":
        return ThisMachine()
    from .in_cluster import InCluster

    return InCluster(environ, say)

"""A step in a cluster: its pod, its namespace, and the jobs beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any

from ..jobs import open_jobs
from ..kube.credentials import load_credentials
from .document import name_kind, name_of, place_job, write_job
from .farewell import Farewell
from .following import patiently
from .looking import look_around, read_runtime
from .passthrough import TaskConfig
from .step import Step
from .surroundings import Surroundings
from .telling import Say

Json = Mapping[str, Any]


class InCluster:
    """Jobs run in the cluster of this pod, or of the current kubeconfig."""

    def __init__(self, environ: Mapping[str, str], say: Say) -> None:
        self._environ, self._say = environ, say
        self._cluster = load_credentials(environ=environ)
        self.jobs = open_jobs(place="cluster")

    @cached_property
    def around(self) -> Surroundings:
        """What is around the step, read once."""
        return patiently(lambda: asyncio.run(look_around(self._cluster, self._environ)), self._say)

    def name(self, train_job: Json, step: Step, *, task: str) -> str:
        """The name of the TrainJob of a step; inside a pipeline nothing is asked for it."""
        return name_of(train_job, step, lambda: self.around, task=task)

    def write(self, train_job: Json, step: Step, config: TaskConfig, *, name: str) -> Json:
        """The TrainJob as it is sent."""
        runtime = patiently(lambda: asyncio.run(self._runtime(train_job)), self._say)
        named = write_job(name_kind(train_job, runtime), step, self.around, name=name)
        return place_job(named, config, self.around, runtime=runtime)

    async def _runtime(self, train_job: Json) -> Json:
        return await read_runtime(self._cluster, self.jobs.namespace, train_job)

    def will(self, name: str) -> AbstractContextManager[Farewell]:
        """To delete the job, over a connection that is open already."""
        return Farewell(self._cluster, self.jobs.namespace, name)

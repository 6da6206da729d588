"""An API server in memory that has all an installation has, and the parts of a process on it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import pytest

from kfp_trainer.runtime_operator.controller.kinds import (
    CLUSTER_TRAINING_RUNTIMES,
    JOBSETS,
    TRAIN_JOBS,
    TRAINING_RUNTIMES,
)
from kfp_trainer.runtime_operator.kube.resource import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from kfp_trainer.runtime_operator.service.parts import Parts
from kfp_trainer.runtime_operator.service.process import serve
from kfp_trainer.runtime_operator.service.settings import ServiceSettings
from tests.fake_api import FakeApi

Json = dict[str, Any]
HOOKS = {
    MUTATING_WEBHOOKS: "defaulter.trainer.kubeflow.org",
    VALIDATING_WEBHOOKS: "validator.trainer.kubeflow.org",
}


@pytest.fixture
async def api() -> FakeApi:
    """With webhook configurations and a runtime `plain`."""
    made = FakeApi(TRAIN_JOBS, TRAINING_RUNTIMES, CLUSTER_TRAINING_RUNTIMES, JOBSETS)
    for resource, name in HOOKS.items():
        hooks = [{"name": "a.b.c", "clientConfig": {"service": {"name": "hook"}}}]
        made.create(
            resource,
            {
                "apiVersion": resource.api_version,
                "kind": resource.kind,
                "metadata": {"name": name},
                "webhooks": hooks,
            },
        )
    container = {"name": "node", "image": "example.com/train:1"}
    job = {
        "name": "node",
        "template": {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
            "spec": {"template": {"spec": {"containers": [container]}}},
        },
    }
    spec = {"mlPolicy": {"numNodes": 1, "torch": {}}, "template": {"spec": {"replicatedJobs": [job]}}}
    kind = CLUSTER_TRAINING_RUNTIMES
    metadata = {"name": "plain"}
    made.create(kind, {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": spec})
    return made


@pytest.fixture
def job() -> Json:
    """A job on that runtime."""
    return {
        "apiVersion": TRAIN_JOBS.api_version,
        "kind": "TrainJob",
        "metadata": {"name": "bert", "namespace": "team"},
        "spec": {"runtimeRef": {"name": "plain"}},
    }


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Running:
    """One process that serves."""

    def __init__(self, api: FakeApi, settings: Json) -> None:
        ports = {f"{name}_port": free_port() for name in ("health", "metrics", "webhook", "progress")}
        self.settings = ServiceSettings(**{"host": "127.0.0.1", **ports, **settings})
        self.stop = asyncio.Event()
        self.parts = Parts(api.transport(), self.settings, "system")
        self.task = asyncio.create_task(serve(self.parts, self.stop))

    async def asks(self, path: str, *, port: str = "health", **options: Any) -> tuple[int, str]:
        """The code and text of an answer; 0 if nobody listens."""
        scheme = "http" if port == "health" or self.parts.serving is None else "https"
        number = getattr(self.settings, f"{port}_port")
        method = "POST" if "data" in options or "json" in options else "GET"
        async with aiohttp.ClientSession() as session:
            try:
                async with session.request(
                    method, f"{scheme}://127.0.0.1:{number}{path}", ssl=False, **options
                ) as answer:
                    return answer.status, await answer.text()
            except aiohttp.ClientConnectionError:
                return 0, ""

    async def is_ready(self) -> None:
        """Wait until it says so."""
        async with asyncio.timeout(30):
            while not self.task.done() and (await self.asks("/readyz"))[0] != 200:
                await asyncio.sleep(0.02)
        if self.task.done():
            self.task.result()


@pytest.fixture
async def running(api: FakeApi) -> AsyncIterator[Callable[..., Running]]:
    """Starts processes on the API server; all have ended after the test."""
    started: list[Running] = []

    def start(**settings: Any) -> Running:
        started.append(Running(api, settings))
        return started[-1]

    yield start
    for each in started:
        each.stop.set()
    for each in started:
        with contextlib.suppress(Exception):
            await each.task

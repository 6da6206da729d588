"""A bed for pods: starts them in a folder of the test, hears their events, ends what is left."""

import asyncio
import base64
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kfp_trainer.runtime_operator.local.process import (
    Backoff,
    Isolation,
    Place,
    Pod,
    PodEvent,
    PodRunner,
    Settings,
)
from kfp_trainer.runtime_operator.local.process.isolation import works
from kfp_trainer.runtime_operator.local.process.logs import tail_bytes

UID = "0c8a4c0e-1"
LIMIT = 10.0


class Objects:
    """A resolver over plain dictionaries."""

    def __init__(self, folder: Path) -> None:
        self.config_maps = {
            "settings": {
                "kind": "ConfigMap",
                "data": {"lr": "0.1", "path": "/data/x on peer-1.job:29500"},
                "binaryData": {"raw": base64.b64encode(b"\xff\x00").decode()},
            }
        }
        self.secrets = {
            "keys": {"kind": "Secret", "data": {"token": base64.b64encode(b"hidden").decode()}},
        }
        self.claims = {"work": folder / "claim"}
        self.claims["work"].mkdir()
        self.tokens = 0

    async def config_map(self, name: str) -> dict[str, Any] | None:
        return self.config_maps.get(name)

    async def secret(self, name: str) -> dict[str, Any] | None:
        return self.secrets.get(name)

    async def claim(self, name: str) -> Path | None:
        return self.claims.get(name)

    async def token(self, audience: str, seconds: int) -> str:
        self.tokens += 1
        return f"token-{self.tokens} for {audience} of {seconds}s"


class Bed:
    """Runs one pod at a time."""

    def __init__(self, folder: Path, way: Isolation) -> None:
        self.folder = folder / "pod"
        self.objects = Objects(folder)
        self.way = way
        settings = Settings(way, backoff=Backoff(base=0.3, longest=1.0), retry=0.05)
        self.runner = PodRunner(settings)
        self.events: list[PodEvent] = []
        self._heard = asyncio.Event()
        self._pods: list[Pod] = []

    def start(self, pod: dict[str, Any], **place: Any) -> Pod:
        where = replace(Place(self.folder, node_name="here", pod_ip="127.0.0.1"), **place)
        living = self.runner.start(pod, where, resolver=self.objects, listener=self.hear)
        self._pods.append(living)
        return living

    def adopt(self) -> Pod:
        living = self.runner.adopt(self.folder, resolver=self.objects, listener=self.hear)
        self._pods.append(living)
        return living

    def hear(self, event: PodEvent) -> None:
        self.events.append(event)
        self._heard.set()

    async def until(self, wanted: Callable[[PodEvent], bool]) -> PodEvent:
        """Wait for an event, also one that came before."""
        async with asyncio.timeout(LIMIT):
            while True:
                for event in self.events:
                    if wanted(event):
                        return event
                self._heard.clear()
                await self._heard.wait()

    async def kind(self, kind: str, container: str = "main") -> PodEvent:
        return await self.until(lambda event: (event.kind, event.container) == (kind, container))

    async def end(self, pod: Pod) -> str:
        async with asyncio.timeout(LIMIT):
            return await pod.wait()

    async def seen(self, text: str, container: str = "main", number: int = 0) -> None:
        """Wait until a container has printed a text."""
        async with asyncio.timeout(LIMIT):
            while text not in self.log(container, number):
                await asyncio.sleep(0.01)

    def log(self, container: str = "main", number: int = 0) -> str:
        path = self.folder / "containers" / container / str(number) / "log"
        return tail_bytes(path, lines=1000).decode(errors="replace")

    def troubles(self) -> str:
        """Return what launchers have said of themselves."""
        return "".join(path.read_text() for path in self.folder.glob("containers/*/*/launcher.log"))

    async def detach(self, pod: Pod) -> None:
        self._pods.remove(pod)
        await pod.detach()

    async def close(self) -> None:
        for pod in self._pods:
            async with asyncio.timeout(LIMIT):
                await pod.stop(0)


WAYS = {way: works(way) for way in (Isolation.NAMESPACES, Isolation.USER_NAMESPACES)} | {
    Isolation.REWRITING: True
}


@pytest.fixture(params=list(Isolation), ids=lambda way: str(way.value).replace(" ", "-"))
def way(request: pytest.FixtureRequest) -> Isolation:
    """Each way to run a pod that this machine allows."""
    if not WAYS[request.param]:
        pytest.skip(f"this machine does not allow {request.param.value}")
    return request.param


@pytest.fixture
async def bed(tmp_path: Path, way: Isolation) -> AsyncIterator[Bed]:
    bed = Bed(tmp_path, way)
    yield bed
    await bed.close()
    assert bed.troubles() == ""


@pytest.fixture
def pod_of() -> Callable[..., dict[str, Any]]:
    """Build a pod with one container `main`, or with those given."""

    def build(*command: str, containers: Any = None, spec: Any = None, **main: Any) -> dict[str, Any]:
        one = {"name": "main", "image": "any", "command": list(command), **main}
        return {
            "metadata": {
                "name": "peer-0-abcde",
                "namespace": "lab",
                "uid": UID,
                "labels": {"app": "it"},
                "annotations": {"batch.kubernetes.io/job-completion-index": "3"},
            },
            "spec": {
                "restartPolicy": "Never",
                "hostname": "peer-0",
                "terminationGracePeriodSeconds": 2,
                "containers": containers or [one],
                **(spec or {}),
            },
        }

    return build


@pytest.fixture
def python() -> Callable[[str], list[str]]:
    """Return the command that runs a text as Python, quickly."""
    return lambda text: [sys.executable, "-S", "-c", text]


@pytest.fixture
def own_process() -> Callable[..., subprocess.Popen[str]]:
    """Start a Python text in a process of its own."""

    def start(text: str, *args: str, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        command = [*before, sys.executable, "-c", text, *args]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    return start

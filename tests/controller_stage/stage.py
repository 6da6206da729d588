"""The stage: who is on it, and what they can do."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from typing import Any

from kfp_trainer.runtime_operator.controller.kinds import (
    CLUSTER_TRAINING_RUNTIMES,
    JOBSETS,
    TRAIN_JOBS,
    TRAINING_RUNTIMES,
)
from kfp_trainer.runtime_operator.controller.metrics import Metrics
from kfp_trainer.runtime_operator.controller.operator import Operator
from kfp_trainer.runtime_operator.controller.settings import ControllerSettings
from kfp_trainer.runtime_operator.kube.errors import api_error
from kfp_trainer.runtime_operator.kube.resource import CONFIG_MAPS, PODS, SECRETS, Resource
from kfp_trainer.runtime_operator.kube.transport import JSON
from kfp_trainer.runtime_operator.render import jobset_update
from tests.fake_api import Crash, FakeApi, FakeTransport, Write
from tests.virtual_time import now, until

from .cast import job, pod, runtime

Json = dict[str, Any]
VOLCANO = Resource("scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup")
COSCHEDULING = Resource("scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup")
NAMESPACE = "lab"
CHILDREN = (JOBSETS, CONFIG_MAPS, SECRETS, VOLCANO)
WRITES = ("create", "apply", "patch", "delete")
SETTLED_AFTER = 40.0  # longer than the longest back-off and every patience


class StageTransport(FakeTransport):
    """Dies with its process, and knows a dry run."""

    def __init__(self, api: FakeApi) -> None:
        super().__init__(api)
        self.dead = asyncio.Event()
        self.write_takes = 0.0
        """seconds, beside what every call takes"""

    @contextlib.asynccontextmanager
    async def _call(self, verb: str, resource: Resource | None, name: str = "") -> Any:
        if verb in WRITES:
            await asyncio.sleep(self.write_takes)
        try:
            async with super()._call(verb, resource, name) as fault:
                yield fault
        except Crash:
            self.dead.set()
            await asyncio.Event().wait()

    async def request(
        self,
        method: str,
        path: str,
        *,
        parameters: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = JSON,
    ) -> bytes:
        """Claim an object without having it."""
        if (parameters or {}).get("dryRun") != "All":
            return await super().request(method, path, parameters=parameters, body=body)
        _, _, _, _, namespace, plural, name = path.split("/")
        assert plural == "secrets", path
        there, given = self._api.need(SECRETS, namespace, name), json.loads(body or b"{}")
        owners = {
            each["uid"] for each in (there, given) for each in each["metadata"].get("ownerReferences") or ()
        }
        if len(owners) > 1:
            raise api_error(422, "Invalid", "Only one reference can have Controller set to true")
        return json.dumps(there).encode()


class Recorder:
    """Keeps events in a list."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def record(self, about: Mapping[str, Any], reason: str, message: str, *, type_: str = "Normal") -> None:
        """Note an event."""
        self.told.append((reason, message))


class Stage:
    """An API server with our kinds, Volcano's and the default runtime, and an operator."""

    def __init__(self, *others: Resource, settings: ControllerSettings | None = None) -> None:
        kinds = others or (VOLCANO,)
        ours = (TRAIN_JOBS, TRAINING_RUNTIMES, CLUSTER_TRAINING_RUNTIMES, JOBSETS)
        self.api = FakeApi(*ours, *kinds)
        self.api.admission += [one_controller, jobset_rules]
        self.settings = settings or ControllerSettings(workers=4)
        self.events = Recorder()
        self.starts = 0

    async def __aenter__(self) -> Stage:
        self.api.create(CLUSTER_TRAINING_RUNTIMES, runtime())
        await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Start an operator, and make it the leader."""
        self.starts += 1
        self.transport = StageTransport(self.api)
        self.operator = Operator(
            self.transport,
            settings=self.settings,
            metrics=Metrics(),
            recorder=self.events,
            certificate=lambda: None,
            now=now,
        )
        self._tasks = [
            asyncio.create_task(self.operator.watch()),
            asyncio.create_task(self.operator.lead()),
        ]

    async def stop(self) -> None:
        """Kill the operator."""
        for task in self._tasks:
            task.cancel()
        done = await asyncio.gather(*self._tasks, return_exceptions=True)
        for each in done:
            if isinstance(each, Exception):
                raise each

    async def restart(self) -> None:
        """Kill the operator and start another."""
        await self.stop()
        await self.start()

    async def settle(self, seconds: float = SETTLED_AFTER) -> None:
        """Let time pass; an operator that dies meanwhile is followed by another."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while (left := end - loop.time()) > 0:
            try:
                async with asyncio.timeout(left):
                    await self.transport.dead.wait()
            except TimeoutError:
                return
            await self.restart()

    # a user

    def create_job(self, name: str = "bert", **spec: Any) -> Json:
        """Create a TrainJob."""
        return self.api.create(TRAIN_JOBS, job(name, **spec))

    def change_job(self, name: str = "bert", **spec: Any) -> Json:
        """Change the spec of a TrainJob."""
        return self.api.change(TRAIN_JOBS, NAMESPACE, name, {"spec": spec})

    def delete_job(self, name: str = "bert", **how: Any) -> None:
        """Delete a TrainJob."""
        self.api.remove(TRAIN_JOBS, NAMESPACE, name, **how)

    def job(self, name: str = "bert") -> Json | None:
        """The TrainJob."""
        return self.api.get(TRAIN_JOBS, NAMESPACE, name)

    def status(self, name: str = "bert") -> Json:
        """The status of a TrainJob; empty where it has none."""
        return self.api.need(TRAIN_JOBS, NAMESPACE, name).get("status") or {}

    def conditions(self, name: str = "bert") -> dict[str, tuple[str, str]]:
        """Status and reason of each condition."""
        return {
            each["type"]: (each["status"], each["reason"])
            for each in self.status(name).get("conditions") or ()
        }

    def message(self, type_: str = "Failed", name: str = "bert") -> str:
        """The message of a condition; empty where there is none."""
        found = (each for each in self.status(name).get("conditions") or () if each["type"] == type_)
        return str(next((each["message"] for each in found), ""))

    # the cluster's controllers

    def jobset(self, name: str = "bert") -> Json | None:
        """The JobSet of a job."""
        return self.api.get(JOBSETS, NAMESPACE, name)

    async def until_jobset(self, name: str = "bert") -> Json:
        """Wait for the JobSet of a job."""
        await until(lambda: self.jobset(name), limit=120, step=0.01)
        return self.api.need(JOBSETS, NAMESPACE, name)

    def report(self, name: str = "bert", *, job: str = "node", **counts: int) -> None:
        """Count the Jobs of a JobSet, as its controller does."""
        told = {"name": job, "ready": 0, "succeeded": 0, "failed": 0, "active": 0, "suspended": 0, **counts}
        self.api.change(JOBSETS, NAMESPACE, name, {"status": {"replicatedJobsStatus": [told]}})

    def end(self, name: str = "bert", *, how: str = "Completed", reason: str = "AllJobsCompleted") -> None:
        """Let a JobSet end."""
        told = {
            "type": how,
            "status": "True",
            "reason": reason,
            "message": f"jobset {how.lower()}",
            "lastTransitionTime": now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        self.api.change(JOBSETS, NAMESPACE, name, {"status": {"conditions": [told]}})

    def add_pod(self, name: str = "bert", **how: Any) -> Json:
        """Make a pod of a JobSet."""
        return self.api.create(PODS, pod(self.api.need(JOBSETS, NAMESPACE, name), **how))

    # the public

    def written(self, *resources: Resource) -> list[Write]:
        """The operator's writes, of these kinds if any are named."""
        return [each for each in self.api.writes if not resources or each.resource in resources]

    def children(self, kinds: tuple[Resource, ...] = CHILDREN) -> list[str]:
        """Kind and name of all there is beside jobs and runtimes."""
        return sorted(
            f"{each.kind}/{document['metadata']['name']}"
            for each in kinds
            if each in self.api.served()
            for document in self.api.all(each)
        )


def one_controller(resource: Resource, old: Json | None, new: Json) -> None:
    """No object has two controllers, as every API server has it."""
    owners = [each for each in new["metadata"].get("ownerReferences") or () if each.get("controller")]
    if len(owners) > 1:
        text = "metadata.ownerReferences: Invalid value: Only one reference can have Controller set to true"
        raise api_error(422, "Invalid", text)


def jobset_rules(resource: Resource, old: Json | None, new: Json) -> None:
    """A JobSet changes only in what JobSet's webhook lets change."""
    if resource is JOBSETS and old is not None:
        errors = [str(each) for each in jobset_update.check(old["spec"], new["spec"])]
        if errors:
            raise api_error(403, "Forbidden", f'admission webhook "vjobset.kb.io" denied: {errors}')

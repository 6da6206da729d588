"""The pods of one job that run, or have run, on this machine: from the rules' pods to processes.

The folder of a pod has its name. A pod is removed by removing what it made for itself; its logs stay, for
whoever asks why the attempt before failed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import KfpTrainerError, Retryable
from .commands import Target
from .folder import JobFolder
from .gpus import devices_for, hand_back
from .kubectl import is_host, with_kubectl
from .process.events import Listener, PodEvent
from .process.files import read_json
from .process.living_pod import Pod as LivingPod
from .process.place import Place
from .process.runner import PodRunner
from .process.volumes import remove_volumes
from .record import JobRecord
from .reporting import container_statuses
from .resolver import Objects
from .semantics import Pod, State
from .ssh import environment, with_ssh

Tell = Callable[[str, str, str, bool], None]
"""pod, reason, message, whether it is a warning"""
_TOLD = {"exited": True, "waiting": True, "note": False, "unready": True, "started": False}
"""which news of a container become events, and whether one is a warning"""
NOT_STARTED = "StartError"
"""as a kubelet names it; here nobody brings another image, so trying again changes nothing"""
URL_VARIABLE = "KUBEFLOW_TRAINER_SERVER_URL"
TOKEN_VARIABLE = "KUBEFLOW_TRAINER_SERVER_TOKEN"


class Pods:
    """The pods of one job."""

    def __init__(
        self, folder: JobFolder, record: JobRecord, jobs: Path, *, changed: Callable[[], None], tell: Tell
    ) -> None:
        self._folder, self._record, self._jobs = folder, record, jobs
        self._changed, self._tell = changed, tell
        self._runner = PodRunner()
        self._living: dict[str, LivingPod] = {}
        self._known: dict[str, Mapping[str, Any]] = {}
        """the documents of the pods, by their names"""
        self._over: set[str] = set()
        self._failed: dict[str, dict[str, Any]] = {}
        self._cancelled: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        claims = jobs / ".claims" / folder.namespace
        self._resolver = Objects(record.objects, claims, token=record.token)

    @property
    def are_alive(self) -> bool:
        """Whether anything of any pod runs."""
        return bool(self._living.keys() - self._over)

    def status(self, pod: Pod) -> Mapping[str, Any] | None:
        """How a pod fares; None when it was never started."""
        living = self._living.get(pod.name)
        return self._failed.get(pod.name) if living is None else living.status()

    def is_over(self, pod: Pod) -> bool:
        """Whether nothing of a pod runs any more."""
        return pod.name in self._over or pod.name in self._failed

    def statuses(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The last status of every pod there ever was."""
        for folder in sorted((self._folder.path / "pods").glob("*")):
            yield folder.name, read_json(folder / "status.json") or {}

    def hopeless(self) -> str:
        """Why the job can never run: a container that cannot be started as it is."""
        for name, living in self._living.items():
            for each in container_statuses(living.status()):
                for state in (each.get("state") or {}, each.get("lastState") or {}):
                    ended = state.get("terminated") or {}
                    if ended.get("reason") == NOT_STARTED:
                        return f"pod {name}: {ended.get('message', '')}"
        return next((f"pod {name}: {status['message']}" for name, status in self._failed.items()), "")

    def take_up(self, state: State) -> None:
        """Take over what an earlier runner left: adopt, start what is missing, stop what is not wanted."""
        wanted = {pod.name: pod for pod in state.pods}
        self._known = {name: pod.manifest for name, pod in wanted.items()}
        for folder in sorted((self._folder.path / "pods").glob("*")):
            pod = wanted.get(folder.name)
            if (pod is None or not pod.ended) and (folder / "pod.json").exists():
                self._watch(
                    folder.name,
                    self._runner.adopt(folder, resolver=self._resolver, listener=self._listen(folder.name)),
                )
            if pod is None:
                self._stop(folder.name, 0)
        for pod in state.pods:
            if pod.terminating:
                self.stop(pod)
            elif not pod.ended and pod.name not in self._living:
                self.start(pod)

    def start(self, pod: Pod) -> None:
        """Start a pod; one that cannot be started has failed, and says why."""
        self._known[pod.name] = pod.manifest
        try:
            place = self._place(pod)
        except Retryable as error:
            self._tell(pod.name, "FailedScheduling", str(error), True)
            self._spawn(self._start_later(pod, error.after))
            return
        except OSError as error:
            self._has_failed(pod, f"{error.filename}: {(error.strerror or str(error)).lower()}")
            return
        try:
            living = self._runner.start(
                self._adapted(pod, place), place, resolver=self._resolver, listener=self._listen(pod.name)
            )
        except (OSError, KfpTrainerError) as error:
            self._has_failed(pod, str(error))
            return
        self._watch(pod.name, living)

    def _adapted(self, pod: Pod, place: Place) -> Mapping[str, Any]:
        """The pod as it can run here."""
        own_view = self._runner.settings.isolation.own_view
        adapted = with_kubectl(pod.manifest, place.folder / "kube", self._folder.path, own_view=own_view)
        if not own_view:
            return adapted
        host = str(pod.manifest["spec"].get("hostname"))
        return with_ssh(adapted, place.folder / "ssh", host=host, ports=self._record.ports)

    def find(self, host: str) -> Target | None:
        """The pod of a host that programs can be started in."""
        for name, living in self._living.items():
            pod = self._known.get(name)
            if pod is not None and name not in self._over and is_host(pod["metadata"]["labels"], host):
                return Target(living, pod["spec"]["containers"][0]["name"])
        return None

    def _has_failed(self, pod: Pod, why: str) -> None:
        self._failed[pod.name] = {"phase": "Failed", "message": why}
        self._tell(pod.name, "FailedStart", why, True)
        self._changed()

    async def _start_later(self, pod: Pod, seconds: float) -> None:
        await asyncio.sleep(seconds)
        if pod.name not in self._cancelled:
            self.start(pod)

    def stop(self, pod: Pod, grace: float | None = None) -> None:
        """Tell a pod to stop."""
        self._cancelled.add(pod.name)
        self._stop(pod.name, grace)

    def remove(self, pod: Pod) -> None:
        """Throw away what was only a pod's own, but its logs."""
        document = read_json(self._folder.pod(pod.name) / "pod.json")
        if document is not None:
            remove_volumes(Place.of(document["place"]))

    def _stop(self, name: str, grace: float | None) -> None:
        living = self._living.get(name)
        if living is not None and name not in self._over:
            self._spawn(_stopped(living, grace))

    def _watch(self, name: str, living: LivingPod) -> None:
        self._living[name] = living
        self._spawn(self._until_over(name, living))

    async def _until_over(self, name: str, living: LivingPod) -> None:
        await living.wait()
        self._over.add(name)
        hand_back(self._jobs, living.folder)
        self._changed()

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _place(self, pod: Pod) -> Place:
        folder = self._folder.pod(pod.name)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        token = folder / "token"
        token.write_text(self._record.token)
        namespace, name = self._folder.namespace, self._folder.name
        server = f"http://127.0.0.1:{self._record.progress_port}/apis/trainer.kubeflow.org/v1alpha1"
        url = f"{server}/namespaces/{namespace}/trainjobs/{name}/status"
        return Place(
            folder,
            pod_ip=self._record.addresses.get(str(pod.manifest["spec"].get("hostname")), "127.0.0.1"),
            hosts=self._record.hosts,
            ports=self._record.ports,
            gpus=devices_for(self._jobs, folder, pod.manifest),
            env={URL_VARIABLE: url, TOKEN_VARIABLE: str(token), **environment(root=os.geteuid() == 0)},
        )

    def _listen(self, name: str) -> Listener:
        def hear(event: PodEvent) -> None:
            is_expected = event.kind == "exited" and (event.exit_code == 0 or name in self._cancelled)
            if event.kind in _TOLD and not is_expected:
                message = ": ".join(part for part in (event.container, event.message) if part)
                self._tell(name, event.reason, message, _TOLD[event.kind])
            self._changed()

        return hear


async def _stopped(living: LivingPod, grace: float | None) -> None:
    await living.stop(grace)

"""Jobs of real processes, in a folder of the test's own, and nothing left of them afterwards."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from kfp_trainer.runtime_operator.jobs import LocalJobs

Document = dict[str, Any]
STEP = "trainer.kubeflow.org/trainjob-ancestor-step"


class Workshop:
    """Makes documents, runs them as jobs, and knows what is left of their processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jobs = LocalJobs(folder / "jobs")

    def runtime(self, *, policy: Mapping[str, Any] | None = None, **jobset: Any) -> Document:
        """A torch runtime of one container; `jobset` adds to the JobSet's spec."""
        pod = {"containers": [{"name": "node", "image": "test"}]}
        node = {
            "name": "node",
            "template": {"metadata": {"labels": {STEP: "trainer"}}, "spec": {"template": {"spec": pod}}},
        }
        return {
            "apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": "ClusterTrainingRuntime",
            "metadata": {"name": "test", "labels": {"trainer.kubeflow.org/framework": "torch"}},
            "spec": {
                "mlPolicy": {"numNodes": 1, **(policy or {"torch": {}})},
                "template": {"spec": {"replicatedJobs": [node], **jobset}},
            },
        }

    def train_job(self, name: str, script: str, *, nodes: int = 1, **spec: Any) -> Document:
        """A TrainJob whose nodes run a bash script."""
        trainer = {"numNodes": nodes, "command": ["bash", "-c", script], **spec.pop("trainer", {})}
        return {
            "apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": "TrainJob",
            "metadata": {"name": name},
            "spec": {"runtimeRef": {"name": "test"}, "trainer": trainer, **spec},
        }

    def run(self, *documents: Document, timeout: float = 60) -> list[str]:
        """Run a job to its end and return the lines of its first node; JobFailed if it fails."""
        lines: list[str] = []
        self.jobs.wait(self.jobs.create(documents), on_line=lines.append, timeout=timeout)
        return lines

    def left_behind(self) -> Sequence[int]:
        """The processes that are left when runners have had a moment to leave."""
        deadline = time.monotonic() + 10
        while (found := self._processes()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return found

    def _processes(self) -> Sequence[int]:
        """The processes that have anything of this folder in their command or environment."""
        mark = str(self.folder).encode()
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                text = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            except OSError:
                continue
            if mark in text:
                found.append(int(process.name))
        return found


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    """A workshop that is empty again at the end."""
    workshop = Workshop(tmp_path)
    yield workshop
    for job in workshop.jobs.list():
        workshop.jobs.delete(job.name, timeout=60)

"""Submits TrainJobs by the official Kubeflow SDK and follows them to their end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from kubeflow.trainer import CustomTrainerContainer, KubernetesBackendConfig, TrainerClient
from kubeflow.trainer.options import Name, TrainerArgs

IMAGE = "ghcr.io/kfp-trainer/workload:0.1.0"
PATIENCE = 600
ENDS = {"Complete", "Failed"}


class Jobs:
    """A person with a kubeconfig, in one namespace."""

    def __init__(self, kubeconfig: Path, namespace: str, say: Callable[[str], None]) -> None:
        logging.getLogger("kubeflow").setLevel(logging.WARNING)
        self._say = say
        self._client = TrainerClient(
            KubernetesBackendConfig(namespace=namespace, config_file=str(kubeconfig))
        )

    def submit(self, name: str, *, runtime: str, nodes: int, arguments: Sequence[str] = ()) -> None:
        """Create a TrainJob."""
        options = [Name(name), *([TrainerArgs(list(arguments))] if arguments else [])]
        trainer = CustomTrainerContainer(image=IMAGE, num_nodes=nodes)
        self._client.train(runtime=runtime, trainer=trainer, options=options)

    def wait_until_it_runs(self, name: str) -> None:
        """Wait until all its nodes run, or it has ended."""
        self._client.wait_for_job_status(
            name, status={"Running", *ENDS}, timeout=PATIENCE, polling_interval=1
        )

    def follow(self, name: str) -> None:
        """Pass on what its first node prints, until it ends."""
        self.wait_until_it_runs(name)
        for line in self._client.get_job_logs(name, follow=True):
            self._say(f"  {name} | {line}")

    def ends_well(self, name: str) -> bool:
        """Whether it is complete, once it has ended."""
        job = self._client.wait_for_job_status(name, status=ENDS, timeout=PATIENCE, polling_interval=1)
        return bool(job.status == "Complete")

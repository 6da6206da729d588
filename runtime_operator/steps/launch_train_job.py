"""What `launch_train_job` does: make a TrainJob and go on, while it trains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..launch.apart import start
from .outputs import every_output, write_value
from .train_job import read_job_settings, trainer_of

if TYPE_CHECKING:
    from kfp import dsl


def launch_train_job(
    job_name: str,
    runtime: str,
    image: str,
    command: Sequence[str] | None,
    arguments: Sequence[str] | None,
    script: str,
    job: Mapping[str, Any] | None,
    task_config: dsl.TaskConfig | None,
) -> None:
    """Make the TrainJob and fill the output."""
    with every_output("Launching", values={job_name: ""}):
        settings = read_job_settings(job, runtime=runtime, image=image)
        trainer = trainer_of(command or (), arguments or (), script)
        launched = start(settings.train_job(**trainer), task_config=settings.on_task(task_config))
        write_value(job_name, launched.name)

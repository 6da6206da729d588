"""What `wait_train_job` does: follow a TrainJob that another step has made to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..launch.apart import wait_for
from .outputs import describe, every_output, log_metrics, write_file
from .train_job import summary_of

if TYPE_CHECKING:
    from kfp import dsl


def wait_train_job(job_name: str, summary: dsl.Markdown, training_metrics: dsl.Metrics) -> None:
    """Follow the job and fill the outputs; JobFailed if it ends badly."""
    with every_output("The TrainJob", summary):
        launched = wait_for(job_name)
        log_metrics(training_metrics, launched.metrics)
        describe(training_metrics, train_job=f"{launched.namespace}/{launched.name}")
        write_file(summary, summary_of(launched))

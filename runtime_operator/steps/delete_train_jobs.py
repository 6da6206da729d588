"""What `delete_train_jobs` does: at a run's end, however it ends, take along what still trains for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..launch import clean_up
from .outputs import every_output

if TYPE_CHECKING:
    from kfp import dsl

GOOD = ("COMPLETE", "SUCCEEDED")


def delete_train_jobs(status: dsl.PipelineTaskFinalStatus) -> None:
    """Delete the run's TrainJobs that have not ended; any state but a good one is told."""
    with every_output("Cleaning up"):
        deleted = clean_up()
        if status.state not in GOOD:
            print(f"the run ended as {status.state}; {len(deleted)} TrainJobs were still there", flush=True)

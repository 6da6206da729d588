"""What a pipeline's step does with a TrainJob: launch, follow, and take it along when stopped.

    launched = launch({"apiVersion": …, "kind": "TrainJob", "spec": …}, task_config=task_config, retries=2)
    launched.metrics["loss"]

On a cluster the step is a pod; on one machine it is any process, and the same call runs the job there.
"""

from __future__ import annotations

from .cleaning import clean_up
from .launched import Launched
from .launching import launch

__all__ = ["Launched", "clean_up", "launch"]

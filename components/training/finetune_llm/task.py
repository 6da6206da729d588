"""What `finetune_llm` does: launch a TrainJob on the runtime `trl-finetune`, wait, and tell how it ended.

The settings travel as the container's arguments, so the same TrainJob can be written by hand and runs
anywhere its paths exist.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kfp_trainer.components.ending import sentence_on_failure
from kfp_trainer.runtime_operator.jobs import open_jobs

if TYPE_CHECKING:
    from kfp import dsl

RUNTIME = "trl-finetune"


@sentence_on_failure
def finetune(
    settings: Mapping[str, Any],
    *,
    tuned_model: dsl.Model,
    training_report: dsl.HTML,
    training_metrics: dsl.Metrics,
) -> str:
    """Run the fine-tuning as a TrainJob, fill the outputs, and return the folder of the tuned model."""
    jobs = open_jobs()
    job = jobs.create(train_job(settings))
    jobs.wait(job, on_line=print)
    output = Path(settings["output"])
    result = json.loads((output / "result.json").read_text())
    for name in ("first_loss", "last_loss", "steps", "tokens_per_second"):
        training_metrics.log_metric(name, result[name])
    shutil.copyfile(result["report"], training_report.path)
    tuned_model.metadata.update(path=result["model"], job=job, digests=result["digests"])
    return str(result["model"])


def train_job(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Write the TrainJob of these settings; equal settings have equal names."""
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": job_name(arguments)},
        "spec": {"runtimeRef": {"name": RUNTIME}, "trainer": {"numNodes": 1, "args": arguments}},
    }


def job_name(arguments: list[str]) -> str:
    """Derive a name that Kubernetes takes from what the job is to do."""
    digest = sha256("\0".join(arguments).encode()).hexdigest()[:10]
    return f"finetune-{digest}"

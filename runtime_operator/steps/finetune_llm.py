"""What `finetune_llm` does: run the fine-tuning as a TrainJob, follow it, and tell how it ended.

The settings travel as the container's arguments, so the same TrainJob can be written by hand and runs
anywhere its paths exist. They are checked here first: a mistake must not wait for a GPU.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import SpecError
from ..launch import Launched, launch
from ..workloads.files import digest
from ..workloads.finetune import FinetuneResult, FinetuneSettings
from ..workloads.finetune.examples import read_examples
from ..workloads.finetune.model_facts import read_model
from ..workloads.finetune.preflight import check_model_facts, check_rows
from ..workloads.finetune.result import RESULT_FILE
from ..workloads.models import check_model
from ..workloads.settings import flags, parse_settings
from .documents import document, own_folder
from .job_settings import JobSettings
from .outputs import describe, every_output, log_metrics, write_file, write_value

if TYPE_CHECKING:
    from kfp import dsl

METRICS = ("first_loss", "last_loss", "steps", "tokens", "tokens_per_second", "truncated_rows", "peak_memory")


def finetune_llm(
    model_path: str,
    dataset_path: str,
    output_path: str,
    tuned_model: dsl.Model,
    training_report: dsl.HTML,
    training_metrics: dsl.Metrics,
    tuned_path: str,
    settings: Mapping[str, Any] | None,
    job: Mapping[str, Any] | None,
    task_config: dsl.TaskConfig | None,
) -> None:
    """Fine-tune and fill the outputs."""
    with every_output("Fine-tuning", training_report, values={tuned_path: ""}):
        output = own_folder(output_path)
        wanted = document(settings, model=model_path, dataset=dataset_path, output=str(output))
        check_ahead(parse_settings(FinetuneSettings, wanted))
        size = parse_settings(JobSettings, document(job))
        launched = launch(
            size.train_job(args=flags(wanted)),
            task="finetune",
            task_config=size.on_task(task_config),
            retries=size.retries,
            say=say,
        )
        result = read_result(output)
        write_file(training_report, Path(result.report).read_text(encoding="utf-8"))
        log_metrics(training_metrics, metrics(result))
        _describe(tuned_model, result, launched)
        write_value(tuned_path, str(result.model))


def check_ahead(settings: FinetuneSettings) -> None:
    """Say what is wrong with model and rows before a GPU is held, where this step's pod sees them."""
    if settings.model.is_dir():
        check_model(settings.model, chats=False)
        check_model_facts(settings, read_model(settings.model))
    if settings.dataset.exists():
        check_rows(settings, read_examples(settings))


def read_result(output: Path) -> FinetuneResult:
    """What the training has left."""
    try:
        return FinetuneResult.model_validate_json((output / RESULT_FILE).read_bytes())
    except OSError as error:
        raise SpecError(
            f"output_path: {output}: the training has ended well and this step does not see what it left "
            f"({error.strerror}); mount its volume on the task, by the workspace or kubernetes.mount_pvc"
        ) from error


def metrics(result: FinetuneResult) -> dict[str, float]:
    """The headline numbers of a training."""
    return {name: getattr(result, name) for name in METRICS} | {"train_seconds": result.seconds["train"]}


def say(line: str) -> None:
    """Let a line of the training stand in the step's log at once."""
    print(line, flush=True)


def _describe(artifact: dsl.Model, result: FinetuneResult, launched: Launched) -> None:
    describe(
        artifact,
        path=str(result.model),
        adapter=str(result.adapter or ""),
        digest=f"sha256:{digest(result.model)}",
        base_digest=f"sha256:{result.digests['model']}",
        rows_digest=f"sha256:{result.digests['rows']}",
        settings=json.loads(result.settings.model_dump_json(exclude_defaults=True)),
        versions=result.versions,
        train_job=f"{launched.namespace}/{launched.name}",
        framework="transformers",
    )

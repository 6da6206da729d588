"""Leaves something in every declared output of a step, however the step ends.

Kubeflow Pipelines fails a task whose output parameter was not written, and a person who opens the report of a
failed step wants to read why. So each output first says that the step has not come to its end, and a failure
puts its sentence into the pages. The process then ends with that sentence, not with a traceback.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import KfpTrainerError
from ..workloads.report import note, page

if TYPE_CHECKING:
    from kfp import dsl

HTML, MARKDOWN = "system.HTML", "system.Markdown"
UNFINISHED = "This step has not come to its end; its log tells why."


@contextmanager
def every_output(
    title: str, *artifacts: dsl.Artifact, values: Mapping[str, object] | None = None
) -> Iterator[None]:
    """Fill the outputs of the step `title` in the block; `values` are parameter files with a blank."""
    for path, blank in (values or {}).items():
        write_value(path, blank)
    for artifact in artifacts:
        leave_page(artifact, title, UNFINISHED)
    try:
        yield
    except KfpTrainerError as error:
        for artifact in artifacts:
            leave_page(artifact, f"{title} failed", str(error))
        raise SystemExit(f"error: {error}") from error


def write_value(path: str, value: object) -> None:
    """Write an output parameter: text as it is, all else as JSON."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def write_file(artifact: dsl.Artifact, text: str) -> None:
    """Write the one file of an artifact."""
    file = Path(artifact.path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def leave_page(artifact: dsl.Artifact, title: str, text: str) -> None:
    """Fill a page with a few words; other artifacts are known by their metadata and have no file."""
    if artifact.schema_title == HTML:
        write_file(artifact, page(title, "", *(note(line) for line in text.splitlines())))
    elif artifact.schema_title == MARKDOWN:
        write_file(artifact, f"# {title}\n\n```\n{text}\n```\n")


def describe(artifact: dsl.Artifact, **facts: Any) -> None:
    """Tell where an artifact is and where it comes from; what is not known is left out."""
    artifact.metadata.update(
        {name: value for name, value in facts.items() if value not in (None, "", [], {})}
    )


def log_metrics(artifact: dsl.Metrics, metrics: Mapping[str, float]) -> None:
    """Show numbers in the Pipelines UI, under names that it takes; it knows no NaN."""
    for name, value in metrics.items():
        if math.isfinite(value):
            artifact.log_metric(name.replace("/", "_"), value)

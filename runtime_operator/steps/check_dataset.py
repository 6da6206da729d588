"""What `check_dataset` does: read every row on a CPU, and refuse what would waste a GPU."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import FieldError, SpecError
from ..workloads.settings import parse_settings
from .documents import document, own_folder
from .outputs import describe, every_output, log_metrics, write_file, write_value

if TYPE_CHECKING:
    from kfp import dsl

    from ..workloads.dataset import DatasetReport

SAID = 3  # rows told of each broken rule; the report has more


def check_dataset(
    dataset_path: str,
    output_path: str,
    checked_dataset: dsl.Dataset,
    check_report: dsl.HTML,
    check_metrics: dsl.Metrics,
    checked_path: str,
    model_path: str,
    settings: Mapping[str, Any] | None,
) -> None:
    """Check the dataset and fill the outputs."""
    with every_output("Check the dataset", check_report, values={checked_path: ""}):
        given = document(settings, **({"model": model_path} if model_path else {}))
        report = check(Path(dataset_path), own_folder(output_path), given, check_report, check_metrics)
        ready = report.data or Path(dataset_path)
        describe(
            checked_dataset, path=str(ready), rows=report.rows, shape=report.shape, digests=report.digests
        )
        write_value(checked_path, str(ready))


def check(
    dataset: Path, output: Path, settings: Mapping[str, Any], page: dsl.HTML, metrics: dsl.Metrics
) -> DatasetReport:
    """Check a folder, show what was found, and raise SpecError if it cannot be trained on."""
    from ..workloads.dataset import CheckSettings, check_dataset

    report = check_dataset(parse_settings(CheckSettings, document(settings, dataset=dataset, output=output)))
    write_file(page, report.report.read_text(encoding="utf-8"))
    log_metrics(metrics, report.metrics)
    for finding in report.findings:
        if finding.outcome != "refused":
            for sentence in finding.sentences(1):
                print(f"{finding.outcome}: {sentence}", file=sys.stderr)
    print(f"{dataset.name}: {report.rows:,} rows, {report.shape}, {report.seconds:.1f} s", flush=True)
    if report.accepted:
        return report
    said = [sentence for finding in report.refusals for sentence in finding.sentences(SAID)]
    raise SpecError([FieldError("", sentence) for sentence in said])

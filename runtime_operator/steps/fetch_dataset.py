"""What `fetch_dataset` does: bring a dataset to a folder and, where asked, check it before a GPU is held.

`demo://messages` is a small instruction set made on the spot, for a first run without a network.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .check_dataset import check
from .documents import own_folder
from .fetching import DEMO_DATASET, Origin, bring, describe_origin
from .outputs import describe, every_output, leave_page, write_value

if TYPE_CHECKING:
    from kfp import dsl


def fetch_dataset(
    source: str,
    output_path: str,
    dataset: dsl.Dataset,
    check_report: dsl.HTML,
    check_metrics: dsl.Metrics,
    dataset_path: str,
    settings: Mapping[str, Any] | None,
    checks: Mapping[str, Any] | None,
) -> None:
    """Fetch the dataset, check it unless `checks` is none, and fill the outputs."""
    with every_output("Fetch the dataset", check_report, values={dataset_path: ""}):
        folder = own_folder(output_path)
        origin = _make_demo(folder) if source == DEMO_DATASET else bring("dataset", source, folder, settings)
        ready = folder
        if checks is None:
            leave_page(check_report, "Dataset check", "Not asked for.")
        else:
            report = check(
                folder, folder.with_name(f"{folder.name}-checked"), checks, check_report, check_metrics
            )
            ready = report.data or folder
            describe(dataset, rows=report.rows, shape=report.shape)
        describe_origin(dataset, ready, origin)
        write_value(dataset_path, str(ready))


def _make_demo(folder: Path) -> Origin:
    from ..workloads.files import digest
    from ..workloads.tiny import make_demo_data

    make_demo_data(folder)
    return Origin(
        DEMO_DATASET, "", f"sha256:{digest(folder)}", sum(file.stat().st_size for file in folder.iterdir())
    )

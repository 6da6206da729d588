"""The component `fetch_dataset`."""

from typing import Optional

from kfp import dsl


@dsl.component(base_image="ghcr.io/kfp-trainer/workload:0.1.0", install_kfp_package=False)
def fetch_dataset(
    source: str,
    output_path: str,
    dataset: dsl.Output[dsl.Dataset],
    check_report: dsl.Output[dsl.HTML],
    check_metrics: dsl.Output[dsl.Metrics],
    dataset_path: dsl.OutputPath(str),
    settings: dict = {},
    checks: Optional[dict] = None,
):
    """Fetch a dataset, whole and pinned, and check it before a GPU is held.

    Args:
        source: Address, as hf://org/name@revision, s3://bucket/prefix or demo://messages.
        output_path: Folder to fetch into.
        dataset: Where it is, and from where it came.
        check_report: Verdict, lengths and samples.
        check_metrics: Rows and problems.
        dataset_path: Folder to train on.
        settings: include, ignore, connections.
        checks: Settings of the dataset check, {} for the usual ones; none: no check.
    """
    from kfp_trainer.runtime_operator.steps.fetch_dataset import fetch_dataset

    fetch_dataset(source, output_path, dataset, check_report, check_metrics, dataset_path, settings, checks)

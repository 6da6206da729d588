"""The component `check_dataset`."""

from kfp import dsl


@dsl.component(base_image="ghcr.io/kfp-trainer/workload:0.1.0", install_kfp_package=False)
def check_dataset(
    dataset_path: str,
    output_path: str,
    checked_dataset: dsl.Output[dsl.Dataset],
    check_report: dsl.Output[dsl.HTML],
    check_metrics: dsl.Output[dsl.Metrics],
    checked_path: dsl.OutputPath(str),
    model_path: str = "",
    settings: dict = {},
):
    """Check a dataset on a CPU, and write its rows as training reads them.

    Args:
        dataset_path: Folder or file with rows.
        output_path: Folder for the rows and the report.
        checked_dataset: Where the rows are.
        check_report: Verdict, lengths and samples.
        check_metrics: Rows and problems.
        checked_path: Folder to train on.
        model_path: Folder of the model, whose tokenizer counts; empty: characters.
        settings: Settings of `kfp-trainer dataset check`.
    """
    from kfp_trainer.runtime_operator.steps.check_dataset import check_dataset

    check_dataset(
        dataset_path,
        output_path,
        checked_dataset,
        check_report,
        check_metrics,
        checked_path,
        model_path,
        settings,
    )

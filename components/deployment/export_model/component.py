"""The component `export_model`."""

from kfp import dsl


@dsl.component(base_image="ghcr.io/kfp-trainer/workload:0.1.0", install_kfp_package=False)
def export_model(
    model_path: str,
    to: str,
    exported_model: dsl.Output[dsl.Model],
    location: dsl.OutputPath(str),
    evaluation_path: str = "",
    settings: dict = {},
    registry: dict = {},
):
    """Export a model to where it lasts, and enter it in the Model Registry.

    Args:
        model_path: Folder of the model.
        to: Address, as s3://bucket/model, hf://org/name or pvc://claim/path; empty: nowhere.
        exported_model: Where it is now.
        location: Its address, or its folder.
        evaluation_path: Folder of its evaluation, whose scores are registered.
        settings: Settings of the export.
        registry: address, name, version; empty: not registered.
    """
    from kfp_trainer.runtime_operator.steps.export_model import export_model

    export_model(model_path, to, exported_model, location, evaluation_path, settings, registry)

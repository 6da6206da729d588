"""The component `register_model`."""

from kfp import dsl


@dsl.component(base_image="ghcr.io/kfp-trainer/workload:0.1.0", install_kfp_package=False)
def register_model(
    location: str,
    registry: dict,
    registered_model: dsl.Output[dsl.Model],
    version_id: dsl.OutputPath(str),
    evaluation_path: str = "",
):
    """Enter a model in Kubeflow's Model Registry.

    Args:
        location: Where the model is, as s3://bucket/model.
        registry: address, name, version, and what else to keep with it.
        registered_model: Its entry.
        version_id: The id of the version.
        evaluation_path: Folder of its evaluation, whose scores are kept with it.
    """
    from kfp_trainer.runtime_operator.steps.register_model import register_model

    register_model(location, registry, registered_model, version_id, evaluation_path)

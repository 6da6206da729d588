"""The component `fetch_model`."""

from kfp import dsl


@dsl.component(base_image="ghcr.io/kfp-trainer/workload:0.1.0", install_kfp_package=False)
def fetch_model(
    source: str,
    output_path: str,
    model: dsl.Output[dsl.Model],
    model_path: dsl.OutputPath(str),
    settings: dict = {},
    export_to: str = "",
    registry: dict = {},
    rules: str = "",
):
    """Fetch a base model, whole and pinned; GGUF becomes safetensors.

    Args:
        source: Address, as hf://org/name@revision, s3://bucket/prefix or demo://model.
        output_path: Folder to fetch into.
        model: Where it is, and from where it came.
        model_path: Folder of the model.
        settings: include, ignore, pickles, connections.
        export_to: Address that the tuned model goes to; tried now, not after the training.
        registry: Its entry in the Model Registry; read now.
        rules: What the gate asks of it; read now.
    """
    from kfp_trainer.runtime_operator.steps.fetch_model import fetch_model

    fetch_model(source, output_path, model, model_path, settings, export_to, registry, rules)

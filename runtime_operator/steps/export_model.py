"""What `export_model` does: bring a model that has passed to where it lasts, and enter it in the registry.

A run's workspace is gone when the run has succeeded. Without an address nothing is exported, and the model's
folder is handed on as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..workloads.settings import parse_settings
from .credentials import take_credentials
from .documents import document
from .outputs import describe, every_output, write_value
from .register_model import RegistrySettings, enter, figures_of

if TYPE_CHECKING:
    from kfp import dsl


def export_model(
    model_path: str,
    to: str,
    exported_model: dsl.Model,
    location: str,
    evaluation_path: str,
    settings: Mapping[str, Any] | None,
    registry: Mapping[str, Any] | None,
) -> None:
    """Export and register the model, and fill the outputs."""
    with every_output("Exporting", values={location: ""}):
        wanted = parse_settings(RegistrySettings, document(registry)) if registry else None
        take_credentials()
        address = (
            _export(model_path, to, exported_model, settings) if to else _leave(model_path, exported_model)
        )
        if wanted:
            describe(exported_model, **enter(wanted, address, figures=figures_of(evaluation_path)))
        write_value(location, address)


def _export(model_path: str, to: str, artifact: dsl.Model, settings: Mapping[str, Any] | None) -> str:
    from ..workloads.export import ExportSettings, export

    exported = export(parse_settings(ExportSettings, document(settings, model=model_path, to=to)))
    describe(artifact, path=model_path, location=exported.location, digest=exported.digest)
    return exported.location


def _leave(model_path: str, artifact: dsl.Model) -> str:
    from ..workloads.files import digest

    print(f"no address is given, so the model stays in {model_path}", flush=True)
    describe(artifact, path=model_path, digest=f"sha256:{digest(Path(model_path))}")
    return model_path

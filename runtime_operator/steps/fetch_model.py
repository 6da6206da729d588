"""What `fetch_model` does: bring a base model to a folder, ready to be trained.

A model that comes as GGUF alone is turned into safetensors beside it. `demo://model` is made on the spot from
nothing, for a first run without a network.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..workloads.gate import GateSettings
from ..workloads.gate.rules import parse_rules
from ..workloads.settings import parse_settings
from .credentials import take_credentials
from .documents import document, own_folder
from .fetching import DEMO_MODEL, Origin, bring, describe_origin
from .outputs import every_output, write_value
from .register_model import RegistrySettings

if TYPE_CHECKING:
    from kfp import dsl


def fetch_model(
    source: str,
    output_path: str,
    model: dsl.Model,
    model_path: str,
    settings: Mapping[str, Any] | None,
    export_to: str,
    registry: Mapping[str, Any] | None,
    rules: str,
) -> None:
    """Fetch the model and fill the outputs."""
    with every_output("Fetch the model", values={model_path: ""}):
        check_later(export_to, registry, rules)
        folder = own_folder(output_path)
        if source == DEMO_MODEL:
            ready, origin = _make_demo(folder)
        else:
            origin = bring("model", source, folder, settings)
            ready = _as_safetensors(folder)
        describe_origin(model, ready, origin)
        write_value(model_path, str(ready))


def check_later(export_to: str, registry: Mapping[str, Any] | None, rules: str) -> None:
    """Try what comes at the end of a run: a wrong address or rule must not be found when training is over."""
    if rules:
        parse_rules(parse_settings(GateSettings, {"evaluation": "later", "rules": rules}).rules)
    if registry:
        parse_settings(RegistrySettings, document(registry))
    if export_to:
        from ..workloads.export import check_export

        take_credentials()
        check_export(export_to, setting="export_to")
        print(f"{export_to}: takes a model", flush=True)


def _make_demo(folder: Path) -> tuple[Path, Origin]:
    from ..workloads.files import digest
    from ..workloads.tiny import make_tiny_model

    make_tiny_model(folder)
    return folder, Origin(DEMO_MODEL, "", f"sha256:{digest(folder)}", 0)


def _as_safetensors(folder: Path) -> Path:
    if (folder / "config.json").exists() or not any(folder.rglob("*.gguf")):
        return folder
    from ..workloads.gguf import convert_gguf

    ready = folder.with_name(f"{folder.name}-safetensors")
    if not (ready / "config.json").exists():
        print(f"convert GGUF to safetensors: {ready}", flush=True)
        convert_gguf(folder, ready)
    return ready

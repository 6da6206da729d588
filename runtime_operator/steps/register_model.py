"""What `register_model` does: enter a model in Kubeflow's Model Registry, with where it is and what made it.

Whoever asks again finds the version that is there: the same name, version and address are one entry, and an
address that differs is refused, for a version says what was tested.
"""

from __future__ import annotations

import asyncio
import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from ..errors import Retryable, SetupError, SpecError
from ..workloads.settings import Settings, parse_settings
from .credentials import take_credentials
from .documents import document
from .outputs import describe, every_output, write_value

if TYPE_CHECKING:
    from kfp import dsl
    from model_registry import ModelRegistry

TOKEN_VARIABLE = "MODEL_REGISTRY_TOKEN"
SERVICE_ACCOUNT_TOKEN = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")


class RegistrySettings(Settings):
    """Where and how a model is registered."""

    address: str = Field(description="the registry, as http://model-registry-service.kubeflow:8080")
    name: str = Field(description="the registered model's name")
    version: str = Field(description="the version, once and for all")
    author: str = Field(default="kfp-trainer", description="who registers")
    description: str = Field(default="", description="a sentence on this version")
    format_name: str = Field(default="safetensors", description="the form of the weights")
    format_version: str = Field(default="1", description="the version of that form")
    custom_ca: Path | None = Field(default=None, description="root certificates of the registry, in PEM")
    metadata: dict[str, str | int | float | bool] = Field(default={}, description="what else to keep with it")


def register_model(
    location: str,
    registry: Mapping[str, Any] | None,
    registered_model: dsl.Model,
    version_id: str,
    evaluation_path: str,
) -> None:
    """Register the model and fill the outputs."""
    with every_output("Registering", values={version_id: ""}):
        settings = parse_settings(RegistrySettings, document(registry))
        take_credentials()
        entry = enter(settings, location, figures=figures_of(evaluation_path))
        describe(registered_model, location=location, registry=settings.address, **entry)
        write_value(version_id, entry["version_id"])


def enter(settings: RegistrySettings, location: str, *, figures: Mapping[str, float]) -> dict[str, str]:
    """Enter the model, or find it entered; return what the registry calls it."""
    try:
        from model_registry.exceptions import StoreError
        from mr_openapi.exceptions import ApiException
    except ModuleNotFoundError as error:
        text = "is not installed, and registering needs it; pip install 'kfp-trainer[registry]'"
        raise SetupError(f"{error.name}: {text}") from error
    try:
        with asyncio.Runner() as runner:
            return _enter(_open(settings, runner), settings, location, figures)
    except StoreError as error:
        raise SpecError(f"registry: {settings.address}: {error}") from error
    except ApiException as error:
        raise _refusal(settings.address, error) from error
    except OSError as error:  # what aiohttp raises, too
        raise Retryable(f"registry: {settings.address}: does not answer, {error}", after=10) from error


def _refusal(address: str, error: Any) -> SpecError | Retryable:
    said = f"registry: {address}: answers {error.status} {error.reason}"
    if error.status in (401, 403):
        return SpecError(f"{said}, give a token that may enter models in {TOKEN_VARIABLE}")
    return Retryable(said, after=10) if error.status >= 500 else SpecError(said)


def _open(settings: RegistrySettings, runner: asyncio.Runner) -> ModelRegistry:
    from model_registry import ModelRegistry

    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not token and settings.address.startswith("https://") and SERVICE_ACCOUNT_TOKEN.exists():
        token = SERVICE_ACCOUNT_TOKEN.read_text(encoding="utf-8").strip()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no token; a registry within a cluster needs none
        return ModelRegistry(
            settings.address,
            author=settings.author,
            user_token=token or None,
            custom_ca=str(settings.custom_ca) if settings.custom_ca else None,
            async_runner=runner.run,
        )


def _enter(
    registry: ModelRegistry, settings: RegistrySettings, location: str, figures: Mapping[str, float]
) -> dict[str, str]:
    name, version = settings.name, settings.version
    if registry.get_registered_model(name) and registry.get_model_version(name, version):
        _check_same(registry, settings, location)
    else:
        registry.register_model(
            name,
            location,
            version=version,
            model_format_name=settings.format_name,
            model_format_version=settings.format_version,
            version_description=settings.description or None,
            metadata={**figures, **settings.metadata},
        )
        print(f"registered {name} {version}: {location}", flush=True)
    entered = registry.get_model_version(name, version)
    return {"name": name, "version": version, "version_id": str(entered.id if entered else "")}


def _check_same(registry: ModelRegistry, settings: RegistrySettings, location: str) -> None:
    """Refuse a version that is somewhere else."""
    found = registry.get_model_artifact(settings.name, settings.version)
    if found is None or found.uri != location:
        where = found.uri if found else "nowhere, by a step that died"
        entry = f"{settings.version} of {settings.name}"
        raise SpecError(f"registry.version: {entry} is entered already, at {where}; take another version")


def figures_of(evaluation_path: str) -> dict[str, float]:
    """The scores of an evaluation, where there was one."""
    if not evaluation_path:
        return {}
    from ..workloads.evaluate.comparison import METRICS_FILE

    file = Path(evaluation_path) / METRICS_FILE
    try:
        found: dict[str, float] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SpecError(f"evaluation_path: {file}: is not what an evaluation writes, {error}") from error
    return found

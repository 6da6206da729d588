"""Fetches for a step: what may be set, and what an artifact tells of where its bytes come from.

Credentials come from the environment, where a Secret is mounted by reference; neither log nor artifact shows
them, nor what an address holds of them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ..workloads.settings import Settings, parse_settings
from .credentials import take_credentials
from .documents import document
from .outputs import describe

if TYPE_CHECKING:
    from kfp import dsl

DEMO_MODEL, DEMO_DATASET = "demo://model", "demo://messages"


def _names(value: object) -> object:
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


class FetchSettings(Settings):
    """How a dataset or a model is fetched."""

    include: Names = Field(default=(), description="patterns of files; nothing else is fetched")
    ignore: Names | None = Field(default=None, description="patterns of files to leave out; unset: the usual")
    pickles: bool = Field(default=False, description="take weights that are pickles, which run code")
    verify: bool = Field(default=False, description="hash what is there already")
    connections: int | None = Field(default=None, gt=0, le=64, description="requests at once; unset: 8 to 16")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the bytes of a folder come from."""

    source: str
    revision: str
    digest: str
    size: int


def bring(
    kind: Literal["dataset", "model"], source: str, folder: Path, settings: Mapping[str, Any] | None
) -> Origin:
    """Fetch `source` into `folder`, unless it is there; say where it came from."""
    given = parse_settings(FetchSettings, document(settings))
    take_credentials()
    from ..workloads.fetch.engine import fetch
    from ..workloads.fetch.hidden import Secrets
    from ..workloads.fetch.order import Order, usual_connections
    from ..workloads.fetch.pace import Pace, Patience
    from ..workloads.fetch.reports import reports_for
    from ..workloads.fetch.selection import Selection

    selection = Selection(kind, include=given.include, ignore=given.ignore, pickles=given.pickles)
    order = Order(kind, source, folder, selection, given.connections or usual_connections(), given.verify)
    report = reports_for(os.environ, sys.stdout, sys.stderr)
    manifest = fetch(order, secrets=Secrets(os.environ), report=report, pace=Pace(Patience())).manifest
    return Origin(manifest.source, manifest.revision, manifest.digest, manifest.bytes)


def describe_origin(artifact: dsl.Artifact, path: Path, origin: Origin) -> None:
    """Let an artifact tell its path and its lineage."""
    describe(
        artifact,
        path=str(path),
        source=origin.source,
        revision=origin.revision,
        digest=origin.digest,
        bytes=origin.size,
    )

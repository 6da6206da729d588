"""What a place to export to is, and which module serves which address.

A place answers two questions. `check()` says before any work whether an export could end well: it tries to
write, and takes away what it wrote. `put()` brings the files there and proves that what arrived is what was
sent; to do it again sends only what is not there. A trouble that may pass is a Retryable; `run.py` waits
and calls `put` again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from ...errors import KfpTrainerError, SpecError
from ..fetch.hidden import Secrets, shown
from ..fetch.uri import Uri, parse_uri
from .bundle import Bundle

PLACES = {
    "az": "objects",
    "file": "folder",
    "gs": "objects",
    "hf": "hub",
    "oci": "registry",
    "pvc": "folder",
    "s3": "objects",
}


class ExportError(KfpTrainerError):
    """It cannot be exported there, however often one tries."""


@dataclass(frozen=True, slots=True)
class Put:
    """What came of bringing files to a place."""

    location: str
    sent: int


class Place(Protocol):
    """One place that takes models."""

    def check(self) -> None:
        """Say in one sentence what will keep an export from ending well."""

    def put(self, bundle: Bundle) -> Put:
        """Bring the files there, whole or not at all."""

    def close(self) -> None:
        """Give back connections."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where to, and with what."""

    uri: Uri
    secrets: Secrets
    private: bool

    @property
    def text(self) -> str:
        """The address as a person may see it."""
        return self.uri.text


def read_target(to: str, environ: Mapping[str, str], *, private: bool, setting: str) -> Target:
    """Read an address; SpecError with what it should look like. A path is a folder."""
    secrets = Secrets(environ)
    given = to.strip()
    if not given:
        raise SpecError(f"{setting}: is empty, give a folder or an address such as s3://bucket/prefix")
    if "://" not in given:
        given = f"file://{quote(str(Path(given).expanduser().absolute()))}"
    uri = parse_uri(given, secrets)
    if uri.scheme not in PLACES:
        near = get_close_matches(uri.scheme, PLACES, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}://" if near else f"known are {', '.join(PLACES)}"
        raise SpecError(f"{setting}: {shown(given)} is no place to export to, {hint}")
    if uri.password or uri.query or (uri.user and uri.scheme != "hf"):
        raise SpecError(
            f"{setting}: {uri.text} has a name, a password or a query in it, keep the address bare and put "
            "what lets us in into the environment"
        )
    return Target(uri, secrets, private)


def open_place(target: Target) -> Place:
    """The place that an address names."""
    module = import_module(f".{PLACES[target.uri.scheme]}", __package__)
    place: Place = module.open_place(target)
    return place

"""What all containers of one pod share while they run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .backoff import Backoff
from .environment import inherited
from .events import Listener
from .fields import Machine
from .images import Images
from .isolation import Isolation
from .place import Place
from .pod import Object
from .references import Resolver


def this_machine() -> Machine:
    """Return what this machine has."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Machine(cpu=str(os.cpu_count() or 1), memory=str(memory))


@dataclass(frozen=True, slots=True)
class Settings:
    """How pods are run on this machine: the same for all pods of a runner."""

    isolation: Isolation
    images: Images = field(default_factory=Images)
    backoff: Backoff = field(default_factory=Backoff)
    retry: float = 2.0
    """seconds until something that a pod names and that does not exist is looked up again"""
    refresh: float | None = None
    """seconds after which a changed ConfigMap or Secret is seen in a volume; None at a restart only"""
    identities: bool = False
    """whether security contexts are kept to; a person's own machine has one user, a node of a cluster many"""
    machine: Machine = field(default_factory=this_machine)
    environ: Mapping[str, str] = field(default_factory=lambda: inherited(os.environ))


@dataclass(slots=True)
class Bench:
    """The pod, its place, and those who look things up and listen."""

    pod: Object
    place: Place
    """changes only in the host names that the pod must know"""
    resolver: Resolver
    settings: Settings
    tell: Listener
    """tells of an event, after the status is computed anew"""
    changed: Callable[[], None]

    def container_folder(self, name: str) -> Path:
        """Return the folder with the runs of a container."""
        return self.place.folder / "containers" / name

    def container_id(self, name: str, number: int) -> str:
        """Return the id of a run, for the status."""
        return f"process://{self.pod['metadata'].get('uid') or self.place.folder.name}/{name}/{number}"

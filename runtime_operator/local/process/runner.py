"""Starts pods on this machine, and takes over those that a runner before left running."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from ...errors import SetupError, SpecError
from .bench import Settings
from .events import Listener, PodEvent
from .failures import folder_failure
from .files import read_json
from .isolation import Isolation, detect
from .living_pod import Pod
from .place import Place
from .pod import Object, containers
from .references import Resolver
from .unsupported import refuse_unsupported


class PodRunner:
    """Runs pods in the best way this machine allows, or in the one it is told."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings(detect())
        self._said: set[str] = set()

    def start(self, pod: Object, place: Place, *, resolver: Resolver, listener: Listener) -> Pod:
        """Start a pod in its folder; SpecError names what is not done here, before anything starts."""
        if errors := refuse_unsupported(pod):
            raise SpecError(errors)
        if (place.folder / "pod.json").exists():
            raise SetupError(f"{place.folder}: a pod has been started here; adopt it or remove it first")
        settings = self.settings
        living = Pod(pod, place, resolver=resolver, settings=settings, listener=listener, begun=time.time())
        try:
            place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            living.keep()
        except OSError as error:
            path = str(error.filename or place.folder)
            raise SetupError(folder_failure("the pod's folder", path, error.errno or 0)) from error
        self._tell_images(pod, listener)
        living.begin()
        return living

    def adopt(
        self, folder: Path, *, resolver: Resolver, listener: Listener, place: Place | None = None
    ) -> Pod:
        """Take over the pod of a folder: what lives is watched, what died is restarted as its policy says.

        `place` is where it runs from now on, if that has changed.
        """
        document = read_json(folder / "pod.json")
        if document is None:
            raise SetupError(f"{folder}: no pod has been started here; start it")
        settings = replace(self.settings, isolation=Isolation(document["isolation"]))
        living = Pod(
            document["pod"],
            place or Place.of(document["place"]),
            resolver=resolver,
            settings=settings,
            listener=listener,
            begun=document["begun"],
        )
        if place is not None:
            living.keep()
        if wish := read_json(folder / "stop"):
            living.heed_stop(wish)
        living.begin(known=read_json(folder / "status.json"))
        return living

    def _tell_images(self, pod: Object, listener: Listener) -> None:
        """Say once of each image that the table does not name where it runs."""
        for container in containers(pod):
            name = str(container.spec.get("image") or "")
            _, known = self.settings.images.find(name)
            if not known and name not in self._said:
                self._said.add(name)
                where = self.settings.images.default.environment
                listener(
                    PodEvent(
                        "note",
                        container.name,
                        "Image",
                        f"image {name} is not in the table; it runs in {where}",
                    )
                )

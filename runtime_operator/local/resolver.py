"""Looks up what the pods of a job name: in the job's own objects, and in the folders of this machine.

A PersistentVolumeClaim is a folder of its namespace, so that two jobs that name one claim share it; it is
made when it is first used and stays until a person deletes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


class Objects:
    """The objects of one job, and the claims of its namespace."""

    def __init__(self, objects: Iterable[Mapping[str, Any]], claims: Path, *, token: str) -> None:
        self._objects = {(each["kind"], each["metadata"]["name"]): each for each in objects}
        self._claims = claims
        self._token = token

    async def config_map(self, name: str) -> Mapping[str, Any] | None:
        """Return the ConfigMap of a name."""
        return self._objects.get(("ConfigMap", name))

    async def secret(self, name: str) -> Mapping[str, Any] | None:
        """Return the Secret of a name."""
        return self._objects.get(("Secret", name))

    async def claim(self, name: str) -> Path | None:
        """Return the folder of a PersistentVolumeClaim."""
        folder = self._claims / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    async def token(self, audience: str, seconds: int) -> str:
        """Return the job's own token: there is no other authority on this machine."""
        return self._token

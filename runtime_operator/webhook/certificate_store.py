"""Where the webhook's pair comes from: the Secret that all replicas share, or a folder that others fill.

The Secret is written with the version that was read, so that of two replicas which renew at once one loses,
reads again and serves what the other made. Nobody but our own namespace is asked, and no other Secret.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import orjson

from ..errors import SetupError
from ..kube.errors import AlreadyExists, Conflict, NotFound
from ..kube.resource import SECRETS
from ..kube.transport import Transport
from .certificates import PAIR_LIFE, Pair, is_good, issue

MANAGER = "kfp-trainer-certificates"
FILES = {"authority": "ca.crt", "authority_key": "ca.key", "certificate": "tls.crt", "key": "tls.key"}
MOST_RACES = 5


class Store(Protocol):
    """Gives the pair to serve with."""

    publishes: bool
    """whether what clients must trust is ours to tell the API server"""

    async def pair(self) -> Pair:
        """The pair of now, renewed where that is due."""


class SecretStore:
    """The Secret of our namespace; what it lacks is issued."""

    publishes = True

    def __init__(
        self,
        transport: Transport,
        namespace: str,
        name: str,
        names: tuple[str, ...],
        *,
        now: Callable[[], datetime],
        life: timedelta = PAIR_LIFE,
    ) -> None:
        self._transport, self._namespace, self._name = transport, namespace, name
        self._names, self._now, self._life = names, now, life

    async def pair(self) -> Pair:
        """The pair of the Secret, or the one that is put into it."""
        for _ in range(MOST_RACES):
            version, found = await self._read()
            if found is not None and is_good(found, self._names, now=self._now()):
                return found
            try:
                return await self._write(version, found)
            except (Conflict, AlreadyExists):
                continue  # another replica was faster: serve with what it made
        raise SetupError(
            f"secret {self._namespace}/{self._name}: somebody writes it all the time; find out who"
        )

    async def _read(self) -> tuple[str, Pair | None]:
        """The version of the Secret, empty if there is none, and the pair in it."""
        try:
            secret = orjson.loads(await self._transport.get(SECRETS, self._namespace, self._name))
        except NotFound:
            return "", None
        data = secret.get("data") or {}
        try:
            parts = {part: base64.b64decode(data.get(file) or "") for part, file in FILES.items()}
        except ValueError:
            parts = dict.fromkeys(FILES, b"")
        return str(secret["metadata"]["resourceVersion"]), Pair(**parts)

    async def _write(self, version: str, old: Pair | None) -> Pair:
        made = issue(self._names, old, now=self._now(), life=self._life)
        data = {file: base64.b64encode(getattr(made, part)).decode() for part, file in FILES.items()}
        metadata: dict[str, Any] = {"name": self._name, "namespace": self._namespace}
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}
        if version:
            metadata["resourceVersion"] = version
            await self._transport.patch(
                SECRETS, self._namespace, self._name, orjson.dumps(secret), manager=MANAGER
            )
        else:
            await self._transport.create(SECRETS, self._namespace, orjson.dumps(secret))
        return made


class FolderStore:
    """Files that somebody else, such as cert-manager, renews: tls.crt, tls.key and perhaps ca.crt."""

    publishes = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def pair(self) -> Pair:
        """The pair in the files."""
        try:
            certificate, key = ((self._folder / name).read_bytes() for name in ("tls.crt", "tls.key"))
        except OSError as error:
            raise SetupError(
                f"certificates: {error.filename}: {(error.strerror or '').lower()}; "
                "put tls.crt and tls.key there, or leave --cert-dir away"
            ) from error
        authority = self._folder / "ca.crt"
        return Pair(authority.read_bytes() if authority.exists() else b"", certificate, key)

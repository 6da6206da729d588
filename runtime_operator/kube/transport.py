"""What this package needs of an API server, as a protocol: bytes in, bytes out, one class of errors.

Informers, election and events are written against it, so that they run alike over HTTP and over an API server
in memory. Every method raises ApiError and nothing else. A method that returns an object returns it as the
server wrote it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from .resource import Resource

Propagation = Literal["Background", "Foreground", "Orphan"]

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list; all pages of one list are of one version."""

    items: tuple[bytes, ...]
    """each a whole object, with its apiVersion and kind"""
    resource_version: str


class Transport(Protocol):
    """The verbs. An empty namespace means all of them, or that of a cluster-wide object."""

    def list(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        resource_version: str = "",
        limit: int = 500,
    ) -> AsyncGenerator[Page, None]:
        """Read a list page by page; Gone where it took so long that the rest is lost."""
        ...

    def watch(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        resource_version: str = "",
        timeout: float = 290.0,
    ) -> AsyncGenerator[bytes, None]:
        """Yield the line of each event since a version, bookmarks too; ends when the server ends it."""
        ...

    async def get(self, resource: Resource, namespace: str, name: str, *, sub: str = "") -> bytes:
        """Read one object."""
        ...

    async def create(
        self, resource: Resource, namespace: str, body: bytes, *, sub: str = "", name: str = ""
    ) -> bytes:
        """Post a new object, or to the subresource of a named one."""
        ...

    async def apply(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        body: bytes,
        *,
        manager: str,
        force: bool = True,
        sub: str = "",
    ) -> bytes:
        """Apply on the server's side: the manager owns the fields of the body, and no others."""
        ...

    async def patch(
        self, resource: Resource, namespace: str, name: str, body: bytes, *, manager: str = "", sub: str = ""
    ) -> bytes:
        """Merge a JSON document into an object; a resourceVersion in it makes it a precondition."""
        ...

    async def delete(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        *,
        uid: str = "",
        resource_version: str = "",
        propagation: Propagation = "Background",
    ) -> None:
        """Delete an object; that there is none is no error, that it is another is a Conflict."""
        ...

    def stream_log(
        self, namespace: str, pod: str, *, parameters: Mapping[str, str] | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Yield the lines of a pod's log without their ends; `parameters` as `pods/log` takes them."""
        ...

    async def request(
        self,
        method: str,
        path: str,
        *,
        parameters: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = JSON,
    ) -> bytes:
        """Send what no other method says."""
        ...

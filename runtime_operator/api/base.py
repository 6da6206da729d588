"""What all our models share: read once, never changed, cheap.

A parsed document is a view. Fields of our own are typed; whatever belongs to Kubernetes (env lists, pod
templates, volumes) stays the plain dict it was: nothing that we do not know is lost, and nothing is copied.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, PrivateAttr

from .wire import Rule, wire

Dict = dict[str, Any]


class Part(BaseModel):
    """A piece of a document; fields we do not know are left to whoever does."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Kind(Part):
    """A whole document of ours, with the original beside the typed view."""

    RULES: ClassVar[tuple[Rule, ...]] = ()
    """CEL rules over the whole object"""

    apiVersion: Annotated[str, wire("")] = ""
    kind: Annotated[str, wire("")] = ""
    metadata: Annotated[Dict, wire("")]

    _raw: Mapping[str, Any] = PrivateAttr(default_factory=dict)
    _warnings: tuple[str, ...] = PrivateAttr(default=())

    @property
    def raw(self) -> Mapping[str, Any]:
        """The document as it was given, older spellings and all; not to be changed."""
        return self._raw

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was understood although it is written in an older way."""
        return self._warnings

    @property
    def name(self) -> str:
        """The name within its namespace."""
        return str(self.metadata.get("name", ""))

    @property
    def namespace(self) -> str:
        """The namespace; one that is left out is `default`."""
        return str(self.metadata.get("namespace") or "default")

    @property
    def uid(self) -> str:
        """What tells this object from an earlier one of the same name."""
        return str(self.metadata.get("uid", ""))

    @property
    def labels(self) -> dict[str, str]:
        """Labels of the object itself; not to be changed."""
        return self.metadata.get("labels") or {}

    @property
    def annotations(self) -> dict[str, str]:
        """Annotations of the object itself; not to be changed."""
        return self.metadata.get("annotations") or {}

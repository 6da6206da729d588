"""A shared dict of the runtime, copied at the first change.

The runtime is the same for every job, so nothing of it is ever written to, and nothing is copied that
does not change. A plug-in reads through `get` and changes through `put`; `built` is the dict as it goes out,
the shared one where nothing changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Object = Mapping[str, Any]


class Overlay:
    """One dict of the template, ours from the first change on."""

    __slots__ = ("own", "source")

    def __init__(self, source: Object) -> None:
        self.source = source
        """the dict as the runtime (and the job's patches) have it"""
        self.own: dict[str, Any] | None = None
        """our copy of it, once something has changed"""

    def get(self, key: str, default: Any = None) -> Any:
        """The value as it stands now: changed, or as the runtime says."""
        return (self.source if self.own is None else self.own).get(key, default)

    def ours(self) -> dict[str, Any]:
        """Our copy of the dict, to write to; the source stays as it is."""
        if self.own is None:
            self.own = dict(self.source)
        return self.own

    def put(self, key: str, value: Any) -> None:
        """Say what stands at the key from now on."""
        self.ours()[key] = value

    def merge(self, key: str, entries: Iterable[Object], by: str = "name") -> None:
        """Add entries to a list that is a map by one of its fields: the same key is replaced in its place."""
        merged = {entry[by]: entry for entry in self.get(key) or ()}
        for entry in entries:
            merged[entry[by]] = entry
        self.put(key, list(merged.values()))

    def built(self) -> Object:
        """The dict as it goes out."""
        return self.source if self.own is None else self.own


class Container(Overlay):
    """A container or init container of the template."""

    __slots__ = ("_env",)

    def __init__(self, source: Object) -> None:
        self.source = source
        self.own = None
        self._env: dict[str, Object] | None = None

    @property
    def name(self) -> str:
        """The container's name."""
        name: str = self.source.get("name", "")
        return name

    def env(self, name: str) -> Object | None:
        """The entry of an environment variable, if it is set."""
        return self._variables().get(name)

    def has_env(self, names: frozenset[str]) -> bool:
        """Whether any of these variables is set."""
        return not names.isdisjoint(self._variables())

    def add_env(self, entries: Iterable[Object]) -> None:
        """Set environment variables: a name that is there is replaced in its place, a new one comes last."""
        known = self._env
        if known is None:
            known = self._variables()
        for entry in entries:
            known[entry["name"]] = entry
        self.ours()["env"] = known.values()  # follows later additions; `built` makes a list of it

    def add_mounts(self, mounts: Iterable[Object]) -> None:
        """Mount volumes: a path that is taken is taken over."""
        self.merge("volumeMounts", mounts, "mountPath")

    def add_port(self, number: int) -> None:
        """Open a port unless it is open already; ports without a name are told apart by their number."""
        ports: Sequence[Object] = self.get("ports") or ()
        for port in ports:
            if port.get("containerPort") == number:
                return
        self.put("ports", [*ports, {"containerPort": number}])

    def built(self) -> Object:
        """The container as it goes out."""
        own = self.own
        if own is None:
            return self.source
        if self._env is not None and "env" in own:
            own["env"] = list(self._env.values())
        return own

    def _variables(self) -> dict[str, Object]:
        if self._env is None:
            self._env = {entry["name"]: entry for entry in self.source.get("env") or ()}
        return self._env

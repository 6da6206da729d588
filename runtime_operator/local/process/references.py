"""The ConfigMaps, Secrets, claims and tokens that a pod names, and how they are looked up.

They are all fetched before a container starts, so that what follows from them is decided without I/O.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from .pod import Object, containers

Kind = Literal["ConfigMap", "Secret", "PersistentVolumeClaim"]


class Reference(NamedTuple):
    """One object that a pod names."""

    kind: Kind
    name: str
    path: str
    """where the pod names it"""
    optional: bool


class Token(NamedTuple):
    """One ServiceAccount token that a pod asks for."""

    audience: str
    seconds: int


class Resolver(Protocol):
    """Looks up what a pod of one namespace names; None means that there is no such object."""

    async def config_map(self, name: str) -> Object | None:
        """Return the ConfigMap of a name."""

    async def secret(self, name: str) -> Object | None:
        """Return the Secret of a name."""

    async def claim(self, name: str) -> Path | None:
        """Return the folder of a PersistentVolumeClaim."""

    async def token(self, audience: str, seconds: int) -> str:
        """Return a token of the pod's ServiceAccount."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a lookup returned; a name that is not in here does not exist."""

    config_maps: Mapping[str, Object] = field(default_factory=dict)
    secrets: Mapping[str, Object] = field(default_factory=dict)
    claims: Mapping[str, Path] = field(default_factory=dict)
    tokens: Mapping[Token, str] = field(default_factory=dict)


def references(pod: Object) -> tuple[Reference, ...]:
    """List the objects that a pod names, in the order of the document."""
    return (
        *_of_volumes(pod),
        *(one for container in containers(pod) for one in _of_env(container.spec, container.path)),
    )


def tokens(pod: Object) -> tuple[Token, ...]:
    """List the tokens that a pod's projected volumes ask for."""
    return tuple(
        token_of(source["serviceAccountToken"])
        for volume in pod["spec"].get("volumes") or ()
        for source in (volume.get("projected") or {}).get("sources") or ()
        if "serviceAccountToken" in source
    )


def token_of(source: Object) -> Token:
    """Read a serviceAccountToken source with its defaults."""
    return Token(str(source.get("audience") or ""), int(source.get("expirationSeconds") or 3600))


async def look_up(pod: Object, resolver: Resolver) -> Found:
    """Fetch everything that a pod names."""
    config_maps, secrets, claims = {}, {}, {}
    for kind, name in dict.fromkeys((one.kind, one.name) for one in references(pod)):
        if kind == "ConfigMap" and (config_map := await resolver.config_map(name)) is not None:
            config_maps[name] = config_map
        elif kind == "Secret" and (secret := await resolver.secret(name)) is not None:
            secrets[name] = secret
        elif kind == "PersistentVolumeClaim" and (claim := await resolver.claim(name)) is not None:
            claims[name] = claim
    return Found(config_maps, secrets, claims, {one: await resolver.token(*one) for one in tokens(pod)})


def missing(pod: Object, found: Found) -> tuple[Reference, ...]:
    """List the objects that a pod needs and that do not exist."""
    there = {"ConfigMap": found.config_maps, "Secret": found.secrets, "PersistentVolumeClaim": found.claims}
    return tuple(one for one in references(pod) if not one.optional and one.name not in there[one.kind])


def _of_volumes(pod: Object) -> Iterator[Reference]:
    for number, volume in enumerate(pod["spec"].get("volumes") or ()):
        path = f"spec.volumes[{number}]"
        yield from _of_source(volume, path)
        for place, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
            yield from _of_source(source, f"{path}.projected.sources[{place}]", secret_key="name")


def _of_source(source: Object, path: str, secret_key: str = "secretName") -> Iterator[Reference]:
    if (config_map := source.get("configMap")) is not None:
        yield Reference(
            "ConfigMap", config_map["name"], f"{path}.configMap", bool(config_map.get("optional"))
        )
    if (secret := source.get("secret")) is not None:
        yield Reference("Secret", secret[secret_key], f"{path}.secret", bool(secret.get("optional")))
    if (claim := source.get("persistentVolumeClaim")) is not None:
        yield Reference("PersistentVolumeClaim", claim["claimName"], f"{path}.persistentVolumeClaim", False)


_IN_ENV: tuple[tuple[str, Kind], ...] = (("configMap", "ConfigMap"), ("secret", "Secret"))


def _of_env(container: Object, path: str) -> Iterator[Reference]:
    for number, source in enumerate(container.get("envFrom") or ()):
        for word, kind in _IN_ENV:
            if (ref := source.get(f"{word}Ref")) is not None:
                yield Reference(
                    kind, ref["name"], f"{path}.envFrom[{number}].{word}Ref", bool(ref.get("optional"))
                )
    for number, variable in enumerate(container.get("env") or ()):
        for word, kind in _IN_ENV:
            if (ref := (variable.get("valueFrom") or {}).get(f"{word}KeyRef")) is not None:
                where = f"{path}.env[{number}].valueFrom.{word}KeyRef"
                yield Reference(kind, ref["name"], where, bool(ref.get("optional")))

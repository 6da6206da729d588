"""The files of volumes that are made from objects: configMap, secret, downwardAPI, projected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .environment import contents
from .failures import ConfigError
from .fields import Machine, field_value, resource_value
from .place import Place
from .pod import Object, containers
from .references import Found, token_of

SOURCES = ("configMap", "secret", "downwardAPI", "projected")
_MODE = 0o644
_TOKEN_MODE = 0o600


@dataclass(frozen=True, slots=True)
class File:
    """One file of a volume."""

    path: str
    content: bytes
    mode: int


def files_of(
    volume: Object, pod: Object, *, place: Place, found: Found, machine: Machine
) -> tuple[File, ...]:
    """List the files of a volume; ConfigError when it names what does not exist."""
    projected = volume.get("projected")
    if projected is None:
        kind = next(kind for kind in SOURCES if kind in volume)
        source = volume[kind]
        mode = source.get("defaultMode", _MODE)
        return tuple(
            _files(kind, source, mode, pod, where=volume["name"], place=place, found=found, machine=machine)
        )
    mode = projected.get("defaultMode", _MODE)
    return tuple(
        file
        for one in projected.get("sources") or ()
        for kind, source in one.items()
        for file in _files(
            kind, source, mode, pod, where=volume["name"], place=place, found=found, machine=machine
        )
    )


def _files(
    kind: str,
    source: Object,
    mode: int,
    pod: Object,
    *,
    where: str,
    place: Place,
    found: Found,
    machine: Machine,
) -> Iterator[File]:
    if kind == "serviceAccountToken":
        yield File(source["path"], found.tokens[token_of(source)].encode(), _TOKEN_MODE)
    elif kind == "downwardAPI":
        for item in source.get("items") or ():
            content = _downward(item, pod, place=place, machine=machine)
            yield File(item["path"], content.encode(), item.get("mode", mode))
    else:
        yield from _keys(kind, source, mode, found=found, where=where)


def _downward(item: Object, pod: Object, *, place: Place, machine: Machine) -> str:
    if "fieldRef" in item:
        return field_value(item["fieldRef"]["fieldPath"], pod, place)
    ref = item["resourceFieldRef"]
    return resource_value(ref, containers(pod)[0].spec, pod, machine)


def _keys(kind: str, source: Object, mode: int, *, found: Found, where: str) -> Iterator[File]:
    """Go through the keys of an object that a volume shows, all of them or its items."""
    objects = found.config_maps if kind == "configMap" else found.secrets
    name = source.get("secretName") or source["name"]
    there = objects.get(name)
    if there is None:
        if source.get("optional"):
            return
        raise ConfigError(f'volume "{where}": {kind.lower()} "{name}" not found; create it or set optional')
    data = dict(contents(there))
    items = source.get("items")
    if not items:
        yield from (File(key, content, mode) for key, content in data.items())
        return
    for item in items:
        if item["key"] in data:
            yield File(item["path"], data[item["key"]], item.get("mode", mode))
        elif not source.get("optional"):
            keys = ", ".join(data) or "none"
            raise ConfigError(
                f'volume "{where}": {kind.lower()} "{name}" has no key {item["key"]}; there are {keys}'
            )

"""Where the volumes of a pod stand in one container: sub-paths, expanded and kept inside their volume."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .expansion import expand, unknown
from .failures import ConfigError, StartError
from .generated import SOURCES
from .pod import Container, Object


@dataclass(frozen=True, slots=True)
class Mount:
    """A file or folder of this machine, and the path at which a container sees it."""

    source: Path
    target: str
    read_only: bool


def container_mounts(
    container: Container, pod: Object, *, sources: Mapping[str, Path], env: Mapping[str, str]
) -> tuple[Mount, ...]:
    """List a container's mounts, the outer before the inner."""
    made = {
        volume["name"]
        for volume in pod["spec"].get("volumes") or ()
        if any(kind in volume for kind in SOURCES)
    }
    mounts = []
    for number, mount in enumerate(container.spec.get("volumeMounts") or ()):
        where = f"{container.path}.volumeMounts[{number}]"
        if mount["name"] not in sources:
            raise StartError(f'{where}.name: no volume "{mount["name"]}" in spec.volumes; add it')
        inner = sub_path(mount, env, where=where)
        claim_only = any(
            (volume.get("persistentVolumeClaim") or {}).get("readOnly")
            for volume in pod["spec"].get("volumes") or ()
            if volume["name"] == mount["name"]
        )
        read_only = bool(mount.get("readOnly")) or claim_only or mount["name"] in made
        target = os.path.normpath("/" + mount["mountPath"].lstrip("/"))
        mounts.append(Mount(sources[mount["name"]] / inner, target, read_only))
    return tuple(sorted(mounts, key=lambda mount: mount.target.count("/")))


def sub_path(mount: Object, env: Mapping[str, str], *, where: str) -> str:
    """Return the path inside the volume; it must neither leave it nor hold an unknown name."""
    text = mount.get("subPath") or ""
    if expression := mount.get("subPathExpr"):
        if names := unknown(expression, env):
            raise ConfigError(
                f"{where}.subPathExpr: unknown variable {', '.join(names)} in {expression}; set it in env"
            )
        text = expand(expression, env)
    if os.path.isabs(text) or ".." in Path(text).parts:
        raise ConfigError(
            f"{where}: sub-path must stay inside the volume, got {text}; give a relative path without .."
        )
    return text


def make_sources(mounts: tuple[Mount, ...]) -> None:
    """Make the folders of sub-paths that are not there, as a kubelet does."""
    for mount in mounts:
        if not mount.source.exists() and not mount.read_only:
            mount.source.mkdir(parents=True, exist_ok=True)
        if not mount.source.exists():
            raise StartError(
                f'mount "{mount.target}": no such path in its volume: {mount.source}; check subPath'
            )

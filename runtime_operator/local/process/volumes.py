"""Turns the volumes of a pod into folders and files of this machine.

Folders that somebody else owns (hostPath, claims) are used where they are; everything else is made in the
pod's folder. A volume in memory lies in /dev/shm where there is one.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from .failures import ConfigError, StartError, folder_failure
from .fields import Machine
from .generated import SOURCES, files_of
from .generated_folder import publish
from .place import Place
from .pod import Object
from .references import Found

MEMORY = Path("/dev/shm")

Rewrite = Callable[[bytes], bytes]


def make_volumes(
    pod: Object, *, place: Place, found: Found, machine: Machine, rewrite: Rewrite
) -> Mapping[str, Path]:
    """Make every volume of a pod; return where each lies. What is there already is kept."""
    sources = {}
    for volume in pod["spec"].get("volumes") or ():
        name = volume["name"]
        try:
            sources[name] = _make(volume, pod, place=place, found=found, machine=machine, rewrite=rewrite)
        except OSError as error:
            path = str(error.filename or place.folder)
            raise StartError(folder_failure(f'volume "{name}"', path, error.errno or 0)) from error
    return sources


def _make(
    volume: Object, pod: Object, *, place: Place, found: Found, machine: Machine, rewrite: Rewrite
) -> Path:
    if "hostPath" in volume:
        return host_path(volume["hostPath"])
    folder = locate(volume, place=place, found=found)
    if "persistentVolumeClaim" in volume:
        return _folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if any(kind in volume for kind in SOURCES):
        files = files_of(volume, pod, place=place, found=found, machine=machine)
        publish(folder, [replace(file, content=rewrite(file.content)) for file in files])
    return folder


def locate(volume: Object, *, place: Place, found: Found) -> Path:
    """Return where a volume lies, made or not."""
    if "hostPath" in volume:
        return Path(volume["hostPath"]["path"])
    if "persistentVolumeClaim" in volume:
        name = volume["persistentVolumeClaim"]["claimName"]
        if name not in found.claims:
            raise ConfigError(
                f'volume "{volume["name"]}": persistentvolumeclaim "{name}" not found; create it first'
            )
        return Path(found.claims[name])
    if (volume.get("emptyDir") or {}).get("medium") == "Memory":
        return memory_folder(place, volume["name"])
    return place.folder / "volumes" / str(volume["name"])


def memory_folder(place: Place, name: str) -> Path:
    """Return where an emptyDir in memory lies: in the pod's folder if this machine has no /dev/shm."""
    if not MEMORY.is_dir():
        return place.folder / "volumes" / name
    mark = str(place.folder.resolve()).strip("/").replace("/", "-")
    return MEMORY / "kfp-trainer" / mark[-200:] / name


def remove_volumes(place: Place) -> None:
    """Delete what was made for a pod's volumes; folders of somebody else stay."""
    shutil.rmtree(place.folder / "volumes", ignore_errors=True)
    shutil.rmtree(memory_folder(place, "any").parent, ignore_errors=True)


def host_path(source: Object) -> Path:
    """Return the path of a hostPath volume, checked or made as its type says."""
    path, kind = Path(source["path"]), source.get("type") or ""
    if kind == "DirectoryOrCreate":
        path.mkdir(parents=True, exist_ok=True)
    elif kind == "FileOrCreate":
        path.touch(exist_ok=True)
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    if kind.startswith("Directory") and not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    if kind.startswith("File") and not path.is_file():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    return readable(path)


def readable(path: Path) -> Path:
    """Return a path that this user may read; PermissionError otherwise."""
    if not os.access(path, os.R_OK | (os.X_OK if path.is_dir() else 0)):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return path


def _folder(path: Path) -> Path:
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    return readable(path)

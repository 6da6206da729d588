"""What the image of an MPI job brings on a cluster and nobody brings here: the settings of ssh and sshd.

The MPI plug-in mounts a pair of keys and lets nodes run sshd. On this machine every pod listens on an address
of its own, so all of them may have the same port; keys lie where the plug-in mounted them; and the programs
that ssh starts find the same PATH as the container.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any

from .process.images import Image, image_env

Json = dict[str, Any]

KEYS_VOLUMES = ("mpi-ssh-auth", "ssh-auth")
"""of a TrainJob, and of an MPIJob"""
PRIVATE_KEY = "id_rsa"
PORT = 2222
CLIENT_SETTINGS = "/etc/ssh/ssh_config"
DAEMON_SETTINGS = "/etc/ssh/sshd_config"
"""what sshd reads that is told nothing; this machine's own are not meant for a job"""
_NO_GROUP = 0o700
_USUAL_MODE = 0o644


def with_ssh(manifest: Json, folder: Path, *, host: str, ports: Mapping[int, int]) -> Json:
    """The pod with what ssh needs; a pod without the keys of MPI stays as it is."""
    pod = deepcopy(manifest)
    volume = next(filter(_has_keys, pod["spec"].get("volumes") or ()), None)
    if volume is None:
        return manifest
    folder.mkdir(exist_ok=True)
    _own_alone(volume["secret"])
    for container in pod["spec"]["containers"]:
        if keys := _keys_folder(container, volume["name"]):
            settings = {CLIENT_SETTINGS: client_settings(keys, ports.get(PORT, PORT))}
            if asked := _daemon_settings(container):
                settings[asked] = daemon_settings(keys, host, ports.get(PORT, PORT))
            _mount(pod, container, folder, settings)
    return pod


def ssh_ports(pods: Iterable[Mapping[str, Any]]) -> set[int]:
    """The port of ssh, if one of the pods has keys: of it every job needs one of its own as well."""
    volumes = (volume for pod in pods for volume in pod["spec"].get("volumes") or ())
    return {PORT} if any(map(_has_keys, volumes)) else set()


def _has_keys(volume: Mapping[str, Any]) -> bool:
    items = (volume.get("secret") or {}).get("items") or ()
    return volume["name"] in KEYS_VOLUMES and any(each.get("path") == PRIVATE_KEY for each in items)


def _keys_folder(container: Json, volume: str) -> str:
    mounts = container.get("volumeMounts") or ()
    return next((each["mountPath"] for each in mounts if each["name"] == volume), "")


def environment(*, root: bool) -> dict[str, str]:
    """What Open MPI must know where all hosts are one machine: loopback will do, and so will root."""
    found = {"OMPI_MCA_btl_tcp_if_include": "lo", "OMPI_MCA_oob_tcp_if_include": "lo"}
    if root:
        found |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return found


def client_settings(keys: str, port: int) -> str:
    """The settings of ssh: the job's key, its port, and no questions about hosts that live for an hour."""
    lines = {
        "Port": str(port),
        "IdentityFile": f"{keys}/{PRIVATE_KEY}",
        "IdentitiesOnly": "yes",
        "StrictHostKeyChecking": "no",
        "UserKnownHostsFile": "/dev/null",
        "LogLevel": "ERROR",
    }
    return "Host *\n" + "".join(f"  {name} {value}\n" for name, value in lines.items())


def daemon_settings(keys: str, host: str, port: int) -> str:
    """The settings of sshd: on the pod's own address, for the job's key alone."""
    path = image_env(Image(), os.environ)["PATH"]
    lines = {
        "Port": str(port),
        "ListenAddress": host,
        "HostKey": f"{keys}/{PRIVATE_KEY}",
        "AuthorizedKeysFile": f"{keys}/authorized_keys",
        "PasswordAuthentication": "no",
        "StrictModes": "no",
        "UsePAM": "no",
        "PidFile": "none",
        "SetEnv": f"PATH={path}",
    }
    return "".join(f"{name} {value}\n" for name, value in lines.items())


def _own_alone(secret: Json) -> None:
    """Take away from keys what ssh refuses: here the person who runs the pod owns them."""
    for item in secret.get("items") or ():
        if "mode" in item:
            item["mode"] &= _NO_GROUP
    secret["defaultMode"] = secret.get("defaultMode", _USUAL_MODE) & _NO_GROUP


def _daemon_settings(container: Json) -> str:
    """The path of the settings that a container's sshd reads and this machine does not have for it."""
    words = [str(word) for word in (*(container.get("command") or ()), *(container.get("args") or ()))]
    if not words or Path(words[0]).name != "sshd":
        return ""
    asked = next((after for word, after in pairwise(words) if word == "-f"), "")
    if not asked:
        return DAEMON_SETTINGS
    return "" if Path(asked).exists() else asked


def _mount(pod: Json, container: Json, folder: Path, settings: Mapping[str, str]) -> None:
    mounts = list(container.get("volumeMounts") or ())
    for name, volume, target in _sources(container["name"], folder, settings):
        pod["spec"]["volumes"].append({"name": name, **volume})
        mounts.append({"name": name, "mountPath": target})
    container["volumeMounts"] = mounts


def _sources(container: str, folder: Path, settings: Mapping[str, str]) -> Iterator[tuple[str, Json, str]]:
    """Name, source and target of each volume that is added."""
    for number, (target, text) in enumerate(settings.items()):
        path = folder / f"{container}-{number}"
        path.write_text(text)
        yield f"ssh-{container}-{number}", {"hostPath": {"path": str(path), "type": "File"}}, target
    yield f"ssh-{container}-run", {"emptyDir": {}}, "/run/sshd"

"""What Flux needs in its pods: volumes, mounts, the container that installs it, and the brokers' key."""

from __future__ import annotations

from typing import Any

from ..info import Info
from ..overlay import Object
from .mpi_files import DRAWN_LATER, encoded

CONFIG_DIR = "/etc/flux-config"
CURVE_KEY = "curve.cert"
_INSTALL = {"name": "flux-install", "mountPath": "/mnt/flux"}


def config_name(info: Info) -> str:
    """Name the ConfigMap of the scripts."""
    return f"{info.name}-flux-entrypoint"


def _secret_name(info: Info) -> str:
    return f"{info.name}-flux-curve"


def volumes(info: Info) -> list[Object]:
    """List the volumes of a node."""
    config = config_name(info)
    return [
        {"name": "spack-install", "emptyDir": {}},
        {"name": "flux-install", "emptyDir": {}},
        {"name": config, "configMap": {"name": config, "defaultMode": 0o755}},
        {"name": "shared-memory", "emptyDir": {"medium": "Memory"}},
        {"name": "flux-curve", "secret": {"secretName": _secret_name(info), "defaultMode": 0o400}},
    ]


def mounts(info: Info) -> list[Object]:
    """List the mounts of the main container; shared memory is there to be written to."""
    shared: dict[str, Any] = {"name": "shared-memory", "mountPath": "/dev/shm"}
    if info.upstream:
        shared["readOnly"] = True
    return [
        _INSTALL,
        {"name": "spack-install", "mountPath": "/opt/software"},
        _config_mount(info),
        {"name": "flux-curve", "mountPath": "/curve", "readOnly": True},
        shared,
    ]


def installer(info: Info) -> dict[str, Any]:
    """Say what the init container runs."""
    return {
        "command": ["/bin/bash", f"{CONFIG_DIR}/init.sh"],
        "volumeMounts": [_INSTALL, _config_mount(info)],
    }


def _config_mount(info: Info) -> Object:
    return {"name": config_name(info), "mountPath": CONFIG_DIR, "readOnly": True}


def secret_object(info: Info) -> Object:
    """Build the Secret of the brokers' key; whoever applies it passes the key in, and it never changes."""
    body: dict[str, Any] = {"stringData": {CURVE_KEY: DRAWN_LATER}}
    if CURVE_KEY in info.facts.keys:
        body = {"data": {CURVE_KEY: encoded(info.facts.keys[CURVE_KEY])}}
    if not info.upstream:
        body["immutable"] = True
    return info.owned("v1", "Secret", _secret_name(info), **body)

"""What brings kubectl to a launcher on a cluster, and its stand-in here.

On a cluster an init container copies kubectl into a volume. Here that volume holds a script which calls
`kubectl_stand_in`, and the init container is left out.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from ..api.legacy import kind_of
from ..api.legacy.names import KUBECTL_DELIVERY, KUBECTL_VOLUME, ROLE_LABEL
from ..errors import SetupError
from .commands import address_of
from .semantics.labels import JOB_INDEX

Json = dict[str, Any]

PROGRAM = Path(__file__).with_name("kubectl_stand_in.py")
WORKER = re.compile(r"-worker-(\d+)$")
LAUNCHER = "-launcher"
NO_VIEW = "an MPIJob of kubeflow.org/v1 needs namespaces of its own for its pods, which this machine forbids"


def reaches_by_kubectl(job: Mapping[str, Any]) -> bool:
    """Tell whether the launcher of a job starts programs by kubectl."""
    kind = kind_of(job)
    return kind is not None and kind.uses_kubectl


def with_kubectl(manifest: Json, folder: Path, job_folder: Path, *, own_view: bool) -> Json:
    """The launcher with the stand-in; a pod to which nobody brings kubectl stays as it is."""
    if all(each["name"] != KUBECTL_DELIVERY for each in manifest["spec"].get("initContainers") or ()):
        return manifest
    if not own_view:
        raise SetupError(NO_VIEW)
    pod = deepcopy(manifest)
    spec = pod["spec"]
    spec["initContainers"] = [each for each in spec["initContainers"] if each["name"] != KUBECTL_DELIVERY]
    for volume in spec["volumes"]:
        if volume["name"] == KUBECTL_VOLUME:
            del volume["emptyDir"]
            volume["hostPath"] = {"path": str(_written(folder, job_folder)), "type": "Directory"}
    return pod


def is_host(labels: Mapping[str, str], host: str) -> bool:
    """Tell whether a pod with these labels is the worker that is called so, or the launcher."""
    role, named = labels.get(ROLE_LABEL), WORKER.search(host)
    if named is None:
        return role == "launcher" and host.endswith(LAUNCHER)
    return role == "worker" and labels.get(JOB_INDEX) == named[1]


def _written(folder: Path, job_folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    words = shlex.join([sys.executable, "-IS", str(PROGRAM), address_of(job_folder)])
    script = folder / "kubectl"
    script.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    script.chmod(0o755)
    return folder

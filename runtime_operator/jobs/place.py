"""Where jobs run: on this machine, or in a cluster.

What a person says counts first: a flag, then `KFP_TRAINER_JOBS`. Without a word it is the cluster for a
program in one of its pods, such as a pipeline's step, and this machine for everybody else: whoever tries this
on a laptop must not find his job in the cluster of his kubeconfig.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..errors import SetupError
from ..settings import read_settings
from .local import LocalJobs

if TYPE_CHECKING:
    from .protocol import Jobs

Place = Literal["local", "cluster"]

VARIABLE = "KFP_TRAINER_JOBS"
LOCAL_NAMESPACE = "default"


def open_jobs(
    *, namespace: str = "", place: Place | None = None, kubeconfig: Path | None = None, context: str = ""
) -> Jobs:
    """Open the jobs of a namespace; without one, of the place's usual one."""
    named = kubeconfig is not None or bool(context)
    if (place or usual_place(os.environ, named=named)) == "local":
        return LocalJobs(read_settings().jobs, namespace=namespace or LOCAL_NAMESPACE)
    try:
        from ..kube.credentials import load_credentials
        from .cluster import ClusterJobs
    except ModuleNotFoundError as error:
        text = "is not installed, and jobs of a cluster need it; pip install 'kfp-trainer[operator]'"
        raise SetupError(f"{error.name}: {text}") from error
    return ClusterJobs(load_credentials(kubeconfig, context), namespace=namespace)


def usual_place(environ: Mapping[str, str], *, named: bool) -> Place:
    """Where jobs run if no flag says so; `named` if a cluster was."""
    chosen = environ.get(VARIABLE, "").strip()
    if chosen not in ("", "local", "cluster"):
        raise SetupError(f"{VARIABLE}: must be local or cluster, got {chosen!r}")
    if chosen:
        return "local" if chosen == "local" and not named else "cluster"
    return "cluster" if named or environ.get("KUBERNETES_SERVICE_HOST") else "local"

"""Which API server is meant: one function for all who run inside a cluster, beside one or on a laptop."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ..errors import SetupError
from .cluster import Cluster
from .in_cluster import in_cluster, is_in_cluster
from .kubeconfig import from_kubeconfig, usual_files


def load_credentials(
    kubeconfig: Path | None = None, context: str = "", *, environ: Mapping[str, str] = os.environ
) -> Cluster:
    """Find the API server: in the named kubeconfig, in the pod this runs in, or in the usual kubeconfig."""
    if kubeconfig is not None:
        return from_kubeconfig([kubeconfig], context)
    if not context and is_in_cluster(environ):
        return in_cluster(environ)
    if files := usual_files(environ):
        return from_kubeconfig(files, context)
    raise SetupError(
        "kubeconfig: there is none, and this is no pod of a cluster; write ~/.kube/config or set KUBECONFIG"
    )

"""Who a pod is to its cluster: the ServiceAccount's token, which the kubelet renews in its file."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path

from ..errors import SetupError
from .cluster import Cluster
from .renewed import TokenFile

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
HOST, PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"


def is_in_cluster(environ: Mapping[str, str], *, account: Path = ACCOUNT) -> bool:
    """Whether this process is in a pod that has a ServiceAccount."""
    return bool(environ.get(HOST)) and (account / "token").exists()


def in_cluster(environ: Mapping[str, str], *, account: Path = ACCOUNT) -> Cluster:
    """Read what the kubelet gave this pod."""
    host, port = environ[HOST], environ.get(PORT, "443")
    authority = account / "ca.crt"
    try:
        tls = ssl.create_default_context(cafile=str(authority))
        namespace = (account / "namespace").read_text().strip()
    except OSError as error:
        raise SetupError(f"{account}: is not what a kubelet mounts: {error}") from error
    address = f"[{host}]" if ":" in host else host
    return Cluster(f"https://{address}:{port}", tls, TokenFile(account / "token"), namespace)

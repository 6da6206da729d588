"""Starts the managers of controller-runtime, which are alike.

Each has a configuration file, three ports on loopback, and certificates given from outside.
"""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .site import HOST, Site

NO_OWN_CERTIFICATES = {"enable": False}


def manager(name: str, group: str, **settings: Any) -> Callable[[Site], None]:
    """How a manager with this group of configuration is started."""

    def start(site: Site) -> None:
        site.run(name, name, [f"--config={_manager_config(site, name, group, **settings)}"])

    return start


def _manager_config(site: Site, name: str, group: str, *, version: str = "v1alpha1", **settings: Any) -> Path:
    webhook: dict[str, Any] = {"port": site.port(f"{name}-webhook"), "host": HOST}
    if name != "trainer":  # which looks for them in its TMPDIR, and knows no other place
        webhook["certDir"] = str(site.folder / name / "k8s-webhook-server" / "serving-certs")
    return site.write(
        f"{name}.json",
        {
            "apiVersion": f"config.{group}/{version}",
            "kind": "Configuration",
            "leaderElection": {"leaderElect": False},
            "webhook": webhook,
            "metrics": {"bindAddress": site.address(f"{name}-metrics")},
            "health": {"healthProbeBindAddress": site.address(f"{name}-health")},
            **settings,
            **site.settings.get(name, {}),
        },
    )


def start_kueue(site: Site) -> None:
    """Kueue reads its metrics' certificate at one fixed place, so it gets an /etc of its own."""
    own = site.folder / "kueue"
    site.write_serving_pair(own / "etc" / "kueue" / "metrics" / "certs")
    (own / "work").mkdir(exist_ok=True)
    config = _manager_config(
        site,
        "kueue",
        "kueue.x-k8s.io",
        version="v1beta2",
        internalCertManagement=NO_OWN_CERTIFICATES,
        integrations={"frameworks": ["trainer.kubeflow.org/trainjob"]},
    )
    layers = f"lowerdir=/etc,upperdir={own / 'etc'},workdir={own / 'work'}"
    script = 'mount -t overlay kueue -o "$0" /etc && exec "$@"'
    program = [site.programs["kueue"], f"--config={config}", "--feature-gates=VisibilityOnDemand=false"]
    site.run_command("kueue", ["unshare", "--mount", "sh", "-c", script, layers, *program])


def no_own_mounts() -> str:
    """Why Kueue cannot have an /etc of its own here."""
    tried = subprocess.run(["unshare", "--mount", "true"], capture_output=True)
    return f"kueue: {tried.stderr.decode().strip()}" if tried.returncode else ""

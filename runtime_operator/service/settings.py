"""What an administrator decides about one process of the operator, and what follows from it.

An installation for one namespace has rights there only. So it has no webhook, whose configuration is the
cluster's, and no progress endpoint, whose tokens only the cluster checks; jobs that break a rule are then
told by the controller.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..api.legacy import LEGACY_KINDS
from ..errors import SpecError
from ..render.facts import Facts
from ..render.legacy import Installation
from ..render.plugins.progress import GATE

GATES = (GATE,)
LEASE = "trainer.kubeflow.org"
"""upstream's name, so that of the two managers only one acts while one replaces the other"""
SYSTEM_NAMESPACE = "kubeflow-system"


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """The options of `kfp-trainer operator`."""

    namespace: str = ""
    """the only namespace that is served; empty for all"""
    own_namespace: str = ""
    """where the operator itself lives: its Lease, its certificate; empty for that of the pod"""
    kubeconfig: Path | None = None
    context: str = ""
    host: str = ""
    """the address to listen on; empty for all"""
    health_port: int = 8081
    metrics_port: int = 8443
    webhook_port: int = 9443
    progress_port: int = 10443
    webhook: bool = True
    cert_dir: Path | None = None
    leader_election: bool = True
    features: frozenset[str] = frozenset()
    workers: int = 64
    cluster_domain: str = "cluster.local"
    older_kinds: frozenset[str] = frozenset()
    """the kinds of kubeflow.org that are served"""
    installation: Installation = field(default=Installation())
    """what is decided for all jobs of the older kinds"""

    @property
    def admits(self) -> bool:
        """Whether objects are judged before they are stored."""
        return self.webhook and not self.namespace

    @property
    def takes_progress(self) -> bool:
        """Whether trainers may post their progress."""
        return GATE in self.features

    @property
    def has_certificate(self) -> bool:
        """Whether anything is served by TLS."""
        return self.admits or self.takes_progress

    def facts(self, own_namespace: str) -> Facts:
        """What jobs are told of the installation."""
        return Facts(
            features=self.features,
            cluster_domain=self.cluster_domain,
            operator_namespace=own_namespace,
            progress_port=self.progress_port,
        )


def read_gates(text: str) -> frozenset[str]:
    """Read `A=true,B=false` as Kubernetes' programs do; the gates that are on."""
    on: set[str] = set()
    for pair in filter(None, (each.strip() for each in text.split(","))):
        name, _, value = pair.partition("=")
        if name not in GATES:
            raise SpecError(f"--feature-gates: there is no gate {name!r}; there are {', '.join(GATES)}")
        if value not in ("true", "false"):
            raise SpecError(f"--feature-gates: {name} must be true or false, got {value!r}")
        if value == "true":
            on.add(name)
    return frozenset(on)


def read_older_kinds(text: str) -> frozenset[str]:
    """Read `TFJob,PyTorchJob`, in whatever case; the kinds that are served."""
    known = {name.lower(): name for name in LEGACY_KINDS}
    asked = [each.strip() for each in text.split(",") if each.strip()]
    for each in asked:
        if each.lower() not in known:
            raise SpecError(
                f"--older-kinds: there is no kind {each!r}; name some of {', '.join(LEGACY_KINDS)}"
            )
    return frozenset(known[each.lower()] for each in asked)


def check_settings(settings: ServiceSettings) -> None:
    """SpecError where two options do not go together."""
    if settings.namespace and settings.takes_progress:
        raise SpecError(
            f"--feature-gates: {GATE} needs the right to review tokens, which an installation for one "
            "namespace does not have; leave out --namespace or the gate"
        )
    if settings.cert_dir is not None and not settings.has_certificate:
        raise SpecError("--cert-dir: nothing is served with a certificate here; leave it out")
    ports = {"--health-port": settings.health_port, "--metrics-port": settings.metrics_port}
    if settings.admits:
        ports["--webhook-port"] = settings.webhook_port
    if settings.takes_progress:
        ports["--progress-port"] = settings.progress_port
    taken: dict[int, str] = {}
    for option, port in ports.items():
        if port and port in taken:
            raise SpecError(f"{option}: {port} is the port of {taken[port]} too; give another")
        taken[port] = option

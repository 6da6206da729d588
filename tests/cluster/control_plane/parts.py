"""What a plane can carry besides Kubernetes' own API server and controllers, by name.

Each part says which programs it runs, where its CRDs and webhooks lie in its own Go module, and how it is
started. Managers of controller-runtime are alike: a configuration file, three ports on loopback, and
certificates given from outside.
"""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .build import module_cache
from .client import collection, eventually
from .programs import PROGRAMS, versions
from .site import HOST, Site

HERE = Path(__file__).resolve().parent
PROCESS_NODE = "process-node"
NAMESPACES = ("unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
NODE_SELECTOR = "kfp-trainer.test/node=kwok"


def always() -> str:
    """Nothing is needed beyond the programs."""
    return ""


@dataclass(frozen=True)
class Part:
    """A scheduler, a set of simulated nodes or a controller with kinds of its own."""

    programs: tuple[str, ...]
    start: Callable[[Site], None]
    module: str = ""
    crds: tuple[str, ...] = ()
    webhooks: str = ""
    made: str = ""
    """path of an object that the part makes when it is ready"""

    why_not: Callable[[], str] = always
    """why it cannot run on this machine; empty if it can"""

    def crd_files(self) -> list[Path]:
        """The part's CRDs in the cache of Go modules."""
        return [path for pattern in self.crds for path in sorted(self._sources().glob(pattern))]

    def webhook_file(self) -> Path | None:
        """The part's webhook configurations as its authors ship them."""
        return self._sources() / self.webhooks if self.webhooks else None

    def _sources(self) -> Path:
        version = versions(PROGRAMS[self.programs[0]].module)[self.module]
        return module_cache() / f"{self.module}@{version}"


def _scheduler(site: Site) -> None:
    flags = ["--leader-elect=false", "--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=1000"]
    site.run("scheduler", "kube-scheduler", [f"--kubeconfig={site.kubeconfig}", *flags])


def _kwok(site: Site) -> None:
    options = {
        "kind": "KwokConfiguration",
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "options": {
            "nodeIP": "198.19.0.1",  # of the range for benchmarks: nothing is ever sent to it
            "cidr": "198.18.0.1/16",
            "podPlayStageParallelism": 16,
            "nodePlayStageParallelism": 4,
            "podsOnNodeSyncParallelism": 4,
            "nodeLeaseParallelism": 4,
            "nodeLeaseDurationSeconds": 8,
        },
    }
    config = site.write("kwok.yaml", options)
    with config.open("a", encoding="utf-8") as file:
        file.write("\n---\n" + (HERE / "stages.yaml").read_text(encoding="utf-8"))
    site.run(
        "kwok",
        "kwok",
        [
            f"--kubeconfig={site.kubeconfig}",
            f"--config={config}",
            "--manage-all-nodes=false",
            f"--manage-nodes-with-label-selector={NODE_SELECTOR}",
            f"--server-address={site.address('kwok')}",
        ],
    )


def _manager(name: str, group: str, *, version: str = "v1alpha1", **settings: Any) -> Callable[[Site], None]:
    def start(site: Site) -> None:
        webhook: dict[str, Any] = {"port": site.port(f"{name}-webhook"), "host": HOST}
        if name != "trainer":  # which looks for them in its TMPDIR, and knows no other place
            webhook["certDir"] = str(site.folder / name / "k8s-webhook-server" / "serving-certs")
        config = site.write(
            f"{name}.json",
            {
                "apiVersion": f"config.{group}/{version}",
                "kind": "Configuration",
                "leaderElection": {"leaderElect": False},
                "webhook": webhook,
                "metrics": {"bindAddress": site.address(f"{name}-metrics")},
                "health": {"healthProbeBindAddress": site.address(f"{name}-health")},
                **settings,
            },
        )
        site.run(name, name, [f"--config={config}"])

    return start


def _volcano(site: Site) -> None:
    conf = PARTS["volcano"]._sources() / "installer/helm/chart/volcano/config/volcano-scheduler.conf"
    common = [f"--kubeconfig={site.kubeconfig}", "--leader-elect=false"]
    scheduler = [f"--scheduler-conf={conf}", "--cache-dumper=false", "--schedule-period=200ms"]
    site.run(
        "volcano", "volcano-scheduler", [*common, *scheduler, f"--listen-address={site.address('volcano')}"]
    )
    site.run(
        "volcano-controller",
        "volcano-controller",
        [
            *common,
            "--controllers=queue-controller,pg-controller",
            f"--listen-address={site.address('volcano-2')}",
        ],
    )


def _coscheduling(site: Site) -> None:
    coscheduling = {"name": "Coscheduling"}
    profile = {
        "schedulerName": "scheduler-plugins-scheduler",
        "plugins": {
            "multiPoint": {"enabled": [coscheduling]},
            "queueSort": {"enabled": [coscheduling], "disabled": [{"name": "*"}]},
        },
        "pluginConfig": [{"name": "Coscheduling", "args": {"permitWaitingTimeSeconds": 10}}],
    }
    config = site.write(
        "coscheduling.json",
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            "clientConnection": {"kubeconfig": str(site.kubeconfig)},
            "profiles": [profile],
        },
    )
    site.run("coscheduling", "coscheduling-scheduler", [f"--config={config}", "--secure-port=0"])
    ports = [
        f"--metricsAddr={site.address('coscheduling-metrics')}",
        f"--probeAddr={site.address('coscheduling-health')}",
    ]
    site.run("coscheduling-controller", "coscheduling-controller", ports)


def _process_node(site: Site) -> None:
    own, package = site.folder / PROCESS_NODE, "tests.cluster.process_node"
    port = site.port("kubelet")
    own.mkdir()
    site.run_module("process-node-gate", f"{package}.gate", [own, site.port("api"), port])
    eventually("the gate is open", lambda: (own / "api.sock").exists())
    site.run_module(PROCESS_NODE, package, [PROCESS_NODE, own, site.pki, port, 8], inside=NAMESPACES)


def _no_namespaces() -> str:
    """Why the process node cannot have its namespaces here."""
    try:
        tried = subprocess.run(
            [*NAMESPACES, "ip", "link", "add", "pods", "type", "bridge"], capture_output=True
        )
    except FileNotFoundError as missing:
        return f"process node: {missing.filename}: not on the PATH"
    return f"process node: {tried.stderr.decode().strip()}" if tried.returncode else ""


NO_OWN_CERTIFICATES = {"enable": False}
VOLCANO_CRDS = (
    "batch.volcano.sh_jobs bus.volcano.sh_commands nodeinfo.volcano.sh_numatopologies"
    " shard.volcano.sh_nodeshards scheduling.volcano.sh_podgroups scheduling.volcano.sh_queues"
    " topology.volcano.sh_hypernodes"
).split()

PARTS = {
    "scheduler": Part(("kube-scheduler",), _scheduler),
    "kwok": Part(("kwok",), _kwok),
    "jobset": Part(
        ("jobset",),
        _manager("jobset", "jobset.x-k8s.io", internalCertManagement=NO_OWN_CERTIFICATES),
        module="sigs.k8s.io/jobset",
        crds=("config/components/crd/bases/*.yaml",),
        webhooks="config/components/webhook/manifests.yaml",
    ),
    "trainer": Part(
        ("trainer",),
        _manager("trainer", "trainer.kubeflow.org", certManagement=NO_OWN_CERTIFICATES),
        module="github.com/kubeflow/trainer/v2",
        crds=("manifests/base/crds/trainer.*.yaml",),
        webhooks="manifests/base/webhook/manifests.yaml",
    ),
    "volcano": Part(
        ("volcano-scheduler", "volcano-controller"),
        _volcano,
        module="volcano.sh/volcano",
        crds=tuple(f"installer/helm/chart/volcano/crd/bases/{name}.yaml" for name in VOLCANO_CRDS),
    ),
    "coscheduling": Part(
        ("coscheduling-scheduler", "coscheduling-controller"),
        _coscheduling,
        module="sigs.k8s.io/scheduler-plugins",
        crds=("config/crd/bases/*.yaml",),
    ),
    PROCESS_NODE: Part(
        (), _process_node, made=f"{collection('v1', 'Node')}/{PROCESS_NODE}", why_not=_no_namespaces
    ),
}

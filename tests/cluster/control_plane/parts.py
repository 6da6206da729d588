"""What a plane can carry besides Kubernetes' own API server and controllers, by name.

Each part says which programs it runs, where its CRDs and webhooks lie in its own Go module, and how it is
started.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .build import module_folder
from .client import collection
from .managers import NO_OWN_CERTIFICATES, manager, no_own_mounts, start_kueue
from .node_parts import PROCESS_NODE, no_namespaces, start_kwok, start_process_node
from .programs import PROGRAMS
from .schedulers import VOLCANO, start_coscheduling, start_scheduler, start_volcano
from .site import Site


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
    only_hooks: str = ""
    """a regular expression of the paths of those webhooks that are wanted; all if empty"""
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
        return module_folder(PROGRAMS[self.programs[0]].module, self.module)


VOLCANO_CRDS = (
    "batch.volcano.sh_jobs bus.volcano.sh_commands nodeinfo.volcano.sh_numatopologies"
    " shard.volcano.sh_nodeshards scheduling.volcano.sh_podgroups scheduling.volcano.sh_queues"
    " topology.volcano.sh_hypernodes"
).split()

PARTS = {
    "scheduler": Part(("kube-scheduler",), start_scheduler),
    "kwok": Part(("kwok",), start_kwok),
    "jobset": Part(
        ("jobset",),
        manager("jobset", "jobset.x-k8s.io", internalCertManagement=NO_OWN_CERTIFICATES),
        module="sigs.k8s.io/jobset",
        crds=("config/components/crd/bases/*.yaml",),
        webhooks="config/components/webhook/manifests.yaml",
    ),
    "trainer": Part(
        ("trainer",),
        manager("trainer", "trainer.kubeflow.org", certManagement=NO_OWN_CERTIFICATES),
        module="github.com/kubeflow/trainer/v2",
        crds=("manifests/base/crds/trainer.*.yaml",),
        webhooks="manifests/base/webhook/manifests.yaml",
    ),
    "volcano": Part(
        ("volcano-scheduler", "volcano-controller"),
        start_volcano,
        module=VOLCANO,
        crds=tuple(f"installer/helm/chart/volcano/crd/bases/{name}.yaml" for name in VOLCANO_CRDS),
    ),
    "coscheduling": Part(
        ("coscheduling-scheduler", "coscheduling-controller"),
        start_coscheduling,
        module="sigs.k8s.io/scheduler-plugins",
        crds=("config/crd/bases/*.yaml",),
    ),
    "kueue": Part(
        ("kueue",),
        start_kueue,
        module="sigs.k8s.io/kueue",
        crds=("config/components/crd/bases/*.yaml",),
        webhooks="config/components/webhook/manifests.yaml",
        only_hooks="kueue-x-k8s-io|trainjob",
        why_not=no_own_mounts,
    ),
    PROCESS_NODE: Part(
        (), start_process_node, made=f"{collection('v1', 'Node')}/{PROCESS_NODE}", why_not=no_namespaces
    ),
}

"""What a plane can carry besides Kubernetes' own API server and controllers, by name.

Each part says which programs it runs, where its CRDs and webhooks lie in its own Go module, and how it is
started.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..process_node.starting import PROCESS_NODE, no_namespaces, start_process_node
from .accounts import Account
from .build import module_folder
from .client import collection
from .managers import NO_OWN_CERTIFICATES, manager, no_own_mounts, start_kueue
from .node_parts import start_kwok
from .programs import PROGRAMS
from .schedulers import (
    VOLCANO,
    start_coscheduling,
    start_scheduler,
    start_volcano,
    start_volcano_admission,
)
from .site import Site


def always() -> str:
    """Nothing is needed beyond the programs."""
    return ""


def nothing(site: Site) -> None:
    """There is nothing more to start."""


@dataclass(frozen=True)
class Part:
    """A scheduler, a set of simulated nodes or a controller with kinds of its own."""

    programs: tuple[str, ...]
    start: Callable[[Site], None]
    start_when_admitting: Callable[[Site], None] = nothing
    """what is started when the webhooks answer, because it needs them"""

    module: str = ""
    crds: tuple[str, ...] = ()
    webhooks: str = ""
    only_hooks: str = ""
    """a regular expression of the paths of those webhooks that are wanted; all if empty"""
    hooks_are_named: bool = False
    """whether the part looks for its webhook configurations by the names that they have in the file"""
    accounts: Mapping[str, Account] = field(default_factory=dict)
    """who each of its programs is to the API server; the others are users of Kubernetes itself"""

    made: str = ""
    """path of an object that the part makes when it is ready"""

    why_not: Callable[[], str] = always
    """why it cannot run on this machine; empty if it can"""

    def crd_files(self) -> list[Path]:
        """The part's CRDs in the cache of Go modules."""
        return [path for pattern in self.crds for path in sorted(self.sources().glob(pattern))]

    def webhook_file(self) -> Path | None:
        """The part's webhook configurations as its authors ship them."""
        return self.sources() / self.webhooks if self.webhooks else None

    def sources(self) -> Path:
        """The part's Go module; of one without a module of its own, that of its program."""
        return module_folder(PROGRAMS[self.programs[0]].module, self.module)


VOLCANO_CRDS = (
    "batch.volcano.sh_jobs bus.volcano.sh_commands nodeinfo.volcano.sh_numatopologies"
    " shard.volcano.sh_nodeshards scheduling.volcano.sh_podgroups scheduling.volcano.sh_queues"
    " topology.volcano.sh_hypernodes"
).split()
VOLCANO_MANIFEST = "installer/volcano-development.yaml"
COSCHEDULING_MANIFEST = "manifests/install/all-in-one.yaml"

PARTS = {
    "scheduler": Part(("kube-scheduler",), start_scheduler),
    "kwok": Part(
        ("kwok",),
        start_kwok,
        module="sigs.k8s.io/kwok",
        accounts={"kwok": Account(("kustomize/rbac/role.yaml",), ("kwok-controller",))},
    ),
    "jobset": Part(
        ("jobset",),
        manager("jobset", "jobset.x-k8s.io", internalCertManagement=NO_OWN_CERTIFICATES),
        module="sigs.k8s.io/jobset",
        crds=("config/components/crd/bases/*.yaml",),
        webhooks="config/components/webhook/manifests.yaml",
        accounts={"jobset": Account(("config/components/rbac/role.yaml",))},
    ),
    "trainer": Part(
        ("trainer",),
        manager("trainer", "trainer.kubeflow.org", certManagement=NO_OWN_CERTIFICATES),
        module="github.com/kubeflow/trainer/v2",
        crds=("manifests/base/crds/trainer.*.yaml",),
        webhooks="manifests/base/webhook/manifests.yaml",
        accounts={
            "trainer": Account(("manifests/base/rbac/role.yaml",), ("kubeflow-trainer-controller-manager",))
        },
    ),
    "training-operator": Part(
        ("training-operator",),
        nothing,  # it runs as its own manifests install it, see tests/cluster/training_operator_install.py
        module="github.com/kubeflow/training-operator",
        crds=("manifests/base/crds/kubeflow.*.yaml",),
    ),
    "volcano": Part(
        ("volcano-scheduler", "volcano-controller", "volcano-webhook"),
        start_volcano_admission,
        start_volcano,
        module=VOLCANO,
        crds=tuple(f"installer/helm/chart/volcano/crd/bases/{name}.yaml" for name in VOLCANO_CRDS),
        webhooks=VOLCANO_MANIFEST,
        made=f"{collection('scheduling.volcano.sh/v1beta1', 'Queue')}/default",
        hooks_are_named=True,
        accounts={
            "volcano": Account((VOLCANO_MANIFEST,), ("volcano-scheduler",)),
            "volcano-controller": Account((VOLCANO_MANIFEST,), ("volcano-controllers",)),
            "volcano-webhook": Account((VOLCANO_MANIFEST,), ("volcano-admission",)),
        },
    ),
    "coscheduling": Part(
        ("coscheduling-scheduler", "coscheduling-controller"),
        start_coscheduling,
        module="sigs.k8s.io/scheduler-plugins",
        crds=("config/crd/bases/*.yaml",),
        accounts={
            "coscheduling": Account(
                (COSCHEDULING_MANIFEST,),
                ("system:kube-scheduler:plugins",),
                known=("system:kube-scheduler", "system:volume-scheduler"),
            ),
            "coscheduling-controller": Account((COSCHEDULING_MANIFEST,), ("scheduler-plugins-controller",)),
        },
    ),
    "kueue": Part(
        ("kueue",),
        start_kueue,
        module="sigs.k8s.io/kueue",
        crds=("config/components/crd/bases/*.yaml",),
        webhooks="config/components/webhook/manifests.yaml",
        only_hooks="kueue-x-k8s-io|trainjob",
        accounts={
            "kueue": Account(
                ("config/components/rbac/role.yaml", "config/components/rbac/manager_secrets_role.yaml"),
                ("manager-role", "manager-secrets-role"),
            )
        },
        why_not=no_own_mounts,
    ),
    PROCESS_NODE: Part(
        (), start_process_node, made=f"{collection('v1', 'Node')}/{PROCESS_NODE}", why_not=no_namespaces
    ),
}

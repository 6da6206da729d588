"""The managers that are compared, each started as a process of its own on a plane that nothing else uses.

`peer` is Trainer 2.3's manager as it ships, `peer, best settings` the same with its client limits raised as
far as they help, `ours` the operator, and `bare client` a program that does nothing but apply the objects
that ours applies: what the plane itself allows a Python client.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cluster.control_plane.managers import NO_OWN_CERTIFICATES, manager
from tests.cluster.control_plane.plane import Plane, running_plane
from tests.cluster.control_plane.processes import Process
from tests.cluster.older_kinds import ALL_KINDS

NAMESPACE = "kubeflow-system"
GROUP = "trainer.kubeflow.org"
BEST = {"clientConnection": {"qps": 500, "burst": 1000}}
"""its `groupKindConcurrency` has no effect; see docs/cluster.md"""

NAME = "manager"
Start = Callable[[Plane], Process]


@contextmanager
def plane_alone() -> Iterator[Plane]:
    """A plane with nothing on it but etcd, the API server, and the CRDs of JobSet and Trainer."""
    with running_plane(["jobset", "trainer"], lambda line: print(line, file=sys.stderr, flush=True)) as plane:
        make_account(plane)
        plane.kill("kube-controller-manager")
        yield plane


def make_account(plane: Plane) -> None:
    """The ServiceAccount as which the managers act, so that the audit log tells their requests apart."""
    names = {"name": NAME, "namespace": NAMESPACE}
    plane.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    plane.client.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": names}, NAMESPACE)
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    plane.client.apply(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": NAME},
            "roleRef": role,
            "subjects": [{"kind": "ServiceAccount", **names}],
        }
    )


def peer(**settings: Any) -> Start:
    """Trainer's manager."""

    def start(plane: Plane) -> Process:
        with _acting_as_manager(plane):
            manager("trainer", GROUP, certManagement=NO_OWN_CERTIFICATES, **settings)(plane.site)
        return plane.site.processes["trainer"]

    return start


def serving_all(plane: Plane) -> Process:
    """The operator with the older kinds."""
    return ours(plane, f"--older-kinds={ALL_KINDS}")


def ours(plane: Plane, *others: str) -> Process:
    """The operator, without its webhook."""
    command = [Path(sys.executable).parent / "kfp-trainer", "operator"]
    options = ["--kubeconfig", kubeconfig(plane), "--no-webhook", "--no-leader-election"]
    ports = [f"--{name}-port={plane.site.port(name)}" for name in ("health", "metrics")]
    return plane.site.run_command("operator", [*command, *options, *ports, *others])


def bare_client(objects: Path) -> Start:
    """A program that applies the objects of a file."""

    def start(plane: Plane) -> Process:
        return plane.site.run_module(
            "bare-client", "tests.perf.operator.bare_client", [kubeconfig(plane), objects]
        )

    return start


def kubeconfig(plane: Plane) -> Path:
    """A kubeconfig of the managers' account."""
    return plane.kubeconfig_of(NAMESPACE, NAME)


@contextmanager
def _acting_as_manager(plane: Plane) -> Iterator[None]:
    """What is started meanwhile gets the managers' kubeconfig."""
    admin, plane.site.kubeconfig = plane.site.kubeconfig, kubeconfig(plane)
    try:
        yield
    finally:
        plane.site.kubeconfig = admin


MANAGERS: Mapping[str, Start] = {"peer": peer(), "peer, best settings": peer(**BEST), "ours": ours}

"""Who the programs are to the API server: a ServiceAccount each, with the roles that their authors ship.

Kubernetes' own controllers and scheduler, and nodes, are users that the API server knows by their names.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .shipped import documents

RBAC = "rbac.authorization.k8s.io"
PROVISIONER = "provisioner"
USERS = {
    "kube-controller-manager": ("system:kube-controller-manager",),
    "scheduler": ("system:kube-scheduler",),
    "kube-apiserver": ("kube-apiserver",),
    "kube-proxy": ("system:kube-proxy",),
    PROVISIONER: ("volume-provisioner",),
}
"""name and groups in the certificate of each program that has one"""


@dataclass(frozen=True)
class Account:
    """What one program may do."""

    manifests: tuple[str, ...] = ()
    """files of its module that hold its roles"""
    roles: tuple[str, ...] = ("manager-role",)
    """the names of those in the files that it gets; one of a namespace counts in its own"""
    known: tuple[str, ...] = ()
    """cluster roles that every API server has"""


def grants(name: str, namespace: str, account: Account, sources: Path) -> list[tuple[dict[str, Any], str]]:
    """The roles of an account's ServiceAccount and what binds them to it, each with its namespace."""
    subject = {"kind": "ServiceAccount", "name": name, "namespace": namespace}
    made = [(_bound(f"{name}:{role}", "ClusterRole", role, subject), "") for role in account.known]
    shipped = (each for file in account.manifests for each in documents(sources / file, "(Cluster)?Role"))
    for document in shipped:
        kind, role = document["kind"], f"{name}:{document['metadata']['name']}"
        if document["metadata"]["name"] in account.roles:
            made.append((_role(role, kind, document["rules"]), namespace))
            made.append((_bound(role, kind, role, subject), namespace))
    return made


def provisioner_grants() -> dict[str, Any]:
    """What the one who gives claims their volumes may do."""
    user, role = USERS[PROVISIONER][0], "system:persistent-volume-provisioner"
    return _bound(PROVISIONER, "ClusterRole", role, {"apiGroup": RBAC, "kind": "User", "name": user})


def _bound(name: str, kind: str, role: str, subject: Mapping[str, str]) -> dict[str, Any]:
    reference = {"apiGroup": RBAC, "kind": kind, "name": role}
    head = {"apiVersion": f"{RBAC}/v1", "kind": f"{kind}Binding", "metadata": {"name": name}}
    return {**head, "subjects": [dict(subject)], "roleRef": reference}


def _role(name: str, kind: str, rules: Any) -> dict[str, Any]:
    head = {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": {"name": name}}
    return {**head, "rules": [dict(each) for each in rules]}

"""The programs of the control plane: from which Go module each is built, and where its own objects lie.

Three modules, because of Kubernetes minors: `kubernetes` (1.35) holds the control plane and whatever embeds
its scheduler, `managers` (client libraries of 1.36) the controllers that only talk to an API server, and
`training_operator` (of 1.31) the operator of the older kinds. The go.mod of each names the versions; no
version stands anywhere else.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
KUBERNETES_VERSION = (1, 35, 4)


@dataclass(frozen=True)
class Program:
    """A package main of one of the modules."""

    module: str
    package: str


PROGRAMS = {
    "etcd": Program("kubernetes", "go.etcd.io/etcd/server/v3"),
    "kube-apiserver": Program("kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver"),
    "kube-controller-manager": Program("kubernetes", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    "kube-scheduler": Program("kubernetes", "k8s.io/kubernetes/cmd/kube-scheduler"),
    "coscheduling-scheduler": Program("kubernetes", "sigs.k8s.io/scheduler-plugins/cmd/scheduler"),
    "coscheduling-controller": Program("kubernetes", "sigs.k8s.io/scheduler-plugins/cmd/controller"),
    "volcano-scheduler": Program("kubernetes", "volcano.sh/volcano/cmd/scheduler"),
    "volcano-controller": Program("kubernetes", "volcano.sh/volcano/cmd/controller-manager"),
    "volcano-webhook": Program("kubernetes", "volcano.sh/volcano/cmd/webhook-manager"),
    "jobset": Program("managers", "sigs.k8s.io/jobset"),
    "kwok": Program("managers", "sigs.k8s.io/kwok/cmd/kwok"),
    "trainer": Program("managers", "github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager"),
    "kueue": Program("managers", "sigs.k8s.io/kueue/cmd/kueue"),
    "training-operator": Program(
        "training_operator", "github.com/kubeflow/training-operator/cmd/training-operator.v1"
    ),
}


@cache
def versions(module: str) -> dict[str, str]:
    """The version of each Go module that a go.mod asks for."""
    text = (HERE / module / "go.mod").read_text(encoding="utf-8")
    return dict(re.findall(r"^\t(\S+) (v\S+)", text, re.MULTILINE))

"""What render may know of the world beside the job and its runtime.

Render does no I/O. Whoever calls it looks these things up first: the controller in its caches, the command
line in the documents of a file, local mode on this machine. A fact that was not looked up is left empty,
and render then decides as if there were none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .plan import Object


@dataclass(frozen=True, slots=True)
class Facts:
    """The objects that exist already, and the settings of the installation."""

    existing: Mapping[tuple[str, str], Object] = field(default_factory=dict)
    """objects of the job's namespace and of the cluster, by (kind, name), and the operator's `certificate`"""
    looked_up: frozenset[str] = frozenset()
    """kinds of which `existing` holds every object there is, so that one which is missing does not exist"""
    features: frozenset[str] = frozenset()
    """feature gates that are on"""
    keys: Mapping[str, str] = field(default_factory=dict)
    """fresh key material, by purpose: render draws no random numbers"""
    cluster_domain: str = "cluster.local"
    operator_namespace: str = "kubeflow-system"
    operator_service: str = "kubeflow-trainer-controller-manager"
    """the Service of the operator, where trainers post their progress to"""
    progress_port: int = 10443
    certificate: str = "kubeflow-trainer-webhook-cert"
    """the Secret of the operator's namespace that holds the authority of its certificate"""


NO_FACTS = Facts()

"""Our operator on the older kinds, and where their jobs lie."""

from collections.abc import Iterator
from contextlib import contextmanager

import yaml

from kfp_trainer.runtime_operator.api.legacy import LEGACY_KINDS
from tests.cluster.control_plane.client import Client, Json, collection, eventually
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.control_plane.processes import Process
from tests.cluster.control_plane.site import ROOT
from tests.cluster.operator import running_operator

KUBEFLOW = "kubeflow.org/v1"
ALL_KINDS = ",".join(LEGACY_KINDS)


def install_older_crds(client: Client) -> None:
    """Serve the older kinds."""
    for path in sorted((ROOT / "manifests" / "older_kinds" / "crds").glob("kubeflow.org_*.yaml")):
        client.apply(yaml.safe_load(path.read_text(encoding="utf-8")))
    served = {f"{kind.plural}.kubeflow.org" for kind in LEGACY_KINDS.values()}
    eventually("the older kinds are served", lambda: served <= client.served())


@contextmanager
def serving_older_kinds(cluster: Cluster, *flags: str, kinds: str = ALL_KINDS) -> Iterator[Process]:
    """Run the operator until the block ends."""
    install_older_crds(cluster.client)
    with running_operator(cluster, f"--older-kinds={kinds}", *flags) as process:
        yield process


def older_path(document: Json, *, namespace: str = "") -> str:
    """Where a job lies."""
    metadata = document["metadata"]
    return f"{collection(KUBEFLOW, document['kind'], namespace or metadata['namespace'])}/{metadata['name']}"


def true_conditions(job: Json) -> list[str]:
    """The conditions of a job that hold, in their order."""
    found = (job.get("status") or {}).get("conditions") or ()
    return [each["type"] for each in found if each["status"] == "True"]

"""Starts what plays the part of nodes: KWOK for any number of simulated ones, and the process node."""

import subprocess
from pathlib import Path

from .client import eventually
from .site import Site

STAGES = Path(__file__).resolve().parent / "stages.yaml"
PROCESS_NODE = "process-node"
NAMESPACES = ("unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
NODE_SELECTOR = "kfp-trainer.test/node=kwok"


def start_kwok(site: Site) -> None:
    """Nodes that are only played; what their pods do stands in stages.yaml."""
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
        file.write("\n---\n" + STAGES.read_text(encoding="utf-8"))
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


def start_process_node(site: Site) -> None:
    """A node whose pods are processes of this machine."""
    own, package = site.folder / PROCESS_NODE, "tests.cluster.process_node"
    port = site.port("kubelet")
    own.mkdir()
    site.run_module("process-node-gate", f"{package}.gate", [own, site.port("api"), port])
    eventually("the gate is open", lambda: (own / "api.sock").exists())
    site.run_module(PROCESS_NODE, package, [PROCESS_NODE, own, site.pki, port, 8], inside=NAMESPACES)


def no_namespaces() -> str:
    """Why the process node cannot have its namespaces here."""
    try:
        tried = subprocess.run(
            [*NAMESPACES, "ip", "link", "add", "pods", "type", "bridge"], capture_output=True
        )
    except FileNotFoundError as missing:
        return f"process node: {missing.filename}: not on the PATH"
    return f"process node: {tried.stderr.decode().strip()}" if tried.returncode else ""

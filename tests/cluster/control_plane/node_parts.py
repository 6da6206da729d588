"""Starts what plays the part of nodes: KWOK, for any number of simulated ones."""

from pathlib import Path

from .addresses import SIMULATED_NODE, SIMULATED_PODS
from .site import Site

STAGES = Path(__file__).resolve().parent / "stages.yaml"
NODE_SELECTOR = "kfp-trainer.test/node=kwok"


def start_kwok(site: Site) -> None:
    """Nodes that are only played; what their pods do stands in stages.yaml."""
    options = {
        "kind": "KwokConfiguration",
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "options": {
            "nodeIP": str(SIMULATED_NODE),
            "cidr": SIMULATED_PODS,
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
            f"--kubeconfig={site.kubeconfig_of('kwok')}",
            f"--config={config}",
            "--manage-all-nodes=false",
            f"--manage-nodes-with-label-selector={NODE_SELECTOR}",
            f"--server-address={site.address('kwok')}",
        ],
    )

"""Gives each PersistentVolumeClaim a volume, so that a scheduler lets its pods go: a folder of the node.

All access modes are allowed, for all pods run on the one node.
"""

from pathlib import Path

from .api import Api, Json

CLAIMS = "/api/v1/persistentvolumeclaims"
VOLUMES = "/api/v1/persistentvolumes"


async def provide(api: Api, folder: Path) -> None:
    """Make a volume for each claim that waits for one; Kubernetes' own controller binds the two."""
    for claim in (await api.ask("GET", CLAIMS))["items"]:
        waits = claim["status"].get("phase") == "Pending" and not claim["spec"].get("volumeName")
        if waits and await api.find(f"{VOLUMES}/{_name(claim)}") is None:
            await api.ask("POST", VOLUMES, _volume(claim, folder))


def claim_folder(folder: Path, namespace: str, name: str) -> Path:
    """Where the files of a claim lie."""
    return folder / namespace / name


def _name(claim: Json) -> str:
    return f"folder-{claim['metadata']['uid']}"


def _volume(claim: Json, folder: Path) -> Json:
    metadata, spec = claim["metadata"], claim["spec"]
    path = claim_folder(folder, metadata["namespace"], metadata["name"])
    reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "uid": metadata["uid"]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": _name(claim)},
        "spec": {
            "accessModes": spec["accessModes"],
            "capacity": spec["resources"]["requests"],
            "storageClassName": spec.get("storageClassName", ""),
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": str(path)},
            "claimRef": {**reference, "namespace": metadata["namespace"], "name": metadata["name"]},
        },
    }

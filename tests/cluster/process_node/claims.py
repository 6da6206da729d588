"""Gives each PersistentVolumeClaim a volume, so that a scheduler lets its pods go: a folder of this machine.

All access modes are allowed, for all nodes are on this machine.
"""

from pathlib import Path

from .api import CONFLICT, Api, Json, Refused

VOLUMES = "/api/v1/persistentvolumes"


async def provide(api: Api, claim: Json, folder: Path) -> None:
    """Make a volume for a claim that waits for one; Kubernetes' own controller binds the two."""
    if claim["status"].get("phase") != "Pending" or claim["spec"].get("volumeName"):
        return
    try:
        await api.ask("POST", VOLUMES, _volume(claim, folder))
    except Refused as refused:
        if refused.code != CONFLICT:  # it was made before, and the claim will be told so
            raise


def claim_folder(folder: Path, namespace: str, name: str) -> Path:
    """Where the files of a claim lie."""
    return folder / namespace / name


def _volume(claim: Json, folder: Path) -> Json:
    metadata, spec = claim["metadata"], claim["spec"]
    path = claim_folder(folder, metadata["namespace"], metadata["name"])
    reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "uid": metadata["uid"]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"folder-{metadata['uid']}"},
        "spec": {
            "accessModes": spec["accessModes"],
            "capacity": spec["resources"]["requests"],
            "storageClassName": spec.get("storageClassName", ""),
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": str(path)},
            "claimRef": {**reference, "namespace": metadata["namespace"], "name": metadata["name"]},
        },
    }

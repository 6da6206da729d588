"""A pod of a Job: its name, its host name and the index that its programs read.

Upstream's random end of the name comes from the uid here, since nothing random may happen in a rule.
"""

from __future__ import annotations

import copy
import hashlib

from .labels import COMPLETION_INDEX, CONTROLLER_UID, JOB_NAME, PRIORITY
from .model import Job, Json, Pod

INDEX_VARIABLE = "JOB_COMPLETION_INDEX"
ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


def is_indexed(job: Job) -> bool:
    """Whether each pod of the Job has an index of its own."""
    return bool(job.spec["completionMode"] == "Indexed")


def build_pod(job: Job, index: int | None, *, uid: str, now: float, failures: int, ignored: int) -> Pod:
    """A new pod of the Job."""
    stem = job.name if index is None else f"{job.name}-{index}"
    name = f"{stem}-{_ending(uid)}"
    return Pod(
        uid=uid,
        name=name,
        job=job.name,
        job_uid=job.uid,
        index=index,
        manifest=_manifest(job, index, name=name, uid=uid),
        created=now,
        failures=failures,
        ignored=ignored,
    )


def _ending(uid: str) -> str:
    digest = hashlib.sha256(uid.encode()).digest()
    return "".join(ALPHABET[byte % len(ALPHABET)] for byte in digest[:5])


def _manifest(job: Job, index: int | None, *, name: str, uid: str) -> Json:
    template = copy.deepcopy(job.spec["template"])
    metadata = template["metadata"]
    metadata |= {"name": name, "namespace": job.manifest["metadata"]["namespace"], "uid": uid}
    spec = template["spec"]
    priority = str(spec.get("priority", 0))
    metadata["labels"] |= {CONTROLLER_UID: job.uid, JOB_NAME: job.name, PRIORITY: priority}
    metadata["labels"] |= {"controller-uid": job.uid, "job-name": job.name}
    if index is not None:
        metadata["labels"][COMPLETION_INDEX] = metadata["annotations"][COMPLETION_INDEX] = str(index)
        spec["hostname"] = f"{job.name}-{index}"
        for container in [*(spec.get("initContainers") or []), *spec["containers"]]:
            _add_index_variable(container)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _add_index_variable(container: Json) -> None:
    env = container.get("env") or []
    if all(each["name"] != INDEX_VARIABLE for each in env):
        source = {"fieldRef": {"fieldPath": f"metadata.labels['{COMPLETION_INDEX}']"}}
        container["env"] = [*env, {"name": INDEX_VARIABLE, "valueFrom": source}]

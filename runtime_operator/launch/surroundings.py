"""What a step learns from its own pod: who owns it, which run it is of, and where the run's workspace is.

Deleting the owner (the Workflow of a run, the Job of a trial) then takes the TrainJob along. The reference
does not block that deletion: to block it one needs rights on the owner that steps do not have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]
RUN_LABEL = "pipeline/runid"
WORKSPACE_SUFFIX = "-kfp-workspace"
STEP_CONTAINER = "main"
"""what Argo calls the container of the step; its own mount the same volumes elsewhere"""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is around a step; all of it is empty where a step is no pod."""

    pod: Json = field(default_factory=dict)

    @property
    def run(self) -> str:
        """The run this pod says it is of."""
        return str((self._metadata.get("labels") or {}).get(RUN_LABEL, ""))

    @property
    def owner(self) -> Json:
        """The reference of a TrainJob to what owns this pod."""
        owners = self._metadata.get("ownerReferences") or ()
        for each in sorted(owners, key=lambda one: not one.get("controller")):
            reference = {name: each[name] for name in ("apiVersion", "kind", "name", "uid")}
            return {**reference, "controller": False, "blockOwnerDeletion": False}
        return {}

    def workspace(self) -> tuple[list[Json], list[Json]]:
        """The volume of the run's workspace and where this pod mounts it; nothing if it does not."""
        spec = self.pod.get("spec") or {}
        claim = f"{self.owner.get('name', '')}{WORKSPACE_SUFFIX}"
        volumes = [each for each in spec.get("volumes") or () if _claim_of(each) == claim]
        names = {each["name"] for each in volumes}
        containers = spec.get("containers") or ()
        mounts = [
            mount
            for container in [each for each in containers if each["name"] == STEP_CONTAINER] or containers
            for mount in container.get("volumeMounts") or ()
            if mount["name"] in names
        ]
        return volumes, _without_repeats(mounts)

    @property
    def _metadata(self) -> Json:
        return self.pod.get("metadata") or {}


def _claim_of(volume: Json) -> str:
    return str((volume.get("persistentVolumeClaim") or {}).get("claimName", ""))


def _without_repeats(mounts: list[Json]) -> list[Json]:
    return list({mount["mountPath"]: mount for mount in mounts}.values())

"""The pod templates of a JobSet, and where they stand in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def pod_templates(jobset: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each pod template with its path."""
    for index, replicated_job in enumerate(jobset["spec"].get("replicatedJobs") or ()):
        yield (
            f"spec.replicatedJobs[{index}].template.spec.template",
            replicated_job["template"]["spec"]["template"],
        )

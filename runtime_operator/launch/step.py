"""Which step of which run this process is, read from what Kubeflow Pipelines hands to it.

The executor input names a file in a folder of the run, the task and, on a cluster, of this execution of the
task. That folder is the same for every attempt of the step, whoever retries, and another for each iteration
of a loop; reading it needs no API call and leaves the cache key as it is. A process without an executor input
is known by what owns its pod.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

FLAGS = ("--executor_input", "--executor-input")
LONGEST_SLUG = 20  # with the digest, the longest step of a job and its indexes it fits a pod's name
DIGITS = 10


@dataclass(frozen=True, slots=True)
class Step:
    """One execution of a task; all fields are empty where nobody said."""

    run: str = ""
    task: str = ""
    execution: str = ""
    """drawn by the driver: the same for every attempt"""

    @property
    def key(self) -> str:
        """What tells this execution from all others."""
        return "/".join(filter(None, (self.run, self.task, self.execution)))


def read_step(argv: Sequence[str]) -> Step:
    """Read the step from the arguments that kfp's executor was started with."""
    told = _executor_input(argv)
    file = (told.get("outputs") or {}).get("outputFile")
    if not file:
        return Step()
    parts = PurePosixPath(str(file)).parts[:-1]
    if parts and _is_uuid(parts[-1]):
        run, task, execution = ("", "", *parts)[-3:]
        return Step(run, task, execution)
    run, task = ("", "", *parts)[-2:]  # a local run: its folders have names of their own
    return Step(run, task)


def job_name(task: str, key: str) -> str:
    """A name that Kubernetes takes, readable at its beginning and unique by its end."""
    slug = re.sub(r"[^a-z0-9]+", "-", task.lower()).strip("-")
    if not slug[:1].isalpha():
        slug = f"task-{slug}".rstrip("-")
    return f"{slug[:LONGEST_SLUG].rstrip('-')}-{sha256(key.encode()).hexdigest()[:DIGITS]}"


def _executor_input(argv: Sequence[str]) -> dict[str, Any]:
    for flag, value in pairwise(argv):
        if flag in FLAGS:
            found: dict[str, Any] = json.loads(value)
            return found
    return {}


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True

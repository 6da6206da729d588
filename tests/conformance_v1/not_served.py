"""The cases on which we differ beyond what they allow, each with its reason and the paths that differ.

The tests hold the list exact: a case that comes to be answered right must leave it, and no other path may
differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """Why a case differs, and where."""

    why: str
    paths: tuple[str, ...]


_ALWAYS = "Jobs know no restart policy Always, so a pod says OnFailure"
_COMPLETED = "every job that has failed says when"

NOT_SERVED: Mapping[str, Known] = {
    "always-worker-ends-with-0": Known(_ALWAYS, ("steps.0.pods.worker-*.restartPolicy",)),
    "exit-code-of-the-sidecar-does-not-count": Known(_COMPLETED, ("steps.1.status.completionTime",)),
}

"""The pods of each job, and those that are gone but left a word.

When a Job fails its pods are deleted within moments, often before the JobSet says that it failed. So what a
deleted pod died of is kept until the job's end is written, for the last attempt of the JobSet alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from ..kube.cache import Cached, Key
from .pod_view import PodView

GHOSTS = 64  # of one job; who died first is among them


class PodBook:
    """Fed by the changes of an informer of pods; `wanted` says whether a key is a job that has not ended."""

    def __init__(self, wanted: Callable[[Key], bool]) -> None:
        self._wanted = wanted
        self._live: defaultdict[Key, dict[str, PodView]] = defaultdict(dict)
        self._ghosts: defaultdict[Key, list[PodView]] = defaultdict(list)

    def changed(self, key: Key, old: Cached | None, new: Cached | None) -> Key | None:
        """Write a change down; the key of the job that it tells something about."""
        before, after = _view(old), _view(new)
        seen = after or before
        if seen is None or before == after:
            return None
        job = (key[0], seen.job)
        if after is not None:
            self._live[job][after.name] = after
            return job
        self._drop(job, seen)
        if seen.deaths and self._wanted(job):
            self._keep(job, seen)
        return job

    def pods(self, job: Key, uid: str) -> list[PodView]:
        """The pods there are of one JobSet."""
        return [pod for pod in self._live.get(job, {}).values() if pod.job_uid in ("", uid)]

    def all_pods(self, job: Key, uid: str) -> list[PodView]:
        """Those that are gone, too."""
        gone = [pod for pod in self._ghosts.get(job, ()) if pod.job_uid in ("", uid)]
        return [*gone, *self.pods(job, uid)]

    def forget(self, job: Key) -> None:
        """Nobody asks any more what this job died of."""
        self._ghosts.pop(job, None)

    def _drop(self, job: Key, pod: PodView) -> None:
        live = self._live[job]
        live.pop(pod.name, None)
        if not live:
            del self._live[job]

    def _keep(self, job: Key, pod: PodView) -> None:
        same = [each for each in self._ghosts[job] if each.job_uid == pod.job_uid]
        last = max(pod.attempt, *(each.attempt for each in same), 0)
        kept = [each for each in (*same, pod) if each.attempt == last]
        self._ghosts[job] = kept[:GHOSTS]


def _view(cached: Cached | None) -> PodView | None:
    value: Any = None if cached is None else cached.value
    return value if isinstance(value, PodView) else None

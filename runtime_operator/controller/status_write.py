"""What of a status is written, and how long it may wait.

Ends, suspension and the first time that all pods run are written at once; so are the counts of a job that
rests, for Kueue waits until nothing is active. A trouble waits two seconds, in which it may pass. Other
counts and sentences change many times in a job's life and are read by people: they wait ten seconds, and a
job that starts quickly is written twice in its life, when it runs and when it ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..render.plan import Object
from .ownership import is_suspended

AT_ONCE = ("conditions", "startTime", "completionTime")
TROUBLE_WAITS = 2.0
OTHERS_WAIT = 10.0
APART = 5.0  # seconds between two writes of what is not urgent, unless it is trouble


def difference(old: Object, new: Object) -> dict[str, Any]:
    """The fields that changed; None where one is to go. The schema allows no empty status."""
    before, after = _plain(old), _plain(new)
    changed = {key: value for key, value in after.items() if value != before.get(key, [])}
    gone = dict.fromkeys(key for key, value in before.items() if key not in after and value != [])
    if gone and not after:
        return {**gone, "jobsStatus": []}
    return {**changed, **gone}


def may_wait(job: Object, change: Mapping[str, Any], *, is_trouble: bool) -> float:
    """How long this change may wait for another to come."""
    if any(field in change for field in AT_ONCE):
        return 0.0
    if is_suspended(job) and "jobsStatus" in change:
        return 0.0
    return TROUBLE_WAITS if is_trouble else OTHERS_WAIT


def _plain(value: Any) -> Any:
    """Lists where there are tuples: what is stored has no others."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value

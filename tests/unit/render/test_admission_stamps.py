"""The one thing admission writes: when each patch last changed."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kfp_trainer.runtime_operator.api import stamp_patches

NOW, EARLIER, LATER = "2026-03-03T00:00:00Z", "2026-01-01T00:00:00Z", "2026-12-12T00:00:00Z"


def patch(manager: str = "a.io/x", time: str | None = None, **content: Any) -> dict[str, Any]:
    return {"manager": manager, **content, **({"time": time} if time else {})}


def job(*patches: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "TrainJob", "spec": {"runtimePatches": list(patches), "suspend": True}}


NEW, OTHER = {"trainingRuntimeSpec": {"n": 1}}, {"trainingRuntimeSpec": {"n": 2}}
TIMES: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]] | None, list[str | None]]] = {
    "created without a time": ([patch()], None, [NOW]),
    "created with a time": ([patch(time=EARLIER)], None, [EARLIER]),
    "unchanged": ([patch(time=EARLIER, **NEW)], [patch(time=EARLIER, **NEW)], [EARLIER]),
    "unchanged, but its sender writes another time": (
        [patch(time=LATER, **NEW)],
        [patch(time=EARLIER, **NEW)],
        [EARLIER],
    ),
    "unchanged, and its sender leaves the time out": (
        [patch(**NEW)],
        [patch(time=EARLIER, **NEW)],
        [EARLIER],
    ),
    "changed": ([patch(time=EARLIER, **OTHER)], [patch(time=EARLIER, **NEW)], [NOW]),
    "added in an update": ([patch(time=EARLIER), patch("b.io/y")], [patch(time=EARLIER)], [EARLIER, NOW]),
    "added in an update with a time": ([patch("b.io/y", time=LATER)], [], [LATER]),
    "old without a time stays without": ([patch(time=LATER)], [patch()], [None]),
}


@pytest.mark.parametrize("sentence", TIMES)
def test_time(sentence: str) -> None:
    patches, old, want = TIMES[sentence]
    document = job(*patches)
    before = copy.deepcopy(document)
    done = stamp_patches(document, None if old is None else job(*old), now=NOW)
    assert [each.get("time") for each in done["spec"]["runtimePatches"]] == want
    assert document == before
    assert done["spec"]["suspend"] is True


@pytest.mark.parametrize("document", [{}, {"spec": {}}, {"spec": {"runtimePatches": []}}])
def test_nothing_to_stamp(document: dict[str, Any]) -> None:
    assert stamp_patches(document, None, now=NOW) is document

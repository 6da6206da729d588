from __future__ import annotations

import copy

import pytest

from kfp_trainer.runtime_operator.api import stamp_patches

NOW, OLD, OWN = "2026-05-01T00:00:00Z", "2026-04-01T00:00:00Z", "2026-03-01T00:00:00Z"
PATCH = {"manager": "acme.io/x", "trainingRuntimeSpec": {"template": {}}}
CHANGED = {"manager": "acme.io/x", "trainingRuntimeSpec": {}}

CASES = {
    "no patches": ([], None, []),
    "a new patch is stamped": ([PATCH], None, [PATCH | {"time": NOW}]),
    "a new patch keeps the time it came with": ([PATCH | {"time": OWN}], None, [PATCH | {"time": OWN}]),
    "an unchanged patch keeps its time": ([PATCH], [PATCH | {"time": OLD}], [PATCH | {"time": OLD}]),
    "a time of the sender is put back": (
        [PATCH | {"time": OWN}],
        [PATCH | {"time": OLD}],
        [PATCH | {"time": OLD}],
    ),
    "an unchanged patch without a time stays without": ([PATCH | {"time": OWN}], [PATCH], [PATCH]),
    "a changed patch is stamped": (
        [CHANGED | {"time": OWN}],
        [PATCH | {"time": OLD}],
        [CHANGED | {"time": NOW}],
    ),
    "another manager's patch is new": (
        [PATCH],
        [{"manager": "b.io/y", "time": OLD}],
        [PATCH | {"time": NOW}],
    ),
    "what is no patch is left to the schema": ([7], ["x"], [7]),
}


@pytest.mark.parametrize("sentence", CASES)
def test_patches_carry_the_time_of_their_last_change(job, sentence):
    new, old, want = CASES[sentence]
    document = job(runtimePatches=new)
    before = copy.deepcopy(document)
    stored = None if old is None else job(runtimePatches=old)
    assert stamp_patches(document, stored, now=NOW)["spec"]["runtimePatches"] == want
    assert document == before

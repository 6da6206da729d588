"""Whose a job is: a table of what is written on it, and who wrote its status."""

from __future__ import annotations

from typing import Any

import pytest

from kfp_trainer.runtime_operator.controller.legacy.other_operator import is_another_operators

OURS, THEIRS = "trainer", "training-operator.v1"
STAMP, V1 = "kfp-trainer/operator", "kubeflow.org/training-operator"

CASES: dict[str, tuple[str | None, tuple[str, ...], bool, bool]] = {
    # managedBy, who wrote the status, whether our admission stamps, whether it is another's
    "a new job with our stamp": (STAMP, (), True, False),
    "one that we have begun": (STAMP, (OURS,), True, False),
    "our stamp, and another told of it as well": (STAMP, (THEIRS,), True, False),
    "a job that was there before our admission": (None, (), True, True),
    "one that the Training Operator has begun": (None, (THEIRS,), True, True),
    "one that names the Training Operator": (V1, (), True, True),
    "one that we began before our admission ran": (None, (OURS,), True, False),
    "no admission, a new job": (None, (), False, False),
    "no admission, a new job that names the Training Operator": (V1, (), False, False),
    "no admission, begun by the Training Operator": (None, (THEIRS,), False, True),
    "no admission, begun by us": (None, (OURS,), False, False),
    "no admission, a stamp from when it ran": (STAMP, (), False, False),
}


@pytest.mark.parametrize("sentence", CASES)
def test_whose_it_is(sentence: str) -> None:
    managed_by, writers, stamps, want = CASES[sentence]
    policy = {} if managed_by is None else {"managedBy": managed_by}
    fields = [{"manager": name, "subresource": "status"} for name in writers]
    job: dict[str, Any] = {"metadata": {"managedFields": fields}, "spec": {"runPolicy": policy}}
    assert is_another_operators(job, stamps=stamps) is want


def test_who_wrote_the_spec_does_not_count() -> None:
    job = {"metadata": {"managedFields": [{"manager": "kubectl"}, {"manager": "kueue"}]}, "spec": {}}
    assert not is_another_operators(job, stamps=False)

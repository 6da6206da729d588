"""What of a status is written, and when."""

import pytest

from kfp_trainer.runtime_operator.controller.status_write import difference, may_wait

CHANGES = {
    "nothing new": ({"why": "a"}, {"why": "a"}, {}),
    "tuples are lists": ({"jobsStatus": [{"name": "n"}]}, {"jobsStatus": ({"name": "n"},)}, {}),
    "one field": ({"why": "a", "startTime": "t"}, {"why": "b", "startTime": "t"}, {"why": "b"}),
    "a field that goes": ({"why": "a", "startTime": "t"}, {"startTime": "t"}, {"why": None}),
    "an empty status is not allowed": ({"why": "a"}, {}, {"why": None, "jobsStatus": []}),
    "an empty list is nothing": ({"jobsStatus": []}, {}, {}),
    "the first one": ({}, {"why": "a"}, {"why": "a"}),
    "what the trainer reports stays": ({"trainerStatus": {"a": 1}}, {"trainerStatus": {"a": 1}}, {}),
}


@pytest.mark.parametrize("sentence", CHANGES)
def test_difference(sentence):
    old, new, want = CHANGES[sentence]
    assert difference(old, new) == want


WAITS = {
    "an end": ({"conditions": [], "jobsStatus": []}, False, False, 0),
    "the first time that all run": ({"startTime": "t", "jobsStatus": []}, False, False, 0),
    "counts of a job that rests": ({"jobsStatus": []}, True, False, 0),
    "counts of a job that runs": ({"jobsStatus": []}, False, False, 10),
    "a sentence": ({"why": "a"}, False, False, 10),
    "a trouble": ({"why": "a"}, False, True, 2),
    "a sentence of a job that rests": ({"why": "a"}, True, False, 10),
}


@pytest.mark.parametrize("sentence", WAITS)
def test_may_wait(sentence):
    change, suspended, is_trouble, want = WAITS[sentence]
    assert may_wait({"spec": {"suspend": suspended}}, change, is_trouble=is_trouble) == want

"""What is kept of an object."""

import json
from typing import Any

import pytest

from kfp_trainer.runtime_operator.kube.cache import cached, head_of, is_older

OWNERS = [
    {"kind": "Other", "name": "first", "uid": "u0"},
    {"kind": "TrainJob", "name": "job", "uid": "u1", "controller": True},
]


def document(**metadata: Any) -> dict[str, Any]:
    return {"kind": "ConfigMap", "metadata": {"name": "a", "uid": "u", "resourceVersion": "7", **metadata}}


def test_the_head_of_a_namespaced_object() -> None:
    head = head_of(document(namespace="team", generation=3, deletionTimestamp="2026-01-01T00:00:00Z"))
    assert (head.key, head.uid, head.resource_version) == (("team", "a"), "u", "7")
    assert (head.generation, head.is_deleted) == (3, True)


def test_the_controlling_owner_counts_else_the_first() -> None:
    assert head_of(document(ownerReferences=OWNERS)).owner_uid == "u1"
    assert head_of(document(ownerReferences=OWNERS[:1])).owner_name == "first"
    assert head_of(document()).owner_uid == ""


def test_managed_fields_are_dropped_and_all_else_is_kept() -> None:
    given = document(namespace="team", managedFields=[{"manager": "x"}]) | {"data": {"ä": "1"}}
    kept = cached(given, json.dumps(given).encode())
    assert kept.document() == document(namespace="team") | {"data": {"ä": "1"}}


def test_bytes_without_managed_fields_are_kept_as_they_came() -> None:
    raw = json.dumps(document(), indent=1).encode()
    assert cached(json.loads(raw), raw).raw is raw


VERSIONS = {
    "a smaller number is older": ("9", "10", True),
    "a larger number is not": ("10", "9", False),
    "the same is not": ("9", "9", False),
    "of what is no number nothing is sure": ("a1", "a2", False),
    "nothing is known of no version": ("", "5", False),
}


@pytest.mark.parametrize("sentence", VERSIONS)
def test_is_older(sentence: str) -> None:
    version, than, expected = VERSIONS[sentence]
    assert is_older(version, than) is expected

"""What is read of a question of an API server, and how an answer is written."""

from __future__ import annotations

import base64
from typing import Any

import orjson
import pytest

from kfp_trainer.runtime_operator.errors import FieldError
from kfp_trainer.runtime_operator.render.admission import Verdict
from kfp_trainer.runtime_operator.webhook.review import BadReview, answered, read_review

V1 = "admission.k8s.io/v1"
GOOD = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "a"}}
BAD: dict[str, tuple[bytes, str]] = {
    "no JSON": (b"{", "must be JSON"),
    "no object": (b"[]", "must be an AdmissionReview of admission.k8s.io/v1"),
    "an older version": (
        orjson.dumps({"apiVersion": "admission.k8s.io/v1beta1", "request": {}}),
        "must be an AdmissionReview of admission.k8s.io/v1",
    ),
    "no request": (orjson.dumps({"apiVersion": V1}), "with a request"),
    "no uid": (orjson.dumps({"apiVersion": V1, "request": {}}), "request.uid"),
    "a deletion": (
        orjson.dumps({"apiVersion": V1, "request": {"uid": "1", "operation": "DELETE"}}),
        "request.operation: must be CREATE or UPDATE, got 'DELETE'",
    ),
    "another group's object": (
        orjson.dumps(
            {
                "apiVersion": V1,
                "request": {
                    "uid": "1",
                    "operation": "CREATE",
                    "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {}},
                },
            }
        ),
        "must be an object of trainer.kubeflow.org",
    ),
    "an object without metadata": (
        orjson.dumps(
            {
                "apiVersion": V1,
                "request": {"uid": "1", "operation": "CREATE", "object": {**GOOD, "metadata": None}},
            }
        ),
        "must have kind and metadata",
    ),
}


@pytest.mark.parametrize("sentence", BAD)
def test_what_is_no_review_is_told_so(sentence: str) -> None:
    body, words = BAD[sentence]
    with pytest.raises(BadReview, match="must") as told:
        read_review(body)
    assert words in str(told.value)


def test_a_name_that_the_server_will_make_stands_in(review_of: Any) -> None:
    document = {**GOOD, "metadata": {"generateName": "run-"}}
    review = read_review(review_of(document, namespace="team"))
    assert review.object["metadata"] == {
        "generateName": "run-",
        "name": "run-xxxxx",
        "namespace": "team",
    }


CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any] | None, bool]] = {
    "a new object": ({"spec": {"a": 1}}, None, True),
    "another spec": ({"spec": {"a": 1}}, {"spec": {"a": 2}}, True),
    "only a label": ({"spec": {"a": 1}}, {"spec": {"a": 1}}, False),
    "an object on its way out": (
        {"spec": {"a": 1}, "metadata": {"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z"}},
        {"spec": {"a": 2}},
        False,
    ),
}


@pytest.mark.parametrize("sentence", CHANGES)
def test_whether_there_is_anything_to_judge(sentence: str, review_of: Any) -> None:
    new, old, want = CHANGES[sentence]
    before = None if old is None else {**GOOD, **old}
    assert read_review(review_of({**GOOD, **new}, before)).changes_the_spec is want


def test_a_yes_has_warnings_and_a_patch() -> None:
    operation = {"op": "add", "path": "/a", "value": 1}
    found = orjson.loads(answered("q", Verdict((), ("say\nthis", "x" * 2000)), patch=[operation]))
    response = found["response"]
    assert (found["apiVersion"], found["kind"], response["uid"]) == (V1, "AdmissionReview", "q")
    assert response["allowed"] is True
    assert response["warnings"][0] == "say this"
    assert len(response["warnings"][1]) == 1000
    assert orjson.loads(base64.b64decode(response["patch"])) == [operation]
    assert response["patchType"] == "JSONPatch"


def test_a_no_names_every_field() -> None:
    errors = (FieldError("spec.a", "must be one"), FieldError("", "unsupported runtime: X"))
    response = orjson.loads(answered("q", Verdict(errors)))["response"]
    assert response["allowed"] is False
    assert response["status"]["code"] == 403
    assert response["status"]["message"] == "spec.a: must be one; unsupported runtime: X"
    assert [each["field"] for each in response["status"]["details"]["causes"]] == ["spec.a", ""]
    assert "patch" not in response

"""What admission answers about jobs of the older kinds: whose they are, and whether they may be."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer
from prometheus_client import CollectorRegistry

from kfp_trainer.runtime_operator.webhook.json_patch import Operation
from kfp_trainer.runtime_operator.webhook.metrics import AdmissionMetrics
from kfp_trainer.runtime_operator.webhook.older_kinds import judge_older, mark
from kfp_trainer.runtime_operator.webhook.review import Review
from kfp_trainer.runtime_operator.webhook.server import admission_application
from tests.legacy_jobs import legacy_document

SERVED = frozenset({"TFJob", "PyTorchJob", "MPIJob"})
STAMP, V1, MULTIKUEUE = "kfp-trainer/operator", "kubeflow.org/training-operator", "kueue.x-k8s.io/multikueue"
Json = dict[str, Any]
Spec = Json | None


def tf_job(managed_by: str | None = None, **spec: Any) -> Json:
    policy = {} if managed_by is None else {"runPolicy": {"managedBy": managed_by}}
    return legacy_document("TFJob", {"Worker": {}}, **policy, **spec)


def review(document: Json, old: Spec = None) -> Review:
    return Review("q-1", document["kind"], "CREATE" if old is None else "UPDATE", document, old)


def patched(document: Json, operations: list[Operation]) -> Json:
    """The document with the patch; our patches add and replace only."""
    document = copy.deepcopy(document)
    for each in operations:
        *way, last = each["path"].strip("/").replace("~1", "/").split("/")
        place = document
        for step in way:
            place = place[step]
        place[last] = each["value"]
    return document


MARKED: dict[str, tuple[Json, Spec, str | None]] = {
    "a new job": (tf_job(), None, STAMP),
    "a new job with other terms": (tf_job(runPolicy={"suspend": True}), None, STAMP),
    "a new job that names the Training Operator": (tf_job(V1), None, STAMP),
    "a new job for another cluster": (tf_job(MULTIKUEUE), None, MULTIKUEUE),
    "a new job that names nobody": (tf_job(""), None, ""),
    "a file without the stamp is applied again": (tf_job(successPolicy=""), tf_job(STAMP), STAMP),
    "a file that names the Training Operator is applied again": (tf_job(V1), tf_job(STAMP), STAMP),
    "our job is given to another": (tf_job(MULTIKUEUE), tf_job(STAMP), MULTIKUEUE),
    "a job of another operator is changed": (tf_job(successPolicy=""), tf_job(), None),
    "a kind that is not served": (
        legacy_document("JAXJob", {"Worker": {}}),
        None,
        None,
    ),
}


@pytest.mark.parametrize("sentence", MARKED)
def test_whose_a_job_is_said_to_be(sentence: str) -> None:
    document, old, want = MARKED[sentence]
    made = patched(document, mark(review(document, old), SERVED))
    assert made["spec"].get("runPolicy", {}).get("managedBy") == want


def test_other_terms_stay() -> None:
    document = tf_job(runPolicy={"suspend": True})
    made = patched(document, mark(review(document), SERVED))
    assert made["spec"]["runPolicy"] == {"suspend": True, "managedBy": STAMP}


MPI = legacy_document("MPIJob", {"Launcher": {}, "Worker": {}})


@pytest.mark.parametrize("version", ["kubeflow.org/v1", "kubeflow.org/v2beta1"])
def test_an_mpi_job_keeps_the_version_that_it_was_written_as(version: str) -> None:
    written = {**MPI, "apiVersion": version}
    made = patched(written, mark(review(written), SERVED))
    assert made["metadata"]["annotations"] == {"kfp-trainer/written-as": version}
    read_as_v1 = {**made, "apiVersion": "kubeflow.org/v1"}
    again = {**MPI, "apiVersion": "kubeflow.org/v1"}
    assert patched(again, mark(review(again, read_as_v1), SERVED)) == read_as_v1


@pytest.mark.parametrize(
    ("version", "field"),
    [("v2beta1", "mainContainer"), ("v1", "sshAuthMountPath")],
    ids=["of v1", "of v2beta1"],
)
def test_a_field_that_the_api_server_took_for_the_other_version_is_told(version: str, field: str) -> None:
    document = legacy_document("MPIJob", {"Launcher": {}}, version=version, **{field: "x"})
    verdict = judge_older(review(document), SERVED)
    told = f"spec.{field}: kubeflow.org/{version} has no such field, so it has no effect; remove it"
    assert (verdict.errors, verdict.warnings) == ((), (told,))


NO_IMAGE = legacy_document("TFJob", {"Worker": {"pod": {"containers": [{"name": "tensorflow"}]}}})
NO_IMAGE_OF_OURS = {**NO_IMAGE, "spec": {**NO_IMAGE["spec"], "runPolicy": {"managedBy": STAMP}}}

JUDGED: dict[str, tuple[Json, Spec, str]] = {
    "a job that is right": (tf_job(STAMP), None, ""),
    "a job without an image": (NO_IMAGE, None, "containers[0].image: must be required"),
    "a change of ours that takes the image away": (
        NO_IMAGE_OF_OURS,
        tf_job(STAMP),
        "image: must be required",
    ),
    "a change of another operator's, which v1 lets pass": (NO_IMAGE, tf_job(), ""),
    "a job of another operator is to be ours": (
        tf_job(STAMP),
        tf_job(),
        "spec.runPolicy.managedBy: field is immutable",
    ),
    "our job is to be another's": (tf_job(MULTIKUEUE), tf_job(STAMP), "field is immutable"),
    "a manager that nobody knows": (tf_job("somebody"), None, "supported values"),
    "a change of labels alone": (NO_IMAGE_OF_OURS, NO_IMAGE_OF_OURS, ""),
    "an MXJob, which nobody serves": (
        legacy_document("MXJob", {"Worker": {}}),
        None,
        "MXJob is not served here (served are MPIJob, PyTorchJob, TFJob); an administrator adds it to",
    ),
}


@pytest.mark.parametrize("sentence", JUDGED)
def test_what_may_be(sentence: str) -> None:
    document, old, words = JUDGED[sentence]
    verdict = judge_older(review(document, old), SERVED)
    told = "; ".join(str(each) for each in verdict.errors)
    assert words in told
    assert bool(told) is bool(words)


def test_a_kind_that_is_not_served_is_let_pass_with_a_warning() -> None:
    document = legacy_document("JAXJob", {"Worker": {}})
    verdict = judge_older(review(document), SERVED)
    assert not verdict.errors
    (told,) = verdict.warnings
    assert told.endswith("adds it to the option --older-kinds, or another operator serves it")
    assert judge_older(review({**document, "spec": {}}, document), SERVED).warnings == ()


async def test_both_paths_answer() -> None:
    application = admission_application(
        None,  # type: ignore[arg-type]  # nothing of the cluster is looked up for these kinds
        AdmissionMetrics(CollectorRegistry()),
        now=lambda: "2026-01-02T03:04:05Z",
        older_kinds=SERVED,
    )
    request = {"uid": "q-1", "operation": "CREATE", "namespace": "lab", "object": tf_job()}
    body = json.dumps({"apiVersion": "admission.k8s.io/v1", "request": request})
    async with TestClient(TestServer(application)) as client:
        marked = await (await client.post("/mutate-kubeflow-org-v1", data=body)).json()
        judged = await (await client.post("/validate-kubeflow-org-v1", data=body)).json()
        wrong = await client.post("/validate-trainer-kubeflow-org-v1alpha1-trainjob", data=body)
    assert marked["response"]["patchType"] == "JSONPatch"
    assert judged["response"] == {"uid": "q-1", "allowed": True}
    assert wrong.status == 400

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.jobs.cluster.adoption import Adopt, Start, for_a_person, for_an_owner
from kfp_trainer.runtime_operator.jobs.cluster.request import ATTEMPT, DIGEST, OWNER, Request, prepare

JOB = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "bert"},
    "spec": {"runtimeRef": {"name": "torch"}, "trainer": {"numNodes": 2}},
}
REQUEST = prepare(JOB, namespace="lab")
OTHER = "another digest"


def stored(*, digest=REQUEST.digest, owner="", attempt=0, ended="", going=False, marked=True):
    marks = {DIGEST: digest, OWNER: owner, ATTEMPT: str(attempt)} if marked else {}
    metadata = {"name": "bert", "uid": "1", "annotations": marks}
    if going:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    conditions = [{"type": ended, "status": "True"}] if ended else []
    return {"metadata": metadata, "spec": {}, "status": {"conditions": conditions}}


FOR_A_PERSON = {
    "there is none": (None, "start"),
    "an equal one runs": (stored(), "adopt"),
    "an equal one has succeeded": (stored(ended="Complete"), "adopt"),
    "an equal one has failed": (stored(ended="Failed"), "replace"),
    "another has ended": (stored(digest=OTHER, ended="Complete"), "replace"),
    "another runs": (stored(digest=OTHER), "TrainJob bert: runs already, with another spec"),
    "one is on its way out": (stored(going=True), "replace"),
    "one was made by hand": (stored(marked=False), "TrainJob bert: was made by somebody else"),
}


@pytest.mark.parametrize("sentence", FOR_A_PERSON)
def test_what_becomes_of_the_job_that_is_there(sentence):
    found, expected = FOR_A_PERSON[sentence]
    judge(expected, lambda: for_a_person(found, REQUEST))


FOR_AN_OWNER = {
    "there is none": (None, 0, "start"),
    "its own runs": (stored(owner="task"), 0, "adopt"),
    "its own has failed, and may not be tried again": (stored(owner="task", ended="Failed"), 0, "adopt"),
    "its own has failed, and may be tried again": (stored(owner="task", ended="Failed"), 1, "replace as 1"),
    "its own has failed twice of two times": (stored(owner="task", attempt=1, ended="Failed"), 1, "adopt"),
    "it asks for something else": (stored(owner="task", digest=OTHER), 0, "replace"),
    "its own is on its way out": (stored(owner="task", attempt=1, going=True), 3, "replace as 1"),
    "another's": (stored(owner="other"), 0, "TrainJob bert: belongs to other, not to task"),
    "a person's": (stored(), 0, "TrainJob bert: belongs to nobody, not to task"),
}


@pytest.mark.parametrize("sentence", FOR_AN_OWNER)
def test_what_an_owner_gets(sentence):
    found, retries, expected = FOR_AN_OWNER[sentence]
    judge(expected, lambda: for_an_owner(found, REQUEST, owner="task", retries=retries))


def judge(expected, decide):
    if ":" in expected:
        with pytest.raises(SpecError, match=expected):
            decide()
        return
    decision = decide()
    what, _, attempt = expected.partition(" as ")
    assert isinstance(decision, Adopt if what == "adopt" else Start)
    if isinstance(decision, Start):
        assert decision.attempt == int(attempt or 0)
        assert (decision.replaces is None) == (what == "start")


WRONG = {
    "no job": ([], "needs one TrainJob, got 0"),
    "two jobs": ([JOB, JOB], "needs one TrainJob, got 2"),
    "an older kind": (
        [{"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "a"}}],
        "kind: TFJobs are run in a cluster by `kubectl create -f FILE`;"
        " this command runs them here, or `convert` makes TrainJobs of them",
    ),
    "no name": ([{**JOB, "metadata": {}}], "metadata.name: is missing"),
    "another namespace": (
        [{**JOB, "metadata": {"name": "bert", "namespace": "home"}}],
        "metadata.namespace: is 'home', and this command works in 'lab'; pass -n home",
    ),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_what_cannot_be_asked_for(sentence):
    documents, message = WRONG[sentence]
    with pytest.raises(SpecError, match=message):
        prepare(documents, namespace="lab")


SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "token"}}
SAME = {
    "whether it rests": ({**JOB, "spec": {**JOB["spec"], "suspend": True}}, True),
    "its namespace, said or not": ({**JOB, "metadata": {"name": "bert", "namespace": "lab"}}, True),
    "an annotation": ({**JOB, "metadata": {"name": "bert", "annotations": {"why": "not"}}}, True),
    "its nodes": ({**JOB, "spec": {**JOB["spec"], "trainer": {"numNodes": 3}}}, False),
    "its queue": ({**JOB, "metadata": {"name": "bert", "labels": {"queue": "a"}}}, False),
    "a Secret beside it": ([JOB, SECRET], False),
}


@pytest.mark.parametrize("sentence", SAME)
def test_what_makes_a_request_another(sentence):
    documents, same = SAME[sentence]
    assert (prepare(documents, namespace="lab").digest == REQUEST.digest) == same


def test_what_is_sent_keeps_its_own_annotations():
    job = {**JOB, "metadata": {"name": "bert", "annotations": {"why": "not"}}}
    sent = prepare(job, namespace="lab").marked(owner="task", attempt=2)
    assert sent["metadata"]["annotations"] == {
        "why": "not",
        DIGEST: REQUEST.digest,
        OWNER: "task",
        ATTEMPT: "2",
    }
    assert isinstance(REQUEST, Request)

"""A heap of documents, sorted."""

import pytest

from kfp_trainer.runtime_operator.render.world import STAND_IN_UID, runtime_of, sort_documents


def thing(kind, name="a", namespace=None, **more):
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"kind": kind, "metadata": metadata, **more}


def stored(kind="ClusterTrainingRuntime", name="a", namespace="default"):
    return {
        "metadata": {"name": "job", "namespace": namespace},
        "spec": {"runtimeRef": {"kind": kind, "name": name}},
    }


def test_runtimes_jobs_and_others_are_told_apart():
    world = sort_documents(
        [thing("Secret"), thing("TrainJob"), thing("TrainingRuntime"), thing("ClusterTrainingRuntime")]
    )
    assert [each["kind"] for each in world.runtimes] == ["TrainingRuntime", "ClusterTrainingRuntime"]
    assert [each.job["kind"] for each in world.sent] == ["TrainJob"]
    assert [each["kind"] for each in world.others] == ["Secret"]


def test_two_jobs_of_one_name_are_an_update():
    world = sort_documents([thing("TrainJob", spec={"v": 1}), thing("TrainJob", spec={"v": 2})])
    (sent,) = world.sent
    assert (sent.old["spec"], sent.job["spec"]) == ({"v": 1}, {"v": 2})


def test_the_same_name_in_another_namespace_is_another_job():
    world = sort_documents([thing("TrainJob"), thing("TrainJob", namespace="lab")])
    assert [each.old for each in world.sent] == [None, None]


def test_the_last_runtime_of_a_name_counts():
    world = sort_documents([thing("TrainingRuntime", spec={"v": 1}), thing("TrainingRuntime", spec={"v": 2})])
    assert [each["spec"]["v"] for each in world.runtimes] == [2]


FILLED = {
    "namespace and uid": (thing("TrainJob"), {"name": "a", "namespace": "default", "uid": STAND_IN_UID}),
    "what stands there stays": (
        {"kind": "TrainJob", "metadata": {"name": "a", "namespace": "lab", "uid": "u"}},
        {"name": "a", "namespace": "lab", "uid": "u"},
    ),
    "a kind of the cluster has no namespace": (
        thing("ClusterTrainingRuntime"),
        {"name": "a", "uid": STAND_IN_UID},
    ),
    "a name is made": (
        {"kind": "TrainJob", "metadata": {"generateName": "a-"}},
        {"generateName": "a-", "name": "a-xxxxx", "namespace": "default", "uid": STAND_IN_UID},
    ),
}


@pytest.mark.parametrize("sentence", FILLED)
def test_an_api_server_fills_in(sentence):
    document, want = FILLED[sentence]
    world = sort_documents([document])
    (found,) = (*world.runtimes, *(each.job for each in world.sent))
    assert found["metadata"] == want


def test_the_document_that_was_given_stays_as_it_was():
    document = thing("TrainJob")
    sort_documents([document])
    assert document == thing("TrainJob")


def test_what_exists_is_looked_up_in_a_namespace_and_in_the_cluster():
    others = [
        thing("Secret", "here", "lab"),
        thing("Secret", "there", "other"),
        thing("Secret", "nowhere said"),
        thing("PriorityClass", "high"),
    ]
    world = sort_documents(others)
    assert set(world.existing("lab")) == {("Secret", "here"), ("PriorityClass", "high")}
    assert set(world.existing("default")) == {("Secret", "nowhere said"), ("PriorityClass", "high")}


RUNTIMES = [
    thing("TrainingRuntime", "a", "default"),
    thing("TrainingRuntime", "a", "lab"),
    thing("ClusterTrainingRuntime", "a"),
]
REFERENCES = {
    "one of the cluster": (stored(), 2),
    "one of its own namespace": (stored("TrainingRuntime", namespace="lab"), 1),
    "one of a namespace that has none": (stored("TrainingRuntime", namespace="empty"), None),
    "one that is not there": (stored(name="b"), None),
    "a kind that is no runtime": (stored("Deployment"), None),
}


@pytest.mark.parametrize("sentence", REFERENCES)
def test_runtime_of(sentence):
    job, index = REFERENCES[sentence]
    assert runtime_of(job, RUNTIMES) is (None if index is None else RUNTIMES[index])

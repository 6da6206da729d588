"""The comparer tells what differs, and only that."""

import pytest

from tests.conformance.compare import compare, faults


def jobset(**spec):
    return {"apiVersion": "v", "kind": "JobSet", "metadata": {"name": "a", "namespace": "n"}, "spec": spec}


def built(want, **more):
    return {"expect": {"objects": [want]}, **more}


# what upstream has, what we have, the paths that differ
SPECS = {
    "the same": ({"a": 1}, {"a": 1}, []),
    "another value": ({"a": 1}, {"a": 2}, ["JobSet.spec.a"]),
    "missing is empty": ({"a": "", "b": [], "c": {}, "d": None}, {}, []),
    "missing is neither false nor zero": ({"a": False, "b": 0}, {}, ["JobSet.spec.a", "JobSet.spec.b"]),
    "one is not true": ({"a": 1}, {"a": True}, ["JobSet.spec.a"]),
    "more than upstream has": ({}, {"a": 1}, ["JobSet.spec.a"]),
    "quantities are numbers": (
        {"limits": {"cpu": "1", "memory": "1Gi"}},
        {"limits": {"cpu": "1000m", "memory": 1073741824}},
        [],
    ),
    "quantities differ": ({"limits": {"cpu": "1"}}, {"limits": {"cpu": "2"}}, ["JobSet.spec.limits.cpu"]),
    "text that looks like a quantity is text": ({"a": "1"}, {"a": "1000m"}, ["JobSet.spec.a"]),
    "a quantity that is none": (
        {"limits": {"cpu": "x"}},
        {"limits": {"cpu": "y"}},
        ["JobSet.spec.limits.cpu"],
    ),
    "env is a map by name": (
        {"env": [{"name": "A", "value": "1"}, {"name": "B"}]},
        {"env": [{"name": "B"}, {"name": "A", "value": "1"}]},
        [],
    ),
    "env that refers to env stands behind it": (
        {"env": [{"name": "A"}, {"name": "B", "value": "$(A)"}]},
        {"env": [{"name": "B", "value": "$(A)"}, {"name": "A"}]},
        ["JobSet.spec.env"],
    ),
    "the order of containers counts": (
        {"containers": [{"name": "a"}, {"name": "b"}]},
        {"containers": [{"name": "b"}, {"name": "a"}]},
        ["JobSet.spec.containers"],
    ),
    "a container that is missing, one that is new": (
        {"containers": [{"name": "a"}]},
        {"containers": [{"name": "b"}]},
        ["JobSet.spec.containers.a", "JobSet.spec.containers.b"],
    ),
    "ports are told apart by number and protocol, and TCP is none": (
        {"ports": [{"containerPort": 1}, {"containerPort": 1, "protocol": "UDP"}]},
        {"ports": [{"containerPort": 1, "protocol": "UDP"}, {"containerPort": 1, "protocol": "TCP"}]},
        [],
    ),
    "a list without keys is told apart by place": (
        {"args": ["a", "b"]},
        {"args": ["b", "a"]},
        ["JobSet.spec.args.0", "JobSet.spec.args.1"],
    ),
    "keys that come twice are no keys": (
        {"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]},
        {"env": [{"name": "A", "value": "2"}, {"name": "A", "value": "1"}]},
        ["JobSet.spec.env.0.value", "JobSet.spec.env.1.value"],
    ),
    "anything will do": ({"a": "<any key>"}, {"a": "x"}, []),
    "anything is not nothing": ({"a": "<any key>"}, {"a": ""}, ["JobSet.spec.a"]),
    "a text that has to contain something": (
        {"a": {"<contains>": ["one", "two"]}},
        {"a": "only one"},
        ["JobSet.spec.a"],
    ),
}


@pytest.mark.parametrize("sentence", SPECS)
def test_specs(sentence):
    want, got, paths = SPECS[sentence]
    assert [each.path for each in compare(built(jobset(**want)), [jobset(**got)])] == paths


def test_an_object_that_is_missing_and_one_that_is_too_many():
    other = {**jobset(), "kind": "Secret"}
    found = compare(built(jobset()), {"objects": [other]})
    assert [str(each) for each in found] == [
        "JobSet: want an object a, got None",
        "Secret: want None, got an object a",
    ]


def test_a_secret_is_known_by_its_keys():
    want = {"kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "x", "b": "y"}}
    same = {"kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "z"}, "stringData": {"b": "w"}}
    assert compare(built(want), [same]) == []
    assert [each.path for each in compare(built(want), [{**same, "stringData": {}}])] == [
        "Secret.data.0",
        "Secret.data.1",
    ][1:]


SNAPSHOTS = {
    "the same runtime in other words": (
        "kind: A\nmetadata: {name: a, uid: u}",
        "{metadata: {name: a}, kind: A}",
        [],
    ),
    "another runtime": (
        "kind: A\nmetadata: {name: a}",
        "kind: B\nmetadata: {name: a}",
        ["ConfigMap.data.runtime .kind"],
    ),
    "no object": ("kind: A\nmetadata: {name: a}", "text", ["ConfigMap.data.runtime"]),
    "broken": ("kind: A\nmetadata: {name: a}", "[", ["ConfigMap.data.runtime"]),
}


@pytest.mark.parametrize("sentence", SNAPSHOTS)
def test_a_snapshot_is_compared_as_an_object(sentence):
    want, got, paths = SNAPSHOTS[sentence]
    one, other = ({"kind": "ConfigMap", "metadata": {}, "data": {"runtime": text}} for text in (want, got))
    assert [each.path for each in compare(built(one), [other])] == paths


def test_errors_are_a_set():
    want = {"errors": [{"field": "a", "detail": "x"}, {"field": "b", "detail": "y"}]}
    got = {"errors": [{"field": "b", "detail": "y"}, {"detail": "z"}]}
    assert [str(each) for each in compare({"expect": want}, got)] == [
        "errors.a: want x, got None",
        "errors.: want None, got z",
    ]


def test_a_status_is_compared_alone():
    want = {"status": {"conditions": [{"type": "Complete"}]}, "jobSetExists": True}
    got = {"status": {"conditions": [{"type": "Failed"}]}, "jobSetExists": False, "objects": [jobset()]}
    assert [each.path for each in compare({"expect": want}, got)] == [
        "TrainJob.jobSetExists",
        "TrainJob.status.conditions.Complete",
        "TrainJob.status.conditions.Failed",
    ]


def test_only_what_a_case_allows_may_differ():
    case = built(jobset(a=1, b=1), mayDiffer=["JobSet.spec.a*"])
    assert [each.path for each in faults(case, [jobset(a=2, b=2)])] == ["JobSet.spec.b"]

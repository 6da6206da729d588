"""Runtime patches merge as Kubernetes merges them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kfp_trainer.runtime_operator.render.strategic_merge import patched_metadata, patched_spec
from kfp_trainer.runtime_operator.render.typed import typed


def spec(**pod: Any) -> dict[str, Any]:
    return {"replicatedJobs": [job("node", **pod)]}


def job(name: str, **pod: Any) -> dict[str, Any]:
    return {"name": name, "template": {"spec": {"template": {"spec": pod}}}}


def patch(*jobs: dict[str, Any], **template: Any) -> dict[str, Any]:
    return {
        "manager": "acme.io/p",
        "trainingRuntimeSpec": {"template": {**template, "spec": {"replicatedJobs": list(jobs)}}},
    }


def pod_of(merged: Any, index: int = 0) -> dict[str, Any]:
    pod: dict[str, Any] = merged["replicatedJobs"][index]["template"]["spec"]["template"]["spec"]
    return pod


A, B, C = ({"name": name, "value": "1"} for name in "ABC")
MERGES: dict[str, tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]] = {
    "maps merge key by key": (
        {"nodeSelector": {"pool": "a", "arch": "amd64"}},
        [{"nodeSelector": {"pool": "b", "zone": ""}}],
        {"nodeSelector": {"pool": "b", "arch": "amd64", "zone": ""}},
    ),
    "tolerations are replaced whole": (
        {"tolerations": [{"key": "old"}]},
        [{"tolerations": [{"key": "new"}]}],
        {"tolerations": [{"key": "new"}]},
    ),
    "an empty list of tolerations says nothing": (
        {"tolerations": [{"key": "old"}]},
        [{"tolerations": []}],
        {"tolerations": [{"key": "old"}]},
    ),
    "null says nothing": (
        {"affinity": {"podAffinity": {}}},
        [{"affinity": None}],
        {"affinity": {"podAffinity": {}}},
    ),
    "null adds nothing": ({}, [{"affinity": None, "nodeSelector": {"a": "b"}}], {"nodeSelector": {"a": "b"}}),
    "affinity merges by its parts": (
        {"affinity": {"nodeAffinity": {"required": 1}}},
        [{"affinity": {"podAffinity": {"preferred": [1]}}}],
        {"affinity": {"nodeAffinity": {"required": 1}, "podAffinity": {"preferred": [1]}}},
    ),
    "a security context merges, its lists do not": (
        {"securityContext": {"fsGroup": 1, "supplementalGroups": [1]}},
        [{"securityContext": {"runAsUser": 0, "supplementalGroups": [2]}}],
        {"securityContext": {"fsGroup": 1, "runAsUser": 0, "supplementalGroups": [2]}},
    ),
    "the later patch wins": (
        {},
        [{"serviceAccountName": "a"}, {"serviceAccountName": "b"}],
        {"serviceAccountName": "b"},
    ),
    "a container is found by its name": (
        {"containers": [{"name": "node", "image": "i"}]},
        [{"containers": [{"name": "node", "securityContext": {"runAsUser": 1}}]}],
        {"containers": [{"name": "node", "image": "i", "securityContext": {"runAsUser": 1}}]},
    ),
    "an unknown container stands first": (
        {"containers": [{"name": "node"}]},
        [{"containers": [{"name": "ghost"}]}],
        {"containers": [{"name": "ghost"}, {"name": "node"}]},
    ),
    "what stood before a patched item stays before it": (
        {"containers": [{"name": "node", "env": [A, B]}]},
        [{"containers": [{"name": "node", "env": [{"name": "B", "value": "2"}, C]}]}],
        {"containers": [{"name": "node", "env": [A, {"name": "B", "value": "2"}, C]}]},
    ),
    "what stood behind comes last": (
        {"imagePullSecrets": [{"name": "a"}, {"name": "b"}, {"name": "c"}]},
        [{"imagePullSecrets": [{"name": "new"}, {"name": "b"}]}],
        {"imagePullSecrets": [{"name": "new"}, {"name": "a"}, {"name": "b"}, {"name": "c"}]},
    ),
    "the patch's own order wins among what it names": (
        {"schedulingGates": [{"name": "a"}, {"name": "b"}]},
        [{"schedulingGates": [{"name": "b"}, {"name": "a"}]}],
        {"schedulingGates": [{"name": "b"}, {"name": "a"}]},
    ),
    "a name given twice merges into itself": (
        {},
        [{"volumes": [{"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {"medium": "Memory"}}]}],
        {"volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}]},
    ),
    "a mount is found by its path": (
        {
            "containers": [
                {"name": "node", "volumeMounts": [{"name": "a", "mountPath": "/m", "readOnly": True}]}
            ]
        },
        [
            {
                "containers": [
                    {"name": "node", "volumeMounts": [{"name": "b", "mountPath": "/m", "subPath": "x"}]}
                ]
            }
        ],
        {
            "containers": [
                {
                    "name": "node",
                    "volumeMounts": [{"name": "b", "mountPath": "/m", "subPath": "x", "readOnly": True}],
                }
            ]
        },
    ),
    "a volume of the same kind merges": (
        {"volumes": [{"name": "w", "emptyDir": {"medium": "Memory"}}]},
        [{"volumes": [{"name": "w", "emptyDir": {"sizeLimit": "1Gi"}}]}],
        {"volumes": [{"name": "w", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}]},
    ),
    "a volume that only names itself changes nothing": (
        {"volumes": [{"name": "w", "emptyDir": {}}]},
        [{"volumes": [{"name": "w"}]}],
        {"volumes": [{"name": "w", "emptyDir": {}}]},
    ),
}


@pytest.mark.parametrize("sentence", MERGES)
@pytest.mark.parametrize("upstream", [False, True])
def test_merges(sentence: str, upstream: bool) -> None:
    base, patches, want = MERGES[sentence]
    before = copy.deepcopy((base, patches))
    merged = patched_spec(spec(**base), [patch(job("node", **each)) for each in patches], upstream=upstream)
    assert pod_of(merged) == want
    assert (base, patches) == before


DIFFERENT: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "a volume of another kind": (
        {"volumes": [{"name": "w", "emptyDir": {}}]},
        {"volumes": [{"name": "w", "persistentVolumeClaim": {"claimName": "c"}}]},
        {"volumes": [{"name": "w", "persistentVolumeClaim": {"claimName": "c"}}]},
        {"volumes": [{"name": "w", "emptyDir": {}, "persistentVolumeClaim": {"claimName": "c"}}]},
    ),
    "a value instead of a reference": (
        {
            "containers": [
                {"name": "x", "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "p"}}}]}
            ]
        },
        {"containers": [{"name": "x", "env": [{"name": "A", "value": "1"}]}]},
        {"containers": [{"name": "x", "env": [{"name": "A", "value": "1"}]}]},
        {
            "containers": [
                {
                    "name": "x",
                    "env": [{"name": "A", "value": "1", "valueFrom": {"fieldRef": {"fieldPath": "p"}}}],
                }
            ]
        },
    ),
    "an env entry that only names itself": (
        {"containers": [{"name": "x", "env": [{"name": "A", "value": "1"}]}]},
        {"containers": [{"name": "x", "env": [{"name": "A"}]}]},
        {"containers": [{"name": "x", "env": [{"name": "A", "value": "1"}]}]},
        {"containers": [{"name": "x", "env": [{"name": "A", "value": "1"}]}]},
    ),
    "an empty value": (
        {"containers": [{"name": "x", "env": [{"name": "A", "value": "1"}]}]},
        {"containers": [{"name": "x", "env": [{"name": "A", "value": ""}]}]},
        {"containers": [{"name": "x", "env": [{"name": "A", "value": ""}]}]},
        {"containers": [{"name": "x", "env": [{"name": "A", "value": "1"}]}]},
    ),
    "a volume that shall be written to, where upstream can tell": (
        {"volumes": [{"name": "w", "csi": {"driver": "d", "readOnly": True}}]},
        {"volumes": [{"name": "w", "csi": {"driver": "d", "readOnly": False}}]},
        {"volumes": [{"name": "w", "csi": {"driver": "d", "readOnly": False}}]},
        {"volumes": [{"name": "w", "csi": {"driver": "d", "readOnly": False}}]},
    ),
    "a mount that shall be written to": (
        {"containers": [{"name": "x", "volumeMounts": [{"name": "a", "mountPath": "/a", "readOnly": True}]}]},
        {
            "containers": [
                {"name": "x", "volumeMounts": [{"name": "a", "mountPath": "/a", "readOnly": False}]}
            ]
        },
        {
            "containers": [
                {"name": "x", "volumeMounts": [{"name": "a", "mountPath": "/a", "readOnly": False}]}
            ]
        },
        {"containers": [{"name": "x", "volumeMounts": [{"name": "a", "mountPath": "/a", "readOnly": True}]}]},
    ),
}


@pytest.mark.parametrize("sentence", DIFFERENT)
def test_what_upstream_merges_wrongly(sentence: str) -> None:
    base, change, ours, theirs = DIFFERENT[sentence]
    given, patches = spec(**base), [patch(job("node", **change))]
    merged = patched_spec(given, patches), patched_spec(given, typed(patches), upstream=True)
    assert [pod_of(each) for each in merged] == [ours, theirs]


ORDERS = {
    "a patch that names the last first": (["a", "b", "c"], ["c", "a"], ["a", "b", "c"]),
    "an unknown job goes to the front": (["a", "b"], ["ghost"], ["ghost", "a", "b"]),
    "an unknown job behind a known one": (["a", "b"], ["b", "ghost"], ["a", "ghost", "b"]),
}


@pytest.mark.parametrize("sentence", ORDERS)
def test_order_of_jobs(sentence: str) -> None:
    jobs, named, want = ORDERS[sentence]
    merged = patched_spec(
        {"replicatedJobs": [job(n) for n in jobs]}, [patch(*[job(n, x="1") for n in named])]
    )
    assert [each["name"] for each in merged["replicatedJobs"]] == want


NO_CHANGE = {
    "no patches": [],
    "a patch with its manager only": [{"manager": "acme.io/p", "time": "2026-01-01T00:00:00Z"}],
    "a patch of metadata only": [
        {"manager": "acme.io/p", "trainingRuntimeSpec": {"template": {"metadata": {}}}}
    ],
    "a patch with nothing in it": [{"manager": "acme.io/p", "trainingRuntimeSpec": {"template": None}}],
}


@pytest.mark.parametrize("sentence", NO_CHANGE)
def test_nothing_is_copied_for_nothing(sentence: str) -> None:
    base = spec(nodeSelector={"a": "b"})
    assert patched_spec(base, NO_CHANGE[sentence]) is base


def test_what_a_patch_does_not_touch_is_shared() -> None:
    base = {"replicatedJobs": [job("a", volumes=[{"name": "v"}]), job("b")], "network": {"subdomain": "ring"}}
    merged = patched_spec(base, [patch(job("b", nodeSelector={"x": "y"}))])
    assert merged["replicatedJobs"][0] is base["replicatedJobs"][0]
    assert merged["network"] is base["network"]
    assert pod_of(merged, 1) == {"nodeSelector": {"x": "y"}}
    assert pod_of(base, 1) == {}


def test_a_runtime_without_jobs_can_be_patched() -> None:
    assert patched_spec({}, [patch(job("a"))]) == {"replicatedJobs": [job("a")]}


def test_metadata_of_patches_beats_that_of_the_runtime() -> None:
    patches = [
        patch(metadata={"labels": {"b": "3", "c": "4"}}),
        {"manager": "acme.io/none"},
        patch(metadata={"annotations": {"y": "2"}, "labels": {"c": "5"}}),
    ]
    assert patched_metadata({"labels": {"a": "1", "b": "2"}}, patches) == {
        "labels": {"a": "1", "b": "3", "c": "5"},
        "annotations": {"y": "2"},
    }
    assert patched_metadata(None, []) == {"labels": {}, "annotations": {}}

"""Env and volumes in words."""

import pytest

from kfp_trainer.runtime_operator.render import describe

INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"

VARIABLES = {
    "a value": ({"value": "3"}, "3"),
    "no value is an empty one": ({}, ""),
    "the index": ({"valueFrom": {"fieldRef": {"fieldPath": INDEX}}}, "the index of the pod"),
    "another field": (
        {"valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        "spec.nodeName of the pod",
    ),
    "a secret": ({"valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}, "key token of Secret hf"),
    "a ConfigMap": ({"valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}}, "key k of ConfigMap c"),
    "a resource": (
        {"valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
        "limits.cpu of the container",
    ),
    "a file": ({"valueFrom": {"fileKeyRef": {"path": "env", "key": "A"}}}, "key A of the file env"),
    "what is not known is called by its name": ({"valueFrom": {"oracleRef": {}}}, "oracleRef"),
}


@pytest.mark.parametrize("sentence", VARIABLES)
def test_env_value(sentence):
    variable, want = VARIABLES[sentence]
    assert describe.env_value({"name": "A", **variable}) == want


BUNDLES = {
    "a Secret": ({"secretRef": {"name": "hf"}}, "all of Secret hf"),
    "a ConfigMap with a prefix": (
        {"configMapRef": {"name": "c"}, "prefix": "P_"},
        "all of ConfigMap c, each behind P_",
    ),
    "neither": ({"oracleRef": {}}, "something unknown"),
}


@pytest.mark.parametrize("sentence", BUNDLES)
def test_env_source(sentence):
    source, want = BUNDLES[sentence]
    assert describe.env_source(source) == want


VOLUMES = {
    "nothing said is an empty folder": ({}, "an empty folder"),
    "an empty folder that is null": ({"emptyDir": None}, "an empty folder"),
    "memory": (
        {"emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
        "an empty folder in memory of at most 1Gi",
    ),
    "a claim": ({"persistentVolumeClaim": {"claimName": "data"}}, "claim data"),
    "a claim to read": (
        {"persistentVolumeClaim": {"claimName": "d", "readOnly": True}},
        "claim d, read only",
    ),
    "a folder of the machine": ({"hostPath": {"path": "/mnt"}}, "folder /mnt of the machine"),
    "a ConfigMap": ({"configMap": {"name": "c"}}, "ConfigMap c"),
    "a Secret": ({"secret": {"secretName": "s"}}, "Secret s"),
    "an image": ({"image": {"reference": "lab.example/data:1"}}, "the files of image lab.example/data:1"),
    "nfs": ({"nfs": {"server": "nas", "path": "/x"}}, "nas:/x"),
    "projected": (
        {"projected": {"sources": [{"serviceAccountToken": {}}, {"configMap": {}}, {"oracle": {}}]}},
        "a token and a ConfigMap and oracle",
    ),
    "facts": ({"downwardAPI": {}}, "facts about the pod"),
    "ephemeral": ({"ephemeral": {}}, "a claim that lives as long as the pod"),
    "what is not known is called by its name": ({"cephfs": {}}, "cephfs"),
}


@pytest.mark.parametrize("sentence", VOLUMES)
def test_volume(sentence):
    source, want = VOLUMES[sentence]
    assert describe.volume({"name": "v", **source}) == want


def test_made_claim():
    spec = {"resources": {"requests": {"storage": "20Gi"}}}
    assert describe.made_claim({"metadata": {"name": "ws"}, "spec": spec}, "bert") == (
        "claim ws-bert, made for this job (20Gi)"
    )
    assert describe.made_claim({"metadata": {"name": "ws"}}, "bert") == "claim ws-bert, made for this job"


def test_amounts():
    assert describe.amounts({"cpu": "4", "nvidia.com/gpu": "1"}) == "4 cpu, 1 nvidia.com/gpu"

"""What a pod names: references, generated files, mounts; and what is refused."""

import base64
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.local.process.failures import ConfigError, StartError
from kfp_trainer.runtime_operator.local.process.fields import Machine
from kfp_trainer.runtime_operator.local.process.generated import File, files_of
from kfp_trainer.runtime_operator.local.process.mounts import container_mounts
from kfp_trainer.runtime_operator.local.process.place import Place
from kfp_trainer.runtime_operator.local.process.pod import (
    containers,
    grace_of,
    hostname_of,
    name_of,
    namespace_of,
    restart_policy,
)
from kfp_trainer.runtime_operator.local.process.references import (
    Found,
    Token,
    look_up,
    missing,
    references,
    tokens,
)
from kfp_trainer.runtime_operator.local.process.unsupported import left_out, refuse_unsupported

PLACE = Place(Path("/p"))
MACHINE = Machine("4", "8Gi")
FOUND = Found(
    config_maps={"cm": {"kind": "ConfigMap", "data": {"a": "1", "b": "2"}}},
    secrets={"s": {"kind": "Secret", "data": {"t": base64.b64encode(b"hid").decode()}}},
    tokens={Token("aud", 600): "jwt", Token("", 3600): "plain"},
)
TOKEN = {"serviceAccountToken": {"path": "tok", "audience": "aud", "expirationSeconds": 600}}


def pod_with(spec, **main):
    return {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", **main}], **spec}}


def test_defaults_of_a_pod():
    pod = pod_with({})
    assert (name_of(pod), namespace_of(pod), hostname_of(pod)) == ("p", "default", "p")
    assert (restart_policy(pod), grace_of(pod)) == ("Always", 30.0)
    full = pod_with({"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "hostname": "h"})
    assert (restart_policy(full), grace_of(full), hostname_of(full)) == ("Never", 0.0, "h")


def test_containers_by_their_kind():
    spec = {"initContainers": [{"name": "i"}, {"name": "s", "restartPolicy": "Always"}]}
    assert [(one.name, one.kind, one.path) for one in containers(pod_with(spec))] == [
        ("i", "init", "spec.initContainers[0]"),
        ("s", "sidecar", "spec.initContainers[1]"),
        ("c", "main", "spec.containers[0]"),
    ]


NAMING = pod_with(
    {
        "volumes": [
            {"name": "v0", "emptyDir": {}},
            {"name": "v1", "configMap": {"name": "cm", "optional": True}},
            {"name": "v2", "secret": {"secretName": "s"}},
            {"name": "v3", "persistentVolumeClaim": {"claimName": "pvc"}},
            {"name": "v4", "projected": {"sources": [TOKEN, {"secret": {"name": "s2"}}]}},
        ]
    },
    envFrom=[{"secretRef": {"name": "s3"}}, {"configMapRef": {"name": "cm"}}],
    env=[
        {"name": "A", "value": "1"},
        {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "cm2", "key": "k"}}},
        {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
    ],
)


def test_references():
    assert [(one.kind, one.name, one.path, one.optional) for one in references(NAMING)] == [
        ("ConfigMap", "cm", "spec.volumes[1].configMap", True),
        ("Secret", "s", "spec.volumes[2].secret", False),
        ("PersistentVolumeClaim", "pvc", "spec.volumes[3].persistentVolumeClaim", False),
        ("Secret", "s2", "spec.volumes[4].projected.sources[1].secret", False),
        ("Secret", "s3", "spec.containers[0].envFrom[0].secretRef", False),
        ("ConfigMap", "cm", "spec.containers[0].envFrom[1].configMapRef", False),
        ("ConfigMap", "cm2", "spec.containers[0].env[1].valueFrom.configMapKeyRef", False),
    ]
    assert tokens(NAMING) == (Token("aud", 600),)


class Some:
    """A resolver that knows a few names and counts the questions."""

    def __init__(self):
        self.asked = []

    async def config_map(self, name):
        self.asked.append(name)
        return {"kind": "ConfigMap"} if name == "cm" else None

    async def secret(self, name):
        self.asked.append(name)
        return {"kind": "Secret"} if name == "s" else None

    async def claim(self, name):
        self.asked.append(name)
        return Path("/c") if name == "there" else None

    async def token(self, audience, seconds):
        return f"{audience}{seconds}"


async def test_look_up_asks_once():
    some = Some()
    found = await look_up(NAMING, some)
    assert some.asked == ["cm", "s", "pvc", "s2", "s3", "cm2"]
    assert found.tokens == {Token("aud", 600): "aud600"}
    assert [one.name for one in missing(NAMING, found)] == ["pvc", "s2", "s3", "cm2"]
    there = pod_with({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "there"}}]})
    assert (await look_up(there, some)).claims == {"there": Path("/c")}


# sentence: (volume, files)
FILES = {
    "all keys": ({"configMap": {"name": "cm"}}, [File("a", b"1", 0o644), File("b", b"2", 0o644)]),
    "some keys with modes": (
        {
            "configMap": {
                "name": "cm",
                "defaultMode": 0o600,
                "items": [{"key": "b", "path": "x/y", "mode": 0o400}],
            }
        },
        [File("x/y", b"2", 0o400)],
    ),
    "a secret": ({"secret": {"secretName": "s", "defaultMode": 0o400}}, [File("t", b"hid", 0o400)]),
    "an optional object that is not there": ({"secret": {"secretName": "no", "optional": True}}, []),
    "an optional key that is not there": (
        {"configMap": {"name": "cm", "optional": True, "items": [{"key": "no", "path": "x"}]}},
        [],
    ),
    "the pod's own fields": (
        {
            "downwardAPI": {
                "items": [
                    {"path": "n", "fieldRef": {"fieldPath": "metadata.name"}, "mode": 0o600},
                    {"path": "c", "resourceFieldRef": {"resource": "limits.cpu", "containerName": "c"}},
                ]
            }
        },
        [File("n", b"p", 0o600), File("c", b"4", 0o644)],
    ),
    "a projection": (
        {
            "projected": {
                "defaultMode": 0o440,
                "sources": [TOKEN, {"serviceAccountToken": {"path": "t2"}}, {"secret": {"name": "s"}}],
            }
        },
        [File("tok", b"jwt", 0o600), File("t2", b"plain", 0o600), File("t", b"hid", 0o440)],
    ),
}


@pytest.mark.parametrize("sentence", FILES)
def test_generated_files(sentence):
    volume, files = FILES[sentence]
    made = files_of({"name": "v", **volume}, pod_with({}), place=PLACE, found=FOUND, machine=MACHINE)
    assert list(made) == files


# sentence: (volume, message)
NO_FILES = {
    "no object": (
        {"configMap": {"name": "no"}},
        'volume "v": configmap "no" not found; create it or set optional',
    ),
    "no key": (
        {"configMap": {"name": "cm", "items": [{"key": "no", "path": "x"}]}},
        'volume "v": configmap "cm" has no key no; there are a, b',
    ),
}


@pytest.mark.parametrize("sentence", NO_FILES)
def test_files_that_cannot_be_made(sentence):
    volume, message = NO_FILES[sentence]
    with pytest.raises(ConfigError, match=message):
        files_of({"name": "v", **volume}, pod_with({}), place=PLACE, found=FOUND, machine=MACHINE)


VOLUMES = [
    {"name": "d", "emptyDir": {}},
    {"name": "cm", "configMap": {"name": "cm"}},
    {"name": "ro", "persistentVolumeClaim": {"claimName": "x", "readOnly": True}},
]
SOURCES = {"d": Path("/v/d"), "cm": Path("/v/cm"), "ro": Path("/v/ro")}


def mounts_of(*mounts, env=None):
    pod = pod_with({"volumes": VOLUMES}, volumeMounts=list(mounts))
    made = container_mounts(containers(pod)[0], pod, sources=SOURCES, env=env or {})
    return [(str(one.source), one.target, one.read_only) for one in made]


# sentence: (mount, mounted)
MOUNTS = {
    "a folder": ({"name": "d", "mountPath": "/data"}, ("/v/d", "/data", False)),
    "read-only": ({"name": "d", "mountPath": "/data/", "readOnly": True}, ("/v/d", "/data", True)),
    "a generated volume is read-only": ({"name": "cm", "mountPath": "/cm"}, ("/v/cm", "/cm", True)),
    "a claim may be read-only": ({"name": "ro", "mountPath": "ro"}, ("/v/ro", "/ro", True)),
    "a sub-path": ({"name": "d", "mountPath": "/x", "subPath": "a/b"}, ("/v/d/a/b", "/x", False)),
    "a sub-path by name": (
        {"name": "d", "mountPath": "/x", "subPathExpr": "r-$(I)"},
        ("/v/d/r-1", "/x", False),
    ),
}


@pytest.mark.parametrize("sentence", MOUNTS)
def test_mounts(sentence):
    mount, mounted = MOUNTS[sentence]
    assert mounts_of(mount, env={"I": "1"}) == [mounted]


def test_the_outer_mount_comes_first():
    inner, outer = {"name": "cm", "mountPath": "/a/b"}, {"name": "d", "mountPath": "/a"}
    assert [target for _, target, _ in mounts_of(inner, outer)] == ["/a", "/a/b"]


# sentence: (mount, error, message)
BAD_MOUNTS = {
    "no such volume": (
        {"name": "no", "mountPath": "/x"},
        StartError,
        'no volume "no" in spec.volumes; add it',
    ),
    "out of the volume": (
        {"name": "d", "mountPath": "/x", "subPath": "../y"},
        ConfigError,
        r"got \.\./y; give",
    ),
    "an absolute sub-path": ({"name": "d", "mountPath": "/x", "subPath": "/y"}, ConfigError, "stay inside"),
    "an unknown name": (
        {"name": "d", "mountPath": "/x", "subPathExpr": "$(NO)"},
        ConfigError,
        r"unknown variable NO in \$\(NO\); set it in env",
    ),
}


@pytest.mark.parametrize("sentence", BAD_MOUNTS)
def test_bad_mounts(sentence):
    mount, error, message = BAD_MOUNTS[sentence]
    with pytest.raises(error, match=message):
        mounts_of(mount)


HOOK = {"exec": {"command": ["true"]}}

# sentence: (spec, main container, paths that are refused)
REFUSED = {
    "an ordinary pod": ({"restartPolicy": "Never"}, {"image": "x", "env": [{"name": "A", "value": "1"}]}, []),
    "what only a cluster needs": (
        {"nodeSelector": {"a": "b"}, "tolerations": [{}], "securityContext": {"fsGroup": 1}},
        {"imagePullPolicy": "Always", "securityContext": {"runAsUser": 1}},
        [],
    ),
    "the machine's processes": ({"hostPID": True, "shareProcessNamespace": False}, {}, ["spec.hostPID"]),
    "a field of tomorrow": ({"newField": 1}, {"newToo": [1]}, ["spec.newField", "spec.containers[0].newToo"]),
    "a terminal": ({}, {"tty": True, "stdin": True}, ["spec.containers[0].tty", "spec.containers[0].stdin"]),
    "a volume of a cluster": (
        {"volumes": [{"name": "n", "nfs": {"server": "s"}}, {"name": "e", "ephemeral": {"x": 1}}]},
        {},
        ["spec.volumes[0].nfs", "spec.volumes[1].ephemeral"],
    ),
    "a projection of a cluster": (
        {
            "volumes": [
                {"name": "p", "projected": {"sources": [TOKEN, {"clusterTrustBundle": {"path": "x"}}]}}
            ]
        },
        {},
        ["spec.volumes[0].projected.sources[1].clusterTrustBundle"],
    ),
    "an unknown field in a file": (
        {
            "volumes": [
                {"name": "d", "downwardAPI": {"items": [{"path": "x", "fieldRef": {"fieldPath": "no"}}]}}
            ]
        },
        {},
        ["spec.volumes[0].downwardAPI.items[0].fieldRef.fieldPath"],
    ),
    "an unknown field in env": (
        {},
        {"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.no"}}}]},
        ["spec.containers[0].env[0].valueFrom.fieldRef.fieldPath"],
    ),
    "an unknown source in env": (
        {},
        {"env": [{"name": "A", "valueFrom": {"fileKeyRef": {"key": "k"}}}]},
        ["spec.containers[0].env[0].valueFrom.fileKeyRef"],
    ),
    "a gRPC probe": (
        {},
        {"livenessProbe": {"grpc": {"port": 1}, "periodSeconds": 1}, "readinessProbe": HOOK},
        ["spec.containers[0].livenessProbe.grpc"],
    ),
    "a probe that asks nothing": (
        {},
        {"livenessProbe": {"periodSeconds": 1}},
        ["spec.containers[0].livenessProbe"],
    ),
    "hooks": ({}, {"lifecycle": {"preStop": {"sleep": {"seconds": 1}}, "postStart": HOOK}}, []),
    "another hook": (
        {},
        {"lifecycle": {"stopSignal": "SIGINT", "preStop": {"other": {"x": 1}}}},
        ["spec.containers[0].lifecycle.stopSignal", "spec.containers[0].lifecycle.preStop.other"],
    ),
    "a policy of a container's own": (
        {"initContainers": [{"name": "s", "restartPolicy": "Always", "livenessProbe": HOOK}]},
        {"restartPolicy": "Never"},
        ["spec.containers[0].restartPolicy"],
    ),
    "a probe of an init container": (
        {"initContainers": [{"name": "i", "readinessProbe": HOOK}]},
        {},
        ["spec.initContainers[0].readinessProbe"],
    ),
    "mounts that spread": (
        {},
        {
            "volumeMounts": [
                {"name": "d", "mountPath": "/x", "mountPropagation": "None"},
                {"name": "d", "mountPath": "/y", "mountPropagation": "Bidirectional"},
            ]
        },
        ["spec.containers[0].volumeMounts[1].mountPropagation"],
    ),
    "two of one name": ({"initContainers": [{"name": "c"}]}, {}, ["spec.containers[0].name"]),
    "no container": ({"containers": []}, {}, ["spec.containers"]),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_is_refused(sentence):
    spec, main, paths = REFUSED[sentence]
    assert [error.field for error in refuse_unsupported(pod_with(spec, **main))] == paths


def test_what_is_left_out_is_named():
    pod = pod_with(
        {
            "nodeSelector": {"a": "b"},
            "tolerations": [],
            "volumes": [{"name": "d", "emptyDir": {"sizeLimit": "1Gi"}}, {"name": "e", "emptyDir": {}}],
        },
        imagePullPolicy="Always",
        resources={"limits": {"cpu": 1, "nvidia.com/gpu": 1}},
    )
    assert left_out(pod) == (
        "spec.nodeSelector",
        "spec.containers[0].imagePullPolicy",
        "spec.containers[0].resources.limits.cpu",
        "spec.volumes[0].emptyDir.sizeLimit",
    )


def test_a_place_is_kept_on_disk():
    place = Place(Path("/p"), ports={29500: 1}, gpus=("0",), hosts={"a": "b"})
    document = place.document()
    assert Place.of(document | {"ports": {"29500": 1}, "gpus": ["0"]}) == place
    assert Place.of(Place(Path("/p")).document()).gpus is None

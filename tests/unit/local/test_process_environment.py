"""Env, fields, resources, images and devices of a container."""

import base64
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.local.process.environment import contents, inherited, stated_env
from kfp_trainer.runtime_operator.local.process.failures import ConfigError
from kfp_trainer.runtime_operator.local.process.fields import (
    Machine,
    field_value,
    is_known_field,
    resource_value,
)
from kfp_trainer.runtime_operator.local.process.gpus import visible_devices
from kfp_trainer.runtime_operator.local.process.images import (
    Image,
    Images,
    command_line,
    image_env,
    repository,
)
from kfp_trainer.runtime_operator.local.process.place import Place
from kfp_trainer.runtime_operator.local.process.pod import containers
from kfp_trainer.runtime_operator.local.process.references import Found

PLACE = Place(Path("/p"), node_name="n1", host_ip="10.0.0.1", pod_ip="10.0.0.2", env={"FROM_NODE": "yes"})
MACHINE = Machine(cpu="8", memory="16Gi")
FOUND = Found(
    config_maps={"cm": {"kind": "ConfigMap", "data": {"k": "v", "a=b": "no"}, "binaryData": {"raw": "AAE="}}},
    secrets={
        "s": {
            "kind": "Secret",
            "data": {"t": base64.b64encode(b"h\xff").decode()},
            "stringData": {"plain": "p"},
        }
    },
)


def pod_with(container, **metadata):
    return {
        "metadata": {"name": "p", "namespace": "ns", "uid": "u", **metadata},
        "spec": {"containers": [{"name": "c", **container}], "serviceAccountName": "me"},
    }


def env_of(container, **metadata):
    pod = pod_with(container, **metadata)
    return stated_env(containers(pod)[0], pod, place=PLACE, found=FOUND, machine=MACHINE)


def ref(kind, name, key, **more):
    return {"name": "X", "valueFrom": {f"{kind}KeyRef": {"name": name, "key": key, **more}}}


# sentence: (container, env)
CASES = {
    "nothing": ({}, {}),
    "a value may refer to one before": (
        {
            "env": [
                {"name": "A", "value": "1"},
                {"name": "B", "value": "$(A)$(C)"},
                {"name": "C", "value": "2"},
            ]
        },
        {"A": "1", "B": "1$(C)", "C": "2"},
    ),
    "the machine's variables are not seen by expansion": (
        {"env": [{"name": "A", "value": "$(PATH)"}]},
        {"A": "$(PATH)"},
    ),
    "an empty value": ({"env": [{"name": "A"}]}, {"A": ""}),
    "a later one wins": ({"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}, {"A": "2"}),
    "env wins over envFrom and may refer to it": (
        {"envFrom": [{"configMapRef": {"name": "cm"}}], "env": [{"name": "k", "value": "$(k)!"}]},
        {"k": "v!"},
    ),
    "a prefix": ({"envFrom": [{"prefix": "P_", "configMapRef": {"name": "cm"}}]}, {"P_k": "v"}),
    "a secret's keys": ({"envFrom": [{"secretRef": {"name": "s"}}]}, {"t": "h\udcff", "plain": "p"}),
    "an optional object that is not there": (
        {
            "envFrom": [{"secretRef": {"name": "no", "optional": True}}],
            "env": [ref("secret", "no", "t", optional=True)],
        },
        {},
    ),
    "an optional key that is not there": ({"env": [ref("configMap", "cm", "no", optional=True)]}, {}),
    "keys": ({"env": [ref("configMap", "cm", "k")]}, {"X": "v"}),
    "a field": (
        {"env": [{"name": "X", "valueFrom": {"fieldRef": {"fieldPath": "spec.serviceAccountName"}}}]},
        {"X": "me"},
    ),
    "a resource": (
        {
            "env": [
                {
                    "name": "X",
                    "valueFrom": {"resourceFieldRef": {"resource": "limits.memory", "divisor": "1Mi"}},
                }
            ]
        },
        {"X": "16384"},
    ),
}


@pytest.mark.parametrize("sentence", CASES)
def test_env(sentence):
    container, env = CASES[sentence]
    assert env_of(container) == env


def test_the_completion_index():
    index = {"batch.kubernetes.io/job-completion-index": "4"}
    assert env_of({}, annotations=index) == {"JOB_COMPLETION_INDEX": "4"}
    own = {"env": [{"name": "JOB_COMPLETION_INDEX", "value": "x"}]}
    assert env_of(own, annotations=index) == {"JOB_COMPLETION_INDEX": "x"}


# sentence: (container, message)
MISSING = {
    "no ConfigMap": (
        {"env": [ref("configMap", "no", "k")]},
        r'env\[0\].valueFrom: configmap "no" not found; create it or set optional',
    ),
    "no key": (
        {"env": [ref("secret", "s", "no")]},
        r"couldn't find key no in Secret ns/s; there are t, plain",
    ),
    "no Secret for envFrom": (
        {"envFrom": [{"secretRef": {"name": "no"}}]},
        r'spec.containers\[0\].envFrom\[0\]: secret "no" not found',
    ),
}


@pytest.mark.parametrize("sentence", MISSING)
def test_what_is_missing_is_named(sentence):
    container, message = MISSING[sentence]
    with pytest.raises(ConfigError, match=message):
        env_of(container)


def test_contents_are_bytes():
    assert dict(contents(FOUND.config_maps["cm"])) == {"k": b"v", "a=b": b"no", "raw": b"\x00\x01"}


def test_only_what_every_process_needs_is_inherited():
    machine = {"HOME": "/h", "HF_TOKEN": "secret", "https_proxy": "x", "NO_PROXY": "y", "PYTHONPATH": "z"}
    assert inherited(machine) == {"HOME": "/h", "https_proxy": "x", "NO_PROXY": "y"}


POD = pod_with({}, labels={"b": 'x"y\n', "a": "1"}, annotations={"k/x": "v"})
FIELDS = {
    "metadata.name": "p",
    "metadata.namespace": "ns",
    "metadata.uid": "u",
    "metadata.labels": 'a="1"\nb="x\\"y\\n"',
    "metadata.annotations": 'k/x="v"',
    "metadata.labels['a']": "1",
    "metadata.annotations['k/x']": "v",
    "metadata.annotations['no']": "",
    "spec.nodeName": "n1",
    "spec.serviceAccountName": "me",
    "status.hostIP": "10.0.0.1",
    "status.podIP": "10.0.0.2",
    "status.podIPs": "10.0.0.2",
}


@pytest.mark.parametrize("path", FIELDS)
def test_fields(path):
    assert is_known_field(path)
    assert field_value(path, POD, PLACE) == FIELDS[path]


def test_an_unknown_field():
    assert not is_known_field("spec.schedulerName")


RESOURCES = {"limits": {"cpu": "1500m", "memory": "1Gi"}, "requests": {"memory": "100M"}}

# sentence: (reference, value)
AMOUNTS = {
    "cores are rounded up": ({"resource": "limits.cpu"}, "2"),
    "thousandths": ({"resource": "limits.cpu", "divisor": "1m"}, "1500"),
    "bytes": ({"resource": "requests.memory"}, "100000000"),
    "mebibytes are rounded up": ({"resource": "requests.memory", "divisor": "1Mi"}, "96"),
    "a divisor of 0 is 1": ({"resource": "limits.cpu", "divisor": "0"}, "2"),
    "a request that is not set is the limit": ({"resource": "requests.cpu"}, "2"),
    "neither is set": ({"resource": "requests.ephemeral-storage"}, "0"),
    "a limit that is not set is what the machine has": (
        {"resource": "limits.cpu", "containerName": "other"},
        "8",
    ),
    "a limit that no machine has": ({"resource": "limits.ephemeral-storage"}, "0"),
}


@pytest.mark.parametrize("sentence", AMOUNTS)
def test_resources(sentence):
    reference, value = AMOUNTS[sentence]
    pod = {"spec": {"containers": [{"name": "c", "resources": RESOURCES}, {"name": "other"}]}}
    assert resource_value(reference, pod["spec"]["containers"][0], pod, MACHINE) == value


def test_images():
    table = Images({"lab/torch": Image(entrypoint=("torch",)), "exact:1": Image(prefix=("wrap",))})
    assert table.find("lab/torch:2@sha256:00")[0].entrypoint == ("torch",)
    assert table.find("exact:1")[0].prefix == ("wrap",)
    assert table.find("exact:2") == (table.default, False)
    assert repository("reg:5000/a/b:1") == "reg:5000/a/b"


def test_a_command_line():
    image = Image(entrypoint=("start",), prefix=("wrap", "-n"))
    assert command_line(image, {"args": ["x"]}) == ["wrap", "-n", "start", "x"]
    assert command_line(image, {"command": ["own"], "args": [1]}) == ["wrap", "-n", "own", "1"]
    assert command_line(Image(prefix=("wrap",)), {"args": ["x"]}) == []


def test_the_environment_of_an_image(tmp_path):
    (tmp_path / "pyvenv.cfg").touch()
    made = image_env(Image(environment=tmp_path, env={"X": "1"}), {"PATH": "/bin"})
    assert made == {"PATH": f"{tmp_path}/bin:/bin", "VIRTUAL_ENV": str(tmp_path), "X": "1"}
    assert image_env(Image(environment=Path("/opt/x")), {"PATH": "/bin"}) == {"PATH": "/opt/x/bin:/bin"}


def test_devices_are_handed_out_in_order():
    def one(name, count, **more):
        return {"name": name, "resources": {"limits": {"nvidia.com/gpu": count}}, **more}

    spec = {
        "initContainers": [one("i", 2), one("s", 1, restartPolicy="Always")],
        "containers": [one("a", 1), {"name": "none"}, one("b", "2")],
    }
    pod = {"spec": spec}
    shown = {one.name: visible_devices(one, pod, ("0", "1", "2", "3")) for one in containers(pod)}
    assert {name: env["CUDA_VISIBLE_DEVICES"] for name, env in shown.items()} == {
        "i": "0,1",
        "s": "0",
        "a": "1",
        "none": "",
        "b": "2,3",
    }
    assert visible_devices(containers(pod)[0], pod, None) == {}

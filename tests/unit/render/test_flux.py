"""Flux: the wrapped command, the scripts, the key, and what upstream gets wrong of them."""

from __future__ import annotations

import shlex
import subprocess
from typing import Any

import pytest

from kfp_trainer.runtime_operator.api import read
from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.render.admission import admit
from kfp_trainer.runtime_operator.render.facts import Facts
from kfp_trainer.runtime_operator.render.framework import Proposal
from kfp_trainer.runtime_operator.render.info import Info
from kfp_trainer.runtime_operator.render.plan import Plan
from kfp_trainer.runtime_operator.render.plugins.flux import Flux
from kfp_trainer.runtime_operator.render.render import render

STEP = "trainer.kubeflow.org/trainjob-ancestor-step"


def runtime(
    *,
    name: str = "node",
    main: str = "node",
    flux: Any = None,
    compat: Any = None,
    inits: Any = None,
    network: Any = None,
    **container: Any,
) -> Any:
    pod = {"containers": [{"name": main, "image": "a", **container}], "initContainers": inits or []}
    job = {
        "name": name,
        "template": {"metadata": {"labels": {STEP: "trainer"}}, "spec": {"template": {"spec": pod}}},
    }
    template = {"spec": {"replicatedJobs": [job], "network": network or {}}}
    spec = {"mlPolicy": {"flux": flux or {}, "numNodes": 2}, "template": template}
    return read({"kind": "ClusterTrainingRuntime", "metadata": {"name": "rt"}, "spec": spec}, compat=compat)


def train_job(compat: Any = None, **trainer: Any) -> Any:
    spec = {"runtimeRef": {"name": "rt"}, "trainer": trainer or None}
    metadata = {"name": "tj", "namespace": "ns", "uid": "u"}
    return read({"kind": "TrainJob", "metadata": metadata, "spec": spec}, compat=compat)


def pod_of(plan: Plan) -> dict[str, Any]:
    jobset = plan.find("JobSet")
    assert jobset is not None
    pod: dict[str, Any] = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    return pod


def main_of(plan: Plan) -> dict[str, Any]:
    return {each["name"]: each for each in pod_of(plan)["containers"]}["node"]


def scripts_of(plan: Plan) -> dict[str, str]:
    config = plan.find("ConfigMap", "tj-flux-entrypoint")
    assert config is not None
    scripts: dict[str, str] = config["data"]
    return scripts


def built(job: dict[str, Any], **given: Any) -> Plan:
    return render(train_job(**job), runtime(**given))


def upstreams(job: dict[str, Any], **given: Any) -> Plan:
    return render(train_job("upstream", **job), runtime(compat="upstream", **given), compat="upstream")


COMMANDS: dict[str, tuple[dict[str, Any], dict[str, Any], tuple[str, list[str]], tuple[str, list[str]]]] = {
    "command and args of the job": (
        {"command": ["python", "a.py"], "args": ["--lr", "1"]},
        {},
        ("python a.py --lr 1", []),
        ("python a.py --lr 1", []),
    ),
    "words with blanks are quoted": (
        {"command": ["sh", "-c"], "args": ["echo a; echo b"]},
        {},
        ("sh -c 'echo a; echo b'", []),
        ("sh -c echo a; echo b", []),
    ),
    "args of the job replace those of the runtime": (
        {"args": ["--wide"]},
        {"command": ["run"], "args": ["--deep"]},
        ("run --wide", []),
        ("run --wide", ["--deep"]),
    ),
    "args of the runtime are run without others": (
        {"command": ["go"]},
        {"command": ["run"], "args": ["--deep"]},
        ("go --deep", []),
        ("go", ["--deep"]),
    ),
    "nothing to run": ({"image": "b"}, {}, ("", []), ("", [])),
}


@pytest.mark.parametrize("sentence", COMMANDS)
def test_command(sentence: str) -> None:
    job, given, ours, theirs = COMMANDS[sentence]
    got = [main_of(plan) for plan in (built(job, **given), upstreams({"numNodes": 2, **job}, **given))]
    prefix = ["/bin/bash", "/etc/flux-config/entrypoint.sh"]
    assert [(each["command"], each["args"]) for each in got] == [
        ([*prefix, command], args) for command, args in (ours, theirs)
    ]


SIZES: dict[str, tuple[dict[str, Any], dict[str, Any], tuple[str, str], tuple[str, str]]] = {
    "one task a node": (
        {"numNodes": 2},
        {},
        ("-N 2 -n 2", "--cores=0"),
        ("-N 2 -n 2", "--cores=0"),
    ),
    "tasks of the runtime": (
        {"numNodes": 3},
        {"flux": {"numProcPerNode": 4}},
        ("-N 3 -n 12", "--cores=0-3"),
        ("-N 3 -n 12", "--cores=0-3"),
    ),
    "tasks of the job": (
        {"numNodes": 1, "numProcPerNode": 2},
        {"flux": {"numProcPerNode": 4}},
        ("-N 1 -n 2", "--cores=0-1"),
        ("-N 1 -n 2", "--cores=0-1"),
    ),
    "a task gets its share of the GPUs": (
        {"numNodes": 3, "resourcesPerNode": {"limits": {"nvidia.com/gpu": 2}}},
        {"flux": {"numProcPerNode": 2}},
        ("-N 3 -n 6 -g 1", "--cores=0-1 --gpu=0-1"),
        ("-N 3 -n 6 -g 2", "--cores=0-1 --gpu=0-1"),
    ),
    "more tasks than GPUs: no task has one of its own": (
        {"numNodes": 1, "resourcesPerNode": {"limits": {"amd.com/gpu": 1}}},
        {"flux": {"numProcPerNode": 4}},
        ("-N 1 -n 4", "--cores=0-3 --gpu=0"),
        ("-N 1 -n 4 -g 1", "--cores=0-3 --gpu=0"),
    ),
}


@pytest.mark.parametrize("sentence", SIZES)
def test_size(sentence: str) -> None:
    job, given, ours, theirs = SIZES[sentence]
    for plan, (flags, resources) in ((built(job, **given), ours), (upstreams(job, **given), theirs)):
        script = scripts_of(plan)["entrypoint.sh"]
        assert f"flux run {flags} " in script
        assert f" {resources} > /tmp/R" in script
        assert "= 'tj-node-0-0' ]" in script


def test_without_a_trainer_the_runtime_says_it_all() -> None:
    plan = render(train_job(), runtime(command=["a"]))
    assert main_of(plan)["command"][-1] == "a"
    assert "flux run -N 2 -n 2 " in scripts_of(plan)["entrypoint.sh"]


@pytest.mark.parametrize("trainer", [{}, {"command": ["a"]}])
def test_upstream_breaks_without_a_number_of_nodes(trainer: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="nil pointer"):
        upstreams(trainer)


def test_names_follow_job_subdomain_and_cluster() -> None:
    given = runtime(name="worker", network={"subdomain": "ring"})
    plan = render(train_job(numNodes=2), given, Facts(cluster_domain="corp.example"))
    assert "worker-0-[0-1]" in scripts_of(plan)["init.sh"]
    assert "tcp://%h.ring.ns.svc.corp.example:%p" in scripts_of(plan)["init.sh"]


def test_settings_of_runtime_and_job() -> None:
    settings = {"FLUX_NETWORK_DEVICE": "ib0", "FLUX_QUEUE_POLICY": "easy", "FLUX_VIEW_IMAGE": "view:1"}
    env = [{"name": name, "value": value} for name, value in settings.items()]
    plan = built({"env": [{"name": "FLUX_QUEUE_POLICY", "value": "fcfs"}]}, env=env)
    assert 'queue-policy = "fcfs"' in scripts_of(plan)["init.sh"]
    assert 'default_bind = "tcp://ib0:%p"' in scripts_of(plan)["init.sh"]
    assert pod_of(plan)["initContainers"][0]["image"] == "view:1"


def test_an_env_without_a_value_leaves_the_default() -> None:
    plan = built({}, env=[{"name": "FLUX_QUEUE_POLICY", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}])
    assert 'queue-policy = "fcfs"' in scripts_of(plan)["init.sh"]


def test_shared_memory_can_be_written_to() -> None:
    ours, theirs = (
        {each["mountPath"]: each.get("readOnly", False) for each in main_of(plan)["volumeMounts"]}
        for plan in (built({}), upstreams({"numNodes": 1}))
    )
    assert (ours["/dev/shm"], theirs["/dev/shm"]) == (False, True)
    assert {path: each for path, each in ours.items() if path != "/dev/shm"} == {
        "/mnt/flux": False,
        "/opt/software": False,
        "/etc/flux-config": True,
        "/curve": True,
    }


def test_init_containers_of_the_runtime_stay() -> None:
    names = [
        each["name"] for each in pod_of(built({}, inits=[{"name": "own", "image": "o"}]))["initContainers"]
    ]
    assert names == ["own", "flux-installer"]


def test_the_key_comes_in_as_a_fact_and_never_changes() -> None:
    secret = render(train_job(), runtime(), Facts(keys={"curve.cert": "key"})).find("Secret")
    assert secret is not None
    assert (secret["data"], secret["immutable"]) == ({"curve.cert": "a2V5"}, True)


def test_the_key_does_not_depend_on_the_uid() -> None:
    secrets = []
    for uid in "ab":
        job = train_job(numNodes=1)
        job.metadata["uid"] = uid
        secrets.append(render(job, runtime(), Facts(keys={"curve.cert": "key"})).find("Secret"))
    assert secrets[0]["data"] == secrets[1]["data"]  # type: ignore[index]


def test_without_a_key_the_secret_says_so() -> None:
    secret = render(train_job(), runtime()).find("Secret")
    assert secret is not None
    assert secret["stringData"] == {"curve.cert": "<drawn when the job is applied>"}


def test_upstream_wraps_the_command_of_a_trainer_of_another_name_and_equips_nobody() -> None:
    plan = upstreams({"numNodes": 2, "command": ["x"]}, name="worker")
    pod = pod_of(plan)
    assert pod["containers"][0]["command"] == ["/bin/bash", "/etc/flux-config/entrypoint.sh", "x"]
    assert not pod.get("initContainers")
    assert plan.find("Secret") is not None
    assert "-N 2 " in scripts_of(plan)["entrypoint.sh"]


def test_upstream_equips_a_job_node_without_a_container_node_and_wraps_nothing() -> None:
    pod = pod_of(upstreams({"numNodes": 2, "command": ["x"]}, main="trainer", command=["own"]))
    assert [each["name"] for each in pod["initContainers"]] == ["flux-installer"]
    assert pod["containers"][0]["command"] == ["own"]
    assert not pod["containers"][0].get("volumeMounts")


def test_upstream_gives_every_trainer_the_command_of_the_first() -> None:
    def trainer(name: str, *command: str) -> dict[str, Any]:
        pod = {"containers": [{"name": "node", "image": "a", "command": list(command)}]}
        metadata = {"labels": {STEP: "trainer"}}
        return {"name": name, "template": {"metadata": metadata, "spec": {"template": {"spec": pod}}}}

    jobs = [trainer("side", "run"), trainer("node", "other")]
    spec = {"mlPolicy": {"flux": {}}, "template": {"spec": {"replicatedJobs": jobs}}}
    document = {"kind": "ClusterTrainingRuntime", "metadata": {"name": "rt"}, "spec": spec}
    job = train_job("upstream", numNodes=2, args=["--wide"])
    plan = render(job, read(document, compat="upstream"), compat="upstream")
    jobset = plan.find("JobSet")
    assert jobset is not None
    pods = [each["template"]["spec"]["template"]["spec"] for each in jobset["spec"]["replicatedJobs"]]
    assert [pod["containers"][0]["command"][2] for pod in pods] == ["run --wide", "run --wide"]


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "no tasks": (
        {"numNodes": 1, "numProcPerNode": 0},
        {},
        ["spec.trainer.numProcPerNode: must be greater than or equal to 1 for Flux TrainJob"],
    ),
    "an init container of our name": (
        {"numNodes": 1},
        {"inits": [{"name": "other"}, {"name": "flux-installer"}]},
        ["spec.trainer.initContainers: InitContainer 'flux-installer' is reserved"],
    ),
    "nothing wrong": ({"numNodes": 1, "numProcPerNode": 2}, {}, []),
    "no trainer": ({}, {}, []),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_admission(sentence: str) -> None:
    job, given, want = REFUSED[sentence]
    errors = admit(
        train_job("upstream", **job), runtime(compat="upstream", **given), compat="upstream"
    ).errors
    assert [str(each) for each in errors] == want


@pytest.mark.parametrize("script", ["entrypoint.sh", "init.sh"])
def test_the_scripts_are_shell(script: str) -> None:
    text = scripts_of(built({"numNodes": 3, "resourcesPerNode": {"limits": {"amd.com/gpu": 1}}}))[script]
    subprocess.run(["bash", "-n"], input=text, text=True, check=True, timeout=10)


@pytest.mark.parametrize("words", [["echo", "a b", "$HOME", "it's"], ["printf", "%s;", "*", '"']])
def test_the_entrypoint_takes_the_words_apart_as_they_were(words: list[str]) -> None:
    line = next(
        line.strip()
        for line in scripts_of(built({}))["entrypoint.sh"].splitlines()
        if line.strip().startswith("eval")
    )
    shell = f'set -- {shlex.quote(shlex.join(words))}; {line}; printf "%s\\n" "${{command[@]}}"'
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=True, timeout=10)
    assert done.stdout.splitlines() == words


def test_serves_runtimes_that_ask_for_it() -> None:
    plugin = Flux()
    torch = read(
        {"kind": "ClusterTrainingRuntime", "metadata": {"name": "o"}, "spec": {"mlPolicy": {"torch": {}}}}
    )
    bare = read({"kind": "ClusterTrainingRuntime", "metadata": {"name": "o"}, "spec": {}})
    assert [plugin.serves(each) for each in (runtime(), torch, bare)] == [True, False, False]
    assert plugin.build_components(Info(train_job(), torch, Facts(), upstream=False, kueue=False)) == ()
    assert list(plugin.custom_validation(Proposal(train_job(), None, torch, Facts(), upstream=False))) == []


def test_watches_its_files() -> None:
    assert [each.kind for each in Flux().watch_extension()] == ["ConfigMap", "Secret"]

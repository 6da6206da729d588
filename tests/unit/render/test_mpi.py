"""MPI: who is a node, how many slots, which files and variables."""

from __future__ import annotations

from typing import Any

import pytest

from kfp_trainer.runtime_operator.api import read
from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.render.admission import admit
from kfp_trainer.runtime_operator.render.facts import Facts
from kfp_trainer.runtime_operator.render.info import Info
from kfp_trainer.runtime_operator.render.plan import Plan
from kfp_trainer.runtime_operator.render.plugins.mpi import MPI
from kfp_trainer.runtime_operator.render.render import render

STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
GPU = "nvidia.com/gpu"


def replicated(
    name: str, *, gpus: int = 0, waits: bool = False, step: str = "", **container: Any
) -> dict[str, Any]:
    main = {"name": "node", "image": "a", **container}
    if gpus:
        main["resources"] = {"limits": {GPU: gpus}}
    made: dict[str, Any] = {
        "name": name,
        "template": {"spec": {"template": {"spec": {"containers": [main]}}}},
    }
    if step:
        made["template"]["metadata"] = {"labels": {STEP: step}}
    if waits:
        made["dependsOn"] = [{"name": "node", "status": "Ready"}]
    return made


NODE = replicated("node", command=["/usr/sbin/sshd", "-De"])
LAUNCHER = replicated("launcher", step="trainer", waits=True, command=["mpirun", "hostname"])


def runtime(
    *jobs: Any, mpi: Any = None, nodes: int | None = None, compat: Any = None, gang: Any = None, **spec: Any
) -> Any:
    policy = {"mpi": mpi or {}, "numNodes": nodes}
    template = {"spec": {"replicatedJobs": list(jobs), **spec}} if jobs else None
    document = {
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "rt"},
        "spec": {"mlPolicy": policy, "template": template, "podGroupPolicy": gang},
    }
    return read(document, compat=compat)


def train_job(compat: Any = None, labels: Any = None, patches: Any = None, **trainer: Any) -> Any:
    spec = {"runtimeRef": {"name": "rt"}, "trainer": trainer or None, "runtimePatches": patches or []}
    metadata = {"name": "tj", "namespace": "ns", "uid": "u", "labels": labels or {}}
    return read({"kind": "TrainJob", "metadata": metadata, "spec": spec}, compat=compat)


def jobs_of(plan: Plan) -> dict[str, dict[str, Any]]:
    jobset = plan.find("JobSet")
    assert jobset is not None
    return {each["name"]: each for each in jobset["spec"]["replicatedJobs"]}


def main_of(job: dict[str, Any]) -> dict[str, Any]:
    container: dict[str, Any] = job["template"]["spec"]["template"]["spec"]["containers"][0]
    return container


def env_of(plan: Plan) -> dict[str, str]:
    return {each["name"]: each["value"] for each in main_of(jobs_of(plan)["launcher"]).get("env", [])}


def hostfile_of(plan: Plan) -> str:
    hostfile = plan.find("ConfigMap", "tj-mpi-hostfile")
    assert hostfile is not None
    text: str = hostfile["data"]["hostfile"]
    return text


def hosts_of(plan: Plan) -> list[str]:
    return [line.split(".")[0].removeprefix("tj-") for line in hostfile_of(plan).splitlines()]


def slots_of(plan: Plan) -> int:
    (slots,) = {int(line.rpartition("=")[2]) for line in hostfile_of(plan).splitlines()}
    assert env_of(plan)["OMPI_MCA_orte_set_default_slots"] == str(slots)
    return slots


def both(job: dict[str, Any], *jobs: Any, **given: Any) -> list[Plan]:
    return [
        render(train_job(compat, **job), runtime(*jobs, compat=compat, **given), compat=compat)
        for compat in (None, "upstream")
    ]


AS_NODE = {"runLauncherAsNode": True}
COUNTS: dict[str, tuple[dict[str, Any], dict[str, Any], list[str], list[str]]] = {
    "the launcher apart: as many nodes as asked for": (
        {"numNodes": 3},
        {},
        ["node-0-0", "node-0-1", "node-0-2"],
        ["node-0-0", "node-0-1", "node-0-2"],
    ),
    "the launcher is one of four": (
        {"numNodes": 4},
        {"mpi": AS_NODE},
        ["node-0-0", "node-0-1", "node-0-2", "launcher-0-0"],
        ["node-0-0", "node-0-1", "node-0-2", "launcher-0-0"],
    ),
    "one node with the launcher as node is the launcher alone": (
        {"numNodes": 1},
        {"mpi": AS_NODE},
        ["launcher-0-0"],
        ["node-0-0", "launcher-0-0"],
    ),
    "so it is when nobody names a number": (
        {},
        {"mpi": AS_NODE},
        ["launcher-0-0"],
        ["node-0-0", "launcher-0-0"],
    ),
    "the number of the runtime counts nodes": (
        {},
        {"nodes": 3},
        ["node-0-0", "node-0-1", "node-0-2"],
        ["node-0-0"],
    ),
    "the number of the runtime with the launcher as node": (
        {},
        {"nodes": 2, "mpi": AS_NODE},
        ["node-0-0", "launcher-0-0"],
        ["node-0-0", "launcher-0-0", "launcher-0-1"],
    ),
    "the job's number beats the runtime's": (
        {"numNodes": 2},
        {"nodes": 5},
        ["node-0-0", "node-0-1"],
        ["node-0-0", "node-0-1"],
    ),
}


@pytest.mark.parametrize("sentence", COUNTS)
def test_hosts(sentence: str) -> None:
    trainer, given, ours, theirs = COUNTS[sentence]
    assert [hosts_of(each) for each in both(trainer, NODE, LAUNCHER, **given)] == [ours, theirs]


def test_one_launcher_whatever_the_runtime_says() -> None:
    ours, theirs = both({}, NODE, LAUNCHER, nodes=3)
    assert jobs_of(ours)["launcher"]["template"]["spec"]["parallelism"] == 1
    assert jobs_of(theirs)["launcher"]["template"]["spec"]["parallelism"] == 3


def test_a_launcher_that_is_the_only_node_waits_for_nobody() -> None:
    plan = render(
        train_job(numNodes=1),
        runtime(
            NODE,
            LAUNCHER,
            mpi=AS_NODE,
            successPolicy={"operator": "All", "targetReplicatedJobs": ["node", "launcher"]},
            coordinator={"replicatedJob": "node"},
        ),
    )
    jobset = plan.find("JobSet")
    assert jobset is not None
    assert list(jobs_of(plan)) == ["launcher"]
    assert "dependsOn" not in jobs_of(plan)["launcher"]  # JobSet refuses an empty list there
    assert jobset["spec"]["successPolicy"] == {"operator": "All", "targetReplicatedJobs": ["launcher"]}
    assert jobset["spec"]["coordinator"] == {"replicatedJob": "launcher"}
    assert [each.name for each in plan.pod_sets] == ["launcher"]
    assert ("node", "left out") in [(each.field, each.value) for each in plan.decisions]


def test_policies_that_do_not_speak_of_nodes_stay() -> None:
    success = {"operator": "All", "targetReplicatedJobs": ["launcher"]}
    plan = render(train_job(), runtime(NODE, LAUNCHER, mpi=AS_NODE, successPolicy=success))
    jobset = plan.find("JobSet")
    assert jobset is not None
    assert jobset["spec"]["successPolicy"] is success
    assert "coordinator" not in jobset["spec"]


@pytest.mark.parametrize("mark", ["label", "patch"])
def test_kueue_keeps_upstreams_counts(mark: str) -> None:
    labels = {"kueue.x-k8s.io/queue-name": "q"} if mark == "label" else {}
    patches = [{"manager": "kueue.x-k8s.io/manager"}] if mark == "patch" else []
    job = train_job(labels=labels, patches=patches, numNodes=1)
    assert hosts_of(render(job, runtime(NODE, LAUNCHER, mpi=AS_NODE))) == ["node-0-0", "launcher-0-0"]


def test_nodes_alone_are_counted_without_a_launcher() -> None:
    plan = render(train_job(numNodes=2), runtime(replicated("node", step="trainer")))
    assert hosts_of(plan) == ["node-0-0", "node-0-1"]
    assert plan.warnings == (
        "spec.mlPolicy.mpi: the runtime has no job 'launcher', so each node runs the command: add one",
    )


def test_upstream_lists_hosts_of_replicas_that_it_does_not_build() -> None:
    node = {**replicated("node", step="trainer"), "replicas": 2}
    assert [hosts_of(each) for each in both({"numNodes": 1}, node)] == [
        ["node-0-0"],
        ["node-0-0", "node-1-0"],
    ]


def test_a_launcher_alone_is_the_only_host() -> None:
    plan = render(train_job(), runtime(replicated("launcher", step="trainer"), mpi=AS_NODE))
    assert hosts_of(plan) == ["launcher-0-0"]


SLOTS: dict[str, tuple[dict[str, Any], dict[str, Any], tuple[Any, Any], int, int]] = {
    "one by default": ({"numNodes": 2}, {}, (NODE, LAUNCHER), 1, 1),
    "the number of the runtime": ({"numNodes": 2}, {"mpi": {"numProcPerNode": 4}}, (NODE, LAUNCHER), 4, 4),
    "the number of the job beats it": (
        {"numNodes": 2, "numProcPerNode": 6},
        {"mpi": {"numProcPerNode": 4}},
        (NODE, LAUNCHER),
        6,
        6,
    ),
    "as many as GPUs of the job": (
        {"numNodes": 2, "resourcesPerNode": {"limits": {GPU: 2}}},
        {},
        (NODE, LAUNCHER),
        2,
        2,
    ),
    "GPUs of the nodes decide, whatever stands first": (
        {"numNodes": 2},
        {},
        (replicated("launcher", step="trainer", gpus=2), replicated("node", gpus=4)),
        4,
        2,
    ),
    "GPUs of the runtime are seen beside a CPU of the job": (
        {"numNodes": 2, "resourcesPerNode": {"requests": {"cpu": 4}}},
        {},
        (replicated("node", gpus=4), LAUNCHER),
        4,
        1,
    ),
    "one GPU is one slot": ({"numNodes": 2}, {}, (replicated("node", gpus=1), LAUNCHER), 1, 1),
}


@pytest.mark.parametrize("sentence", SLOTS)
def test_slots(sentence: str) -> None:
    trainer, given, jobs, ours, theirs = SLOTS[sentence]
    assert [slots_of(each) for each in both(trainer, *jobs, **given)] == [ours, theirs]


WHO_SAYS_SO = {
    "one by default": "nobody asks for more",
    "the number of the runtime": "mpi.numProcPerNode of the runtime",
    "the number of the job beats it": "spec.trainer.numProcPerNode of the job",
    "one GPU is one slot": "one for each accelerator of a node",
}


@pytest.mark.parametrize("sentence", WHO_SAYS_SO)
def test_the_plan_tells_where_the_slots_come_from(sentence: str) -> None:
    trainer, given, jobs, slots, _ = SLOTS[sentence]
    told = {each.field: each for each in both(trainer, *jobs, **given)[0].decisions}
    assert (told["slots"].value, told["slots"].reason) == (str(slots), WHO_SAYS_SO[sentence])


def test_with_the_launcher_apart_the_job_reaches_the_nodes() -> None:
    trainer = {
        "numNodes": 2,
        "image": "own",
        "env": [{"name": "A", "value": "1"}],
        "resourcesPerNode": {"limits": {GPU: 2}},
    }
    ours, theirs = (
        {name: main_of(job) for name, job in jobs_of(each).items()} for each in both(trainer, NODE, LAUNCHER)
    )
    assert (ours["node"]["image"], ours["node"]["env"]) == ("own", trainer["env"])
    assert ours["node"]["resources"] == {"limits": {GPU: 2}}
    assert "resources" not in ours["launcher"]
    assert (theirs["node"]["image"], theirs["launcher"]["resources"]) == ("a", {"limits": {GPU: 2}})


def test_the_image_of_the_job_reaches_the_nodes_beside_their_launcher() -> None:
    ours, theirs = both(
        {"numNodes": 2, "image": "own", "command": ["mpirun", "x"]}, NODE, LAUNCHER, mpi=AS_NODE
    )
    assert [main_of(jobs_of(plan)["node"])["image"] for plan in (ours, theirs)] == ["own", "a"]
    assert main_of(jobs_of(ours)["node"])["command"] == ["/usr/sbin/sshd", "-De"]


LINES: dict[str, tuple[str, dict[str, str]]] = {
    "OpenMPI": (
        "tj-node-0-0.ring slots=4\ntj-node-0-1.ring slots=4\n",
        {
            "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile",
            "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
            "OMPI_MCA_orte_set_default_slots": "4",
            "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
        },
    ),
    "Intel": (
        "tj-node-0-0.ring:4\ntj-node-0-1.ring:4\n",
        {
            "I_MPI_HYDRA_HOST_FILE": "/etc/mpi/hostfile",
            "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS": "-o ConnectionAttempts=10",
            "I_MPI_PERHOST": "4",
        },
    ),
    "MPICH": (
        "tj-node-0-0.ring:4\ntj-node-0-1.ring:4\n",
        {
            "HYDRA_HOST_FILE": "/etc/mpi/hostfile",
            "HYDRA_LAUNCH_EXTRA_ARGS": "-o ConnectionAttempts=10",
            "HYDRA_LAUNCHER_EXTRA_ARGS": "-o ConnectionAttempts=10",
        },
    ),
}


@pytest.mark.parametrize("implementation", LINES)
def test_implementation(implementation: str) -> None:
    mpi = {"mpiImplementation": implementation, "numProcPerNode": 4}
    plan = render(train_job(numNodes=2), runtime(NODE, LAUNCHER, mpi=mpi, network={"subdomain": "ring"}))
    assert (hostfile_of(plan), env_of(plan)) == LINES[implementation]


@pytest.mark.parametrize("compat", [None, "upstream"])
def test_an_implementation_nobody_knows(compat: Any) -> None:
    given = runtime(NODE, LAUNCHER, mpi={"mpiImplementation": ""}, compat=compat)
    with pytest.raises(
        SpecError, match="the MPI implementation '', which nobody can start: write one of OpenMPI, Intel"
    ):
        render(train_job(compat, numNodes=2), given, compat=compat)


def mounts_of(plan: Plan, job: str) -> dict[str, str]:
    return {each["mountPath"]: each["name"] for each in main_of(jobs_of(plan)[job])["volumeMounts"]}


def test_mounts() -> None:
    ours, theirs = both({"numNodes": 2}, NODE, LAUNCHER, mpi={"sshAuthMountPath": "/home/mpi/.ssh"})
    keys = {"/home/mpi/.ssh": "mpi-ssh-auth"}
    assert mounts_of(ours, "node") == mounts_of(theirs, "node") == keys
    assert mounts_of(theirs, "launcher") == {**keys, "/etc/mpi": "mpi-hostfile"}
    assert mounts_of(ours, "launcher") == {
        **keys,
        "/etc/mpi": "mpi-hostfile",
        "/job/hostfile": "mpi-hostfile",
    }


def test_only_deepspeeds_own_form_lies_where_deepspeed_looks() -> None:
    plan = render(train_job(numNodes=2), runtime(NODE, LAUNCHER, mpi={"mpiImplementation": "Intel"}))
    assert "/job/hostfile" not in mounts_of(plan, "launcher")


def test_other_containers_and_jobs_get_nothing() -> None:
    launcher = replicated("launcher", step="trainer")
    pod = launcher["template"]["spec"]["template"]["spec"]
    pod["containers"].append({"name": "watch", "image": "w"})
    plan = render(train_job(numNodes=2), runtime(NODE, launcher, replicated("side")))
    assert jobs_of(plan)["launcher"]["template"]["spec"]["template"]["spec"]["containers"][1] == {
        "name": "watch",
        "image": "w",
    }
    assert "volumes" not in jobs_of(plan)["side"]["template"]["spec"]["template"]["spec"]


def test_upstream_gives_jobs_without_a_main_container_volumes_only() -> None:
    def stranger(name: str) -> dict[str, Any]:
        pod = {"containers": [{"name": "x", "image": "x"}, {"name": "y", "image": "y"}]}
        return {"name": name, "template": {"spec": {"template": {"spec": pod}}}}

    given = runtime(stranger("node"), stranger("launcher"), compat="upstream")
    plan = render(train_job("upstream"), given, compat="upstream")
    for job in jobs_of(plan).values():
        assert "volumeMounts" not in main_of(job)
        assert job["template"]["spec"]["template"]["spec"]["volumes"]


KEYS = {"ssh-privatekey": "private", "ssh-publickey": "public"}


def test_keys_come_in_as_facts() -> None:
    secret = render(train_job(), runtime(NODE, LAUNCHER), Facts(keys=KEYS)).find("Secret")
    assert secret is not None
    assert (secret["type"], secret["immutable"]) == ("kubernetes.io/ssh-auth", True)
    assert secret["data"] == {"ssh-privatekey": "cHJpdmF0ZQ==", "ssh-publickey": "cHVibGlj"}


def test_without_keys_the_secret_says_so() -> None:
    secret = render(train_job(), runtime(NODE, LAUNCHER)).find("Secret")
    assert secret is not None
    assert set(secret["stringData"].values()) == {"<drawn when the job is applied>"}
    assert "data" not in secret


def test_rights_of_the_keys() -> None:
    pod = jobs_of(render(train_job(), runtime(NODE, LAUNCHER)))["node"]["template"]["spec"]["template"][
        "spec"
    ]
    (volume,) = pod["volumes"]
    assert volume["secret"]["defaultMode"] == 0o400
    assert {each["path"]: each["mode"] for each in volume["secret"]["items"]} == {
        "id_rsa": 0o640,
        "id_rsa.pub": 0o644,
        "authorized_keys": 0o644,
    }


BARE_LAUNCHER = replicated("launcher", command=["deepspeed", "train.py"])
BARE_NODE = replicated("node", gpus=4)


def test_a_launcher_before_its_nodes_is_moved_behind_them() -> None:
    plan = render(train_job(), runtime(BARE_LAUNCHER, BARE_NODE, nodes=2, mpi={"numProcPerNode": 4}))
    jobs, jobset = jobs_of(plan), plan.find("JobSet")
    assert jobset is not None
    assert list(jobs) == ["node", "launcher"]
    assert jobs["launcher"]["dependsOn"] == [{"name": "node", "status": "Ready"}]
    assert jobset["spec"]["successPolicy"] == {"operator": "All", "targetReplicatedJobs": ["launcher"]}
    assert main_of(jobs["node"])["command"] == ["/usr/sbin/sshd", "-De"]
    assert hosts_of(plan) == ["node-0-0", "node-0-1"]
    assert ("replicatedJobs", "the nodes first") in [(each.field, each.value) for each in plan.decisions]


def test_what_the_runtime_says_is_kept() -> None:
    node = replicated("node", args=["-De"])
    launcher = {**BARE_LAUNCHER, "dependsOn": [{"name": "side", "status": "Complete"}]}
    success = {"operator": "Any"}
    plan = render(train_job(), runtime(replicated("side"), launcher, node, successPolicy=success))
    jobset = plan.find("JobSet")
    assert jobset is not None
    assert list(jobs_of(plan)) == ["side", "node", "launcher"]
    assert jobs_of(plan)["launcher"]["dependsOn"] == launcher["dependsOn"]
    assert jobset["spec"]["successPolicy"] == success
    assert "command" not in main_of(jobs_of(plan)["node"])


def test_a_gang_waits_for_nobody() -> None:
    plan = render(train_job(), runtime(BARE_LAUNCHER, BARE_NODE, nodes=2, gang={"volcano": {}}))
    assert "dependsOn" not in jobs_of(plan)["launcher"]
    assert plan.gang is not None
    assert (plan.gang.min_member, plan.gang.pod_sets) == (3, ("node", "launcher"))


def test_upstream_and_kueue_keep_the_order() -> None:
    theirs = render(
        train_job("upstream"), runtime(BARE_LAUNCHER, BARE_NODE, compat="upstream"), compat="upstream"
    )
    kueue = render(train_job(labels={"kueue.x-k8s.io/queue-name": "q"}), runtime(BARE_LAUNCHER, BARE_NODE))
    assert list(jobs_of(theirs)) == list(jobs_of(kueue)) == ["launcher", "node"]


def test_a_runtime_without_a_template_gets_one() -> None:
    given = runtime(nodes=4, mpi={"numProcPerNode": 8})
    plan = render(train_job(image="own", command=["mpirun", "x"]), given)
    jobs = jobs_of(plan)
    assert list(jobs) == ["node", "launcher"]
    assert [main_of(each)["image"] for each in jobs.values()] == ["own", "own"]
    assert [main_of(each)["command"] for each in jobs.values()] == [
        ["/usr/sbin/sshd", "-De"],
        ["mpirun", "x"],
    ]
    assert len(hosts_of(plan)) == 4
    assert slots_of(plan) == 8
    assert ("replicatedJobs", "nodes and launcher") in [(each.field, each.value) for each in plan.decisions]


@pytest.mark.parametrize("trainer", [{}, {"numNodes": 2}])
def test_without_a_template_and_an_image_there_is_nothing_to_run(trainer: dict[str, Any]) -> None:
    with pytest.raises(SpecError) as raised:
        render(train_job(**trainer), runtime(nodes=4))
    (error,) = raised.value.errors
    assert (
        str(error)
        == "spec.trainer.image: must be set, because the runtime 'rt' has no template and so no image"
    )


REFUSED: dict[str, tuple[Any, Any, Any, list[str]]] = {
    "two nodes, the launcher as node, and no launcher": (
        runtime(replicated("node", step="trainer"), mpi=AS_NODE),
        {"numNodes": 2},
        None,
        [
            "spec.trainer.numNodes: must have 1 when MPI trainingRuntime with enabled runLauncherAsNode "
            "does not have either launcher and node"
        ],
    ),
    "env of OpenMPI": (
        runtime(NODE, LAUNCHER),
        {
            "env": [
                {"name": "OMPI_MCA_plm_rsh_args"},
                {"name": "A"},
                {"name": "OMPI_MCA_orte_default_hostfile"},
            ]
        },
        None,
        [
            "spec.trainer.env: must not have reserved envs, invalid envs configured: "
            "[OMPI_MCA_orte_default_hostfile OMPI_MCA_plm_rsh_args]"
        ],
    ),
    "env of MPICH": (
        runtime(NODE, LAUNCHER, mpi={"mpiImplementation": "MPICH"}),
        {"env": [{"name": "HYDRA_HOST_FILE"}]},
        None,
        ["spec.trainer.env: must not have reserved envs, invalid envs configured: [HYDRA_HOST_FILE]"],
    ),
    "an implementation nobody knows is told when the job is built": (
        runtime(NODE, LAUNCHER, mpi={"mpiImplementation": "LAM"}),
        {"env": [{"name": "A"}]},
        None,
        [
            "spec.runtimeRef: the runtime 'rt' names the MPI implementation 'LAM', which nobody can start: "
            "write one of OpenMPI, Intel, MPICH"
        ],
    ),
    "env of another implementation is free": (
        runtime(NODE, LAUNCHER),
        {"env": [{"name": "HYDRA_HOST_FILE", "value": "x"}]},
        None,
        [],
    ),
    "a runtime without a template has both jobs": (
        runtime(mpi=AS_NODE),
        {"numNodes": 2, "image": "own"},
        None,
        [],
    ),
    "one node needs no launcher": (
        runtime(replicated("node", step="trainer"), mpi=AS_NODE),
        {"numNodes": 1},
        None,
        [],
    ),
    "a job without a trainer": (runtime(NODE, LAUNCHER), {}, None, []),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_admission(sentence: str) -> None:
    given, trainer, compat, want = REFUSED[sentence]
    assert [str(each) for each in admit(train_job(**trainer), given, compat=compat).errors] == want


def test_serves_runtimes_that_ask_for_it() -> None:
    plugin = MPI()
    bare = read({"kind": "ClusterTrainingRuntime", "metadata": {"name": "o"}, "spec": {}})
    torch = read(
        {"kind": "ClusterTrainingRuntime", "metadata": {"name": "o"}, "spec": {"mlPolicy": {"torch": {}}}}
    )
    assert [plugin.serves(each) for each in (runtime(NODE, LAUNCHER), torch, bare)] == [True, False, False]
    info = Info(train_job(), torch, Facts(), upstream=False, kueue=False)
    plugin.enforce_ml_policy(info)
    assert plugin.build_components(info) == ()


def test_watches_its_files() -> None:
    assert [each.kind for each in MPI().watch_extension()] == ["ConfigMap", "Secret"]

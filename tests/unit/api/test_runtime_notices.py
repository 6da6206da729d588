from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.api.runtime_notices import runtime_notices

LABELS = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
JOBS = "spec.template.spec.replicatedJobs"
POD = "template.spec.template.spec"


def _job(name, *containers, job=None, pod=None):
    template = {"metadata": pod or {}, "spec": {"containers": list(containers)}}
    return {"name": name, "template": {"metadata": job or {}, "spec": {"template": template}}}


NODE = {"name": "node"}
MPI = {"mpi": {}}
CASES = {
    "as it is written today": ({"torch": {}}, [_job("node", NODE, job=LABELS)], []),
    "a label on the pod template, an old name, one string and a stale address": (
        {"torch": {}},
        [
            _job(
                "node",
                {
                    "name": "trainer",
                    "command": ["torchrun train.py"],
                    "env": [
                        {"name": "MASTER_ADDR", "value": "pytorch-node-0-0.pytorch"},
                        {"name": "MASTER_PORT", "value": "29400"},
                    ],
                },
                pod=LABELS,
            )
        ],
        [
            f"TrainerJobGuessed: {JOBS}[0].{POD[: -len('.spec')]}.metadata.labels: ",
            f"ContainerName: {JOBS}[0].{POD}.containers[0].name: ",
            f"CommandSplit: {JOBS}[0].{POD}.containers[0].command: ",
            f"StaleMasterAddress: {JOBS}[0].{POD}.containers[0].env[0].value: ",
        ],
    ),
    "devices that are requested only": (
        {"torch": {}},
        [_job("node", NODE | {"resources": {"requests": {"nvidia.com/gpu": 1}}}, job=LABELS)],
        [f"LimitsFromRequests: {JOBS}[0].{POD}.containers[0].resources.requests: nvidia.com/gpu"],
    ),
    "a launcher before its nodes": (
        MPI,
        [
            _job("launcher", {"name": "mpi-launcher", "command": ["mpirun x"]}),
            _job("node", {"name": "trainer"}),
        ],
        [
            f"TrainerJobGuessed: {JOBS}[1]: 'node'",
            f"LauncherMoved: {JOBS}[0]: ",
            f"ContainerName: {JOBS}[0].{POD}.containers[0].name: 'mpi-launcher'",
            f"CommandSplit: {JOBS}[0].{POD}.containers[0].command: ",
            f"ContainerName: {JOBS}[1].{POD}.containers[0].name: 'trainer'",
        ],
    ),
    "a launcher behind its nodes": (
        MPI,
        [_job("node", NODE), _job("launcher", NODE)],
        [f"TrainerJobGuessed: {JOBS}[0]: 'node'"],
    ),
    "a launcher that carries the trainer's label": (
        MPI,
        [_job("launcher", NODE, job=LABELS), _job("node", NODE)],
        [],
    ),
    "an MPI runtime without jobs": (MPI, [], [f"LauncherMoved: {JOBS}: there is no template"]),
    "MPI without a launcher": (MPI, [_job("node", NODE, job=LABELS)], []),
    "several containers and no sign": (
        {"torch": {}},
        [_job("node", {"name": "a"}, {"name": "b"}, job=LABELS)],
        [f"ContainerName: {JOBS}[0].{POD}.containers: cannot tell"],
    ),
    "no container at all": ({"torch": {}}, [_job("node", job=LABELS)], []),
    "containers of no shape": ({"torch": {}}, [_job("node", 7, job=LABELS)], [f"ContainerName: {JOBS}[0]"]),
}


@pytest.mark.parametrize("sentence", CASES)
def test_each_older_habit_is_said_once(runtime, sentence):
    policy, jobs, want = CASES[sentence]
    said = runtime_notices(runtime(mlPolicy=policy, template={"spec": {"replicatedJobs": jobs}}))
    assert len(said) == len(want), said
    assert all(text.startswith(start) for text, start in zip(said, want, strict=True)), said

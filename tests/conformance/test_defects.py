"""Where a case calls upstream's answer a defect, ours is right.

Each case of a defect has one look at the answer (what is the number, who has the image, which field is
refused) and what it has to be. The same look at upstream's own answer has to see something else: a look
that could not tell the two apart would prove nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.conformance.__main__ import CASES
from tests.conformance.answer import answer
from tests.recorded_cases import read_cases

DEFECTS = {path.stem: case for path, case in read_cases(CASES) if case.get("defect")}


class Seen:
    """An answer, looked at."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        self.told = told

    def all(self, kind: str) -> list[dict[str, Any]]:
        """The objects of a kind."""
        return [each for each in self.told.get("objects") or () if each["kind"] == kind]

    def jobs(self) -> dict[str, Any]:
        """The replicated jobs by name."""
        return {each["name"]: each for each in self.all("JobSet")[0]["spec"].get("replicatedJobs") or ()}

    def count(self, job: str = "node") -> tuple[int, int]:
        """Parallelism and completions of a job."""
        spec = self.jobs()[job]["template"]["spec"]
        return spec["parallelism"], spec["completions"]

    def pod(self, job: str = "node") -> dict[str, Any]:
        """The pod of a job."""
        return self.jobs()[job]["template"]["spec"]["template"]["spec"]

    def main(self, job: str = "node", name: str = "node") -> dict[str, Any]:
        """A container of a job."""
        return next(each for each in self.pod(job)["containers"] if each["name"] == name)

    def env(self, name: str, job: str = "node", container: str = "node") -> Any:
        """A variable of a container, its value or where it comes from."""
        held = {each["name"]: each for each in self.main(job, container).get("env") or ()}
        return held.get(name, {}).get("value") or held.get(name, {}).get("valueFrom")

    def ports(self) -> list[int]:
        """The ports of the trainer."""
        return [each["containerPort"] for each in self.main().get("ports") or ()]

    def gang(self) -> tuple[int, dict[str, str]]:
        """Members and resources of the gang."""
        (group,) = self.all("PodGroup")
        return group["spec"]["minMember"], {
            k: str(v) for k, v in group["spec"].get("minResources", {}).items()
        }

    def in_gang(self) -> list[str]:
        """The jobs whose pods say that they are of the gang."""
        keys = {"scheduling.x-k8s.io/pod-group", "scheduling.k8s.io/group-name"}
        found = []
        for name, job in self.jobs().items():
            metadata = job["template"]["spec"]["template"].get("metadata") or {}
            held = {**(metadata.get("labels") or {}), **(metadata.get("annotations") or {})}
            found += [name] if keys & held.keys() else []
        return found

    def data(self, suffix: str, key: str, kind: str = "ConfigMap") -> str:
        """A text of a ConfigMap."""
        (found,) = (each for each in self.all(kind) if each["metadata"]["name"].endswith(suffix))
        return found["data"][key]

    def hosts(self) -> list[str]:
        """The lines of the hostfile."""
        return self.data("-mpi-hostfile", "hostfile").splitlines()

    def refused(self) -> list[str]:
        """The fields that are refused."""
        return [each["field"] for each in self.told.get("errors") or ()]

    def ends(self) -> list[tuple[str, str]]:
        """How the job ended, by its status."""
        ends = (self.told["status"].get("conditions")) or ()
        return [(each["type"], each["reason"]) for each in ends if each["type"] in ("Complete", "Failed")]


Look = Callable[[Seen], Any]


def image_and_resources(seen: Seen) -> Any:
    return {name: seen.main(name).get("resources") or None for name in seen.jobs()}


def refused(seen: Seen) -> Any:
    return seen.refused()


def hosts(seen: Seen) -> Any:
    return seen.hosts()


def gang(seen: Seen) -> Any:
    return (*seen.gang(), seen.in_gang())


def met(*names: str) -> Look:
    """Whether the trainer knows where to meet, and has the port open."""
    return lambda seen: ([name for name in names if seen.env(name)], seen.ports())


def slots(seen: Seen) -> Any:
    return seen.env("OMPI_MCA_orte_set_default_slots", "launcher"), seen.hosts()


def shared_memory(seen: Seen) -> Any:
    mounts = {each["mountPath"]: each for each in seen.main()["volumeMounts"]}
    return bool(mounts["/dev/shm"].get("readOnly"))


PET = ("PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT")

RIGHT: dict[str, tuple[Look, Any]] = {
    "both-gang-policies": (refused, ["spec.podGroupPolicy"]),
    "combined-deepspeed-with-volumes-and-kueue": (lambda seen: seen.main()["image"], "lab.example/ds:1"),
    "combined-torch-namespaced-with-sidecars": (
        lambda seen: seen.gang(),
        (3, {"cpu": "6450m", "nvidia.com/gpu": "6"}),
    ),
    "combined-torchtune-with-everything": (
        gang,
        (1, {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "1"}, ["node"]),
    ),
    "coscheduling-counts-initializers": (lambda seen: (seen.gang()[0], seen.in_gang()), (2, ["node"])),
    "coscheduling-misses-limits-only-gpus": (lambda seen: seen.gang()[1].get("nvidia.com/gpu"), "16"),
    "env-file-key-ref-arrives-empty": (
        lambda seen: seen.env("SEED"),
        {"fileKeyRef": {"volumeName": "v", "path": "p.env", "key": "SEED", "optional": False}},
    ),
    "env-injection-without-trainer": (met(*PET), ([*PET], [29500])),
    "flux-args-of-both-are-run": (
        lambda seen: (seen.main()["command"][-1], seen.main().get("args") or []),
        ("run --wide", []),
    ),
    "flux-gpus": (lambda seen: "-N 3 -n 6 -g 1" in str(seen.data("-flux-entrypoint", "entrypoint.sh")), True),
    "flux-panics-without-trainer": (lambda seen: seen.count(), (1, 1)),
    "flux-quotes-are-lost": (lambda seen: seen.main()["command"][-1], "sh -c 'echo a; echo b'"),
    "flux-settings-of-the-runtime": (shared_memory, False),
    "flux-two-nodes": (shared_memory, False),
    "gang-of-an-mpi-job": (lambda seen: (seen.gang()[0], seen.in_gang()), (2, ["node"])),
    "gpus-of-several-kinds-are-counted-at-random": (lambda seen: seen.env("DMLC_NUM_WORKER"), "16"),
    "initializer-without-ancestor-label-is-ignored": (
        lambda seen: seen.env("STORAGE_URI", "dataset-initializer", "dataset-initializer"),
        "hf://a/b",
    ),
    "invalid-same-volume-mounted-twice-in-a-patch": (
        lambda seen: [each["mountPath"] for each in seen.main()["volumeMounts"]],
        ["/a", "/b"],
    ),
    "jax-unnamed-port-is-lost": (lambda seen: sorted(seen.ports()), [8471, 29500]),
    "mpi-empty-implementation-breaks-the-build": (
        lambda seen: seen.refused()[:1],
        ["spec.mlPolicy.mpi.mpiImplementation"],
    ),
    "mpi-image-reaches-the-launcher-only": (
        lambda seen: {name: seen.main(name)["image"] for name in seen.jobs()},
        {"node": "lab.example/own:3", "launcher": "lab.example/own:3"},
    ),
    "mpi-launcher-as-node-one-node": (hosts, ["m3-launcher-0-0.m3 slots=1"]),
    "mpi-num-nodes-of-the-runtime-multiplies-launchers": (
        lambda seen: (seen.count("node"), seen.count("launcher"), len(seen.hosts())),
        ((3, 3), (1, 1), 3),
    ),
    "mpi-resources-reach-the-launcher-only-when-apart": (
        image_and_resources,
        {"node": {"requests": {"cpu": 2}}, "launcher": None},
    ),
    "mpi-slots-come-from-the-first-listed-job": (
        slots,
        ("4", ["mf1-node-0-0.mf1 slots=4", "mf1-node-0-1.mf1 slots=4"]),
    ),
    "mpi-slots-follow-gpus-of-the-trainjob": (
        image_and_resources,
        {"node": {"limits": {"nvidia.com/gpu": 2}}, "launcher": None},
    ),
    "name-of-49-characters-is-refused-by-jobset": (refused, ["metadata.name"]),
    "name-of-63-characters-is-admitted": (refused, ["metadata.name"]),
    "nproc-cpu-override-hides-gpus-of-the-runtime": (lambda seen: seen.env("PET_NPROC_PER_NODE"), "auto"),
    "nproc-mig-slices-are-not-gpus": (lambda seen: seen.env("PET_NPROC_PER_NODE"), "2"),
    "nproc-zero-is-accepted": (refused, ["spec.trainer.numProcPerNode"]),
    "num-nodes-zero-is-accepted": (refused, ["spec.trainer.numNodes"]),
    "patch-of-an-unknown-container-is-not-refused": (refused, ["spec.runtimePatches"]),
    "patch-of-an-unknown-job-is-not-refused": (refused, ["spec.runtimePatches"]),
    "patch-volume-source-of-another-kind": (
        lambda seen: seen.pod()["volumes"],
        [{"name": "w", "persistentVolumeClaim": {"claimName": "c"}}],
    ),
    "resource-claims-of-the-runtime-are-lost": (
        lambda seen: seen.main()["resources"].get("claims"),
        [{"name": "gpu"}],
    ),
    "resources-are-ignored-without-ml-policy": (lambda seen: seen.main()["resources"]["requests"]["cpu"], 9),
    "runtime-without-template-spec": (refused, ["spec.template.spec.replicatedJobs"]),
    "shipped-data-cache-refuses-a-dataset-initializer": (
        lambda seen: seen.env("STORAGE_URI", "dataset-initializer", "dataset-initializer"),
        "cache://lake/t1",
    ),
    "shipped-deepspeed-without-trainer": (
        lambda seen: (list(seen.jobs()), seen.hosts()),
        (["launcher"], ["ds1-launcher-0-0.ds1 slots=1"]),
    ),
    "shipped-torchtune-1b-without-trainer": (met(*PET[:3]), ([*PET[:3]], [29500])),
    "shipped-xgboost-without-trainer": (
        met("DMLC_TRACKER_URI", "DMLC_TRACKER_PORT", "DMLC_TASK_ID", "DMLC_NUM_WORKER"),
        (["DMLC_TRACKER_URI", "DMLC_TRACKER_PORT", "DMLC_TASK_ID", "DMLC_NUM_WORKER"], [29500]),
    ),
    "side-job-completions-are-overwritten": (lambda seen: seen.count("side"), (2, 10)),
    "status-build-error-shows-in-an-event-only": (lambda seen: seen.ends(), [("Failed", "RuntimeInvalid")]),
    "status-failed-and-jobset-gone-runs-again": (
        lambda seen: (seen.ends(), seen.told["jobSetExists"]),
        ([("Failed", "FailedJobs")], False),
    ),
    "status-of-a-foreign-jobset-is-copied": (lambda seen: seen.ends(), []),
    "torch-ignores-the-subdomain": (lambda seen: seen.env("PET_MASTER_ADDR"), "k11-node-0-0.mesh"),
    "torchtune-only-four-keys-of-the-runtime-survive": (
        lambda seen: [word for word in seen.main()["command"] if "=" in word and not word.startswith("-")],
        [
            "dataset.source=parquet",
            "tokenizer.path=/v",
            "tokenizer.merges_file=/mf",
            "output_dir=/out",
            "log_level=DEBUG",
        ],
    ),
    "torchtune-two-nodes-of-the-runtime-slip-past-validation": (refused, ["spec.trainer.numNodes"]),
    "trainer-is-ignored-without-ancestor-label": (
        lambda seen: (seen.count(), seen.main()["image"], seen.env("PET_NNODES")),
        ((3, 3), "lab.example/own:9", "3"),
    ),
    "trainer-job-with-another-name": (
        lambda seen: seen.env("PET_MASTER_ADDR", "workers"),
        "k9-workers-0-0.k9",
    ),
    "two-trainer-jobs-torch": (refused, ["spec.runtimeRef"]),
    "unnamed-port-of-the-runtime-is-lost": (lambda seen: sorted(seen.ports()), [8080, 29500]),
    "update-adds-a-trainer-later": (refused, ["spec.trainer"]),
    "update-adds-patched-volumes-while-suspended": (refused, ["spec.runtimePatches"]),
    "update-patched-affinity-while-suspended": (refused, ["spec.runtimePatches"]),
    "xgboost-cpu-override-hides-gpus-of-the-runtime": (lambda seen: seen.env("DMLC_NUM_WORKER"), "8"),
}


def test_every_defect_has_a_look():
    assert RIGHT.keys() == DEFECTS.keys()


@pytest.mark.parametrize("name", RIGHT)
def test_ours_is_right(name):
    look, want = RIGHT[name]
    assert look(Seen(answer(DEFECTS[name], compat=None))) == want


@pytest.mark.parametrize("name", RIGHT)
def test_upstreams_is_not(name):
    look, want = RIGHT[name]
    try:
        found = look(Seen(DEFECTS[name]["expect"]))
    except (IndexError, KeyError, StopIteration, TypeError, ValueError):
        return  # what is looked at is not even there
    assert found != want

"""A plan, retold for a person: what runs when, who waits for whom, and where each number came from.

Everything is read off the plan and the JobSet in it, so that what is told is what will be applied. The
result is data (`-o json` prints it as it is); `draw` makes the picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..api.names import DATASET_STEP, LAUNCHER, MODEL_STEP, NODE, TRAIN_JOB, TRAINER_STEP
from . import describe
from .plan import Decision, Gang, Object, Plan, PodSet

PURPOSES = {
    DATASET_STEP: "fetches the dataset",
    MODEL_STEP: "fetches the model",
    TRAINER_STEP: "trains",
    NODE: "trains",
    LAUNCHER: "starts the training on the others",
}
PROCESS_DECISIONS = ("numProcPerNode", "slots")


@dataclass(frozen=True, slots=True)
class Line:
    """A name and what is behind it: a variable and its value, a path and its volume."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Program:
    """A container, in words."""

    name: str
    role: str
    """empty, `first` (runs to its end before the others start) or `beside` (a sidecar)"""
    image: str
    command: tuple[str, ...]
    env: tuple[Line, ...]
    mounts: tuple[Line, ...]
    ports: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pods:
    """The pods of one replicated job, in words."""

    name: str
    purpose: str
    count: int
    processes: str
    """in each pod, where the framework counts them: a number or `auto`"""
    wave: int
    waits_for: tuple[Line, ...]
    """the job it waits for, and until when: Complete or Ready"""
    requests: str
    addresses: tuple[str, ...]
    in_gang: bool
    programs: tuple[Program, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A plan, in words."""

    kind: str
    job: str
    namespace: str
    runtime: str
    """kind and name; empty where the job needs none"""
    suspended: bool
    objects: tuple[str, ...]
    pods: tuple[Pods, ...]
    gang: Gang | None
    decisions: tuple[Decision, ...]
    warnings: tuple[str, ...]


def explain(job: Object, plan: Plan, *, warnings: Sequence[str] = ()) -> Explanation:
    """Retell the plan of a (stored) job; `warnings` are those of admission."""
    jobset = plan.find("JobSet")
    spec: Object = jobset["spec"] if jobset is not None else {}
    reference = job["spec"].get("runtimeRef")
    name = job["metadata"]["name"]
    claims = {
        template["metadata"]["name"]: describe.made_claim(template, name)
        for policy in spec.get("volumeClaimPolicies") or ()
        for template in policy.get("templates") or ()
    }
    rjobs = {each["name"]: each for each in spec.get("replicatedJobs") or ()}
    return Explanation(
        kind=job.get("kind", TRAIN_JOB),
        job=name,
        namespace=job["metadata"].get("namespace") or "default",
        runtime=f"{reference['kind']} {reference['name']}" if reference else "",
        suspended=bool(spec.get("suspend")),
        objects=tuple(f"{each['kind']} {each['metadata']['name']}" for each in plan.objects),
        pods=tuple(_pods(each, rjobs[each.name], plan, claims) for each in plan.pod_sets),
        gang=plan.gang,
        decisions=tuple({each.field: each for each in plan.decisions}.values()),  # the last word counts
        warnings=tuple(dict.fromkeys((*warnings, *plan.warnings))),
    )


def _pods(pod_set: PodSet, rjob: Object, plan: Plan, claims: dict[str, str]) -> Pods:
    pod: Object = rjob["template"]["spec"]["template"].get("spec") or {}
    volumes = {each["name"]: describe.volume(each) for each in pod.get("volumes") or ()}
    purpose = PURPOSES.get(pod_set.name) or PURPOSES.get(pod_set.step, "")
    return Pods(
        name=pod_set.name,
        purpose=purpose,
        count=pod_set.count,
        processes=_processes(purpose, plan.decisions),
        wave=pod_set.wave,
        waits_for=tuple(Line(each["name"], each["status"]) for each in rjob.get("dependsOn") or ()),
        requests=describe.amounts(pod_set.requests),
        addresses=tuple(plan.endpoints.get(pod_set.name, ())),
        in_gang=plan.gang is not None and pod_set.name in plan.gang.pod_sets,
        programs=tuple(_programs(pod, {**claims, **volumes})),
    )


def _processes(purpose: str, decisions: Sequence[Decision]) -> str:
    if purpose != PURPOSES[TRAINER_STEP]:
        return ""
    return next((each.value for each in decisions if each.field in PROCESS_DECISIONS), "")


def _programs(pod: Object, volumes: dict[str, str]) -> Iterator[Program]:
    for container in pod.get("initContainers") or ():
        role = "beside" if container.get("restartPolicy") == "Always" else "first"
        yield _program(container, role, volumes)
    for container in pod.get("containers") or ():
        yield _program(container, "", volumes)


def _program(container: Object, role: str, volumes: dict[str, str]) -> Program:
    bundles = [Line("", describe.env_source(each)) for each in container.get("envFrom") or ()]
    own = [Line(each["name"], describe.env_value(each)) for each in container.get("env") or ()]
    return Program(
        name=container.get("name", ""),
        role=role,
        image=container.get("image", ""),
        command=(*(container.get("command") or ()), *(container.get("args") or ())),
        env=(*bundles, *own),
        mounts=tuple(_mount(each, volumes) for each in container.get("volumeMounts") or ()),
        ports=tuple(each["containerPort"] for each in container.get("ports") or ()),
    )


def _mount(mount: Object, volumes: dict[str, str]) -> Line:
    part = mount.get("subPathExpr") or mount.get("subPath")
    text = volumes.get(mount["name"], f"volume {mount['name']}, which the pod does not have")
    inside = f", of it {part}" if part else ""
    return Line(mount["mountPath"], f"{text}{inside}{', read only' if mount.get('readOnly') else ''}")

"""The TrainJob of a step as it is sent: named, labelled, owned, and with what is set on the task."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..api.names import ANCESTOR_LABEL, LAUNCHER, NODE, TRAINER_STEP
from .passthrough import TaskConfig, resolve_env, with_task_config
from .step import Step, job_name
from .surroundings import RUN_LABEL, Surroundings

Json = Mapping[str, Any]
TASK_LABEL = "kfp-trainer/task"


def name_of(train_job: Json, step: Step, look: Callable[[], Surroundings], *, task: str) -> str:
    """The job's name: of the step, else of what owns its pod, else of what is asked for.

    A step's own name needs no look at its pod, so that it can be told to stop before anything was asked.
    """
    return job_name(step.task or task, step.key or _key_beside_a_pipeline(train_job, look()))


def _key_beside_a_pipeline(train_job: Json, around: Surroundings) -> str:
    if owner := around.owner:
        return f"{owner['kind']}/{owner['name']}/{owner['uid']}"
    return json.dumps(train_job["spec"], sort_keys=True)


def write_job(train_job: Json, step: Step, around: Surroundings, *, name: str) -> Json:
    """Give a TrainJob its name, its labels and its owner."""
    metadata = {**(train_job.get("metadata") or {}), "name": name}
    labels = {TASK_LABEL: name.rpartition("-")[0]}
    if run := around.run or step.run:
        labels[RUN_LABEL] = run
    metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
    if around.owner:
        metadata["ownerReferences"] = [around.owner]
    return {**train_job, "metadata": metadata}


def place_job(train_job: Json, config: TaskConfig, around: Surroundings, *, runtime: Json) -> Json:
    """Give its pods what is set on the task, and the run's workspace where the step has it."""
    volumes, mounts = around.workspace()
    known, mounted = (
        {_claim(each) for each in config.volumes},
        {each["mountPath"] for each in config.volumeMounts},
    )
    whole = replace(
        config,
        env=resolve_env(config.env, around.pod),
        volumes=[*config.volumes, *(each for each in volumes if _claim(each) not in known)],
        volumeMounts=[*config.volumeMounts, *(each for each in mounts if each["mountPath"] not in mounted)],
    )
    return with_task_config(train_job, whole, trainers=trainers_of(runtime))


def name_kind(train_job: Json, runtime: Json) -> Json:
    """Say of which kind the runtime is, where only its name was said."""
    spec = train_job["spec"]
    kind = {"kind": runtime["kind"]} if runtime.get("kind") else {}
    return {**train_job, "spec": {**spec, "runtimeRef": {**kind, **spec["runtimeRef"]}}}


def trainers_of(runtime: Json) -> Sequence[str]:
    """The jobs of a runtime whose pods train; `node` where the runtime could not be read."""
    template = ((runtime.get("spec") or {}).get("template") or {}).get("spec") or {}
    jobs = template.get("replicatedJobs") or ()
    found = [each["name"] for each in jobs if each["name"] in (NODE, LAUNCHER) or _step(each) == TRAINER_STEP]
    return found or [NODE]


def _step(job: Json) -> str:
    labels = ((job.get("template") or {}).get("metadata") or {}).get("labels") or {}
    return str(labels.get(ANCESTOR_LABEL, ""))


def _claim(volume: Json) -> str:
    return str((volume.get("persistentVolumeClaim") or {}).get("claimName") or volume["name"])

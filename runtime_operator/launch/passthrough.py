"""What a person has set on a pipeline's task, moved to the pods that train.

| on the task                         | in the TrainJob                                   |
|-------------------------------------|---------------------------------------------------|
| resources                           | spec.trainer.resourcesPerNode, name by name       |
| env                                 | spec.trainer.env, name by name                    |
| volumes, tolerations, nodeSelector, affinity | the pods of the trainer, by a runtime patch |
| volumeMounts                        | its container `node`, by the same patch           |

The task wins over the TrainJob as it was written, since a person sets it last. Kubeflow Pipelines leaves a
field out or writes null where nothing is set, and writes quantities as text. A value that env takes from a
label or an annotation is that of the step's pod: it is put in, since the pods that train have others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any

from ..api.names import NODE

MANAGER = "kfp-trainer/pipeline-task"
Json = Mapping[str, Any]
POD_FIELDS = ("volumes", "nodeSelector", "affinity", "tolerations")
OF_THE_POD = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")


@dataclass(frozen=True, slots=True)
class TaskConfig:
    """What is set on a task; fields that are not set are empty."""

    resources: Json = field(default_factory=dict)
    env: Sequence[Json] = ()
    volumes: Sequence[Json] = ()
    volumeMounts: Sequence[Json] = ()
    nodeSelector: Json = field(default_factory=dict)
    affinity: Json = field(default_factory=dict)
    tolerations: Sequence[Json] = ()

    @property
    def concerns_pods(self) -> bool:
        """Whether there is something that only a runtime patch can say."""
        return bool(self.volumeMounts) or any(getattr(self, name) for name in POD_FIELDS)


def read_task_config(given: object) -> TaskConfig:
    """Read a `dsl.TaskConfig` or its JSON; nothing where there is none."""
    document = asdict(given) if is_dataclass(given) and not isinstance(given, type) else given or {}
    assert isinstance(document, Mapping)
    named = {_camel(name): without_nulls(value) for name, value in document.items()}
    known = {name: value for name, value in named.items() if name in TaskConfig.__slots__ and value}
    return TaskConfig(**known)


def resolve_env(env: Iterable[Json], pod: Json) -> list[Json]:
    """Put in what env takes from labels and annotations that the step's pod has."""
    return [_resolved(each, pod.get("metadata") or {}) for each in env]


def with_task_config(train_job: Json, config: TaskConfig, *, trainers: Sequence[str]) -> Json:
    """Write what is set on the task into a TrainJob; `trainers` are the runtime's jobs that train."""
    spec = dict(train_job["spec"])
    trainer = dict(spec.get("trainer") or {})
    if config.resources:
        trainer["resourcesPerNode"] = merge_resources(trainer.get("resourcesPerNode") or {}, config.resources)
    if config.env:
        trainer["env"] = _by_name(trainer.get("env") or (), config.env)
    if trainer:
        spec["trainer"] = trainer
    if config.concerns_pods:
        spec["runtimePatches"] = [*(spec.get("runtimePatches") or ()), _patch(config, trainers)]
    return {**train_job, "spec": spec}


def merge_resources(written: Json, wanted: Json) -> dict[str, Any]:
    """Take requests and limits of the task over those that were written, each by its name."""
    names = [name for name in ("limits", "requests") if written.get(name) or wanted.get(name)]
    merged = {name: {**(written.get(name) or {}), **(wanted.get(name) or {})} for name in names}
    return {**written, **merged}


def without_nulls(value: Any) -> Any:
    """Leave out what is null, however deep."""
    if isinstance(value, Mapping):
        return {name: without_nulls(each) for name, each in value.items() if each is not None}
    if isinstance(value, list | tuple):
        return [without_nulls(each) for each in value if each is not None]
    return value


def _patch(config: TaskConfig, trainers: Sequence[str]) -> Json:
    pod: dict[str, Any] = {name: getattr(config, name) for name in POD_FIELDS if getattr(config, name)}
    if config.volumeMounts:
        pod["containers"] = [{"name": NODE, "volumeMounts": list(config.volumeMounts)}]
    template = {"spec": {"template": {"spec": pod}}}
    jobs = [{"name": name, "template": template} for name in trainers]
    return {"manager": MANAGER, "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": jobs}}}}


def _by_name(written: Iterable[Json], wanted: Iterable[Json]) -> list[Json]:
    found = {each["name"]: each for each in written}
    return list({**found, **{each["name"]: each for each in wanted}}.values())


def _resolved(variable: Json, metadata: Json) -> Json:
    path = ((variable.get("valueFrom") or {}).get("fieldRef") or {}).get("fieldPath", "")
    if (match := OF_THE_POD.fullmatch(path)) and match[2] in (metadata.get(match[1]) or {}):
        return {"name": variable["name"], "value": metadata[match[1]][match[2]]}
    return variable


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)

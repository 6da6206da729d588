"""Checks a compiled pipeline as API server and compiler of Kubeflow Pipelines do, and for known traps.

What is checked beyond the schema has been seen on the real backend: placeholders that are only resolved as a
whole value, `Concat` that is never resolved, an argument that names an optional parameter which was left out.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from google.protobuf import json_format
from kfp.kubernetes import kubernetes_executor_config_pb2
from kfp.pipeline_spec import pipeline_spec_pb2

NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
PLACEHOLDER = re.compile(r"\{\{\$\.[a-z_]+\}\}")
JOINED = "{{$.workspace_path}}"  # the one placeholder that is resolved within a text
A_TASK = 22 * 1024
TIMES = 9
Json = Mapping[str, Any]


def documents(file: Path) -> tuple[Json, Json]:
    """The pipeline and what it says for Kubernetes."""
    found = [each for each in yaml.safe_load_all(file.read_text(encoding="utf-8")) if each]
    assert 1 <= len(found) <= 2
    return found[0], (found[1] if len(found) > 1 else {})


def problems(file: Path) -> list[str]:
    """Everything wrong with a compiled pipeline."""
    pipeline, platform = documents(file)
    return [*_parse(pipeline, platform), *_tasks(pipeline)]


def finished_size(file: Path) -> int:
    """Bytes of the finished Workflow: so much a task, and nine times its component, container and pod."""
    pipeline, platform = documents(file)
    tasks = sum(len(dag["dag"]["tasks"]) for _, dag in _dags(pipeline))
    kubernetes = platform.get("platforms", {}).get("kubernetes", {}).get("deploymentSpec", {})
    run = {name: each for name, each in pipeline["components"].items() if "dag" not in each}
    told = [run, pipeline["deploymentSpec"]["executors"], kubernetes.get("executors", {})]
    return tasks * A_TASK + TIMES * sum(len(json.dumps(each).encode()) for each in told)


def _parse(pipeline: Json, platform: Json) -> Iterator[str]:
    try:
        spec = json_format.ParseDict(pipeline, pipeline_spec_pb2.PipelineSpec())
        deployment = json_format.MessageToDict(spec.deployment_spec)
        json_format.ParseDict(deployment, pipeline_spec_pb2.PipelineDeploymentConfig())
        json_format.ParseDict(platform, pipeline_spec_pb2.PlatformSpec())
        for config in (
            platform.get("platforms", {})
            .get("kubernetes", {})
            .get("deploymentSpec", {})
            .get("executors", {})
            .values()
        ):
            json_format.ParseDict(config, kubernetes_executor_config_pb2.KubernetesExecutorConfig())
    except json_format.ParseError as error:
        yield f"is not what the API server reads: {error}"
        return
    if spec.schema_version != "2.1.0":
        yield f"has the schema {spec.schema_version}"
    if not NAME.fullmatch(spec.pipeline_info.name):
        yield f"has the name {spec.pipeline_info.name}"


def _tasks(pipeline: Json) -> Iterator[str]:
    components, executors = pipeline["components"], pipeline["deploymentSpec"]["executors"]
    for where, dag in _dags(pipeline):
        tasks = dag["dag"]["tasks"]
        known = dag.get("inputDefinitions", {}).get("parameters", {})
        for name, task in tasks.items():
            for given in task.get("inputs", {}).get("parameters", {}).values():
                wanted = given.get("componentInputParameter")
                if wanted and wanted not in known:
                    yield f"{where}.{name}: {wanted} is not an input of {where}"
            component = components.get(task["componentRef"]["name"])
            if component is None:
                yield f"{where}.{name}: has no component"
                continue
            for other in task.get("dependentTasks", ()):
                if other not in tasks:
                    yield f"{where}.{name}: waits for {other}, which is not there"
            yield from _inputs(f"{where}.{name}", task)
            if "executorLabel" in component:
                yield from _container(f"{where}.{name}", task, executors.get(component["executorLabel"]))


def _inputs(where: str, task: Json) -> Iterator[str]:
    for name, given in task.get("inputs", {}).get("parameters", {}).items():
        value = given.get("runtimeValue", {}).get("constant", "")
        for placeholder in PLACEHOLDER.findall(value) if isinstance(value, str) else ():
            if value != placeholder and placeholder != JOINED:
                yield f"{where}: {name}: {placeholder} is only resolved as the whole value"
            if placeholder == "{{$.pipeline_root}}":
                yield f"{where}: {name}: {placeholder} is never resolved"


def _container(where: str, task: Json, executor: Json | None) -> Iterator[str]:
    if executor is None:
        yield f"{where}: has no executor"
        return
    given = task.get("inputs", {}).get("parameters", {})
    container = executor["container"]
    for argument in (*container.get("command", ()), *container.get("args", ())):
        if argument.startswith('{"Concat"'):
            yield f"{where}: Concat is never resolved"
        for name in re.findall(r"\{\{\$\.inputs\.parameters\['(.+?)'\]\}\}", argument):
            if name not in given:
                yield f"{where}: an argument names {name}, which is left out"
        if re.search(r"\{\{\$\.pipeline_[a-z_]+\}\}", argument):
            yield f"{where}: a placeholder of the run in an argument is never resolved"


def _dags(pipeline: Json) -> Iterator[tuple[str, Json]]:
    yield "root", pipeline["root"]
    for name, component in pipeline["components"].items():
        if "dag" in component:
            yield name, component

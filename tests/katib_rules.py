"""What Katib asks of an Experiment, as one list of broken rules; and what it reads of trials of older kinds.

Katib itself does not run here. Each rule is what its admission refuses, or what makes each trial fail later.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Json = dict[str, Any]
PLACEHOLDER = re.compile(r"\$\{trialParameters\.([\w-]+)\}")
REFERENCE = re.compile(r"\$\{trialSpec\.(Name|Namespace|Kind|APIVersion|Annotations\[.+\]|Labels\[.+\])\}")
METRIC = re.compile(r"[A-Za-z0-9_-]+")
SHELL = set("$`;&|<>(){}[]*?!#~\"'\\\n")
KINDS = {"TrainJob": "trainer.kubeflow.org/v1alpha1", "Job": "batch/v1"}
"""kinds whose conditions Katib fills in, and which its configuration lets be trials"""
OLDER_KINDS = ("TFJob", "PyTorchJob", "MPIJob", "XGBoostJob")
"""kinds of kubeflow.org/v1 that it knows as well"""
PRIMARY_LABELS = {"training.kubeflow.org/job-role": "master"}
"""of the pods whose log is read where an experiment of an older kind names none"""
READING = ("StdOut", "File", "TensorFlowEvent")
"""collectors for which a sidecar comes into the pod, and its command is wrapped"""
SAMPLES = {"double": "0.001", "int": "3"}


def broken_rules(experiment: Json) -> list[str]:
    """What is wrong with an Experiment; nothing if Katib takes it and its trials can run."""
    spec = experiment["spec"]
    return [*_of_counts(spec), *_of_search(spec), *_of_template(spec), *_of_trial(spec)]


def trial_of(experiment: Json, name: str = "finetune-abcdefgh") -> Json:
    """One trial, with a value for each parameter: Katib puts them into the text of the template."""
    spec = experiment["spec"]
    values = {each["name"]: _sample(each) for each in spec["parameters"]}
    told = {}
    for each in spec["trialTemplate"]["trialParameters"]:
        told[each["name"]] = values.get(each["reference"], name)
    text = json.dumps(spec["trialTemplate"]["trialSpec"])
    trial: Json = json.loads(PLACEHOLDER.sub(lambda found: told.get(found[1], found[0]), text))
    return {**trial, "metadata": {"name": name}}


def wrapped(command: Sequence[str], log: str, mark: str) -> list[str]:
    """What becomes of a container's command where a collector reads its log: words, joined as they are."""
    return ["sh", "-c", f"{' '.join(command)} 1>{log} 2>&1 && echo completed > {mark}"]


def survives_wrapping(command: Sequence[str]) -> bool:
    """Whether a shell gets the same words back."""
    if any(SHELL & set(word) or not word for word in command):
        return False
    return shlex.split(" ".join(command)) == list(command)


def commands(trial: Json) -> list[list[str]]:
    """The words that a trial says its containers run."""
    if trial["kind"] == "TrainJob":
        trainer = trial["spec"].get("trainer") or {}
        return [[*trainer.get("command", ()), *trainer.get("args", ())]]
    containers = trial["spec"]["template"]["spec"]["containers"]
    return [[*each.get("command", ()), *each.get("args", ())] for each in containers]


def primary_templates(jobset: Json) -> list[Json]:
    """The templates of the pods that get a collector: it comes when a pod is created, or never."""
    templates = [each["template"]["spec"]["template"] for each in jobset["spec"]["replicatedJobs"]]
    return [each for each in templates if PRIMARY_LABELS.items() <= each["metadata"]["labels"].items()]


def trial_has(end: str, status: Json) -> bool:
    """Whether a trial has Succeeded or Failed, by the conditions that Katib fills in for the older kinds."""
    found = [each for each in status.get("conditions") or () if each["type"] == end]
    return bool(found) and found[0]["status"] == "True"


def _of_counts(spec: Json) -> Iterator[str]:
    most = spec.get("maxTrialCount", 0)
    if spec.get("parallelTrialCount", 3) > most:
        yield "more trials at once than trials"
    if spec.get("maxFailedTrialCount", 0) > most:
        yield "more failed trials than trials"


def _of_search(spec: Json) -> Iterator[str]:
    objective = spec["objective"]
    metrics = [objective.get("objectiveMetricName", ""), *objective.get("additionalMetricNames", ())]
    if not all(METRIC.fullmatch(each) for each in metrics) or len(set(metrics)) != len(metrics):
        yield "a metric without a plain name of its own"
    if objective.get("type") not in ("minimize", "maximize"):
        yield "an objective without a direction"
    if not spec.get("algorithm", {}).get("algorithmName"):
        yield "no algorithm"
    for each in spec["parameters"]:
        space = each.get("feasibleSpace") or {}
        wanted = ("min", "max") if each["parameterType"] in SAMPLES else ("list",)
        if not all(space.get(name) for name in wanted):
            yield f"a {each['parameterType']} without its {' and '.join(wanted)}"


def _of_template(spec: Json) -> Iterator[str]:
    template = spec["trialTemplate"]
    if not template.get("primaryContainerName"):
        yield "no primary container"
    declared = {each["name"]: each["reference"] for each in template["trialParameters"]}
    used = set(PLACEHOLDER.findall(json.dumps(template["trialSpec"])))
    if set(declared) - used:
        yield "a trial parameter that is not used"
    if used - set(declared):
        yield "a placeholder without its trial parameter"
    known = {each["name"] for each in spec["parameters"]}
    if not all(each in known or REFERENCE.fullmatch(each) for each in declared.values()):
        yield "a reference to no parameter"
    if len(set(declared.values())) != len(declared):
        yield "two trial parameters for one parameter"


def _of_trial(spec: Json) -> Iterator[str]:
    template, trial = spec["trialTemplate"], spec["trialTemplate"]["trialSpec"]
    known = {**KINDS, **dict.fromkeys(OLDER_KINDS, "kubeflow.org/v1")}
    if known.get(trial.get("kind")) != trial.get("apiVersion"):
        yield "a kind that is no trial"
        return
    if set(trial.get("metadata") or {}) & {"name", "namespace"}:
        yield "a trial with a name or a namespace of its own"
    if trial["kind"] in OLDER_KINDS:
        yield from _of_older(trial, template)
        return
    yield from _of_train_job(trial) if trial["kind"] == "TrainJob" else _of_job(trial, template)
    if spec.get("metricsCollectorSpec", {}).get("collector", {}).get("kind", "StdOut") not in READING:
        return
    for command in commands(trial):
        if not command:
            yield "no command to wrap"
        elif not survives_wrapping([PLACEHOLDER.sub("0.001", word) for word in command]):
            yield "words that a shell reads otherwise"


def _of_train_job(trial: Json) -> Iterator[str]:
    if trial["spec"].get("initializer"):
        yield "initializers, whose pods have no primary container"


def _of_older(trial: Json, template: Mapping[str, Any]) -> Iterator[str]:
    roles = next(value for name, value in trial["spec"].items() if name.endswith("ReplicaSpecs"))
    names = {each["name"] for role in roles.values() for each in role["template"]["spec"]["containers"]}
    if template.get("primaryContainerName") not in names:
        yield "a primary container that no role has"


def _of_job(trial: Json, template: Mapping[str, Any]) -> Iterator[str]:
    containers = trial["spec"]["template"]["spec"]["containers"]
    if template.get("primaryContainerName") not in [each["name"] for each in containers]:
        yield "a primary container that the pod does not have"


def _sample(parameter: Json) -> str:
    space = parameter["feasibleSpace"]
    return str(space["list"][0]) if "list" in space else SAMPLES[parameter["parameterType"]]

"""Our Experiments are what Katib takes, and their trials run what is written, also where Katib wraps it."""

import copy
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubeflow_katib_api import models

from kfp_trainer.runtime_operator.api.read import read
from kfp_trainer.runtime_operator.images import image
from kfp_trainer.runtime_operator.jobs.shipped import shipped_runtimes
from kfp_trainer.runtime_operator.render.render import render
from kfp_trainer.runtime_operator.steps.train_job import main
from tests.katib_rules import broken_rules, commands, survives_wrapping, trial_of, wrapped

ROOT = Path(__file__).resolve().parents[3]
Json = dict[str, Any]
FILES = {path.stem: path for path in sorted((ROOT / "manifests/katib").glob("experiment_*.yaml"))}
EXPERIMENTS: dict[str, Json] = {name: yaml.safe_load(path.read_text()) for name, path in FILES.items()}
OF_TRAIN_JOBS, OF_JOBS = EXPERIMENTS["experiment_of_train_jobs"], EXPERIMENTS["experiment_of_jobs"]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_katib_takes_our_experiments(name: str) -> None:
    assert broken_rules(EXPERIMENTS[name]) == []
    models.V1beta1Experiment.from_dict(EXPERIMENTS[name])


def of_template(**fields: Any) -> Callable[[Json], None]:
    return lambda spec: spec["trialTemplate"].update(fields)


def of_trial(**fields: Any) -> Callable[[Json], None]:
    return lambda spec: spec["trialTemplate"]["trialSpec"].update(fields)


def of_trainer(**fields: Any) -> Callable[[Json], None]:
    return lambda spec: spec["trialTemplate"]["trialSpec"]["spec"]["trainer"].update(fields)


def of_spec(**fields: Any) -> Callable[[Json], None]:
    return lambda spec: spec.update(fields)


def parameters(*names: str) -> list[Json]:
    return [{"name": name, "reference": name} for name in names]


BREACHES: dict[str, tuple[Callable[[Json], None], str]] = {
    "a trial with a name": (of_trial(metadata={"name": "mine"}), "a name or a namespace"),
    "a trial of another kind": (of_trial(kind="PyTorchJob"), "no trial"),
    "no primary container": (of_template(primaryContainerName=""), "no primary container"),
    "a placeholder that nobody declared": (
        of_template(trialParameters=parameters("learningRate", "loraRank")),
        "a placeholder without its trial parameter",
    ),
    "a parameter that nobody uses": (
        lambda spec: spec["trialTemplate"]["trialParameters"].append({"name": "x", "reference": "loraRank"}),
        "a trial parameter that is not used",
    ),
    "a reference to nothing": (
        lambda spec: spec["trialTemplate"]["trialParameters"][0].update(reference="nothing"),
        "a reference to no parameter",
    ),
    "initializers": (
        lambda spec: spec["trialTemplate"]["trialSpec"]["spec"].update(initializer={"model": {}}),
        "initializers",
    ),
    "a program as text": (of_trainer(command=["python", "-c", "print('a b')"]), "a shell reads otherwise"),
    "a dollar sign": (of_trainer(args=["--home=$HOME"]), "a shell reads otherwise"),
    "an executor input": (of_trainer(args=['--executor-input={"a":1}']), "a shell reads otherwise"),
    "no command at all": (of_trainer(command=[], args=[]), "no command to wrap"),
    "more at once than all": (of_spec(parallelTrialCount=20), "more trials at once"),
    "more failures than trials": (of_spec(maxFailedTrialCount=20), "more failed trials"),
    "no algorithm": (of_spec(algorithm={}), "no algorithm"),
    "a metric with a slash": (
        of_spec(objective={"type": "minimize", "objectiveMetricName": "eval/loss"}),
        "a plain name",
    ),
    "an objective without a direction": (of_spec(objective={"objectiveMetricName": "loss"}), "direction"),
    "a range without an end": (
        lambda spec: spec["parameters"][0]["feasibleSpace"].pop("max"),
        "a double without its min and max",
    ),
}


@pytest.mark.parametrize("sentence", BREACHES)
def test_what_katib_refuses_is_known(sentence: str) -> None:
    change, rule = BREACHES[sentence]
    changed = copy.deepcopy(OF_TRAIN_JOBS)
    change(changed["spec"])
    assert [each for each in broken_rules(changed) if rule in each], broken_rules(changed)


def test_words_that_a_shell_would_change_are_no_matter_where_nothing_is_wrapped() -> None:
    changed = copy.deepcopy(OF_JOBS)
    (container,) = changed["spec"]["trialTemplate"]["trialSpec"]["spec"]["template"]["spec"]["containers"]
    container["args"] = [*container["args"], "a b"]
    assert broken_rules(changed) == []
    changed["spec"]["metricsCollectorSpec"] = {"collector": {"kind": "StdOut"}}
    assert broken_rules(changed) == ["words that a shell reads otherwise"]


def test_a_primary_container_is_one_of_the_jobs_pod() -> None:
    changed = copy.deepcopy(OF_JOBS)
    changed["spec"]["trialTemplate"]["primaryContainerName"] = "node"
    assert broken_rules(changed) == ["a primary container that the pod does not have"]


ECHO = """
import json, pathlib, sys
pathlib.Path(sys.argv[1]).write_text(json.dumps(sys.argv[2:]))
print("loss=0.5")
"""


def test_the_words_of_a_trial_come_back_from_katibs_shell(tmp_path: Path) -> None:
    program, told, log, mark = (tmp_path / name for name in ("echo.py", "told", "log", "mark"))
    program.write_text(ECHO)
    for experiment in EXPERIMENTS.values():
        (words,) = commands(trial_of(experiment))
        line = wrapped([sys.executable, str(program), str(told), *words], str(log), str(mark))
        subprocess.run(line, check=True, timeout=60)
        assert json.loads(told.read_text()) == words
        assert (log.read_text(), mark.read_text()) == ("loss=0.5\n", "completed\n")


def test_a_trial_becomes_a_job_set_whose_first_node_katib_finds() -> None:
    trial = trial_of(OF_TRAIN_JOBS)
    named = {"namespace": "lab", "uid": "u1", "name": trial["metadata"]["name"]}
    (runtime,) = [each for each in shipped_runtimes() if each["metadata"]["name"] == "trl-finetune"]
    plan = render(read({**trial, "metadata": named}), read(runtime))
    (jobset,) = [each for each in plan.objects if each["kind"] == "JobSet"]
    (job,) = jobset["spec"]["replicatedJobs"]
    (container,) = job["template"]["spec"]["template"]["spec"]["containers"]
    assert (job["name"], container["name"]) == (
        "node",
        OF_TRAIN_JOBS["spec"]["trialTemplate"]["primaryContainerName"],
    )
    assert "--learning-rate=0.001" in container["args"]
    assert f"--output=/finetune/trials/{named['name']}" in container["args"]
    assert survives_wrapping([*container["command"], *container["args"]])
    assert container["volumeMounts"] == [{"name": "finetune", "mountPath": "/finetune"}]


def test_the_command_of_a_job_is_one_that_we_have() -> None:
    (container,) = trial_of(OF_JOBS)["spec"]["template"]["spec"]["containers"]
    assert container["image"] == image("workload")
    context = main.make_context("train_job", [*container["args"]])
    assert context.params["push"] == OF_JOBS["spec"]["objective"]["objectiveMetricName"]
    assert context.params["command"] == ("torchrun", "/workspace/train.py", "--lr=0.001")

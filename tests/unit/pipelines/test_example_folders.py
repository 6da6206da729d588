"""The examples in folders: their jobs are accepted and rendered, their READMEs name what there is."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import kubeflow_trainer_api.models as official
import pytest
import yaml
from click.testing import CliRunner
from kubeflow_katib_api import models as katib

from kfp_trainer.pipelines.catalogue import load_pipeline
from kfp_trainer.runtime_operator.cli.main import cli
from kfp_trainer.runtime_operator.workloads.dataset.settings import CheckSettings
from kfp_trainer.runtime_operator.workloads.evaluate.settings import EvaluateSettings
from kfp_trainer.runtime_operator.workloads.finetune.settings import FinetuneSettings
from kfp_trainer.runtime_operator.workloads.settings import parse_settings
from tests.example_files import BY_PIPELINE, FOLDER, JOBS, READMES, ROOT, documents, local_pipeline, script
from tests.katib import collected
from tests.katib_rules import broken_rules, commands, survives_wrapping, trial_of
from tests.real_jobset import refusals

EXPERIMENT = yaml.safe_load((FOLDER / "sweep/experiment.yaml").read_text())
TRAIN_ON = {
    "mnist_ddp": {"node"},
    "jax": {"node"},
    "xgboost": {"node"},
    "deepspeed_mpi": {"node", "launcher"},
}
"""the jobs of each runtime whose pods run the script"""


def rendered(file: Path) -> list[dict[str, Any]]:
    """The objects that a file becomes, by the command that a person would use."""
    done = CliRunner().invoke(cli, ["render", "-o", "json", "-f", str(file)])
    assert done.exit_code == 0, done.output
    objects: list[dict[str, Any]] = json.loads(done.stdout)
    return objects


def jobset_of(file: Path) -> dict[str, Any]:
    (jobset,) = [each for each in rendered(file) if each["kind"] == "JobSet"]
    return jobset


def scripts_mounted(jobset: dict[str, Any]) -> dict[str, str]:
    """Each job whose container finds a ConfigMap at /script, and the ConfigMap's name."""
    found = {}
    for each in jobset["spec"]["replicatedJobs"]:
        pod = each["template"]["spec"]["template"]["spec"]
        volumes = {volume["name"]: volume for volume in pod.get("volumes", ())}
        for mount in pod["containers"][0].get("volumeMounts", ()):
            if mount["mountPath"] == "/script":
                found[each["name"]] = volumes[mount["name"]]["configMap"]["name"]
    return found


def test_every_example_has_its_readme_and_stands_in_the_list() -> None:
    folders = {each.name for each in FOLDER.iterdir() if each.is_dir() and each.name != "__pycache__"}
    files = {each.name for each in FOLDER.glob("*.py")}
    listed = set(re.findall(r"^\| \[[\w.]+\]\(([\w.]+)", (FOLDER / "README.md").read_text(), re.MULTILINE))
    assert set(READMES) == folders
    assert listed == folders | files


@pytest.mark.parametrize("name", JOBS)
def test_a_job_is_right_and_nothing_about_it_is_warned_of(name: str) -> None:
    done = CliRunner().invoke(cli, ["validate", "-f", str(FOLDER / name / "job.yaml")])
    assert done.exit_code == 0, done.output
    assert "warning" not in done.output


@pytest.mark.parametrize("name", JOBS)
def test_the_real_jobset_accepts_a_job_whose_trainers_find_the_script(name: str) -> None:
    config, job = documents(name)
    jobset = jobset_of(FOLDER / name / "job.yaml")
    assert refusals(jobset) == []
    assert scripts_mounted(jobset) == dict.fromkeys(TRAIN_ON[name], config["metadata"]["name"])
    assert "/script/train.py" in job["spec"]["trainer"]["command"]


@pytest.mark.parametrize("name", JOBS)
def test_the_official_client_reads_a_job(name: str) -> None:
    _, job = documents(name)
    assert official.TrainerV1alpha1TrainJob.from_dict(job).metadata.name == job["metadata"]["name"]


def test_scripts_keep_to_the_style_of_this_project(tmp_path: Path) -> None:
    for name in JOBS:
        (tmp_path / f"{name}_example").mkdir()
        (tmp_path / f"{name}_example" / "train.py").write_text(script(name))
    settings = ["--config", str(ROOT / "pyproject.toml"), "--no-cache", "."]
    for verb in (["check"], ["format", "--diff"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *verb, *settings], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", BY_PIPELINE)
def test_what_a_readme_gives_a_pipeline_is_known_to_it(name: str) -> None:
    pipeline, said = local_pipeline(name)
    assert set(said) <= set(load_pipeline(pipeline).component_spec.inputs)
    for settings in said.get("trials", [said.get("training", {})]):
        parse_settings(FinetuneSettings, {"model": "base", "dataset": "rows", **settings})
    parse_settings(CheckSettings, {"dataset": "rows", **said.get("dataset_checks", {})})
    parse_settings(
        EvaluateSettings, {"model": "base", "dataset": "rows", "output": "figures", **said["evaluation"]}
    )


def test_katib_takes_the_experiment() -> None:
    assert broken_rules(EXPERIMENT) == []
    katib.V1beta1Experiment.from_dict(EXPERIMENT)


def test_a_trial_runs_the_script_of_the_first_example(tmp_path: Path) -> None:
    config, job = documents("mnist_ddp")
    trial = trial_of(EXPERIMENT)
    assert all(survives_wrapping(words) for words in commands(trial))
    assert trial["spec"]["trainer"]["command"] == job["spec"]["trainer"]["command"]
    file = tmp_path / "trial.yaml"
    file.write_text(yaml.safe_dump(trial))
    assert scripts_mounted(jobset_of(file)) == {"node": config["metadata"]["name"]}


def test_katib_finds_the_numbers_that_the_experiment_asks_for() -> None:
    objective = EXPERIMENT["spec"]["objective"]
    wanted = {objective["objectiveMetricName"], *objective["additionalMetricNames"]}
    (line,) = re.findall(r'print\(f"(epoch=.*?)", flush', script("mnist_ddp"))
    said = re.sub(r"\{.*?\}", "0.5", line)
    assert {name for name, _ in collected(said, *wanted)} == wanted

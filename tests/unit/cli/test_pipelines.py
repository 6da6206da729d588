from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from kfp_trainer.runtime_operator.cli.pipelines import parse_parameters, pipelines
from kfp_trainer.runtime_operator.errors import SpecError

GOOD = {
    "text": ("model_path=/models/a", {"model_path": "/models/a"}),
    "a number": ("steps=40", {"steps": 40}),
    "a mapping": ("training={epochs: 2}", {"training": {"epochs": 2}}),
    "a value that holds an equals sign": ("model_path=a=b", {"model_path": "a=b"}),
}
BAD = {
    "no equals sign": ("steps", "must be NAME=VALUE with a name of model_path, steps, training"),
    "a name the pipeline does not have": (
        "step=1",
        "must be NAME=VALUE with a name of model_path, steps, training",
    ),
    "broken YAML": ("training={a", "the value is not YAML"),
}
KNOWN = {"model_path", "steps", "training"}


@pytest.mark.parametrize("sentence", GOOD)
def test_parameters_are_read(sentence: str) -> None:
    given, want = GOOD[sentence]
    assert parse_parameters([given], known=KNOWN) == want


@pytest.mark.parametrize("sentence", BAD)
def test_a_wrong_parameter_is_refused(sentence: str) -> None:
    given, want = BAD[sentence]
    with pytest.raises(SpecError, match=f"-p .*: {want}"):
        parse_parameters([given], known=KNOWN)


def test_pipelines_are_listed_with_what_they_do() -> None:
    said = CliRunner().invoke(pipelines, ["list"]).output.splitlines()
    assert said[0].split(maxsplit=1) == [
        "finetune_llm",
        "Fetch, fine-tune, compare with the base, gate, export.",
    ]
    assert len(said) == 4


def test_a_pipeline_is_compiled_to_a_file(tmp_path: Path) -> None:
    CliRunner().invoke(pipelines, ["compile", "evaluate_only", "--to", str(tmp_path / "a/mine.yaml")])
    assert "name: evaluate-only" in (tmp_path / "a/mine.yaml").read_text()


def test_a_run_may_have_another_workspace(tmp_path: Path) -> None:
    file, usual = tmp_path / "large.yaml", tmp_path / "usual.yaml"
    asked = ["--workspace", "2Ti", "--storage-class", "fast", "--access-mode", "ReadWriteOnce"]
    CliRunner().invoke(pipelines, ["compile", "finetune_llm", "--to", str(file), *asked])
    CliRunner().invoke(pipelines, ["compile", "finetune_llm", "--to", str(usual)])
    found = [
        yaml.safe_load(each.read_text().split("---")[1])["platforms"]["kubernetes"]["pipelineConfig"]
        for each in (file, usual)
    ]
    patch = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast"}
    assert found[0]["workspace"] == {"size": "2Ti", "kubernetes": {"pvcSpecPatch": patch}}
    assert found[1]["workspace"]["size"] == "50Gi"


def test_a_pipeline_without_a_workspace_says_so() -> None:
    result = CliRunner().invoke(pipelines, ["compile", "distributed_training", "--workspace", "1Ti"])
    assert "has no workspace" in str(result.exception)


def test_a_component_runs_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KFP_TRAINER_HOME", str(tmp_path))
    given = ["models=[a, b]", "evaluations=[c, d]", "scores=[0.25, 0.5]"]
    asked = [
        "run",
        "--local",
        "--component",
        "select_model",
        *(word for each in given for word in ("-p", each)),
    ]
    result = CliRunner().invoke(pipelines, asked)
    assert "best_path: b" in result.output.splitlines(), result.output


UNKNOWN = {"a pipeline": ["run", "--local", "none"], "a component": ["run", "--local", "--component", "none"]}


@pytest.mark.parametrize("sentence", UNKNOWN)
def test_a_name_that_is_not_there_is_told_with_those_that_are(sentence: str) -> None:
    result = CliRunner().invoke(pipelines, UNKNOWN[sentence])
    assert str(result.exception).startswith(f"there is no {sentence.removeprefix('a ')} 'none'; there are ")

"""The compiled pipelines are fresh, are what a backend takes, and stay small when a run of them has ended."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from kfp import compiler, components, dsl

from kfp_trainer.components import delete_train_jobs, fetch_model
from kfp_trainer.pipelines.catalogue import PIPELINES, load_pipeline
from kfp_trainer.pipelines.compiling import COMPILED, compile_pipeline
from tests.pipeline_ir import documents, finished_size, problems

MOST_BYTES = 64 * 1024
MOST_FINISHED = 300 * 1024
WITH_WORKSPACE = [name for name in PIPELINES if name != "distributed_training"]
UNCACHED = ("train-job", "finetune-llm", "evaluate-llm", "gate-model", "export-model")

every_pipeline = pytest.mark.parametrize("name", PIPELINES)


def compiled(name: str) -> Path:
    return COMPILED / f"{name}.yaml"


def tasks(name: str) -> dict[str, Any]:
    pipeline, _ = documents(compiled(name))
    dags = [pipeline["root"], *(each for each in pipeline["components"].values() if "dag" in each)]
    return {task: spec for dag in dags for task, spec in dag["dag"]["tasks"].items()}


@every_pipeline
def test_it_is_fresh(name: str, tmp_path: Path) -> None:
    compile_pipeline(name, tmp_path / "now.yaml")
    said = "`python -m kfp_trainer.pipelines.compiling` writes it"
    assert compiled(name).read_text() == (tmp_path / "now.yaml").read_text(), said


def test_nothing_else_lies_beside_them() -> None:
    assert {each.name for each in COMPILED.iterdir()} == {f"{name}.yaml" for name in PIPELINES}


@every_pipeline
def test_a_backend_takes_it(name: str) -> None:
    assert problems(compiled(name)) == []


@every_pipeline
def test_kfp_loads_it_again(name: str) -> None:
    loaded = components.load_component_from_file(str(compiled(name)))
    assert loaded.name == load_pipeline(name).name


@every_pipeline
def test_it_is_small(name: str) -> None:
    assert compiled(name).stat().st_size <= MOST_BYTES


def test_the_finished_workflow_of_a_fine_tuning_is_small() -> None:
    assert finished_size(compiled("finetune_llm")) <= MOST_FINISHED


@every_pipeline
def test_its_components_are_not_explained_to_a_backend(name: str) -> None:
    pipeline, _ = documents(compiled(name))
    assert "description" not in json.dumps(pipeline["components"])
    for executor in pipeline["deploymentSpec"]["executors"].values():
        (function,) = [
            each
            for each in ast.parse(executor["container"]["command"][-1]).body
            if isinstance(each, ast.FunctionDef)
        ]
        assert ast.get_docstring(function) is None


def test_what_is_left_out_is_there_for_who_asks_the_pipeline(tmp_path: Path) -> None:
    compile_pipeline("finetune_llm", tmp_path / "lean.yaml")
    compiler.Compiler().compile(load_pipeline("finetune_llm"), str(tmp_path / "whole.yaml"))
    lean, whole = (documents(tmp_path / f"{each}.yaml")[0] for each in ("lean", "whole"))
    inputs = whole["components"]["comp-fetch-model"]["inputDefinitions"]["parameters"]
    assert all(each["description"] for each in inputs.values())
    assert lean["root"] == whole["root"]


@every_pipeline
def test_every_task_runs_within_an_exit_handler(name: str) -> None:
    pipeline, _ = documents(compiled(name))
    root = pipeline["root"]["dag"]["tasks"]
    assert sorted(root) == ["delete-train-jobs", "exit-handler-1"]
    assert root["delete-train-jobs"]["triggerPolicy"]["strategy"] == "ALL_UPSTREAM_TASKS_COMPLETED"


@every_pipeline
def test_what_trains_and_measures_is_never_taken_from_the_cache(name: str) -> None:
    for task, spec in tasks(name).items():
        if task.startswith(UNCACHED):
            assert not spec["cachingOptions"].get("enableCache"), task


@every_pipeline
def test_no_task_is_told_which_run_it_is(name: str) -> None:
    text = compiled(name).read_text()
    assert "pipeline_job" not in text and "pipeline_task" not in text


@every_pipeline
def test_every_parameter_has_a_description_and_a_default(name: str) -> None:
    pipeline, _ = documents(compiled(name))
    for parameter, spec in pipeline["root"]["inputDefinitions"]["parameters"].items():
        assert spec.get("description"), parameter
        assert "defaultValue" in spec, parameter


@every_pipeline
def test_parameters_that_belong_together_stand_together(name: str) -> None:
    """The Pipelines UI shows them by name: a group has one first word, and its head comes first."""
    pipeline, _ = documents(compiled(name))
    names = list(pipeline["root"]["inputDefinitions"]["parameters"])
    assert names == sorted(names)


@pytest.mark.parametrize("name", WITH_WORKSPACE)
def test_the_workspace_is_for_pods_of_several_nodes(name: str) -> None:
    _, platform = documents(compiled(name))
    workspace = platform["platforms"]["kubernetes"]["pipelineConfig"]["workspace"]
    assert workspace["kubernetes"]["pvcSpecPatch"]["accessModes"] == ["ReadWriteMany"]


@pytest.mark.parametrize("name", WITH_WORKSPACE)
def test_credentials_are_a_secret_by_name_that_need_not_exist(name: str) -> None:
    _, platform = documents(compiled(name))
    executors = platform["platforms"]["kubernetes"]["deploymentSpec"]["executors"]
    for executor in executors.values():
        assert executor["secretAsVolume"][0]["optional"] is True
        assert "secretAsEnv" not in executor


def test_a_trial_of_a_sweep_is_a_document() -> None:
    """An untyped list makes its items text, and a backend gives what it says."""
    pipeline, _ = documents(compiled("finetune_sweep"))
    parameters = pipeline["components"]["comp-for-loop-2"]["inputDefinitions"]["parameters"]
    assert parameters["pipelinechannel--trials-loop-item"]["parameterType"] == "STRUCT"


@every_pipeline
def test_no_secret_of_who_compiles_gets_in(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = "canary-5c1de0a7"
    for variable in (
        "HF_TOKEN",
        "ACCESS_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "KFP_TOKEN",
        "MODEL_REGISTRY_TOKEN",
    ):
        monkeypatch.setenv(variable, canary)
    compile_pipeline(name, tmp_path / "now.yaml")
    assert canary not in (tmp_path / "now.yaml").read_text()


TRAPS = {
    "a placeholder within a text": (
        lambda: f"run-{dsl.PIPELINE_JOB_ID_PLACEHOLDER}", "only resolved as the whole value",
    ),
    "the root of the pipeline": (lambda: "{{$.pipeline_root}}", "is never resolved"),
}  # fmt: skip


@pytest.mark.parametrize("sentence", TRAPS)
def test_a_trap_is_seen(sentence: str, tmp_path: Path) -> None:
    make, words = TRAPS[sentence]
    pipeline = yaml.safe_load_all(compiled("evaluate_only").read_text())
    spec, platform = pipeline
    task = spec["components"]["comp-exit-handler-1"]["dag"]["tasks"]["fetch-model"]
    task["inputs"]["parameters"]["output_path"]["runtimeValue"]["constant"] = make()
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump_all([spec, platform]))
    assert any(words in each for each in problems(tmp_path / "bad.yaml"))


@dsl.pipeline(name="gpus")
def gpus(count: str = "1"):
    with dsl.ExitHandler(delete_train_jobs()):
        fetch_model(source="a", output_path="b").set_accelerator_limit(count).set_accelerator_type("c")


def test_a_parameter_that_does_not_reach_its_task_is_seen(tmp_path: Path) -> None:
    """Kfp forgets to hand a number of GPUs through an exit handler."""
    compiler.Compiler().compile(gpus, str(tmp_path / "bad.yaml"))
    assert any("is not an input of" in each for each in problems(tmp_path / "bad.yaml"))


def test_an_unknown_field_is_seen(tmp_path: Path) -> None:
    spec, platform = yaml.safe_load_all(compiled("evaluate_only").read_text())
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump_all([{**spec, "surprise": 1}, platform]))
    assert "is not what the API server reads" in problems(tmp_path / "bad.yaml")[0]

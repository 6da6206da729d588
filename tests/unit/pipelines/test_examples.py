"""The examples compile to what a backend takes, and say what their heads promise."""

import re
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
from kfp import compiler
from kfp.dsl.graph_component import GraphComponent

from tests.pipeline_ir import documents, problems

ROOT = Path(__file__).resolve().parents[3]
BLOCKS = re.findall(
    r"^```python\n(.*?)^```", (ROOT / "docs/components.md").read_text(), re.MULTILINE | re.DOTALL
)
OURS = ("gpus_and_a_claim", "launch_and_wait")


def compiled(name: str, folder: Path) -> Path:
    target = folder / f"{name}.yaml"
    compiler.Compiler().compile(run_path(str(ROOT / f"pipelines/examples/{name}.py"))[name], str(target))
    return target


@pytest.mark.parametrize("name", OURS)
def test_an_example_is_what_a_backend_takes(name: str, tmp_path: Path) -> None:
    assert problems(compiled(name, tmp_path)) == []


def test_what_is_set_on_the_task_is_passed_through(tmp_path: Path) -> None:
    pipeline, platform = documents(compiled("gpus_and_a_claim", tmp_path))
    passed = pipeline["components"]["comp-finetune-llm"]["taskConfigPassthroughs"]
    fields = {each["field"]: each.get("applyToTask", False) for each in passed}
    assert fields["RESOURCES"] is False and fields["KUBERNETES_VOLUMES"] is True
    resources = pipeline["deploymentSpec"]["executors"]["exec-finetune-llm"]["container"]["resources"]
    assert resources["accelerator"]["resourceType"] == "nvidia.com/gpu"
    said: dict[str, Any] = platform["platforms"]["kubernetes"]["deploymentSpec"]["executors"]
    assert said["exec-finetune-llm"]["pvcMount"][0]["mountPath"] == "/models"
    assert said["exec-finetune-llm"]["tolerations"][0]["key"] == "nvidia.com/gpu"
    assert said["exec-finetune-llm"]["nodeSelector"]["labels"]
    assert said["exec-fetch-model"]["secretAsEnv"][0]["keyToEnv"][0]["envVar"] == "HF_TOKEN"


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_a_pipeline_of_the_docs_is_what_a_backend_takes(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "block.py").write_text(block)
    pipelines = [each for each in run_path("block.py").values() if isinstance(each, GraphComponent)]
    assert pipelines
    for pipeline in pipelines:
        compiler.Compiler().compile(pipeline, "compiled.yaml")
        assert problems(tmp_path / "compiled.yaml") == []

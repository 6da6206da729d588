"""Settings become a TrainJob, what it leaves becomes outputs; mistakes are said before a job is made."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kfp_trainer.components.training.finetune_llm import finetune_llm
from kfp_trainer.runtime_operator.workloads.finetune import FinetuneResult, FinetuneSettings
from kfp_trainer.runtime_operator.workloads.finetune.result import Logged
from tests.kfp_local import Outputs, call

LAUNCH = "kfp_trainer.runtime_operator.steps.finetune_llm.launch"


class Launches:
    """Takes what is launched, and leaves what a training leaves."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self.train_job: dict[str, Any] = {}
        self.options: dict[str, Any] = {}

    def __call__(self, train_job: dict[str, Any], **options: Any) -> SimpleNamespace:
        self.train_job, self.options = train_job, options
        write_result(self.output)
        return SimpleNamespace(name="finetune-1", namespace="team")


def write_result(output: Path) -> None:
    model = output / "merged"
    model.mkdir(parents=True)
    (model / "model.safetensors").write_bytes(b"weights")
    (output / "training_report.html").write_text("<html>the curve</html>")
    result = FinetuneResult(
        model=model, adapter=output / "adapter", report=output / "training_report.html",
        steps=30, resumed_from=0, first_loss=7.9, last_loss=0.9, rows=100, truncated_rows=0,
        parameters=10, trained_parameters=1, tokens=1000, tokens_per_second=50.0, processes=1, device="cpu",
        seconds={"prepare": 1.0, "train": 20.0, "save": 1.0},
        curve=[Logged(step=1, loss=7.9, learning_rate=0.1)],
        digests={"model": "aa", "rows": "bb"}, versions={"torch": "2"},
        settings=FinetuneSettings(model=Path("/base"), dataset=Path("/rows"), max_steps=30),
    )  # fmt: skip
    (output / "result.json").write_text(result.model_dump_json())


ARGUMENTS = {"model_path": "/base", "dataset_path": "/rows"}


def test_a_training_becomes_a_train_job_and_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launches = Launches(tmp_path / "out")
    monkeypatch.setattr(LAUNCH, launches)
    told = call(
        finetune_llm, tmp_path, **ARGUMENTS, output_path=str(tmp_path / "out"),
        settings={"max_steps": 30.0, "lora_targets": ["q_proj", "v_proj"], "merge": True},
        job={"nodes": 2.0, "gpus": 8.0, "memory": "400Gi", "queue": "team-a", "retries": 3.0},
        task_config=None,
    )  # fmt: skip
    trainer = launches.train_job["spec"]["trainer"]
    assert trainer["numNodes"] == 2
    assert trainer["resourcesPerNode"]["limits"] == {"memory": "400Gi", "nvidia.com/gpu": "8"}
    assert {"--max-steps=30", "--lora-targets=q_proj,v_proj", "--merge=true"} <= set(trainer["args"])
    assert launches.train_job["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "team-a"}
    assert launches.options["retries"] == 3
    assert told.text("tuned_path") == str(tmp_path / "out/merged")
    assert "the curve" in told.text("training_report")
    assert told.facts("training_metrics")["last_loss"] == 0.9
    facts = told.facts("tuned_model")
    assert (facts["train_job"], facts["base_digest"], facts["rows_digest"]) == (
        "team/finetune-1", "sha256:aa", "sha256:bb",
    )  # fmt: skip
    assert json.dumps(dict(facts))  # an artifact's metadata is JSON


def test_claims_and_secrets_go_to_the_job_by_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launches = Launches(tmp_path / "out")
    monkeypatch.setattr(LAUNCH, launches)
    call(
        finetune_llm, tmp_path, **ARGUMENTS, output_path=str(tmp_path / "out"), task_config=None,
        job={"claims": {"data": "/data"}, "secrets": {"HF_TOKEN": "hub/token"}, "node_selector": {"a": "b"}},
    )  # fmt: skip
    asked = launches.options["task_config"]
    assert asked.volumes[0]["persistentVolumeClaim"] == {"claimName": "data"}
    assert asked.volumeMounts == [{"name": asked.volumes[0]["name"], "mountPath": "/data"}]
    assert asked.env == [
        {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}},
    ]
    assert asked.nodeSelector == {"a": "b"}


REFUSALS: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown setting": ({"settings": {"lerning_rate": 1}}, "lerning_rate: is .* did you mean learning"),
    "a size that makes no sense": ({"job": {"nodes": 0.0}}, "nodes: should be greater than or equal to 1"),
    "a secret that is not a name": (
        {"job": {"secrets": {"HF_TOKEN": "hf_Canary"}}}, "secrets: HF_TOKEN must be SECRET/KEY, [^C]*$",
    ),
    "settings that do not go together": (
        {"settings": {"objective": "dpo", "packing": True}}, "packing: dpo compares whole rows",
    ),
}  # fmt: skip


@pytest.mark.parametrize("sentence", REFUSALS)
def test_a_mistake_is_said_before_a_job_is_made(
    sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, words = REFUSALS[sentence]
    launches = Launches(tmp_path / "out")
    monkeypatch.setattr(LAUNCH, launches)
    outputs = Outputs(tmp_path, finetune_llm)
    with pytest.raises(SystemExit, match=words):
        finetune_llm.python_func(
            **ARGUMENTS, output_path=str(tmp_path), task_config=None, **given, **outputs.arguments
        )
    assert launches.train_job == {}
    assert outputs.text("tuned_path") == ""


def test_a_model_that_cannot_be_trained_is_said_before_a_job_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launches = Launches(tmp_path / "out")
    monkeypatch.setattr(LAUNCH, launches)
    (tmp_path / "base").mkdir()
    (tmp_path / "base/pytorch_model.bin").write_bytes(b"pickle")
    outputs = Outputs(tmp_path, finetune_llm)
    arguments = {"model_path": str(tmp_path / "base"), "dataset_path": "/rows", "output_path": "/out"}
    with pytest.raises(SystemExit, match=r"error: model: .*base"):
        finetune_llm.python_func(**arguments, **outputs.arguments)
    assert launches.train_job == {}


def test_a_result_that_this_step_does_not_see_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LAUNCH, Launches(tmp_path / "elsewhere"))
    outputs = Outputs(tmp_path, finetune_llm)
    with pytest.raises(SystemExit, match=r"this step does not see what it left .*; mount its volume"):
        finetune_llm.python_func(**ARGUMENTS, output_path=str(tmp_path / "here"), **outputs.arguments)

"""Real training runs of a tiny model: what is promised about them holds on this machine's CPU.

The model here has random weights and is smaller than the demo's; what is proved is the path, not the score.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import JobFailed, SpecError
from kfp_trainer.runtime_operator.workloads.evaluate import EvaluateSettings, evaluate
from kfp_trainer.runtime_operator.workloads.finetune import FinetuneResult, FinetuneSettings, finetune
from kfp_trainer.runtime_operator.workloads.finetune.processes import Place
from kfp_trainer.runtime_operator.workloads.models import load_model
from kfp_trainer.runtime_operator.workloads.tiny import make_demo_data
from tests.tiny_base import untrained_model

pytestmark = [
    # notices of libraries that a test process, with warnings as errors, would die of
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
MODULE = "kfp_trainer.runtime_operator.workloads.finetune"
STEPS = 12


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_demo_data(tmp_path_factory.mktemp("demo") / "data")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's model after two steps of training: a whole model folder that knows nothing."""
    return untrained_model(tmp_path_factory.mktemp("demo") / "model")


def settings(model: Path, data: Path, output: Path, **more: object) -> FinetuneSettings:
    given = {"max_steps": STEPS, "batch_size": 8, "learning_rate": 5e-3, "log_every": 1, **more}
    return FinetuneSettings.model_validate({"model": model, "dataset": data, "output": output, **given})


def losses(result: FinetuneResult) -> list[float]:
    return [point.loss for point in result.curve]


@pytest.fixture(scope="module")
def run(model: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> FinetuneResult:
    """One LoRA run that several tests look at."""
    return finetune(settings(model, data, tmp_path_factory.mktemp("run") / "out"))


def test_the_loss_falls(run: FinetuneResult) -> None:
    assert run.steps == STEPS
    assert run.last_loss < 0.8 * run.first_loss
    assert 0 < run.trained_parameters < run.parameters


def test_the_last_step_is_told(model: Path, data: Path, tmp_path: Path) -> None:
    result = finetune(settings(model, data, tmp_path, max_steps=5, log_every=3))
    assert [point.step for point in result.curve] == [1, 3, 5]


def test_a_run_leaves_its_proof(run: FinetuneResult) -> None:
    output = run.report.parent
    found = sorted(entry.name for entry in output.iterdir())
    assert found == ["adapter", "merged", "progress.jsonl", "result.json", "training_report.html"]
    assert FinetuneResult.model_validate_json((output / "result.json").read_text()) == run
    events = [json.loads(line) for line in (output / "progress.jsonl").read_text().splitlines()]
    assert [event["event"] for event in events] == ["start", *["step"] * STEPS, "end"]
    assert [event["loss"] for event in events[1:-1]] == losses(run)
    assert not re.search(r"https?:|src=|href=|@import|url\(", run.report.read_text())


def test_the_same_seed_gives_the_same_losses(
    run: FinetuneResult, model: Path, data: Path, tmp_path: Path
) -> None:
    again = finetune(settings(model, data, tmp_path))
    assert losses(again) == losses(run)
    assert losses(finetune(settings(model, data, tmp_path, seed=8, max_steps=3))) != losses(run)[:3]


def test_adapter_and_merged_are_the_same_model(run: FinetuneResult, model: Path) -> None:
    import torch

    tokens = torch.arange(5, 25).reshape(1, -1)
    with torch.inference_mode():
        merged = load_model(run.model)(tokens).logits
        adapted = load_model(model, adapter=run.adapter)(tokens).logits
        base = load_model(model)(tokens).logits
    assert torch.allclose(merged, adapted, atol=1e-4)
    assert not torch.allclose(merged, base, atol=1e-2)


def test_the_cards_tell_how_to_use_the_model(
    run: FinetuneResult, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run.adapter is not None
    said = []
    for folder in (run.model, run.adapter):
        (block,) = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)
        exec(
            block,
            {"folder": folder, "base": model, "question": "Is this message urgent? Hello, my kettle leaks."},
        )
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] != "\n"


def test_full_fine_tuning_moves_every_weight(model: Path, data: Path, tmp_path: Path) -> None:
    result = finetune(settings(model, data, tmp_path, method="full", max_steps=4, learning_rate=1e-3))
    assert result.trained_parameters == result.parameters
    assert result.adapter is None
    assert not (tmp_path / "adapter").exists()
    assert result.last_loss < result.first_loss


def test_a_killed_run_goes_on_where_it_was(
    run: FinetuneResult, model: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kfp_trainer.runtime_operator.workloads.finetune.progress import ProgressLog, StepEvent

    class Killed(Exception):
        pass

    told = ProgressLog.step

    def die_at_seven(log: ProgressLog, event: StepEvent) -> None:
        if event.step == 7:
            raise Killed
        told(log, event)

    wanted = settings(model, data, tmp_path, save_every=5)
    with monkeypatch.context() as patch:
        patch.setattr(ProgressLog, "step", die_at_seven)
        with pytest.raises(Killed):
            finetune(wanted)
    result = finetune(wanted)
    assert result.resumed_from == 5
    assert losses(result) == losses(run)
    assert result.tokens == run.tokens
    assert not (tmp_path / "checkpoints").exists()


def test_a_run_that_died_behind_its_last_step_does_no_more(
    run: FinetuneResult, model: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Trainer by itself would learn from one more batch."""
    from kfp_trainer.runtime_operator.workloads.finetune import trl_training as module

    def full(*given: object) -> None:
        raise OSError(28, "No space left on device")

    wanted = settings(model, data, tmp_path, save_every=4)
    with monkeypatch.context() as patch:
        patch.setattr(module, "save_outputs", full)
        with pytest.raises(JobFailed, match=r"no space left for the result in .*, make room"):
            finetune(wanted)
    result = finetune(wanted)
    assert result.resumed_from == result.steps == STEPS
    assert losses(result) == losses(run)
    assert result.tokens == run.tokens
    [mine], [theirs] = (list(each.model.glob("*.safetensors")) for each in (result, run))
    assert mine.read_bytes() == theirs.read_bytes()


def test_the_tuned_model_goes_where_it_lasts(model: Path, data: Path, tmp_path: Path) -> None:
    more = {"max_steps": 2, "save_every": 1, "push": str(tmp_path / "kept" / "model")}
    result = finetune(settings(model, data, tmp_path / "out", **more))
    assert result.pushed == more["push"]
    sent = {file.name for file in Path(result.pushed).iterdir()} - {"export.json"}
    assert sent == {file.name for file in result.model.iterdir()}
    assert "pushed to" in result.report.read_text()
    assert FinetuneResult.model_validate_json((tmp_path / "out" / "result.json").read_text()) == result


def test_where_nobody_may_push_nothing_is_trained(model: Path, data: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").touch()
    with pytest.raises(SpecError, match="taken: holds files that no export has put there"):
        finetune(settings(model, data, tmp_path / "out", push=str(tmp_path / "taken")))
    assert not (tmp_path / "out").exists()


def test_a_push_that_fails_loses_nothing(
    model: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kfp_trainer.runtime_operator.workloads.finetune import proof

    def broken(*given: object) -> None:
        raise JobFailed("s3://bucket/x: 503 Slow Down")

    wanted = settings(model, data, tmp_path / "out", push=str(tmp_path / "kept"), max_steps=3, save_every=1)
    with monkeypatch.context() as patch:
        patch.setattr(proof, "export", broken)
        with pytest.raises(JobFailed, match=r"503 Slow Down; the tuned model is complete in .*merged"):
            finetune(wanted)
    assert (tmp_path / "out" / "result.json").is_file()
    again = finetune(wanted)
    assert again.resumed_from == again.steps == 3
    assert again.pushed


def test_two_processes_are_as_one(run: FinetuneResult, model: Path, data: Path, tmp_path: Path) -> None:
    flags = ["--max-steps", str(STEPS), "--batch-size", "8", "--learning-rate", "5e-3", "--log-every", "1"]
    folders = ["--model", str(model), "--dataset", str(data), "--output", str(tmp_path)]
    meet = ["--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:0", "--local-addr=127.0.0.1"]
    torchrun = [sys.executable, "-m", "torch.distributed.run", *meet, "--nproc_per_node", "2"]
    done = subprocess.run(
        [*torchrun, "-m", MODULE, *folders, *flags],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    result = FinetuneResult.model_validate_json((tmp_path / "result.json").read_text())
    assert result.processes == 2
    assert losses(result) == pytest.approx(losses(run), abs=1e-4)
    assert len(re.findall(r"^step=\d+ of=12 loss=\d", done.stdout, re.MULTILINE)) == STEPS


MISUSES = {
    "targets that match nothing": ({"lora_targets": "no_such_layer"}, "no_such_layer matches no layer"),
    "a sequence longer than the model reads": ({"sequence_length": 4096}, "4096 is more than the 256 tokens"),
    "a length that cuts off every answer": ({"sequence_length": 4}, "every answer begins behind the first 4"),
}


@pytest.mark.parametrize("sentence", MISUSES)
def test_misuse_is_one_sentence(sentence: str, model: Path, data: Path, tmp_path: Path) -> None:
    more, words = MISUSES[sentence]
    with pytest.raises(SpecError, match=words):
        finetune(settings(model, data, tmp_path, **more))


def test_base_and_tuned_answer_the_same_questions(
    run: FinetuneResult, model: Path, data: Path, tmp_path: Path
) -> None:
    def measured(tuned: Path | None) -> list[str | None]:
        wanted = EvaluateSettings(
            model=model, tuned=tuned, dataset=data, output=tmp_path, limit=8, max_new_tokens=12
        )
        evaluation = evaluate(wanted)
        assert evaluation.rows == 8
        assert evaluation.report.is_file()
        return [sample.tuned for sample in evaluation.samples]

    assert measured(None) == [None] * 8
    assert "has not been evaluated" in (run.model / "README.md").read_text()
    assert measured(run.model) == measured(run.adapter)
    assert "| exact_match |" in (run.model / "README.md").read_text()


def test_the_first_process_is_the_one_that_writes() -> None:
    assert Place(0, 2).first
    assert not Place(1, 2).first

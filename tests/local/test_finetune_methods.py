"""Every method and objective trains a tiny model on this machine's CPU, and does what it is for."""

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest
import torch
from safetensors.torch import load_file

from kfp_trainer.runtime_operator.errors import JobFailed
from kfp_trainer.runtime_operator.workloads.finetune import FinetuneResult, FinetuneSettings, finetune
from kfp_trainer.runtime_operator.workloads.models import load_model, load_tokenizer
from kfp_trainer.runtime_operator.workloads.tiny import make_demo_data
from tests.tiny_base import untrained_model

pytestmark = [
    # notices of libraries that a test process, with warnings as errors, would die of
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
STEPS = 6
Train = Callable[..., FinetuneResult]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model that knows nothing, and the demo's rows in several shapes."""
    here = tmp_path_factory.mktemp("methods")
    data = make_demo_data(here / "data")
    untrained_model(here / "model")
    rows = [json.loads(line) for line in (data / "train.jsonl").read_text().splitlines()]
    sides = [(one, other) for one, other in pairwise(rows) if one["completion"] != other["completion"]]
    pairs = [
        {"prompt": one["prompt"], "chosen": one["completion"], "rejected": other["completion"]}
        for one, other in sides
    ]
    chats = [{"messages": turns(one) + turns(other)} for one, other in sides[:200]]
    texts = [{"text": f"{row['prompt']} {row['completion']}"} for row in rows[:200]]
    for name, given in {"pairs": pairs, "chats": chats, "texts": texts}.items():
        write(here / name / "train.jsonl", given)
    write(here / "pairs" / "eval.jsonl", pairs[:20])
    return here


def turns(row: dict[str, str]) -> list[dict[str, str]]:
    return [
        {"role": "user", "content": row["prompt"]},
        {"role": "assistant", "content": row["completion"]},
    ]


def write(file: Path, rows: list[dict[str, Any]]) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def train(place: Path, tmp_path: Path) -> Train:
    """Runs a short fine-tuning into a folder of its own."""

    def run(data: str = "data", **more: Any) -> FinetuneResult:
        given = {"max_steps": STEPS, "batch_size": 8, "learning_rate": 5e-3, "log_every": 1, **more}
        folders = {"model": place / "model", "dataset": place / data, "output": tmp_path / "out"}
        return finetune(FinetuneSettings.model_validate({**folders, **given}))

    return run


def losses(result: FinetuneResult) -> list[float]:
    return [point.loss for point in result.curve]


@pytest.fixture(scope="module")
def plain(place: Path, tmp_path_factory: pytest.TempPathFactory) -> FinetuneResult:
    """LoRA as it is when nothing else is asked for."""
    out = tmp_path_factory.mktemp("plain")
    given = {"max_steps": STEPS, "batch_size": 8, "learning_rate": 5e-3, "log_every": 1}
    folders = {"model": place / "model", "dataset": place / "data", "output": out}
    return finetune(FinetuneSettings.model_validate({**folders, **given}))


LEARNING: dict[str, tuple[str, dict[str, Any]]] = {
    "qlora": ("data", {"method": "qlora"}),
    "dora": ("data", {"method": "dora"}),
    "full": ("data", {"method": "full", "learning_rate": 1e-3}),
    "every token": ("data", {"answers_only": False}),
    "packed": ("data", {"packing": True, "sequence_length": 256}),
    "conversations of many turns": ("chats", {}),
    "plain text": ("texts", {}),
    "8-bit optimizer": ("data", {"optimizer": "adamw_8bit"}),
    "adafactor": ("data", {"optimizer": "adafactor"}),
    "bfloat16": ("data", {"precision": "bf16"}),
    "a falling line": ("data", {"schedule": "linear"}),
}


@pytest.mark.parametrize("sentence", LEARNING)
def test_the_loss_falls(sentence: str, train: Train) -> None:
    data, more = LEARNING[sentence]
    result = train(data, **more)
    assert result.steps == STEPS
    assert result.last_loss < 0.85 * result.first_loss
    whole = load_file(result.model / "model.safetensors")
    assert all(torch.isfinite(weight).all() for weight in whole.values())
    assert (result.adapter is None) == (more.get("method") == "full")


SAME: dict[str, dict[str, Any]] = {
    "in four parts": {"accumulation": 4},
    "activations computed twice": {"gradient_checkpointing": True},
    "with looks at held-out rows": {"eval_every": 2},
    "with checkpoints": {"save_every": 2},
    "with events for TensorBoard": {"report_to": "tensorboard"},
}


@pytest.mark.parametrize("sentence", SAME)
def test_how_it_is_computed_does_not_change_what(sentence: str, train: Train, plain: FinetuneResult) -> None:
    result = train(**SAME[sentence])
    assert losses(result) == pytest.approx(losses(plain), abs=1e-4)
    if sentence.endswith("TensorBoard"):
        assert list((result.report.parent / "tensorboard").glob("events.out.tfevents.*"))
    if sentence.startswith("with looks"):
        assert [look.step for look in result.held_out] == [2, 4, 6]
        assert result.held_out[-1].loss < result.held_out[0].loss


def test_a_run_stands_in_mlflow(
    train: Train, plain: FinetuneResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By MLflow's own client, into a folder; a server takes the same calls."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"file://{tmp_path / 'mlruns'}")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    result = train(report_to="mlflow")
    assert losses(result) == losses(plain)
    import mlflow

    client = mlflow.MlflowClient()
    experiment = client.get_experiment_by_name("kfp-trainer")
    [run] = client.search_runs([experiment.experiment_id])
    assert run.info.status == "FINISHED"
    assert run.data.params["learning_rate"] == "0.005"
    told = {metric.step: metric.value for metric in client.get_metric_history(run.info.run_id, "loss")}
    assert told == {point.step: point.loss for point in result.curve}


def answer_margin(model: Any, tokenizer: Any, pair: dict[str, str]) -> float:
    """How much more probable the better answer is than the worse one."""

    def score(answer: str) -> float:
        asked = [{"role": "user", "content": pair["prompt"]}]
        prompt = tokenizer.apply_chat_template(asked, tokenize=False, add_generation_prompt=True)
        start = len(tokenizer(prompt)["input_ids"])
        ids = torch.tensor([tokenizer(prompt + answer)["input_ids"]])
        with torch.inference_mode():
            found = torch.log_softmax(model(ids).logits[0, :-1], dim=-1)
        return float(found[torch.arange(start - 1, ids.shape[1] - 1), ids[0, start:]].sum())

    return score(pair["chosen"]) - score(pair["rejected"])


@pytest.mark.parametrize("method", ["lora", "full"])
def test_dpo_prefers_the_better_answers(method: str, train: Train, place: Path) -> None:
    """Better are here all answers about one queue, so that there is something to learn in a few steps."""
    found = [json.loads(line) for line in (place / "pairs" / "train.jsonl").read_text().splitlines()]
    short = [{**pair, "chosen": "billing | high", "rejected": "shipping | low"} for pair in found[:64]]
    write(place / f"short-{method}" / "train.jsonl", short)
    result = train(f"short-{method}", objective="dpo", method=method, learning_rate=1e-3)
    assert result.first_loss == pytest.approx(0.6931, abs=1e-3)
    assert result.last_loss < 0.5
    tokenizer = load_tokenizer(place / "model")
    before, after = (
        answer_margin(load_model(folder), tokenizer, short[0]) for folder in (place / "model", result.model)
    )
    assert after > before


def test_early_stopping_ends_a_run_that_gets_worse(train: Train) -> None:
    result = train(eval_every=1, early_stopping=1, learning_rate=1.0, max_steps=30)
    assert result.stopped_early
    assert result.steps < 30


def test_killed_after_an_early_stop_it_does_no_more(train: Train, monkeypatch: pytest.MonkeyPatch) -> None:
    from kfp_trainer.runtime_operator.workloads.finetune import trl_training

    more: dict[str, Any] = {"eval_every": 1, "early_stopping": 1, "save_every": 1, "learning_rate": 1.0}
    saved = trl_training.save_outputs
    steps: list[int] = []

    def die_once(trainer: Any, *given: Any) -> None:
        steps.append(trainer.state.global_step)
        if len(steps) == 1:
            raise KeyboardInterrupt
        saved(trainer, *given)

    monkeypatch.setattr(trl_training, "save_outputs", die_once)
    with pytest.raises(KeyboardInterrupt):
        train(max_steps=30, **more)
    result = train(max_steps=30, **more)
    assert steps == [result.resumed_from] * 2
    assert result.stopped_early


def test_an_adapter_may_stay_alone(train: Train, plain: FinetuneResult) -> None:
    result = train(merge=False)
    assert result.model == result.adapter
    assert not (result.report.parent / "merged").exists()
    assert plain.adapter is not None
    name = "adapter_model.safetensors"
    mine, theirs = load_file(result.model / name), load_file(plain.adapter / name)
    assert all(torch.equal(mine[key], theirs[key]) for key in theirs)


def test_only_answers_are_learnt_in_every_turn(place: Path) -> None:
    from kfp_trainer.runtime_operator.workloads.dataset import load_rows
    from kfp_trainer.runtime_operator.workloads.finetune.tokens import IGNORED, token_rows

    tokenizer = load_tokenizer(place / "model")
    example = next(load_rows(place / "chats", "train"))
    [row] = token_rows(tokenizer, [example], answers_only=True)
    learnt = [token for token in row["labels"] if token != IGNORED]
    answers = [turn["content"] for turn in example.turns if turn["role"] == "assistant"]
    assert tokenizer.decode(learnt) == "".join(f"{answer}<|im_end|>\n" for answer in answers)


def test_out_of_memory_says_what_to_lower(train: Train, monkeypatch: pytest.MonkeyPatch) -> None:
    from trl import SFTTrainer

    def too_much(*given: Any, **more: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(SFTTrainer, "training_step", too_much)
    with pytest.raises(JobFailed, match=r"8 rows of \d+ tokens at once did not fit .* raise accumulation"):
        train()


def test_a_full_disk_costs_a_checkpoint_and_not_the_run(
    train: Train, plain: FinetuneResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    from trl import SFTTrainer

    saved = SFTTrainer._save_checkpoint

    def full_at_four(self: Any, model: Any, trial: Any) -> None:
        saved(self, model, trial)
        if self.state.global_step == 4:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(SFTTrainer, "_save_checkpoint", full_at_four)
    result = train(save_every=2)
    assert result.failed_checkpoints == 1
    assert any("disk was full" in text for text in result.warnings)
    assert losses(result) == losses(plain)
    events = [json.loads(line) for line in (result.report.parent / "progress.jsonl").read_text().splitlines()]
    assert [event["step"] for event in events if event["event"] == "checkpoint_failed"] == [4]


def test_a_nan_is_told(train: Train) -> None:
    result = train(learning_rate=1e30, clip=0, max_steps=4)
    assert any("infinite or not a number" in text for text in result.warnings)


class Status(BaseHTTPRequestHandler):
    """Takes what a run reports of its progress."""

    taken: ClassVar[list[tuple[str | None, dict[str, Any]]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.taken.append((self.headers["Authorization"], body["trainerStatus"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def test_progress_is_told_to_the_trainjob(
    train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("secret")
    monkeypatch.setattr(Status, "taken", [])
    with HTTPServer(("127.0.0.1", 0), Status) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/status"
        monkeypatch.setenv("KUBEFLOW_TRAINER_SERVER_URL", url)
        monkeypatch.setenv("KUBEFLOW_TRAINER_SERVER_TOKEN", str(tmp_path / "token"))
        train()
        server.shutdown()
    tokens, told = zip(*Status.taken, strict=True)
    assert set(tokens) == {"Bearer secret"}
    assert told[-1]["progressPercentage"] == 100
    assert any(metric["name"] == "loss" for status in told for metric in status.get("metrics", []))

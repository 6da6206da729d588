"""Real runs of TorchTune's recipes on a tiny model: what is promised about them holds on a CPU."""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from pathlib import Path
from statistics import mean
from threading import Thread
from typing import Any

import pytest

from kfp_trainer.runtime_operator.workloads.dataset.writing import load_rows
from kfp_trainer.runtime_operator.workloads.evaluate import EvaluateSettings, evaluate
from kfp_trainer.runtime_operator.workloads.finetune import FinetuneResult, FinetuneSettings, finetune
from kfp_trainer.runtime_operator.workloads.finetune.tokens import token_rows
from kfp_trainer.runtime_operator.workloads.models import load_model, load_tokenizer
from kfp_trainer.runtime_operator.workloads.tiny import make_demo_data
from kfp_trainer.runtime_operator.workloads.tiny import model as tiny
from tests.counts import count
from tests.forks import fork, fork_group
from tests.tiny_base import tiny_base, untrained_model

pytestmark = [
    pytest.mark.skipif(find_spec("torchtune") is None, reason="pip install kfp-trainer[torchtune]"),
    # notices of libraries that a test process, with warnings as errors, would die of
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
MODULE = "kfp_trainer.runtime_operator.workloads.finetune"
STEPS, ROWS, BATCH = 12, 43, 8  # epochs of five steps, five and two; three rows are left out of each
FULL: dict[str, Any] = {"method": "full", "learning_rate": 1e-3}
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few of the demo's rows."""
    folder = make_demo_data(tmp_path_factory.mktemp("demo") / "data")
    rows = (folder / "train.jsonl").read_text().splitlines(keepends=True)
    (folder / "train.jsonl").write_text("".join(rows[:ROWS]))
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's model after two steps of training, wide enough for blocks of 4 bits on two processes."""
    folder = tmp_path_factory.mktemp("demo") / "model"
    return untrained_model(folder, hidden_size=256, num_key_value_heads=4)


def settings(model: Path, data: Path, output: Path, **more: object) -> FinetuneSettings:
    given = {"max_steps": STEPS, "batch_size": BATCH, "learning_rate": 5e-3, "log_every": 1, "threads": 1}
    folders = {"model": model, "dataset": data, "output": output, "backend": "torchtune"}
    return FinetuneSettings.model_validate({**folders, **given, **more})


def flags(wanted: FinetuneSettings) -> list[str]:
    """The same settings on a command line."""
    given = wanted.model_dump(mode="json", exclude_unset=True)
    return [word for name, value in given.items() for word in (f"--{name.replace('_', '-')}", str(value))]


def losses(result: FinetuneResult) -> list[float]:
    return [point.loss for point in result.curve]


def logits(folder: Path, **named: Any) -> Any:
    import torch

    with torch.inference_mode():
        return load_model(folder, **named)(torch.arange(5, 25).reshape(1, -1)).logits


def check_outputs(result: FinetuneResult, model: Path) -> None:
    """Both outputs load, are the same model, and another one than the base."""
    import torch

    merged = logits(result.model)
    assert not torch.allclose(merged, logits(model), atol=1e-2)
    assert not (result.model / "adapter_config.json").exists()
    if result.adapter:
        assert torch.allclose(merged, logits(model, adapter=result.adapter), atol=1e-4)
        assert not (result.adapter / "config.json").exists()


@pytest.fixture(scope="module")
def run(model: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> FinetuneResult:
    """One LoRA run that several tests look at."""
    return finetune(settings(model, data, tmp_path_factory.mktemp("run") / "out"))


@pytest.fixture(scope="module")
def whole(
    model: Path, data: Path, tmp_path_factory: pytest.TempPathFactory, run: FinetuneResult
) -> dict[str, FinetuneResult]:
    """Undisturbed runs by one process, of the methods that others are compared with."""
    output = tmp_path_factory.mktemp("full") / "out"
    return {"lora": run, "full": finetune(settings(model, data, output, **FULL))}


def test_a_run_leaves_its_proof(run: FinetuneResult, model: Path) -> None:
    output = run.report.parent
    assert run.steps == STEPS
    assert run.last_loss < 0.8 * run.first_loss
    assert 0 < run.trained_parameters < run.parameters
    assert "torchtune" in run.versions
    found = sorted(entry.name for entry in output.iterdir())
    assert found == ["adapter", "merged", "progress.jsonl", "result.json", "training_report.html"]
    assert FinetuneResult.model_validate_json((output / "result.json").read_text()) == run
    events = [json.loads(line) for line in (output / "progress.jsonl").read_text().splitlines()]
    steps, kept = ["step"] * 5, ["checkpoint"]
    assert [event["event"] for event in events] == [
        "start", *steps, *kept, *steps, *kept, *steps[:2], "end"
    ]  # fmt: skip
    assert [event["loss"] for event in events if event["event"] == "step"] == losses(run)
    assert events[-2]["tokens"] == run.tokens
    check_outputs(run, model)


def test_tokens_are_counted_without_padding(run: FinetuneResult, model: Path, data: Path) -> None:
    rows = token_rows(load_tokenizer(model), list(load_rows(data, "train")), answers_only=True)
    mean = sum(len(row["input_ids"]) for row in rows) / len(rows)
    assert run.tokens == pytest.approx(STEPS * BATCH * mean, rel=0.1)


def test_the_same_seed_gives_the_same_losses(
    run: FinetuneResult, model: Path, data: Path, tmp_path: Path
) -> None:
    assert losses(finetune(settings(model, data, tmp_path / "a"))) == losses(run)
    other = finetune(settings(model, data, tmp_path / "b", seed=8, max_steps=3))
    assert losses(other) != losses(run)[:3]


METHODS: dict[str, dict[str, Any]] = {
    "all weights": {"method": "full", "learning_rate": 1e-3},
    "beside weights of 4 bits": {"method": "qlora"},
    "with lengths": {"method": "dora"},
    "in parts": {"accumulation": 2},
    "packed": {"packing": True, "sequence_length": 64, "batch_size": 4},
    "attention alone, with weights computed twice": {
        "lora_targets": "q_proj,v_proj",
        "gradient_checkpointing": True,
    },
}


@pytest.mark.parametrize("sentence", METHODS)
def test_other_ways_to_train(sentence: str, model: Path, data: Path, tmp_path: Path) -> None:
    result = finetune(settings(model, data, tmp_path, **{"max_steps": 7, **METHODS[sentence]}))
    assert result.last_loss < result.first_loss
    assert (result.adapter is None) == ("method" in METHODS[sentence] and result.settings.method == "full")
    check_outputs(result, model)


@pytest.fixture(scope="module")
def qwen(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny Qwen with random weights and the tiny model's tokenizer."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    folder = tmp_path_factory.mktemp("qwen")
    tokenizer = load_tokenizer(model)
    torch.manual_seed(3)
    shape = {**tiny.SHAPE, "tie_word_embeddings": False}
    Qwen2ForCausalLM(Qwen2Config(vocab_size=len(tokenizer), **shape)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("method", ["lora", "dora", "full"])
@pytest.mark.parametrize("family", ["model", "qwen"])
def test_what_is_written_is_what_was_trained(
    family: str, method: str, data: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The loss of the written model on a batch is that which one step more would begin with."""
    import torch

    base = request.getfixturevalue(family)
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join((data / "train.jsonl").read_text().splitlines(keepends=True)[:BATCH]))
    steady = {"method": method, "schedule": "constant", "warmup": 0, "learning_rate": 2e-3, "save_every": 0}
    result = finetune(settings(base, rows, tmp_path / "five", max_steps=5, **steady))
    longer = finetune(settings(base, rows, tmp_path / "six", max_steps=6, **steady))
    tuned, total, learnt = load_model(result.model), 0.0, 0
    for row in token_rows(load_tokenizer(base), list(load_rows(rows, "train")), answers_only=True):
        labels = torch.tensor([row["labels"]])
        number = int((labels != -100).sum())
        with torch.inference_mode():
            total += number * float(tuned(torch.tensor([row["input_ids"]]), labels=labels).loss)
        learnt += number
    assert total / learnt == pytest.approx(longer.last_loss, abs=1e-4)
    assert longer.last_loss < result.last_loss - 1e-3


@pytest.mark.parametrize("step", [7, 3, 5, 11][: count(4, sampled=1)])
@pytest.mark.parametrize("method", ["lora", "full"])
def test_a_killed_run_goes_on_after_its_last_epoch(
    method: str, step: int, model: Path, data: Path, tmp_path: Path, whole: dict[str, FinetuneResult]
) -> None:
    wanted = settings(model, data, tmp_path / "killed", **(FULL if method == "full" else {}))
    killed = fork(flags(wanted), tmp_path / "said", environment={"DIES_AT": str(step), "SIGNAL": "SIGKILL"})
    assert killed.end() == -9, killed.said[-2000:]
    torn = next((tmp_path / "killed" / "checkpoints").glob("*")) / "epoch_1"
    torn.mkdir(exist_ok=True)
    (torn / "adapter_model.pt").write_bytes(b"half of it")
    result = finetune(wanted)
    assert result.resumed_from == (step - 1) // 5 * 5  # a step is told before its epoch is kept
    assert losses(result) == losses(whole[method])
    rates = [point.learning_rate for point in whole[method].curve]
    assert [point.learning_rate for point in result.curve] == rates
    assert not (tmp_path / "killed" / "checkpoints").exists()


def test_an_adapter_alone(run: FinetuneResult, model: Path, data: Path, tmp_path: Path) -> None:
    result = finetune(settings(model, data, tmp_path, max_steps=2, merge=False))
    assert (result.model, result.adapter) == (tmp_path / "adapter", tmp_path / "adapter")
    assert not (tmp_path / "merged").exists()


def test_sigterm_ends_a_run_with_a_word(model: Path, data: Path, tmp_path: Path) -> None:
    wanted = settings(model, data, tmp_path)
    told = fork(flags(wanted), tmp_path / "said", environment={"DIES_AT": "7", "SIGNAL": "SIGTERM"})
    assert told.end() == 75, told.said[-2000:]
    assert "start it again to go on from the last epoch" in told.said
    assert json.loads((tmp_path / "progress.jsonl").read_text().splitlines()[-1])["event"] == "stopped"


@pytest.mark.parametrize("method", ["full", "lora", "qlora"])
def test_two_processes(
    method: str, model: Path, data: Path, tmp_path: Path, whole: dict[str, FinetuneResult]
) -> None:
    given = FULL if method == "full" else {"method": method}
    wanted = settings(model, data, tmp_path / "two", **given)
    first, second = fork_group(flags(wanted), tmp_path / "said")
    assert [first.end(), second.end()] == [0, 0], first.said[-2000:] + second.said[-2000:]
    assert len(re.findall(r"^step=\d+ of=12 loss=\d", first.said, re.MULTILINE)) == STEPS
    assert "loss=" not in second.said
    result = FinetuneResult.model_validate_json((tmp_path / "two" / "result.json").read_text())
    assert (result.processes, result.spread) == (2, "fsdp2")
    check_outputs(result, model)
    if method == "full":
        assert losses(result) == pytest.approx(losses(whole["full"]), abs=1e-4)
    else:  # the parts of an adapter begin with chances of their own
        assert result.last_loss < 0.8 * result.first_loss


@pytest.fixture
def told() -> Iterator[tuple[str, list[Any]]]:
    """An endpoint for progress, and what it was told."""
    posts: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            posts.append((self.headers["Authorization"], json.loads(body)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", posts
        server.shutdown()
        thread.join()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


RECIPES = ["lora_finetune_single_device", "full_finetune_distributed"]


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_built_in_trainers_command(
    recipe: str, told: tuple[str, list[Any]], model: Path, data: Path, tmp_path: Path
) -> None:
    """`tune run …` as Trainer composes it, with its instructions; only the model's size is another."""
    url, posts = told
    token = tmp_path / "token"
    token.write_text("secret\n")
    rows = [json.loads(line) for line in (data / "train.jsonl").read_text().splitlines()]
    (tmp_path / "data").mkdir()
    instructions = [{"input": row["prompt"], "output": row["completion"]} for row in rows]
    (tmp_path / "data" / "train.json").write_text(json.dumps(instructions))
    kind = recipe.partition("_")[0]
    vocabulary = json.loads((model / "config.json").read_text())["vocab_size"]
    builder = {"full": "llama3_2", "lora": "lora_llama3_2"}[kind]
    numbers = {"num_layers": 2, "num_heads": 4, "num_kv_heads": 4, "embed_dim": 256, "intermediate_dim": 384}
    numbers |= {"vocab_size": vocabulary, "max_seq_len": 256, "rope_base": 10000, "scale_factor": 1}
    size = [f"model=torchtune.models.llama3_2.{builder}", *(f"model.{at}={it}" for at, it in numbers.items())]
    composed = [
        *([f"--rdzv_endpoint=127.0.0.1:{free_port()}"] if recipe.endswith("distributed") else []), recipe,
        "--config", f"llama3_2/1B_{kind}" + ("_single_device" if recipe.endswith("single_device") else ""),
        "dataset=torchtune.datasets.instruct_dataset", "dataset.source=json",
        f"dataset.data_dir={tmp_path / 'data'}", "dataset.split=train", f"output_dir={tmp_path / 'out'}",
        f"tokenizer={MODULE}.torchtune.tokenizer.FolderTokenizer", f"tokenizer.path={model}",
        f"checkpointer.checkpoint_dir={model}", *size,
        "device=cpu", "dtype=fp32", "batch_size=4", "gradient_accumulation_steps=1", "epochs=2",
        "max_steps_per_epoch=3", "log_peak_memory_stats=False", "seed=1",
    ]  # fmt: skip
    pods = {"PET_NNODES": "1", "PET_NODE_RANK": "0", "PET_NPROC_PER_NODE": "2"}
    told_where = {"KUBEFLOW_TRAINER_SERVER_URL": url, "KUBEFLOW_TRAINER_SERVER_TOKEN": str(token)}
    done = subprocess.run(
        [sys.executable, "-m", f"{MODULE}.torchtune", "run", *composed],
        env={**ENVIRONMENT, **pods, **told_where},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert re.findall(r"^step=(\d) of=6 loss=\d", done.stdout, re.MULTILINE) == list("123456")
    assert len(list((tmp_path / "out" / "logs").glob("log_*.txt"))) == 1
    assert (tmp_path / "out" / "epoch_1" / "model-00001-of-00001.safetensors").is_file()
    authorization, last = posts[-1]
    assert authorization == "Bearer secret"
    assert last["trainerStatus"]["progressPercentage"] == 100
    assert {metric["name"] for metric in last["trainerStatus"]["metrics"]} >= {"loss", "learning_rate"}


LEARNT: dict[str, dict[str, Any]] = {
    "every weight": {"method": "full", "max_steps": 120, "batch_size": 8, "learning_rate": 2e-3},
    "an adapter": {"max_steps": 200, "batch_size": 16, "learning_rate": 3e-3},
}


@pytest.mark.parametrize("sentence", list(LEARNT)[: count(2, sampled=1)])
def test_as_good_as_the_other_back_end(sentence: str, tmp_path: Path) -> None:
    """The demo's task, which the base cannot do, learnt by both: the mean of the scores over seeds."""
    data, base = make_demo_data(tmp_path / "data"), tiny_base()
    seeds = range(1, 1 + count(3, sampled=1))

    def score(backend: str, seed: int) -> float:
        output = tmp_path / f"{backend}-{seed}"
        how = {"backend": backend, "seed": seed, "log_every": 50, **LEARNT[sentence]}
        tuned = finetune(settings(base, data, output, **how)).model
        asked = {"model": str(tuned), "dataset": data, "output": output / "judged", "threads": 1}
        found = evaluate(EvaluateSettings(**asked, metrics=("exact_match",), max_new_tokens=12))
        return found.metrics["exact_match"]

    by_trl, by_torchtune = ([score(backend, seed) for seed in seeds] for backend in ("trl", "torchtune"))
    assert mean(by_trl) >= 0.75
    assert mean(by_torchtune) == pytest.approx(mean(by_trl), abs=0.05)

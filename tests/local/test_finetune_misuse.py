"""What only the loaded libraries can tell is one sentence, too, and still before any training."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from kfp_trainer.runtime_operator.errors import JobFailed, KfpTrainerError
from kfp_trainer.runtime_operator.workloads.finetune import FinetuneSettings, finetune
from kfp_trainer.runtime_operator.workloads.tiny import make_demo_data
from tests.counts import count
from tests.tiny_base import untrained_model

pytestmark = [
    # notices of libraries that a test process, with warnings as errors, would die of
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("misuse")
    make_demo_data(here / "data")
    untrained_model(here / "model", steps=1, rows=64)
    return here


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Path:
    """A model of the test's own to spoil."""
    shutil.copytree(made / "model", tmp_path / "model")
    shutil.copytree(made / "data", tmp_path / "data")
    return tmp_path


def run(place: Path, **more: Any) -> None:
    folders = {"model": place / "model", "dataset": place / "data", "output": place / "run"}
    given = {"max_steps": 4, "batch_size": 4, "save_every": 1, **more}
    finetune(FinetuneSettings.model_validate({**folders, **given}))


def text(name: str, body: str) -> Callable[[Path], Any]:
    return lambda place: (place / "model" / name).write_text(body)


def config(**more: Any) -> Callable[[Path], None]:
    def prepare(place: Path) -> None:
        file = place / "model" / "config.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), **more}))

    return prepare


def without(name: str) -> Callable[[Path], None]:
    """Take a tensor out of the weights, cleanly."""

    def prepare(place: Path) -> None:
        file = place / "model" / WEIGHTS
        weights = load_file(file)
        del weights[name]
        save_file(weights, file, metadata={"format": "pt"})

    return prepare


def narrower(place: Path) -> None:
    file = place / "model" / WEIGHTS
    weights = load_file(file)
    name = "model.layers.0.mlp.up_proj.weight"
    weights[name] = weights[name][:-8].clone()
    save_file(weights, file, metadata={"format": "pt"})


def no_end(place: Path) -> None:
    file = place / "model" / "tokenizer_config.json"
    told = json.loads(file.read_text())
    file.write_text(json.dumps({name: value for name, value in told.items() if name != "eos_token"}))


def turns_of(*roles: str) -> Callable[[Path], None]:
    def prepare(place: Path) -> None:
        row = {"messages": [{"role": role, "content": "hello"} for role in roles]}
        (place / "data" / "train.jsonl").write_text(json.dumps(row) + "\n")

    return prepare


MISUSES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a template that does not end": (
        text("chat_template.jinja", "{% for m in messages %}{{ m }"),
        r"the chat template of .*model cannot write a row of user",
    ),
    "a template that refuses": (
        text("chat_template.jinja", "{{ raise_exception('no such role') }}"),
        r"cannot write a row of user.* \(no such role\), mend the template or the rows",
    ),
    "a template of nothing": (
        text("chat_template.jinja", "{{ '' }}"),
        "the chat template of .*model leaves out what the assistant says",
    ),
    "a template without the answers": (
        text("chat_template.jinja", "{{ messages[0]['content'] }}"),
        "leaves out what the assistant says, mend chat_template",
    ),
    "a model nobody knows": (
        config(model_type="zzz"),
        "cannot be loaded, .*zzz",
    ),
    "a tensor that is missing": (
        without("model.layers.1.mlp.up_proj.weight"),
        r"lacks 1 weights, such as model\.layers\.1\.mlp\.up_proj\.weight, fetch it again",
    ),
    "a tensor of another size": (narrower, "model: .* cannot be loaded, "),
    "a tokenizer without an end": (no_end, "the tokenizer of .* names no eos_token, which ends an answer"),
    "a tokenizer that cannot be read": (
        text("tokenizer.json", '{"model": {"type": "Odd", "vocab": {}}}'),
        "the tokenizer of .* cannot be loaded, ",
    ),
}


@pytest.mark.parametrize("sentence", MISUSES)
def test_misuse_is_one_sentence(sentence: str, place: Path) -> None:
    prepare, words = MISUSES[sentence]
    prepare(place)
    with pytest.raises(KfpTrainerError, match=words) as caught:
        run(place)
    assert "\n" not in str(caught.value)
    assert not list((place / "run").glob("checkpoints/*/checkpoint-*"))


def torn(name: str) -> Callable[[Path], None]:
    """As long as before, so that only whoever reads it can tell."""

    def prepare(checkpoint: Path) -> None:
        file = next(checkpoint.rglob(name))
        file.write_bytes(bytes(file.stat().st_size))

    return prepare


CHECKPOINTS: dict[str, Callable[[Path], None]] = {
    "an adapter of noughts": torn("adapter_model.safetensors"),
    "an optimizer of noughts": torn("optimizer.pt"),
    "a state of noughts": torn("trainer_state.json"),
    "random numbers of noughts": torn("rng_state.pth"),
}


@pytest.fixture(scope="module")
def stopped(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has died behind its third checkpoint."""
    here = tmp_path_factory.mktemp("stopped")
    shutil.copytree(made / "model", here / "model")
    shutil.copytree(made / "data", here / "data")
    from kfp_trainer.runtime_operator.workloads.finetune.progress import ProgressLog

    told = ProgressLog.step

    def die(log: ProgressLog, event: Any) -> None:
        told(log, event)
        if event.step == 4:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ProgressLog, "step", die)
        with pytest.raises(KeyboardInterrupt):
            run(here, log_every=1)
    return here


@pytest.mark.parametrize("sentence", list(CHECKPOINTS)[: count(4, sampled=2)])
def test_a_checkpoint_that_cannot_be_read_is_named(sentence: str, stopped: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    shutil.copytree(stopped, place)
    newest = max(place.glob("run/checkpoints/*/checkpoint-*"), key=lambda each: each.name)
    CHECKPOINTS[sentence](newest)
    with pytest.raises(JobFailed, match=f"the checkpoint .*{newest.name} cannot be read") as caught:
        run(place, log_every=1)
    assert "\n" not in str(caught.value)
    if sentence != next(iter(CHECKPOINTS)):
        return
    shutil.rmtree(newest)
    run(place, log_every=1)
    assert json.loads((place / "run" / "result.json").read_text())["resumed_from"] == 2

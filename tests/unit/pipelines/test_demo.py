"""The demonstration: what it needs and says, and that what it advises to try can be tried."""

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from kfp_trainer.pipelines import demo, demo_end, demo_material, demo_stop
from kfp_trainer.pipelines.demo_material import Material, small_material
from kfp_trainer.runtime_operator.cli.main import cli
from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.settings import Settings
from kfp_trainer.runtime_operator.workloads.evaluate import EvaluateSettings
from kfp_trainer.runtime_operator.workloads.fetch import engine
from kfp_trainer.runtime_operator.workloads.finetune import FinetuneSettings
from kfp_trainer.runtime_operator.workloads.gate.rules import parse_rules
from kfp_trainer.runtime_operator.workloads.settings import parse_settings

ROOT = Path(__file__).resolve().parents[3]
MODEL = "smollm2-135m-instruct"


class Said(list[str]):
    """Takes what is said."""

    def __call__(self, line: str) -> None:
        self.append(line)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache in which the model is already."""
    (tmp_path / MODEL).mkdir()
    (tmp_path / MODEL / "config.json").write_text("{}")
    return tmp_path


def test_what_is_there_is_not_fetched_again(cache: Path) -> None:
    said = Said()
    material = small_material(cache, said)
    assert said == []
    assert (material.data / "train.jsonl").is_file()
    where = {"model": material.model, "dataset": material.data, "output": cache / "out"}
    parse_settings(FinetuneSettings, {**where, **material.training})
    parse_settings(EvaluateSettings, {**where, **material.evaluation})


def test_a_model_that_comes_is_converted_and_kept_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "fetch", lambda order, **rest: order.target.mkdir(parents=True))
    script = "import pathlib, sys; f = pathlib.Path(sys.argv[2]); f.mkdir(); (f / 'config.json').touch()"
    monkeypatch.setattr(demo_material, "CONVERT", (sys.executable, "-c", script))
    said = Said()
    material = small_material(tmp_path, said)
    assert [line.split()[0] for line in said] == ["Fetch", "Turn"]
    assert sorted(each.name for each in tmp_path.iterdir()) == [MODEL, "tickets"]
    assert material.model == tmp_path / MODEL


def test_without_a_network_it_says_what_runs_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    with pytest.raises(SetupError, match=r"cannot be fetched: .*no connection(.|\n)*demo --tiny"):
        small_material(tmp_path, Said())


def test_a_model_that_cannot_be_converted_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "fetch", lambda order, **rest: order.target.mkdir(parents=True))
    monkeypatch.setattr(demo_material, "CONVERT", (sys.executable, "-c", "raise SystemExit(2)"))
    with pytest.raises(SetupError, match="could not be turned into safetensors"):
        small_material(tmp_path, Said())


def test_an_installation_that_cannot_train_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "NEEDED", ("json", "no_such_package"))
    with pytest.raises(SetupError, match=r"needs no_such_package: pip install"):
        demo.run_demo(Settings(tmp_path), tiny=True, say=Said())


class Jobs:
    """Jobs of two runs."""

    def __init__(self, folder: Path) -> None:
        self.there = {"ours": str(folder / "workspace/model"), "another's": "/elsewhere"}

    def list(self) -> list[Any]:
        return [
            SimpleNamespace(name=name, train_job={"spec": {"trainer": {"args": [f"--model={model}"]}}})
            for name, model in self.there.items()
        ]

    def delete(self, name: str, *, timeout: float) -> None:
        signal.raise_signal(signal.SIGINT)  # a person in a hurry
        del self.there[name]


@pytest.mark.parametrize("number", demo_stop.SIGNALS)
def test_a_run_that_is_broken_off_leaves_nothing(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Jobs] = []

    def broken_off(material: Material, folder: Path) -> None:
        (folder / "workspace").mkdir(parents=True)
        made.append(Jobs(folder))
        signal.raise_signal(number)

    material = Material("m", tmp_path, tmp_path, "x", "soon", {}, {})
    monkeypatch.setattr(demo, "tiny_material", lambda cache, say: material)
    monkeypatch.setattr(demo, "run_pipeline", broken_off)
    monkeypatch.setattr("kfp_trainer.runtime_operator.jobs.open_jobs", lambda place: made[0])
    with pytest.raises(KeyboardInterrupt):
        demo.run_demo(Settings(tmp_path), tiny=True, say=Said())
    assert list(made[0].there) == ["another's"]
    assert list((tmp_path / "runs").iterdir()) == []


class Busy(io.TextIOBase):
    """A stream that is being written to, as Python's own tell it to a handler of signals."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, text: str) -> int:
        raise RuntimeError("reentrant call inside <_io.BufferedWriter name='<stdout>'>")

    def fileno(self) -> int:
        return self._descriptor


def test_a_signal_in_the_middle_of_a_line_stops_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    cleaned: list[bool] = []
    reads, writes = os.pipe()
    monkeypatch.setattr("sys.stdout", Busy(writes))
    child = subprocess.Popen(["sleep", "600"])
    with pytest.raises(KeyboardInterrupt), demo_stop.interruptible(lambda: cleaned.append(True)):
        signal.raise_signal(signal.SIGINT)
    os.close(writes)
    with os.fdopen(reads) as said:
        assert said.read() == "\nStop, and take away what this run has begun …\n"
    child.wait(timeout=10)
    assert cleaned == [True]


def sample(number: int, *, right: bool) -> dict[str, Any]:
    return {
        "prompt": f"system: Ask.\nuser: Message {number}.",
        "expected": "yes",
        "base": "well, " * 90,
        "tuned": "yes" if right else "no",
    }


CHOSEN = {
    "all right": ([True] * 5, [0, 1, 2]),
    "one wrong": ([True, True, True, False, True], [0, 1, 3]),
    "all wrong": ([False] * 5, [0, 1, 2]),
    "one right": ([False, False, True, False], [2, 0, 1]),
    "few": ([True], [0]),
}


@pytest.mark.parametrize("sentence", CHOSEN)
def test_a_wrong_answer_is_shown_where_there_is_one(sentence: str) -> None:
    verdicts, expected = CHOSEN[sentence]
    rows = [sample(number, right=right) for number, right in enumerate(verdicts)]
    assert demo_end.chosen(rows) == [rows[number] for number in expected]


def test_the_end_tells_what_was_learnt_and_where_it_is(cache: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    (folder / demo_end.TUNED).mkdir(parents=True)
    (folder / demo_end.EVALUATED).mkdir()
    losses = {"first_loss": 1.3, "last_loss": 0.05, "steps": 64}
    (folder / demo_end.TUNED / "result.json").write_text(json.dumps(losses))
    score = {"name": "exact_match", "base": {"value": 0.0}, "tuned": {"value": 0.95}}
    rows = [sample(1, right=True), sample(2, right=False)]
    evaluation = {"scores": [score], "rows": 60, "samples": rows}
    (folder / demo_end.EVALUATED / "evaluation.json").write_text(json.dumps(evaluation))
    text = "\n".join(demo_end.results(folder, small_material(cache, Said())))
    assert "Right answers   0% -> 95% of 60 messages that neither has seen" in text
    assert "Loss            1.300 -> 0.050 in 64 steps" in text
    assert "  Message 1." in text
    assert "    tuned     no\n    expected  yes" in text
    assert max(len(line) for line in text.splitlines()) < 150 + len(str(tmp_path))
    assert f"Open, in {folder}/workspace\n" in text
    assert "\n  tuned/merged/README.md " in text


def commands(material: Material) -> list[list[str]]:
    text = "\n".join(demo_end.suggestions(material)).replace("\\\n", " ")
    lines = [shlex.split(line) for line in text.splitlines() if line.startswith("    ")]
    return [words[1:] for words in lines]


def test_what_is_advised_can_be_called(cache: Path) -> None:
    called = commands(small_material(cache, Said()))
    assert [words[0] for words in called] == ["finetune", "pipelines", "pipelines"]
    for words in called:
        command: click.Command = cli
        context = click.Context(cli)
        while isinstance(command, click.Group):
            found = command.get_command(context, words.pop(0))
            assert found is not None
            command = found
        command.make_context("command", list(words))


def test_the_advised_parameters_are_those_of_the_pipeline(cache: Path) -> None:
    from kfp_trainer.pipelines.catalogue import load_pipeline
    from kfp_trainer.runtime_operator.cli.pipelines import parse_parameters

    words = commands(small_material(cache, Said()))[1]
    pairs = [value for flag, value in pairwise(words) if flag == "-p"]
    known = set(load_pipeline("finetune_llm").component_spec.inputs)
    assert parse_parameters(pairs, known=known)["training_job"] == {"nodes": 2}


def test_the_gate_of_the_demonstration_is_one(cache: Path) -> None:
    assert len(parse_rules((demo.RULES,))) == 1


@pytest.mark.parametrize(
    "called, shown",
    [
        ("bin/kfp-trainer", "bin/kfp-trainer"),
        ("/elsewhere/kfp-trainer", "/elsewhere/kfp-trainer"),
        ("x", "kfp-trainer"),
    ],
)
def test_the_program_is_named_as_it_can_be_called(
    called: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(tmp_path / called) if called.startswith("bin") else called])
    monkeypatch.setattr(demo_material.shutil, "which", lambda name: None)
    assert demo_material.program() == shown


def test_the_extra_that_is_advised_brings_what_is_needed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    brought, open_names = set[str](), ["local"]
    while open_names:
        for wanted in extras[open_names.pop()]:
            own = re.fullmatch(r"kfp-trainer\[(.*)\]", wanted)
            open_names += own[1].split(",") if own else []
            brought.add(re.split(r"[^\w-]", wanted)[0].replace("-", "_"))
    assert set(demo.NEEDED) <= brought

"""Runs that are killed or told to stop go on as if nothing had been; several processes are as one.

Every run here is a process of its own, as in a container.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from kfp_trainer.runtime_operator.workloads.tiny import make_demo_data
from tests.counts import count
from tests.tiny_base import untrained_model

pytestmark = [
    # notices of libraries that a test process, with warnings as errors, would die of
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
MODULE = "kfp_trainer.runtime_operator.workloads.finetune"
MEET = ["--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:0", "--local-addr=127.0.0.1"]
TORCHRUN = ["-m", "torch.distributed.run", *MEET, "--nproc_per_node", "2"]
STEPS, SAVE_EVERY = 30, 4
PATIENCE = 300.0
GRACE = 20.0  # what a pod has by default is 30
METHODS: dict[str, list[str]] = {
    "lora": ["--lora-dropout=0.1"],  # so that chance goes on, too
    "full": ["--method=full", "--learning-rate=1e-3"],
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("restarts")
    make_demo_data(here / "data")
    untrained_model(here / "model")
    return here


class Run:
    """One run, which may take several processes one after the other."""

    def __init__(self, place: Path, output: Path, flags: list[str], *, processes: int = 1) -> None:
        folders = [f"--model={place / 'model'}", f"--dataset={place / 'data'}", f"--output={output}"]
        often = [f"--max-steps={STEPS}", f"--save-every={SAVE_EVERY}", "--log-every=1"]
        more = ["--batch-size=8", "--learning-rate=5e-3", "--threads=1"]
        launcher = TORCHRUN if processes > 1 else []
        self.command = [sys.executable, *launcher, "-m", MODULE, *folders, *often, *more, *flags]
        self.output = output

    def start(self) -> subprocess.Popen[str]:
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        return subprocess.Popen(
            self.command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    def finish(self) -> dict[str, Any]:
        process = self.start()
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, said[-2000:]
        result: dict[str, Any] = json.loads((self.output / "result.json").read_text())
        return result

    def events(self) -> list[dict[str, Any]]:
        file = self.output / "progress.jsonl"
        lines = file.read_text().split("\n")[:-1] if file.exists() else []
        return [json.loads(line) for line in lines]

    def wait_for_steps(self, process: subprocess.Popen[str], steps: int) -> None:
        """Return when this process has done so many steps, or has ended."""
        before, until = len(self.events()), time.monotonic() + PATIENCE
        while sum(event["event"] == "step" for event in self.events()[before:]) < steps:
            if process.poll() is not None:
                return
            assert time.monotonic() < until, "the run does not get on"
            time.sleep(0.02)


def losses(result: dict[str, Any]) -> list[float]:
    return [point["loss"] for point in result["curve"]]


@pytest.fixture(scope="module", params=METHODS)
def undisturbed(
    request: pytest.FixtureRequest, place: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[str], dict[str, Any]]:
    """The flags of a method, and its result in one go."""
    flags = METHODS[request.param]
    return flags, Run(place, tmp_path_factory.mktemp("whole") / "out", flags).finish()


def test_killed_at_random_steps_it_ends_as_undisturbed(
    undisturbed: tuple[list[str], dict[str, Any]], place: Path, tmp_path: Path
) -> None:
    flags, whole = undisturbed
    run, chance = Run(place, tmp_path / "0", flags), random.Random(7)
    for number in range(1, count(20, sampled=2) + 1):
        process = run.start()
        run.wait_for_steps(process, chance.randint(1, 15))
        time.sleep(chance.random() / 20)  # anywhere between two steps, also while a checkpoint is written
        process.kill()
        process.communicate()
        if (run.output / "result.json").exists():  # it was over before it was killed
            check_as_undisturbed(run, whole)
            run = Run(place, tmp_path / str(number), flags)
    last = run.events()[-1].get("step", 0) if run.events() else 0
    result = run.finish()
    assert last - result["resumed_from"] <= 2 * SAVE_EVERY
    check_as_undisturbed(run, whole)
    assert not (run.output / "checkpoints").exists()
    assert not list(run.output.glob(".*"))


def check_as_undisturbed(run: Run, whole: dict[str, Any]) -> None:
    assert losses(json.loads((run.output / "result.json").read_text())) == losses(whole)
    for folder in ("merged", "adapter"):
        mine = {file.name: file.read_bytes() for file in (run.output / folder).glob("*.safetensors")}
        theirs = Path(whole["report"]).parent / folder
        assert mine == {file.name: file.read_bytes() for file in theirs.glob("*.safetensors")}


@pytest.fixture(scope="module")
def without_checkpoints(place: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The result of a run in one go."""
    return Run(place, tmp_path_factory.mktemp("plain") / "out", ["--save-every=0"]).finish()


@pytest.mark.parametrize("processes", [1, 2])
def test_told_to_stop_it_leaves_a_checkpoint_and_goes_on_from_there(
    processes: int, place: Path, tmp_path: Path, without_checkpoints: dict[str, Any]
) -> None:
    run = Run(place, tmp_path / "out", ["--save-every=0"], processes=processes)
    process = run.start()
    run.wait_for_steps(process, 5)
    told = time.time()
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=PATIENCE)
    *_, checkpoint, stopped = run.events()
    assert (checkpoint["event"], stopped["event"]) == ("checkpoint", "stopped")
    assert checkpoint["step"] == stopped["step"] < STEPS
    assert stopped["time"] - told < GRACE
    assert not (run.output / "result.json").exists()
    if processes == 1:
        assert process.returncode == 75
        assert f"told to stop at step {stopped['step']} of {STEPS}, start it again" in said
    result = run.finish()
    assert result["resumed_from"] == stopped["step"]
    assert losses(result) == pytest.approx(losses(without_checkpoints), abs=1e-4)


SHARED = {
    "lora, a part of the model each": ["--spread=fsdp2"],
    "every weight, a part of the model each": ["--spread=fsdp2", "--method=full", "--learning-rate=1e-3"],
    "weights of 4 bits, all of them on each": ["--method=qlora"],
    "comparing answers": ["--objective=dpo"],
}


@pytest.mark.parametrize("sentence", SHARED)
def test_two_processes_are_as_one(sentence: str, place: Path, tmp_path: Path) -> None:
    flags = [*SHARED[sentence], "--max-steps=6", "--save-every=0"]
    if "--objective=dpo" in flags:
        flags.append(f"--dataset={pairs(place)}")
    alone = [flag for flag in flags if not flag.startswith("--spread")]
    one = Run(place, tmp_path / "one", alone).finish()
    two = Run(place, tmp_path / "two", flags, processes=2).finish()
    assert (one["spread"], two["spread"]) == ("alone", "fsdp2" if "--spread=fsdp2" in flags else "ddp")
    coarse = "--method=qlora" in flags  # its adapter is held in numbers of 16 bits
    assert losses(two) == pytest.approx(losses(one), abs=1e-3 if coarse else 1e-4)
    mine, theirs = (load_file(tmp_path / name / "merged/model.safetensors") for name in ("one", "two"))
    assert mine.keys() == theirs.keys()
    apart = max(float((mine[name] - theirs[name]).abs().max()) for name in mine)
    assert apart < (2e-2 if coarse else 1e-3)


def pairs(place: Path) -> Path:
    folder = place / "pairs"
    folder.mkdir(exist_ok=True)
    rows = [json.loads(line) for line in (place / "data" / "train.jsonl").read_text().splitlines()][:200]
    found = [
        {"prompt": row["prompt"], "chosen": row["completion"], "rejected": row["completion"][::-1]}
        for row in rows
    ]
    (folder / "train.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in found))
    return folder

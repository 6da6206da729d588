"""An image whose fetch is killed at any moment, also while layers are merged: the same tree in the end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from tests.counts import count
from tests.servers import go_program
from tests.servers.fetching import fetched, tree
from tests.servers.registry import Registry
from tests.servers.tars import LAYER, gz, tar
from tests.servers.web import Answer, Asked, sha256

MODULE = "kfp_trainer.runtime_operator.workloads.fetch"
LOWER = {f"models/{number}.safetensors": os.urandom(600_000) for number in range(6)}
UPPER = {
    "models/.wh.0.safetensors": b"",
    "models/1.safetensors": os.urandom(3_000_000),
    "models/config.json": b"{}",
}
WANT = {path.removeprefix("models/"): body for path, body in {**LOWER, **UPPER}.items() if ".wh." not in path}
WANT.pop("0.safetensors")

pytestmark = pytest.mark.skipif(bool(go_program.why_not()), reason=go_program.why_not() or "can be built")


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with Registry(tmp_path_factory.mktemp("registry")) as registry:
        registry.push("org/car", "v1", [(LAYER, tar(LOWER), {}), (f"{LAYER}+gzip", gz(tar(UPPER)), {})])
        yield registry


@pytest.mark.parametrize("seed", range(count(20, sampled=2)))
def test_killed_over_and_over_it_arrives(registry: Registry, tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    target = tmp_path / "d"
    command = [sys.executable, "-m", MODULE, "model", f"oci://{registry.host}/org/car:v1", str(target)]
    for _ in range(3):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _wait_for_work(target, process)
        time.sleep(dice.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not target.exists() or tree(target) == WANT, "a folder that appears is whole"
    ran = subprocess.run(command, capture_output=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    assert tree(target) == WANT
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def _wait_for_work(target: Path, process: subprocess.Popen[bytes]) -> None:
    """Until the fetch has made its folder, or has finished."""
    while process.poll() is None and not (target.parent / f".{target.name}.fetch").exists():
        time.sleep(0.01)


@pytest.mark.parametrize("missing", ["the lower layer", "the upper layer"])
def test_the_layer_that_came_is_not_fetched_again(registry: Registry, tmp_path: Path, missing: str) -> None:
    layers = {"the lower layer": tar(LOWER), "the upper layer": gz(tar(UPPER))}
    blobs = {name: f"/blobs/sha256:{sha256(body)}" for name, body in layers.items()}
    uri = f"oci://{registry.host}/org/car:v1"
    there = next(name for name in blobs if name != missing)
    answer = registry.web._answer

    def without(asked: Asked) -> Answer:
        """Refuse the one layer when the other has been taken in."""
        if blobs[missing] not in asked.target:
            return answer(asked)
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob(".d.fetch/parts/*.members.json")) and time.monotonic() < deadline:
            time.sleep(0.02)
        return Answer(404)

    registry.web._answer = without
    try:
        with pytest.raises(KfpTrainerError, match="does not hold it"):
            fetched(uri, tmp_path / "d")
    finally:
        registry.web._answer = answer
    registry.web.asked.clear()
    fetched(uri, tmp_path / "d")
    assert tree(tmp_path / "d") == WANT
    assert registry.web.asked_for(blobs[missing])
    assert not registry.web.asked_for(blobs[there])

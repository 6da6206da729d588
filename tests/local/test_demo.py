"""The demonstration from a terminal: the second run is quick and needs no network, Ctrl-C leaves nothing.

Here with its toy; under `make soak` also with the real model, and with Ctrl-C at more moments.
"""

import fcntl
import os
import re
import resource
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.workloads.tiny import make_demo_data
from tests.counts import SOAK
from tests.terminal import CTRL_C, Recording, record
from tests.tiny_base import tiny_base

LIMIT = 1800.0
SLOWER = 3.0
"""how much longer than reading kfp alone the way to the first step may take"""
DEMO = "from kfp_trainer.runtime_operator.cli.main import main; main(['demo', *sys.argv[1:]])"
APART = ["unshare", "--net", *([] if os.getuid() == 0 else ["--user", "--map-root-user"])]
MOMENTS = ["fetch-model", "step 20 of"]
MORE = [
    "asking",
    "Make a toy",
    "Teach",
    "All of it",
    "fetch-dataset",
    "finetune-llm",
    "TrainJob",
    "step 1 of",
    "the loss",
    "gate",
]


def command(*options: str) -> list[str]:
    return [sys.executable, "-c", f"import sys\n{DEMO}", *options]


def without_network(*options: str) -> list[str]:
    """The demonstration on a machine that knows nobody but itself."""
    code = f"import sys; from {__name__} import loopback_up; loopback_up()\n{DEMO}"
    return [*APART, sys.executable, "-c", code, *options]


def loopback_up() -> None:
    """Switch on the address of the machine itself."""
    with socket.socket() as handle:
        fcntl.ioctl(handle, 0x8914, struct.pack("16sH14x", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS, UP and RUNNING


class Home:
    """A person's folders, and what is in them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scratch = folder / "tmp"
        self.scratch.mkdir()

    def run(self, command: list[str], *, interrupt_at: str = "") -> Recording:
        root = str(Path(__file__).parents[2])
        own = {"KFP_TRAINER_HOME": str(self.folder), "TMPDIR": str(self.scratch), "PYTHONPATH": root}
        keys = {interrupt_at: CTRL_C} if interrupt_at else {}
        return record(command, {**os.environ, **own}, limit=LIMIT, keys=keys)

    def files(self) -> set[str]:
        """All that lies here, by its path, but for the lock that all jobs share."""
        found = {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if not path.is_dir()}
        return found - {"jobs/.lock"}

    def processes(self) -> list[str]:
        """The processes that have the folder in their environment."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if str(self.folder).encode() in (process / "environ").read_bytes():
                    found.append(process.name)
            except OSError:
                continue
        return found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Where the demonstration has been before, so that its toy is there."""
    home = Home(tmp_path_factory.mktemp("home"))
    shutil.copytree(tiny_base(), home.folder / "cache/demo/tiny-model")
    yield home
    assert home.processes() == []


def why_not() -> str:
    """Why this machine cannot switch a network off for one process."""
    tried = subprocess.run([*APART, "true"], capture_output=True, text=True)
    return tried.stderr.strip() if tried.returncode else ""


@pytest.mark.skipif(bool(why_not()), reason=why_not())
def test_a_second_run_needs_no_network_and_starts_at_once(home: Home) -> None:
    shown = home.run(without_network("--tiny"))
    check_end(shown, base=10, tuned=75)
    assert list(home.scratch.iterdir()) == []
    first = next(piece for piece in shown.pieces if "fetch-dataset" in piece.text)
    assert first.computed < SLOWER * cost_of_kfp()


def check_end(shown: Recording, *, base: int, tuned: int) -> None:
    """It ended well: with better answers, with reports that are there, and with what to try next."""
    assert shown.code == 0, shown.text
    (learnt,) = re.findall(r"Right answers +(\d+)% -> (\d+)%", shown.text)
    assert int(learnt[0]) <= base and int(learnt[1]) >= tuned
    where, _, opened = shown.text.partition("\nOpen, in ")[2].partition("\r\n\r\n")[0].partition("\r\n")
    files = [Path(where, line.split()[0]) for line in opened.splitlines()]
    assert len(files) == 3 and [file for file in files if not file.is_file()] == []
    for advice in ("your own rows", "more nodes", "a cluster"):
        assert f"\n  {advice}: " in shown.text


def cost_of_kfp() -> float:
    """Seconds of a processor that reading kfp takes here and now."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", "import kfp.local, kfp.kubernetes"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@pytest.mark.parametrize("moment", [*MOMENTS, *(MORE if SOAK else ())])
def test_ctrl_c_leaves_nothing(home: Home, moment: str, tmp_path: Path) -> None:
    if moment == "Make a toy":
        home = Home(tmp_path)
    make_demo_data(home.folder / "cache/demo/messages")
    before = home.files()
    shown = home.run(command("--tiny"), interrupt_at=moment)
    assert shown.code == 130, shown.text
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown.text)
    last = [line for line in plain.splitlines() if line][-2:]
    assert last == ["Stop, and take away what this run has begun …", "kfp-trainer: interrupted"]
    assert home.processes() == []
    assert home.files() == before


@pytest.mark.skipif(not SOAK or bool(why_not()), reason=why_not() or "takes minutes: make soak")
def test_the_real_model_is_fetched_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    stopped = home.run(command(), interrupt_at="Fetch SmolLM2")
    assert stopped.code == 130 and home.files() == set(), stopped.text
    home.run(command(), interrupt_at="fetch-dataset")
    check_end(home.run(without_network()), base=10, tuned=75)

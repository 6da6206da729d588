"""The demonstration from a terminal: it ends with what was learnt, and Ctrl-C leaves nothing of it.

It takes minutes, so this runs under `make soak` alone; continuous integration runs `make demo` itself.
"""

import os
import pty
import re
import select
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.counts import SOAK

pytestmark = pytest.mark.skipif(not SOAK, reason="takes minutes: make soak")
LIMIT = 1800.0


def on_a_terminal(home: Path, *, until: str = "") -> tuple[int, str]:
    """Run the demonstration as a person does, with Ctrl-C once `until` is shown; exit code and output."""
    child, terminal = pty.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # what starts the tests may have it ignored
        os.environ["KFP_TRAINER_HOME"] = str(home)
        code = "from kfp_trainer.runtime_operator.cli.main import main; main(['demo', '--tiny'])"
        os.execv(sys.executable, [sys.executable, "-c", code])
    shown, interrupted, end = "", False, time.monotonic() + LIMIT
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError:  # the other side is gone
            break
        shown += piece.decode(errors="replace")
        if until and until in shown and not interrupted:
            os.write(terminal, b"\x03")
            interrupted = True
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown


def processes_of(home: Path) -> list[str]:
    """The processes that have the folder in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(home).encode() in (process / "environ").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


def test_it_ends_with_what_was_learnt_and_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    code, shown = on_a_terminal(tmp_path)
    assert code == 0, shown
    (learnt,) = re.findall(r"Right answers +(\d+)% -> (\d+)%", shown)
    assert int(learnt[0]) <= 10 and int(learnt[1]) >= 75
    for page in re.findall(r"^  (/\S+)\r$", shown, re.MULTILINE):
        assert Path(page).is_file()
    (first,) = (tmp_path / "runs").iterdir()
    for moment in ("fetch-model", "step 20 of", "asking"):
        code, shown = on_a_terminal(tmp_path, until=moment)
        assert code == 130, shown
        assert list((tmp_path / "runs").iterdir()) == [first]
        assert len(list((tmp_path / "jobs/default").iterdir())) == 1
        assert processes_of(tmp_path) == []

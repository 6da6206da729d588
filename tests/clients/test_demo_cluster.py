"""`make demo-cluster`, as a person starts it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.control_plane.build import why_not
from tests.cluster.control_plane.parts import PARTS
from tests.counts import SOAK

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.skipif(not SOAK, reason="a control plane of its own for two minutes: make soak"),
    pytest.mark.skipif(bool(why_not()), reason=f"no control plane here: {why_not()}"),
    pytest.mark.skipif(
        SOAK and bool(PARTS["process-node"].why_not()), reason="nodes need namespaces of their own"
    ),
]


def test_it_trains_evaluates_and_leaves_two_reports(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.cluster.demo"],
        cwd=ROOT,
        env={**os.environ, "KFP_TRAINER_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Right answers   0% -> " in done.stdout
    found = {path.name for path in tmp_path.glob("runs/demo-cluster-*/*/*.html")}
    assert found == {"training_report.html", "evaluation_report.html"}

"""Each contract of .importlinter catches the import it forbids; a contract that cannot fail is none."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BREACHES = {
    "a lower layer that imports a higher one": (
        "runtime_operator/api/breach.py",
        "from ..render import plan",
    ),
    "render that imports local": ("runtime_operator/render/breach.py", "from .. import local"),
    "workloads that know of jobs": ("runtime_operator/workloads/breach.py", "from .. import jobs"),
    "workloads that import a Kubernetes client": (
        "runtime_operator/workloads/breach.py",
        "import kubernetes",
    ),
    "render that reads a clock": ("runtime_operator/render/breach.py", "import time"),
    "api that draws random numbers": ("runtime_operator/api/breach.py", "from random import random"),
    "the webhook that imports the controller": (
        "runtime_operator/webhook/breach.py",
        "from ..controller import kinds",
    ),
    "a component that renders by itself": (
        "components/breach.py",
        "from kfp_trainer.runtime_operator.render import plan",
    ),
    "a client of API servers that knows TrainJobs": (
        "runtime_operator/kube/breach.py",
        "from ..api import names",
    ),
    "errors that import the command line": ("runtime_operator/errors.py", "from . import cli"),
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages, seen as `kfp_trainer`."""
    root = tmp_path_factory.mktemp("layers")
    for name in ("runtime_operator", "components", "pipelines"):
        shutil.copytree(
            ROOT / name, root / "kfp_trainer" / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / ".importlinter", root)
    return root


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)


def test_the_tree_as_it_is_keeps_every_contract(copy: Path) -> None:
    result = lint(copy)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("sentence", BREACHES)
def test_a_breach_is_caught(sentence: str, copy: Path) -> None:
    place, line = BREACHES[sentence]
    module = copy / "kfp_trainer" / place
    before = module.read_text() if module.exists() else None
    module.write_text(f"{before or ''}\n{line}\n")
    try:
        result = lint(copy)
    finally:
        module.unlink() if before is None else module.write_text(before)
    assert result.returncode == 1, result.stdout
    assert "BROKEN" in result.stdout

"""The wheel alone is enough: in an empty environment it shows its help and renders from its own runtimes.

With what its extra `local` brings it runs the demonstration, far from the checkout.
"""

import os
import shutil
import site
import subprocess
import sys
from pathlib import Path

import pytest

from tests.counts import SOAK
from tests.terminal import CTRL_C, record
from tests.tiny_base import tiny_base

ROOT = Path(__file__).resolve().parents[2]
UV = Path(sys.executable).with_name("uv")
JOB = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: hello}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: {numNodes: 2, command: [torchrun, train.py]}
"""


def run(*command: object, **options: object) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, env=environment, **options
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    run(UV, "build", "--quiet", "--wheel", "--out-dir", folder, ROOT, cwd=folder)
    return next(folder.glob("*.whl"))


def environment(folder: Path, wheel: Path, *options: str) -> Path:
    """A virtual environment with the wheel."""
    run(UV, "venv", "--quiet", "--python", sys.executable, folder)
    run(UV, "pip", "install", "--quiet", "--python", folder / "bin/python", *options, wheel)
    return folder


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """An environment that holds the wheel and its plain dependencies, nothing else."""
    return environment(wheel.with_name("venv"), wheel, "-c", str(ROOT / "constraints.txt"))


@pytest.fixture(scope="module")
def complete(wheel: Path) -> Path:
    """One that holds the wheel, and borrows every other package from the environment of the tests."""
    made = environment(wheel.with_name("complete"), wheel, "--no-deps")
    packages = Path(run(made / "bin/python", "-c", "import site; print(site.getsitepackages()[0])").strip())
    (packages / "borrowed.pth").write_text("\n".join(site.getsitepackages()))
    return made


def test_help_is_shown(installed: Path, tmp_path: Path) -> None:
    assert "Fine-tune and evaluate" in run(installed / "bin/kfp-trainer", "--help", cwd=tmp_path)


def test_a_job_is_rendered_on_a_shipped_runtime(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB)
    text = run(installed / "bin/kfp-trainer", "render", "-f", "job.yaml", cwd=tmp_path)
    assert "kind: JobSet" in text
    assert "parallelism: 2" in text


def test_only_our_package_lands_in_site_packages(installed: Path, tmp_path: Path) -> None:
    code = (
        "from importlib.metadata import files; print(*{str(f).split('/')[0] for f in files('kfp-trainer')})"
    )
    names = run(installed / "bin/python", "-c", code, cwd=tmp_path).split()
    assert [name for name in names if not name.endswith(".dist-info") and name != ".."] == ["kfp_trainer"]


def test_what_is_missing_is_said_with_the_command_that_brings_it(installed: Path, tmp_path: Path) -> None:
    result = subprocess.run(
        [installed / "bin/kfp-trainer", "demo"], capture_output=True, text=True, cwd=tmp_path
    )
    assert result.returncode == 3
    assert "pip install 'kfp-trainer[local]'" in result.stderr


def test_the_demonstration_runs_far_from_the_checkout(complete: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny_base(), tmp_path / "home/cache/demo/tiny-model")
    own = {"KFP_TRAINER_HOME": str(tmp_path / "home"), "PATH": f"{complete}/bin:{os.environ['PATH']}"}
    shown = record(
        ["sh", "-c", 'cd "$0" && exec kfp-trainer demo --tiny', str(tmp_path)],
        {name: value for name, value in {**os.environ, **own}.items() if name != "PYTHONPATH"},
        limit=1800,
        keys={} if SOAK else {"step 20 of": CTRL_C},
    )
    assert shown.code == (0 if SOAK else 130), shown.text
    assert "step 20 of 200" in shown.text
    assert str(ROOT) not in shown.text

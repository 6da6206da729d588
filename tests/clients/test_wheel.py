"""The wheel alone is enough: in an empty environment it shows its help and renders from its own runtimes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
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
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that holds the wheel and its plain dependencies, nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    uv = Path(sys.executable).with_name("uv")
    run(uv, "build", "--quiet", "--wheel", "--out-dir", folder, ROOT, cwd=folder)
    run(uv, "venv", "--quiet", "--python", sys.executable, folder / "venv")
    wheel = next(folder.glob("*.whl"))
    python = folder / "venv/bin/python"
    run(uv, "pip", "install", "--quiet", "--python", python, "-c", ROOT / "constraints.txt", wheel)
    return folder / "venv"


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

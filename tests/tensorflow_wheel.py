"""TensorFlow's wheel for CPUs, in an environment of its own: it does not fit beside what tests need."""

import subprocess
import sys
from pathlib import Path

WHEEL = "tensorflow-cpu==2.21.0"
WHY_NOT = "under soak: TensorFlow is 270 MB to download"


def python_with_tensorflow(folder: Path) -> str:
    """Make the environment in a folder, and return its Python."""
    uv, made = Path(sys.executable).with_name("uv"), str(folder / "bin/python")
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, folder], check=True)
    subprocess.run([uv, "pip", "install", "--quiet", "--python", made, WHEEL], check=True)
    return made

"""What the Containerfiles are built from: this tree's wheel beside the files of manifests/images."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from .building import CONTEXT, ROOT


def make_context(folder: Path) -> Path:
    """Put a whole context into an empty folder; the same sources give the same bytes."""
    context = folder / "context"
    shutil.copytree(CONTEXT, context, ignore=shutil.ignore_patterns("dist"))
    uv = Path(sys.executable).with_name("uv")
    command = [uv, "build", "--quiet", "--wheel", "--out-dir", context / "dist", ROOT]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run(command, check=True, capture_output=True, cwd=folder, env=environment)
    return context

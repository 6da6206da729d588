"""Credentials of a step: the files of a mounted Secret become environment variables of this process alone.

The Secret's keys are the names that fetching and exporting know: HF_TOKEN, AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, ENDPOINT … Mounted, it is in no pod's environment and in no object but by its name.
What the environment says already counts more.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

MOUNTED = Path("/var/run/kfp-trainer/credentials")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def take_credentials(folder: Path = MOUNTED) -> list[str]:
    """Take what is mounted into the environment; return the names."""
    if not folder.is_dir():
        return []
    found = {
        file.name: file.read_text(encoding="utf-8").strip()
        for file in sorted(folder.iterdir())
        if file.is_file() and VARIABLE.fullmatch(file.name)
    }
    new = {name: value for name, value in found.items() if not os.environ.get(name)}
    os.environ.update(new)
    return list(new)

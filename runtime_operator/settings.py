"""Where this project keeps its state on a person's machine.

Everything lies under one folder, `$KFP_TRAINER_HOME`, so that one `rm -r` removes it: `jobs/` what ran,
`cache/` what was fetched or made and can be had again, `runs/` the results of pipelines.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import SetupError

HOME_VARIABLE = "KFP_TRAINER_HOME"
DEFAULT_HOME = "~/.local/share/kfp-trainer"


@dataclass(frozen=True, slots=True)
class Settings:
    """The folders of one installation."""

    home: Path

    @property
    def jobs(self) -> Path:
        """A folder a job: its objects, logs, events and status."""
        return self.home / "jobs"

    @property
    def cache(self) -> Path:
        """What was fetched or made and can be had again."""
        return self.home / "cache"

    @property
    def runs(self) -> Path:
        """A folder a pipeline run: its workspace, reports and models."""
        return self.home / "runs"


def read_settings(environ: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings; a relative home is refused, since it would move with the reader."""
    given = environ.get(HOME_VARIABLE, "").strip()
    home = Path(given or DEFAULT_HOME).expanduser()
    if not home.is_absolute():
        raise SetupError(
            f"{HOME_VARIABLE}: must be an absolute path, got {given!r}; write {Path.cwd() / home}"
        )
    return Settings(home)

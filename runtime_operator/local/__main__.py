"""The process of a runner: `python -m kfp_trainer.runtime_operator.local FOLDER [LOCK]`."""

from __future__ import annotations

import sys

from .running import main

main(sys.argv[1], *map(int, sys.argv[2:]))

"""`python -m kfp_trainer.runtime_operator.workloads.fetch dataset|model`: what initializers run."""

import sys

from ..command import main
from .command import fetch_command

sys.exit(main(fetch_command()))

"""`python -m kfp_trainer.runtime_operator.workloads.evaluate`."""

import sys

from ..command import main
from .command import evaluate_command

sys.exit(main(evaluate_command()))

"""`python -m kfp_trainer.runtime_operator.workloads.gate`."""

import sys

from ..command import main
from .command import gate_command

sys.exit(main(gate_command()))

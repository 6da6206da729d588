"""`python -m kfp_trainer.runtime_operator.workloads.export`."""

import sys

from ..command import main
from .command import export_command

sys.exit(main(export_command()))

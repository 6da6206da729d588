"""`python -m kfp_trainer.runtime_operator.workloads.dataset`."""

import sys

from ..command import main
from .command import dataset_command

sys.exit(main(dataset_command()))

"""`python -m kfp_trainer.runtime_operator.workloads.finetune`, alone or under torchrun."""

import sys

from ..command import main
from .command import finetune_command

sys.exit(main(finetune_command()))

"""`python -m kfp_trainer.runtime_operator.workloads.gguf`."""

import sys

from ..command import main
from .command import gguf_command

sys.exit(main(gguf_command()))

"""torchrun that ends as the processes did which it started.

torchrun itself ends with 1, whatever happened, behind a stack of its own. So nobody can tell a mistake in the
settings, which a second try will not mend, from a node that was lost. Here the first process that failed says
how this one ends, and its last words stay the last; a signal is told in a line, since nobody else will.

    python -m kfp_trainer.runtime_operator.workloads.torchrun -m MODULE …
"""

from __future__ import annotations

import logging
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

SAYS_IT_AGAIN = "torch.distributed.elastic.multiprocessing.api"


def main(arguments: list[str]) -> int:
    """Run torchrun and return the exit code of what it ran."""
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.run import main as torchrun

    logging.getLogger(SAYS_IT_AGAIN).setLevel(logging.CRITICAL)
    try:
        torchrun(arguments)
    except ChildFailedError as error:
        return exit_code(error)
    return 0


def exit_code(error: ChildFailedError) -> int:
    """The exit code of the process that failed first, as a shell writes it; a signal is told."""
    rank, failure = error.get_first_failure()
    if failure.exitcode >= 0:
        return int(failure.exitcode)
    killed_by = signal.Signals(-failure.exitcode)
    print(f"the process of rank {rank} was ended by {killed_by.name}", file=sys.stderr, flush=True)
    return 128 + killed_by


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

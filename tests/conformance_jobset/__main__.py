"""What JobSet's controllers did: `python -m tests.conformance_jobset answer IN OUT`, or `check [DIR]`."""

import sys

from tests.recorded_cases import Recordings, main

from .answer import CASES, answer
from .compare import faults

RECORDINGS = Recordings("conformance_jobset", CASES, answer, faults)

if __name__ == "__main__":
    sys.exit(main(RECORDINGS))

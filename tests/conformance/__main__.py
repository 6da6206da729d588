"""What Kubeflow Trainer builds: `python -m tests.conformance answer IN OUT`, or `check [DIR]`."""

import sys
from pathlib import Path

from tests.recorded_cases import Recordings, main

from .answer import answer
from .compare import faults

CASES = Path(__file__).parent / "cases"
RECORDINGS = Recordings("conformance", CASES, answer, faults)

if __name__ == "__main__":
    sys.exit(main(RECORDINGS))

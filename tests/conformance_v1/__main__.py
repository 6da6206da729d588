"""What the Training Operator did: `python -m tests.conformance_v1 answer IN OUT`, or `check [DIR]`."""

import sys
from pathlib import Path

from tests.recorded_cases import Recordings, main

from .answer import answer
from .compare import faults
from .not_served import NOT_SERVED

CASES = Path(__file__).parent / "cases"
RECORDINGS = Recordings(
    "conformance_v1", CASES, answer, faults, known={name: each.why for name, each in NOT_SERVED.items()}
)

if __name__ == "__main__":
    sys.exit(main(RECORDINGS))

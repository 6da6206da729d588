"""Every measurement of this folder, one table after the other; 1 if one is above its limit.

python -m tests.perf
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def main() -> int:
    """Run each `bench_*.py` beside this file."""
    failed = 0
    for path in sorted(Path(__file__).parent.glob("bench_*.py")):
        module = import_module(f"{__package__}.{path.stem}")
        print(f"\n## {(module.__doc__ or '').splitlines()[0]}\n", flush=True)
        failed += module.main()
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())

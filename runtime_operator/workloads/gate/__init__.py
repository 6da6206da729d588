"""Let a tuned model pass, or stop it, by rules on what its evaluation found.

`judge(GateSettings(...))` is the whole of it; `python -m kfp_trainer.runtime_operator.workloads.gate` is the
same as a command, whose exit code tells.
"""

from .result import GateResult, Judgement
from .run import judge
from .settings import GateSettings

__all__ = ["GateResult", "GateSettings", "Judgement", "judge"]

"""What becomes of a job of an older kind, by v1's rules: pure functions over its pods and its status."""

from .decide import Decision, Wanted, decide
from .pods import PodState

__all__ = ["Decision", "PodState", "Wanted", "decide"]

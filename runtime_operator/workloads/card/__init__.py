"""The model card: what a tuned model is, what it was made from and how good it is, beside its weights.

`write_cards` runs when a model has been trained, `add_evaluation` when it has been measured. Cards hold facts
of the run and of its inputs alone; what is not known is said to be unknown.
"""

from .origin import Origin, read_origin
from .writing import add_evaluation, write_cards

__all__ = ["Origin", "add_evaluation", "read_origin", "write_cards"]

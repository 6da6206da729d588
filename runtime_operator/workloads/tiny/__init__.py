"""A language model and an instruction set small enough to fine-tune on a laptop while one watches.

`make_demo_data(folder)` writes the rows, `make_tiny_model(folder)` makes the base model; both from nothing
but this code and a fixed seed, so there is nothing to download and nobody's licence to mind.
"""

from .data import make_demo_data
from .model import make_tiny_model

__all__ = ["make_demo_data", "make_tiny_model"]

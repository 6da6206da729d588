"""The built-in plug-ins, in the order in which they are asked; `framework` says why it is this order."""

from __future__ import annotations

from ..framework import Plugin
from .initializers import Initializers
from .jax import JAX
from .jobset import JobSet
from .plain import Plain
from .progress import Progress
from .torch import Torch
from .torchtune import TorchTune
from .trainer import TrainerOverrides
from .xgboost import XGBoost

BUILTIN: tuple[Plugin, ...] = (
    Plain(),
    JAX(),
    XGBoost(),
    TrainerOverrides(),
    Torch(),
    TorchTune(),
    Initializers(),
    Progress(),
    JobSet(),
)

"""The built-in plug-ins, in the order in which they are asked; `framework` says why it is this order."""

from __future__ import annotations

from ..framework import Plugin
from .coscheduling import CoScheduling
from .flux import Flux
from .initializers import Initializers
from .jax import JAX
from .jobset import JobSet
from .mpi import MPI
from .plain import Plain
from .progress import Progress
from .torch import Torch
from .torchtune import TorchTune
from .trainer import TrainerOverrides
from .volcano import Volcano
from .xgboost import XGBoost

BUILTIN: tuple[Plugin, ...] = (
    Plain(),
    JAX(),
    XGBoost(),
    MPI(),
    TrainerOverrides(),
    Torch(),
    TorchTune(),
    Flux(),
    Initializers(),
    Progress(),
    Volcano(),
    CoScheduling(),
    JobSet(),
)

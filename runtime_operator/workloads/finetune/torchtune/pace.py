"""How many steps a run has and in which epochs; which rows, and so how many tokens, each step sees.

A step that is not full is left out, as TorchTune does. The order of the rows in an epoch is drawn by
torch's sampler from the number of the epoch, on any number of processes the same, so that tokens can be
counted without asking the other processes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

from ....errors import SpecError
from ..settings import FinetuneSettings
from .shims import Pace


def pace_of(settings: FinetuneSettings, *, rows: int) -> Pace:
    """The epochs of a run over so many rows, or packed sequences of them."""
    steps = rows // settings.batch_size
    if not steps:
        what = "packed sequences" if settings.packing else "rows"
        raise SpecError(f"batch_size: {settings.batch_size} and there are {rows} {what}, give at most {rows}")
    total = settings.max_steps or int(settings.epochs) * steps
    epochs = -(-total // steps)
    return Pace(epochs=epochs, steps=steps, last=total - (epochs - 1) * steps)


def count_tokens(lengths: Sequence[int], pace: Pace, *, batch: int) -> Callable[[int], int]:
    """How many tokens, without padding, have been seen after each step."""
    import torch
    from torch.utils.data import DistributedSampler

    sampler = DistributedSampler(range(len(lengths)), num_replicas=1, rank=0, shuffle=True, seed=0)
    seen = [0]
    for epoch in range(pace.epochs):
        sampler.set_epoch(epoch)
        order = torch.tensor(list(sampler))[: pace.steps * batch].reshape(pace.steps, batch)
        steps = torch.tensor(lengths)[order].sum(dim=1).tolist()
        seen += list(accumulate(steps, initial=seen[-1]))[1:]
    return lambda step: int(seen[min(step, len(seen) - 1)])

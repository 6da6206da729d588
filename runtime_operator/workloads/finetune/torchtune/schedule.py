"""The learning rate's course, the same as that of the other back end, as a component of a recipe."""

from __future__ import annotations

from typing import Any


def rate_schedule(
    optimizer: Any,
    num_training_steps: int,
    last_epoch: int = -1,
    *,
    course: str,
    num_warmup_steps: int,
    steps: int,
) -> Any:
    """A schedule over the `steps` of the run; the recipe's own count takes every epoch for whole."""
    from transformers import optimization as of_trainer

    common = {"num_warmup_steps": num_warmup_steps, "last_epoch": last_epoch}
    if course == "constant":
        return of_trainer.get_constant_schedule_with_warmup(optimizer, **common)
    courses = {
        "cosine": of_trainer.get_cosine_schedule_with_warmup,
        "linear": of_trainer.get_linear_schedule_with_warmup,
    }
    return courses[course](optimizer, num_training_steps=steps, **common)

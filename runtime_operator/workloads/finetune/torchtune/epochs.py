"""Runs the recipe, epoch by epoch, and makes a checkpoint of each that is complete.

TorchTune can go on only where an epoch ended. Each epoch's files are marked complete and carry the step they
were written at, as the other back end's checkpoints do; what was torn by the end of a process is never used.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ....errors import JobFailed, Retryable
from ..checkpoints import PREFIX, mark_complete, prune, step_of
from ..progress import ProgressLog, StepEvent
from .endpoint import Endpoint
from .logger import Follower, followed_by
from .overrides import Recipe, Resume, recipe_for
from .pace import count_tokens
from .preparing import Ready, Run
from .recipe import run_recipe, silent
from .shims import Pace


def run_epochs(run: Run, ready: Ready, *, last: Path | None, log: ProgressLog | None) -> None:
    """Run the recipe from `last`, and say what to lower where memory runs out."""
    import torch

    if run.place.first:
        for torn in run.checkpoints.glob("epoch_*"):
            shutil.rmtree(torn)
        if last:  # resuming, TorchTune looks for the folder of an epoch even where it is told the files
            (run.checkpoints / f"epoch_{step_of(last) // ready.pace.steps - 1}").mkdir()
    follower = _follower(run, ready, log)
    recipe = _recipe(run, ready, last)
    try:
        with silent(), followed_by(follower), _stopping(ready.pace, log):
            run_recipe(
                recipe.name,
                recipe.arguments,
                pace=ready.pace,
                on_saved=lambda folder, epoch, more: _keep(run, ready.pace, folder, epoch, more, log),
            )
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise JobFailed(ready.plan.too_large("take method lora")) from error


def _recipe(run: Run, ready: Ready, last: Path | None) -> Recipe:
    settings = run.settings
    resume = Resume(last.name, _names(last)) if last else None
    return recipe_for(
        settings,
        ready.plan,
        shape=ready.shape,
        pace=ready.pace,
        weights=_names(settings.model),
        work=run.checkpoints,
        resume=resume,
    )


def _names(folder: Path) -> tuple[str, ...]:
    """The files of a model's weights, and not those of an adapter."""
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        return tuple(sorted(set(json.loads(index.read_bytes())["weight_map"].values())))
    return tuple(sorted(file.name for file in folder.glob("*.safetensors") if "adapter" not in file.name))


def _follower(run: Run, ready: Ready, log: ProgressLog | None) -> Follower:
    settings, endpoint = run.settings, Endpoint(os.environ)

    def say(event: StepEvent) -> None:
        if log:
            log.step(event)
        endpoint.tell(event)

    tokens_at = count_tokens(ready.seen, ready.pace, batch=settings.batch_size)
    follower = Follower(say, every=settings.log_every, tokens_at=tokens_at)
    follower.steps, follower.steps_an_epoch = ready.pace.total, ready.pace.steps
    return follower


def _keep(run: Run, pace: Pace, folder: Path, epoch: int, more: bool, log: ProgressLog | None) -> None:
    """Make a checkpoint of an epoch's files; the last epoch's are what the outputs are made of."""
    settings = run.settings
    if not more:
        return
    state = run.checkpoints / "recipe_state" / "recipe_state.pt"
    if settings.save_every == 0:
        shutil.rmtree(folder)
        return
    shutil.move(state, folder / state.name)
    step = (epoch + 1) * pace.steps
    checkpoint = run.checkpoints / f"{PREFIX}{step}"
    shutil.rmtree(checkpoint, ignore_errors=True)
    folder.rename(checkpoint)
    mark_complete(checkpoint)
    prune(run.checkpoints, keep=settings.keep_checkpoints)
    if log:
        log.write("checkpoint", step=step)


@contextmanager
def _stopping(pace: Pace, log: ProgressLog | None) -> Iterator[None]:
    """SIGTERM ends the run at once: no checkpoint could be written before the epoch's end."""

    def stop(number: int, frame: Any) -> None:
        if log:
            log.write("stopped", of=pace.total)
        raise Retryable(
            "the run was told to stop, start it again to go on from the last epoch that was completed",
            after=0,
        )

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

"""Runs one of TorchTune's recipes in this process, repaired and followed.

Recipes are files beside the library, no modules: they are run by their path with a command line, as
`tune run` does. Under torchrun every process does this.
"""

from __future__ import annotations

import importlib
import logging
import runpy
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ....errors import JobFailed, SpecError
from .shims import Pace, import_torchtune, mend_recipe, mended

OWN_LOGS = ("torchtune.utils._logging", "torch.utils._pytree", "torchao")
Saved = Callable[[Path, int, bool], None]
"""told the folder of an epoch's files, the epoch, and whether more epochs follow"""


def run_recipe(
    name: str, arguments: Sequence[str], *, pace: Pace | None = None, on_saved: Saved | None = None
) -> None:
    """Run the recipe to its end; its class is told `pace`, and `on_saved` of each epoch that is written."""
    with mended(), _saving(on_saved):
        file, words = _found(name, arguments)
        before, sys.argv = sys.argv, [str(file), *words]
        try:
            parts = runpy.run_path(str(file), run_name="torchtune_recipe")
            for part in parts.values():
                if isinstance(part, type) and part.__module__ == "torchtune_recipe":
                    _prepare(part, pace)
            parts["recipe_main"]()
        except SystemExit as ended:  # how every recipe ends, well or not
            if ended.code:
                raise JobFailed(f"torchtune: {name} ended with {ended.code}, its words are above") from None
        finally:
            sys.argv = before
            _leave_group()


@contextmanager
def silent() -> Iterator[None]:
    """Without the bars and notices of TorchTune and below; what goes wrong is raised all the same."""
    logs = [logging.getLogger(name) for name in OWN_LOGS]
    before = [log.disabled for log in logs]
    for log in logs:
        log.disabled = True
    bars = importlib.import_module("tqdm")
    bar = bars.tqdm
    bars.tqdm = type("Hidden", (bar,), {"__init__": _hidden(bar)})  # type: ignore[attr-defined]
    try:
        with warnings.catch_warnings():
            for kind in (UserWarning, FutureWarning, DeprecationWarning):
                warnings.filterwarnings(
                    "ignore", category=kind, module=r"(torch|torchao|torchdata|torchtune)\b"
                )
            yield
    finally:
        bars.tqdm = bar  # type: ignore[attr-defined]
        for log, was in zip(logs, before, strict=True):
            log.disabled = was


def _hidden(bar: Any) -> Callable[..., None]:
    """A bar that is not drawn, whatever the recipe says; steps have lines of their own."""

    def begin(self: Any, *args: Any, **named: Any) -> None:
        bar.__init__(self, *args, **{**named, "disable": True})

    return begin


def _prepare(part: Any, pace: Pace | None) -> None:
    if not hasattr(part, "_setup_lr_scheduler"):
        return
    mend_recipe(part, pace=pace)
    plain = part.train

    def train(self: Any) -> None:
        follower = getattr(getattr(self, "_metric_logger", None), "follower", None)
        if follower:
            follower.begin(
                steps=self.total_epochs * self._steps_per_epoch, steps_an_epoch=self._steps_per_epoch
            )
        plain(self)

    part.train = train


@contextmanager
def _saving(on_saved: Saved | None) -> Iterator[None]:
    """Only the first process writes, so only there something is told."""
    kind = importlib.import_module("torchtune.training").FullModelHFCheckpointer
    plain = kind.save_checkpoint

    def save(self: Any, state: Any, epoch: int, intermediate_checkpoint: bool = False, **named: Any) -> None:
        plain(self, state, epoch, intermediate_checkpoint=intermediate_checkpoint, **named)
        if on_saved:
            on_saved(Path(self._output_dir) / f"epoch_{epoch}", epoch, intermediate_checkpoint)

    kind.save_checkpoint = save
    try:
        yield
    finally:
        kind.save_checkpoint = plain


def _found(name: str, arguments: Sequence[str]) -> tuple[Path, list[str]]:
    """The recipe's file, and the arguments with the configuration's file in place of its name."""
    torchtune = import_torchtune()
    known = importlib.import_module("torchtune._recipe_registry").get_all_recipes()
    root = Path(torchtune.__file__).parent.parent / "recipes"
    words = list(arguments)
    recipe = next((each for each in known if each.name == name), None)
    if "--config" not in words[:-1]:
        raise SpecError("--config: is missing, name a configuration such as llama3_2/1B_lora_single_device")
    at = words.index("--config") + 1
    ordered = [*([recipe] if recipe else []), *known]
    files = {each.name: each.file_path for one in reversed(ordered) for each in one.configs}
    if words[at] in files:
        words[at] = str(root / "configs" / files[words[at]])
    elif not Path(words[at]).is_file():
        raise SpecError(f"--config: {words[at]} is neither a configuration of torchtune nor a file")
    file = root / recipe.file_path if recipe else Path(name)
    if not file.is_file():
        raise SpecError(f"recipe: {name} is neither a recipe of torchtune nor a file")
    return file, words


def _leave_group() -> None:
    """A recipe that failed has not left it, and its end would hang or complain."""
    import torch.distributed as group

    if group.is_available() and group.is_initialized():
        group.destroy_process_group()

"""`python -m …finetune.torchtune run [torchrun's options] RECIPE --config CONFIGURATION key=value …`.

This is TorchTune's command `tune run`, repaired (`shims.py`) and with its progress told. As there, any option
of torchrun before the recipe means several processes; how many, on how many machines, the PET_* variables
say as well. `tune` in the workload image is this.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from ....errors import KfpTrainerError, SpecError
from .recipe import run_recipe
from .shims import import_torchtune

LOGGER = f"{__package__}.logger.ProgressLogger"
PROCESS = "--as-one-process"


def main(words: Sequence[str]) -> int:
    """Run a recipe, here or in as many processes as are asked for."""
    try:
        if words[:1] == [PROCESS]:
            run_recipe(words[1], _followed(words[2:]))
            return 0
        if words[:1] == ["run"]:
            return _launch(list(words[1:]))
    except KfpTrainerError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    import_torchtune()
    sys.argv = ["tune", *words]  # `ls`, `cp` and the others need no more than that it can be imported
    importlib.import_module("torchtune._cli.tune").main()
    return 0


def _launch(words: list[str]) -> int:
    from torch.distributed.run import get_args_parser, run

    if not words:
        raise SpecError("usage: tune run [torchrun's options] RECIPE --config CONFIGURATION key=value …")
    options = get_args_parser().parse_args(words)
    if options.training_script == words[0]:
        run_recipe(words[0], _followed(words[1:]))
        return 0
    own = [PROCESS, options.training_script, *options.training_script_args]
    options.module, options.training_script, options.training_script_args = True, __package__, own
    options.standalone = options.standalone or not options.rdzv_endpoint
    run(options)
    return 0


def _followed(words: Sequence[str]) -> list[str]:
    """The same arguments, with our logger in the place of the configuration's unless one was chosen."""
    chosen = any(word.startswith("metric_logger=") for word in words)
    sys.path.append(os.getcwd())  # recipes may name parts that lie beside them
    return [*words] if chosen else [*words, f"metric_logger={LOGGER}"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

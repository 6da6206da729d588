"""Keep the libraries under us silent and off the network: what a person reads on the terminal is ours.

Progress bars and notices about optional packages look like faults to somebody who sees them for the first
time. Real errors still come as exceptions. Call `quiet_libraries` before the first import of torch or
transformers.
"""

from __future__ import annotations

import logging
import os
import warnings

SILENT = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TQDM_DISABLE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TRL_EXPERIMENTAL_SILENCE": "1",
}
NOISY = (
    "accelerate",
    "bitsandbytes",
    "datasets",
    "lm_eval",
    "peft",
    "torch",
    "torchao",
    "transformers",
    "trl",
)


def quiet_libraries() -> None:
    """Models and rows are local folders here; nothing below us has anything to say or to fetch."""
    for name, value in SILENT.items():
        os.environ.setdefault(name, value)
    for name in (*NOISY, "torch.utils._pytree"):  # torch sets its own level anew, not that of its parts
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", category=UserWarning, module=rf"({'|'.join(NOISY)})\.")
    warnings.filterwarnings("ignore", category=FutureWarning, module=rf"({'|'.join(NOISY)})\.")
    _silence_bars()


def _silence_bars() -> None:
    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()

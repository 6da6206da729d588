"""What a run writes: `adapter/` and `merged/` apart, so that nothing loads an adapter twice; each at once.

`merged/` always holds a whole model. After full fine-tuning it is simply the trained one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..files import new_folder

ADAPTER, MERGED, CHECKPOINTS = "adapter", "merged", "checkpoints"


def save_outputs(model: Any, tokenizer: Any, output: Path, *, lora: bool) -> None:
    """Save the model that was trained, and its adapter if it has one."""
    if lora:
        with new_folder(output / ADAPTER) as part:
            model.save_pretrained(part, safe_serialization=True)
            (part / "README.md").unlink(missing_ok=True)  # PEFT's empty form of a model card
        model = model.merge_and_unload()
    with new_folder(output / MERGED) as part:
        model.save_pretrained(part, safe_serialization=True)
        tokenizer.save_pretrained(part)


def newest_checkpoint(folder: Path) -> Path | None:
    """The last checkpoint that was written to its end: the Trainer writes its state file last."""
    complete = [state.parent for state in folder.glob("checkpoint-*/trainer_state.json")]
    return max(complete, key=lambda path: int(path.name.removeprefix("checkpoint-")), default=None)

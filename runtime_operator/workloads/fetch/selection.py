"""Which of a source's files are wanted.

    ignore      Trainer's IGNORE_PATTERNS: fnmatch on the whole path. A model's default is the one that is
                documented there, and here it applies; an explicit list takes its place.
    include     nothing but what matches, if any pattern is given
    formats     where a model has safetensors, other formats of the same weights are left where they are
    rows        of a dataset, the rows that are kept (`slicing.py`)
    pickles     a model's .bin, .pt, .pth, .ckpt, .pkl … run code when they are loaded: a model that has
                nothing else is refused, unless pickles are asked for

A file left out is never an error; a model without any weights left is, and so is nothing at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, TypeVar

from ..dataset.row_slice import RowSlice
from .troubles import FetchError

MODEL_IGNORE = ("*.msgpack", "*.h5", "*.bin", "*.pt", "*.pth")
"""the default that Trainer documents for models"""
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib", ".dill", ".npy.pkl", ".mar")
OTHER_WEIGHTS = (".h5", ".msgpack", ".onnx", ".onnx_data", ".ot", ".gguf", ".tflite", ".mlmodel", ".nemo")
SAFE = ".safetensors"
_NO_WEIGHTS = re.compile(r"(^|/)(training_args\.bin|optimizer\.|scheduler\.|rng_state)")

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Selection:
    """What is wanted of a source."""

    kind: Literal["dataset", "model"]
    include: tuple[str, ...] = ()
    ignore: tuple[str, ...] | None = None
    """None: the default of the kind"""
    pickles: bool = False
    rows: RowSlice | None = None
    """None: all of them"""

    @property
    def ignored(self) -> tuple[str, ...]:
        """The patterns that apply; asking for pickles takes theirs out of the default."""
        if self.ignore is not None:
            return self.ignore
        if self.kind == "dataset":
            return ()
        return tuple(rule for rule in MODEL_IGNORE if not (self.pickles and rule[1:] in PICKLES))

    def matches(self, path: str) -> bool:
        """Whether the patterns let a path through; the formats are weighed by `choose` alone."""
        if self.include and not any(_matches(path, pattern) for pattern in self.include):
            return False
        return not any(_matches(path, pattern) for pattern in self.ignored)

    def describe(self) -> dict[str, object]:
        """The selection as the manifest keeps it."""
        return {
            "include": list(self.include),
            "ignore": list(self.ignored),
            "pickles": self.pickles,
            **({"slice": str(self.rows)} if self.rows is not None else {}),
        }


def parse_patterns(text: str | None) -> tuple[str, ...]:
    """The patterns of a comma list."""
    return tuple(pattern.strip() for pattern in (text or "").split(",") if pattern.strip())


def choose(
    items: Sequence[Item], selection: Selection, *, path: Callable[[Item], str], source: str
) -> list[Item]:
    """The items that are wanted; FetchError where nothing, or no weights one may load, would be left."""
    matching = [item for item in items if selection.matches(path(item))]
    wanted = matching if selection.kind == "dataset" else _weights_weighed(matching, selection, path, source)
    if not wanted:
        raise FetchError(_nothing(items, selection, source))
    if selection.kind == "model":
        _check_some_weights([path(item) for item in items], [path(item) for item in wanted], source)
    return wanted


def is_pickle(path: str) -> bool:
    """Whether a file of that name holds pickled objects, as weights or as the state of a training."""
    return path.lower().endswith(PICKLES)


def _weights_weighed(
    items: list[Item], selection: Selection, path: Callable[[Item], str], source: str
) -> list[Item]:
    """Without the formats that safetensors make needless; FetchError where pickles are all there is."""
    safe = any(path(item).lower().endswith(SAFE) for item in items)
    if safe and not selection.include:
        items = [item for item in items if not path(item).lower().endswith(OTHER_WEIGHTS)]
    if selection.pickles and not safe:
        return items
    if selection.pickles and selection.include:
        return items
    pickles = [path(item) for item in items if is_pickle(path(item))]
    others = [item for item in items if not is_pickle(path(item))]
    weights = [name for name in pickles if not _NO_WEIGHTS.search(name)]
    if weights and not any(_is_weights(path(item)) for item in others):
        raise FetchError(_only_pickles(source, weights))
    return others


def _check_some_weights(all_paths: list[str], wanted: list[str], source: str) -> None:
    """Refuse a model whose weights were all left out because they are pickles."""
    if any(_is_weights(path) for path in wanted) or any(is_pickle(path) for path in wanted):
        return
    pickles = [path for path in all_paths if is_pickle(path) and not _NO_WEIGHTS.search(path)]
    if pickles:
        raise FetchError(_only_pickles(source, pickles))


def _is_weights(path: str) -> bool:
    return path.lower().endswith((SAFE, *OTHER_WEIGHTS))


def _only_pickles(source: str, pickles: list[str]) -> str:
    return (
        f"{source}: its weights are pickles ({_some(pickles)}), which run code when they are loaded; "
        "take a revision with safetensors, or ask for them by --pickles (ALLOW_PICKLES=true)"
    )


def _nothing(items: Sequence[object], selection: Selection, source: str) -> str:
    if not items:
        return f"{source}: holds no files, mind the spelling of the path"
    rules = [f"include {_some(selection.include)}"] if selection.include else []
    rules += [f"ignore {_some(selection.ignored)}"] if selection.ignored else []
    return f"{source}: none of its {len(items)} files is left by {' and '.join(rules)}, change the patterns"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown


def _matches(path: str, pattern: str) -> bool:
    """Match the whole path, as Trainer does: `*` stands for slashes too."""
    return fnmatchcase(path, f"{pattern}*" if pattern.endswith("/") else pattern)

"""Which files of a folder hold which split, in the order people write them.

A folder is what `save_to_disk` made, or files named by their split (`train.jsonl`,
`validation-00000-of-00003.parquet`, `test/part.csv`), or files without such names, which are all trained
on. What is not read is said.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import SpecError
from .formats import Format, Source, sniff
from .formats.sniffing import is_data, is_pickle
from .records import Fault
from .split_names import split_of

# Files beside the rows that tell about them.
ABOUT = {
    "manifest.json", "dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json",
    "config.json", "metadata.json", "package.json", "dataset_report.json", "recipe.json", "checked.json",
}  # fmt: skip
REPORT = "dataset_report.json"
SAVED, SAVED_SPLITS = "state.json", "dataset_dict.json"


@dataclass(slots=True)
class Found:
    """The files of each split, and those that are not read, with the reason."""

    splits: dict[str, list[Source]] = field(default_factory=dict)
    refused: list[tuple[str, Fault]] = field(default_factory=list)

    def add(self, split: str, path: Path, name: str) -> None:
        """Take a file for rows of `split`, or tell why not."""
        try:
            source = sniff(path, name)
        except OSError as error:
            raise SpecError(f"{name}: cannot be read, {error.strerror or error}") from None
        if isinstance(source, Source):
            self.splits.setdefault(split, []).append(source)
        else:
            self.refused.append((name, source))


def find_files(dataset: Path) -> Found:
    """The files with rows at `dataset`: a file, or a folder of them."""
    found = Found()
    if dataset.is_file():
        found.add("train", dataset, dataset.name)
        return found
    if not dataset.is_dir():
        raise SpecError(f"dataset: {dataset} does not exist, give a folder with rows or a file of them")
    if (dataset / SAVED_SPLITS).is_file():
        for name in _names(dataset / SAVED_SPLITS, "splits"):
            _saved(found, dataset / name, split_of(name) or name, f"{name}/")
    elif (dataset / SAVED).is_file():
        _saved(found, dataset, "train", "")
    else:
        _by_name(found, dataset)
    return found


def _by_name(found: Found, dataset: Path) -> None:
    entries = [path for path in sorted(dataset.rglob("*")) if _is_visible(path, dataset)]
    files = [path for path in entries if path.is_file()]
    for path in entries:
        if is_data(path) and path.is_symlink() and not path.exists():
            fault = Fault("damaged-file", "is a link to a file that is not there")
            found.refused.append((str(path.relative_to(dataset)), fault))
    data = [path for path in files if is_data(path) and path.name.lower() not in ABOUT]
    split = {path: split_of(str(path.relative_to(dataset).with_suffix(""))) for path in data}
    trained = "train" in split.values()
    for path in sorted(data, key=_natural):
        name = str(path.relative_to(dataset))
        if split[path] is None and trained and not is_pickle(path):
            found.refused.append((name, Fault("ignored-file", "names no split beside files that do")))
        else:
            found.add(split[path] or "train", path, name)
    for path in files:
        if path.suffix == ".py":
            fault = Fault("ignored-file", "is a program, which is never run")
            found.refused.append((str(path.relative_to(dataset)), fault))
    if not data:
        held = ", ".join(path.name for path in files[:5]) or "nothing"
        raise SpecError(f"dataset: {dataset} has no file with rows, it holds {held}")


def _saved(found: Found, folder: Path, split: str, prefix: str) -> None:
    """The files of a dataset that `save_to_disk` wrote, in its order."""
    for entry in _names(folder / SAVED, "_data_files"):
        path = folder / entry
        if path.is_file():
            found.splits.setdefault(split, []).append(Source(path, f"{prefix}{entry}", Format.ARROW))
        else:
            found.refused.append((f"{prefix}{entry}", Fault("damaged-file", "is missing from the folder")))


def _names(file: Path, key: str) -> list[str]:
    """The names that a file of `save_to_disk` lists under `key`; none of them may lead elsewhere."""
    try:
        listed = json.loads(file.read_bytes())[key]
        names = [entry["filename"] if isinstance(entry, dict) else entry for entry in listed]
    except (OSError, ValueError, KeyError, TypeError):
        raise SpecError(f"{file}: does not list {key}, save the dataset again") from None
    for name in names:
        if not isinstance(name, str) or "/" in name or "\\" in name or name in ("", ".", ".."):
            raise SpecError(f"{file}: names {name!r}, which is not a file beside it")
    return names


def _is_visible(path: Path, dataset: Path) -> bool:
    """Not hidden, and not what a check wrote into the folder that it read."""
    below = path.relative_to(dataset)
    hidden = any(part.startswith((".", "__")) for part in below.parts)
    return not hidden and not any(
        (dataset / parent / REPORT).is_file() for parent in list(below.parents)[:-1]
    )


def _natural(path: Path) -> list[tuple[int, int, str]]:
    """Part 2 before part 10."""
    return [
        (0, int(part), "") if part.isdigit() else (1, 0, part)
        for part in re.split(r"(\d+)", str(path))
        if part
    ]

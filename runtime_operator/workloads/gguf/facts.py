"""What a GGUF file says of itself: family, licence, chat template, how its weights are rounded.

Only the head is read, so a wrong file is refused in a second, whatever its size. The families are those
that transformers can turn back into a model of its own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import SetupError, SpecError

MAGIC = b"GGUF"
TIED_HEAD = "output.weight"  # absent where the last layer is the token table once more


@dataclass(frozen=True, slots=True)
class GgufFacts:
    """The head of a GGUF file."""

    file: Path
    name: str
    architecture: str
    licence: str
    chat_template: str | None
    context: int | None
    parameters: int
    roundings: dict[str, int]
    """how many tensors are stored in each type, as in Q4_1"""
    tied: bool
    """whether the last layer shares its weights with the token table"""


def find_gguf(path: Path) -> Path:
    """The GGUF file at `path`, or the only one in that folder."""
    if path.is_dir():
        found = sorted(path.rglob("*.gguf"))
        if len(found) == 1:
            return found[0]
        held = ", ".join(str(file.relative_to(path)) for file in found[:5]) or "none"
        raise SpecError(f"{path}: must hold one GGUF file, it holds {held}, name the file")
    if not path.is_file():
        raise SpecError(f"{path}: does not exist, give a GGUF file")
    return path


def read_facts(path: Path) -> GgufFacts:
    """Read the head of the file, and refuse what cannot be converted."""
    file = find_gguf(path)
    with file.open("rb") as opened:
        magic = opened.read(len(MAGIC))
    if magic != MAGIC:
        raise SpecError(f"{file}: is not a GGUF file (it begins with {magic!r}), give a file of that format")
    reader = _open(file)
    values = {name: field.contents() for name, field in reader.fields.items() if _is_small(field)}
    architecture = str(values.get("general.architecture", ""))
    _check_family(file, architecture)
    if values.get("split.count", 1) not in (0, 1):
        raise SpecError(
            f"{file}: is one of {values['split.count']} parts, join them first with gguf-split --merge"
        )
    return GgufFacts(
        file=file,
        name=str(values.get("general.name") or file.stem),
        architecture=architecture,
        licence=str(values.get("general.license") or "not stated"),
        chat_template=values.get("tokenizer.chat_template"),
        context=values.get(f"{architecture}.context_length"),
        parameters=sum(int(tensor.n_elements) for tensor in reader.tensors),
        roundings=dict(Counter(tensor.tensor_type.name for tensor in reader.tensors)),
        tied=all(tensor.name != TIED_HEAD for tensor in reader.tensors),
    )


def _open(file: Path) -> Any:
    try:
        from gguf import GGUFReader
    except ModuleNotFoundError as error:
        raise SetupError("gguf is not installed, run: pip install 'kfp-trainer[local]'") from error
    try:
        return GGUFReader(file)
    except (ValueError, IndexError, KeyError, OverflowError) as error:
        raise SpecError(f"{file}: ends early or is damaged ({error}), fetch it again") from None


def _is_small(field: Any) -> bool:
    """Whether the field is one value; the token table is a list of a hundred thousand."""
    return "ARRAY" not in {kind.name for kind in field.types}


def _check_family(file: Path, architecture: str) -> None:
    from transformers.modeling_gguf_pytorch_utils import GGUF_SUPPORTED_ARCHITECTURES

    known = sorted(set(GGUF_SUPPORTED_ARCHITECTURES) - {"general", "tokenizer"})
    if _plain(architecture) not in {_plain(name) for name in known}:
        raise SpecError(
            f"{file}: holds a model of the family {architecture or 'none'!r}, "
            f"transformers reads {', '.join(known)}"
        )


def _plain(name: str) -> str:
    """The name without its separators: qwen2moe in a file is qwen2_moe elsewhere."""
    return name.replace("_", "").replace("-", "")

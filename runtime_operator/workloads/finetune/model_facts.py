"""What a model's folder tells about itself without torch: its configuration and the heads of its weights.

The weights are those that transformers would load: the files of the index, else the one file. They must be
those that the configuration describes: what it lacks would be made up at random. Pickles are never opened.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import SpecError
from .heads import Tensor, read_head

NUMBERED = re.compile(r"\.(?:layers|h|blocks)\.(\d+)\.")
WORDS = ("embed_tokens.weight", "wte.weight", "word_embeddings.weight", "embed_in.weight")
INDEX, WHOLE = "model.safetensors.index.json", "model.safetensors"
CONTEXTS = ("max_position_embeddings", "n_positions", "max_sequence_length", "seq_length", "n_ctx")


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is decided by."""

    tensors: tuple[Tensor, ...]
    context: int | None
    vocabulary: int
    width: int
    layers: int
    kind: str
    architectures: tuple[str, ...]
    quantised: str | None
    needs_code: bool

    @property
    def parameters(self) -> int:
        """How many numbers the whole model holds."""
        return sum(tensor.size for tensor in self.tensors)

    @property
    def linear(self) -> tuple[Tensor, ...]:
        """The weights of its layers that LoRA can be put on, without the output layer."""
        return tuple(
            tensor
            for tensor in self.tensors
            if len(tensor.shape) == 2
            and tensor.name.endswith(".weight")
            and not any(part in tensor.name for part in ("embed", "wte", "wpe", "lm_head", "norm"))
        )

    def targets(self, names: tuple[str, ...]) -> tuple[Tensor, ...]:
        """The layers that LoRA is put on, by the end of their names."""
        if names == ("all-linear",):
            return self.linear
        found = {tensor.name.removesuffix(".weight"): tensor for tensor in self.tensors}
        return tuple(
            tensor
            for layer, tensor in found.items()
            if any(layer == name or layer.endswith(f".{name}") for name in names)
        )


def read_model(folder: Path) -> ModelFacts:
    """The facts of `folder`; SpecError names the file that is torn or missing."""
    config = _json(folder / "config.json")
    text = config.get("text_config") or config
    context = next((name for name in CONTEXTS if text.get(name) is not None), None)
    facts = ModelFacts(
        tensors=tuple(_tensors(folder)),
        context=_number(folder, text, context) if context else None,
        vocabulary=_number(folder, text, "vocab_size"),
        width=_number(folder, text, "hidden_size", "n_embd"),
        layers=_number(folder, text, "num_hidden_layers", "n_layer"),
        kind=str(config.get("model_type", "")),
        architectures=tuple(config.get("architectures") or ()),
        quantised=_quantised(config),
        needs_code=bool(config.get("auto_map")),
    )
    if facts.quantised is None:
        _check_described(folder, facts)
    return facts


def _number(folder: Path, config: Mapping[str, Any], *names: str) -> int:
    """The first of these that is set; 0 where none is."""
    for name in names:
        value = config.get(name)
        if value is not None and type(value) is not int:
            raise SpecError(
                f"model: {folder / 'config.json'} has {value!r} for {name}, which is no whole number, "
                "fetch it again"
            )
        if value:
            return int(value)
    return 0


def _check_described(folder: Path, facts: ModelFacts) -> None:
    """Whether the weights are those of the configuration."""
    found = [int(each[1]) for tensor in facts.tensors if (each := NUMBERED.search(tensor.name))]
    if found and max(found) + 1 < facts.layers:
        raise SpecError(
            f"model: {folder} has {max(found) + 1} layers of the {facts.layers} that config.json names, "
            "fetch its weights again"
        )
    words = next((each for each in facts.tensors if each.name.endswith(WORDS) and len(each.shape) == 2), None)
    described = (facts.vocabulary, facts.width)
    if words and all(described) and words.shape != described:
        raise SpecError(
            f"model: {folder} has {words.name} of {words.shape[0]}×{words.shape[1]} and config.json "
            f"describes {described[0]}×{described[1]}, put the right configuration beside the weights"
        )


def _quantised(config: Mapping[str, Any]) -> str | None:
    given = config.get("quantization_config")
    return str(given.get("quant_method", "quantised")) if isinstance(given, dict) else None


def _tensors(folder: Path) -> Iterator[Tensor]:
    for file in _files(folder):
        yield from read_head(file)


def _files(folder: Path) -> list[Path]:
    index = folder / INDEX
    if not index.is_file():
        if (folder / WHOLE).is_file():
            return [folder / WHOLE]
        found = min(folder.glob("*.safetensors")).name
        raise SpecError(f"model: {folder} has {found} but neither {WHOLE} nor {INDEX}, fetch it again")
    named = _json(index).get("weight_map")
    if not isinstance(named, dict) or not named:
        raise SpecError(f"model: {index} names no weights, fetch it again")
    names = sorted({str(name) for name in named.values()})
    strange = [name for name in names if Path(name).name != name]
    if strange:
        raise SpecError(f"model: {index} names {strange[0]}, which is not beside it, fetch it again")
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise SpecError(f"model: {folder} lacks {missing[0]}, which {index.name} names, fetch it again")
    return [folder / name for name in names]


def _json(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(file.read_bytes())
    except ValueError as error:
        raise SpecError(f"model: {file} is not JSON, {error}") from None
    if not isinstance(value, dict):
        raise SpecError(f"model: {file} is a {type(value).__name__}, not a mapping, fetch it again")
    return value

"""What a run will do, from its settings, its model, its rows and its machine; and the memory that needs.

A step is computed at once if memory allows, else in parts, else with activations computed twice, else with
the model shared out among the processes: each costs more time than the one before. Memory is estimated from
the sizes of what must be held, activations by the usual count of a decoder layer; real use differs by some
tenths, so that a plan which does not fit is told, and refused only where the weights alone are too large.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ...errors import FieldError, SpecError
from .machine import Machine
from .model_facts import ModelFacts
from .settings import FinetuneSettings

BYTES = {"fp32": 4, "bf16": 2, "fp16": 2}
NF4 = 0.53  # half a byte a weight and its doubly quantised scales
STATE = {"adamw": 8, "adamw_8bit": 2, "paged_adamw_8bit": 2, "adafactor": 1, "sgd": 0}
HELD_A_LAYER = 24  # numbers of `width` that a decoder layer keeps for a token until it goes back
HELD_CHECKPOINTED = 2
# bytes a logit: itself, in float32 for the loss, its gradient, and what TRL makes of it to tell; by the
# size of the numbers computed with (measured on a CPU: estimates of three runs were 5 to 8 % off)
OF_LOGITS = {4: 36, 2: 20}
PROCESS = {"cpu": 1000 << 20, "gpu": 1 << 30}  # what the libraries themselves take
USABLE = 0.92
FEWEST_BETWEEN_SAVES = 50
Spread = Literal["alone", "ddp", "fsdp2"]


@dataclass(frozen=True, slots=True)
class RowFacts:
    """How many rows there are to learn from, and how long the longest is in tokens."""

    count: int
    longest: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What is chosen."""

    device: str
    precision: str
    """the numbers computed with"""
    weights: str
    """the numbers the base is held in"""
    spread: Spread
    processes: int
    rows: int
    """rows a process computes at once"""
    accumulation: int
    gradient_checkpointing: bool
    steps: int
    warmup_steps: int
    save_every: int
    """0: no checkpoints"""
    tokens: int
    """the longest row as it is trained on"""
    parameters: int
    trained: int
    memory: dict[str, int]
    """bytes a process needs, by what for"""
    available: int
    """bytes a process may use"""

    @property
    def total(self) -> int:
        """Bytes that a process needs."""
        return sum(self.memory.values())

    @property
    def fits(self) -> bool:
        """Whether that is there."""
        return self.total <= self.available

    def too_large(self, relief: str) -> str:
        """What to say where memory runs out all the same; `relief` helps where rows are alone already."""
        wanted = relief if self.rows == 1 else "raise accumulation"
        return (
            f"batch_size: {self.rows} rows of {self.tokens} tokens at once did not fit into memory, "
            f"{wanted}, lower sequence_length, or give gradient_checkpointing"
        )


@dataclass(frozen=True, slots=True)
class _Choice:
    spread: Spread
    gradient_checkpointing: bool
    rows: int
    accumulation: int


def make_plan(
    settings: FinetuneSettings,
    *,
    model: ModelFacts,
    rows: RowFacts,
    machine: Machine,
    processes: int,
    local_processes: int = 1,
) -> Plan:
    """The cheapest way that fits, or the most frugal one where none does."""
    steps = settings.max_steps or math.ceil(settings.epochs * math.ceil(rows.count / settings.batch_size))
    precision = choose_precision(settings, machine)
    tokens = min(settings.sequence_length, model.context or settings.sequence_length)
    tokens = tokens if settings.packing else min(tokens, rows.longest)
    available = _available(machine, local_processes)
    weights = _weights(settings, machine, precision)
    trained = trained_parameters(settings, model)
    plan = None
    for choice in _choices(settings, processes):
        needs = _memory(settings, model, choice, weights=weights, tokens=tokens, processes=processes)
        needs["the libraries"] = PROCESS[machine.device]
        plan = Plan(
            device=machine.device,
            precision=precision,
            weights=weights,
            spread=choice.spread,
            processes=processes,
            rows=choice.rows,
            accumulation=choice.accumulation,
            gradient_checkpointing=choice.gradient_checkpointing,
            steps=steps,
            warmup_steps=round(settings.warmup * steps),
            save_every=_save_every(settings, steps),
            tokens=tokens,
            parameters=model.parameters,
            trained=trained,
            memory=needs,
            available=available,
        )
        if plan.fits:
            return plan
    assert plan is not None
    return plan


def check_memory(plan: Plan) -> None:
    """Refuse what cannot be loaded."""
    weights = plan.memory["weights"]
    if weights > plan.available:
        raise SpecError(
            f"model: its weights need {weights / 2**30:.1f} GiB a process in {plan.weights} and there are "
            f"{plan.available / 2**30:.1f}, take method qlora, more processes with spread fsdp2, "
            "or a smaller model"
        )


def choose_precision(settings: FinetuneSettings, machine: Machine) -> str:
    """The numbers computed with; SpecError where this machine has none such."""
    if settings.precision == "auto":
        if not machine.gpus:
            return "fp32"
        return "bf16" if all(gpu.bf16 for gpu in machine.gpus) else "fp16"
    if settings.precision == "fp16" and not machine.gpus:
        raise SpecError([FieldError("precision", "fp16 needs a GPU and there is none, take fp32 or bf16")])
    if settings.precision == "bf16" and not all(gpu.bf16 for gpu in machine.gpus):
        raise SpecError([FieldError("precision", f"{machine.gpus[0].name} has no bf16, take fp16 or fp32")])
    return settings.precision


def trained_parameters(settings: FinetuneSettings, model: ModelFacts) -> int:
    """How many numbers are learnt."""
    if not settings.has_adapter:
        return model.parameters
    extra = settings.method == "dora"
    return sum(
        settings.lora_rank * sum(layer.shape) + (layer.shape[0] if extra else 0)
        for layer in model.targets(settings.lora_targets)
        if len(layer.shape) == 2
    )


def fit_batch(settings: FinetuneSettings, processes: int) -> FinetuneSettings:
    """The settings with a batch that divides among the processes, where none was asked for."""
    parts = processes * (settings.accumulation or 1)
    if "batch_size" in settings.model_fields_set or settings.batch_size % parts == 0:
        return settings
    return settings.model_copy(update={"batch_size": math.ceil(settings.batch_size / parts) * parts})


def share_of_batch(settings: FinetuneSettings, processes: int) -> int:
    """The rows of a step that each process takes; SpecError where they do not divide."""
    parts = processes * (settings.accumulation or 1)
    batch = settings.batch_size
    if batch % parts:
        down, up = batch // parts * parts, (batch // parts + 1) * parts
        advice = f"take {down} or {up}" if down else f"take {up}"
        among = f"{processes} processes"
        if settings.accumulation:
            among += f" and {settings.accumulation} parts of accumulation"
        raise SpecError(f"batch_size: {batch} rows do not divide among {among}, {advice}")
    return batch // processes


def _choices(settings: FinetuneSettings, processes: int) -> Iterator[_Choice]:
    share = share_of_batch(settings, processes)
    given = settings.accumulation
    parts = [given] if given else [each for each in range(1, share + 1) if share % each == 0]
    again = settings.gradient_checkpointing
    for spread in _spreads(settings, processes):
        for checkpointing in (False, True) if again is None else (again,):
            for part in parts:
                yield _Choice(spread, checkpointing, share // part, part)


def _spreads(settings: FinetuneSettings, processes: int) -> tuple[Spread, ...]:
    if processes == 1:
        if settings.spread == "fsdp2":
            raise SpecError("spread: fsdp2 shares a model out and there is one process, start with torchrun")
        return ("alone",)
    if settings.spread != "auto":
        return (settings.spread,)
    return ("ddp",) if settings.method == "qlora" else ("ddp", "fsdp2")


def _weights(settings: FinetuneSettings, machine: Machine, precision: str) -> str:
    if settings.method == "qlora":
        return "nf4"
    if settings.method == "full" or not machine.gpus:
        return "fp32"  # small steps vanish in numbers of 16 bits; a CPU computes in mixed precision
    return precision


def _memory(
    settings: FinetuneSettings,
    model: ModelFacts,
    choice: _Choice,
    *,
    weights: str,
    tokens: int,
    processes: int,
) -> dict[str, int]:
    trained = trained_parameters(settings, model)
    shared = processes if choice.spread == "fsdp2" else 1
    number = 4 if weights in ("fp32", "nf4") else 2
    copies = 2 if settings.objective == "dpo" and not settings.has_adapter else 1
    held = HELD_CHECKPOINTED * model.layers + HELD_A_LAYER if choice.gradient_checkpointing else 0
    held = held or HELD_A_LAYER * model.layers
    batch = choice.rows * tokens * (2 if settings.objective == "dpo" else 1)
    return {
        "weights": int(copies * _base(model, weights) / shared),
        "adapter": 4 * trained if settings.has_adapter else 0,
        "gradients": 4 * trained // shared,
        "optimizer": STATE[settings.optimizer] * trained // shared,
        "activations": batch * model.width * held * number,
        "logits": batch * model.vocabulary * OF_LOGITS[number],
    }


def _base(model: ModelFacts, weights: str) -> float:
    if weights != "nf4":
        return model.parameters * BYTES[weights]
    packed = sum(layer.size for layer in model.linear)
    return packed * NF4 + (model.parameters - packed) * 4


def _available(machine: Machine, local_processes: int) -> int:
    if machine.gpus:
        return int(min(gpu.memory for gpu in machine.gpus) * USABLE)
    return int(machine.memory * USABLE / local_processes)


def _save_every(settings: FinetuneSettings, steps: int) -> int:
    if settings.save_every is not None:
        return settings.save_every
    every = max(FEWEST_BETWEEN_SAVES, math.ceil(steps / 10))
    return every if every <= steps else 0

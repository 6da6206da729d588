"""`--explain`: what will be chosen and the memory it needs, in a second and without torch."""

from __future__ import annotations

from .plan import Plan
from .settings import FinetuneSettings

HOW = {"alone": "one process", "ddp": "a whole model a process", "fsdp2": "a part of the model a process"}


def explain(settings: FinetuneSettings, plan: Plan, *, rows: int) -> str:
    """The plan as lines that a person reads."""
    share = plan.trained / plan.parameters
    chosen = {
        "method": f"{settings.method}, {settings.objective}, {share:.1%} of {plan.parameters:,} numbers",
        "device": f"{plan.device}, computes in {plan.precision}, holds the base in {plan.weights}",
        "spread": f"{plan.processes} processes, {HOW[plan.spread]}" if plan.processes > 1 else "one process",
        "rows": f"{rows:,}, the longest about {plan.tokens:,} tokens as trained on",
        "step": f"{settings.batch_size} rows: {plan.rows} at once x {plan.accumulation} parts "
        f"x {plan.processes} processes",
        "steps": f"{plan.steps:,}, of which {plan.warmup_steps} to warm up, rate {settings.rate:g}, "
        f"{settings.schedule}, {settings.optimizer}",
        "activations": "computed twice" if plan.gradient_checkpointing else "held",
        "checkpoints": f"every {plan.save_every} steps" if plan.save_every else "none",
    }
    lines = [f"{name:<12} {text}" for name, text in chosen.items()]
    lines += [f"{'memory':<12} about {size(plan.total)} a process, {size(plan.available)} may be used"]
    lines += [f"{'':<12} {size(value):>10}  {name}" for name, value in plan.memory.items() if value]
    if not plan.fits:
        lines.append(
            "it may not fit: lower batch_size or sequence_length, take method qlora or more processes"
        )
    return "\n".join(lines)


def size(value: int) -> str:
    """Bytes as a person reads them."""
    return f"{value / 2**30:.2f} GiB" if value >= 1 << 30 else f"{value / 2**20:.1f} MiB"

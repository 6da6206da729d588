"""Fine-tune a language model, compare it with its base, and export what passes."""

from .pipeline import finetune_llm

__all__ = ["finetune_llm"]

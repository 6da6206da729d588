"""The component `finetune_llm`."""

from .component import finetune_llm

__all__ = ["finetune_llm"]

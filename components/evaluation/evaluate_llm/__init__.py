"""The component `evaluate_llm`."""

from .component import evaluate_llm

__all__ = ["evaluate_llm"]

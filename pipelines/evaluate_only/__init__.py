"""Compare two models that are there already."""

from .pipeline import evaluate_only

__all__ = ["evaluate_only"]

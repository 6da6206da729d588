"""Train with your own image or script, on any runtime."""

from .pipeline import distributed_training

__all__ = ["distributed_training"]

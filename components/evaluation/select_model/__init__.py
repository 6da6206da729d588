"""The component `select_model`."""

from .component import select_model

__all__ = ["select_model"]

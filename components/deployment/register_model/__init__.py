"""The component `register_model`."""

from .component import register_model

__all__ = ["register_model"]

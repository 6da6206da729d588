"""The component `export_model`."""

from .component import export_model

__all__ = ["export_model"]

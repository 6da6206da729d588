"""The component `gate_model`."""

from .component import gate_model

__all__ = ["gate_model"]

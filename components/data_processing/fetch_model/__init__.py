"""The component `fetch_model`."""

from .component import fetch_model

__all__ = ["fetch_model"]

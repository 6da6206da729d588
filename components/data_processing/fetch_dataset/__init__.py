"""The component `fetch_dataset`."""

from .component import fetch_dataset

__all__ = ["fetch_dataset"]

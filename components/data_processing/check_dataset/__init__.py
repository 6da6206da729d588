"""The component `check_dataset`."""

from .component import check_dataset

__all__ = ["check_dataset"]

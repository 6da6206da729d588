"""The component `train_job`."""

from .component import train_job

__all__ = ["train_job"]

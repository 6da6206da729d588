"""The component `wait_train_job`."""

from .component import wait_train_job

__all__ = ["wait_train_job"]

"""The component `launch_train_job`."""

from .component import launch_train_job

__all__ = ["launch_train_job"]

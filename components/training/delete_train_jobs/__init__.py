"""The component `delete_train_jobs`."""

from .component import delete_train_jobs

__all__ = ["delete_train_jobs"]

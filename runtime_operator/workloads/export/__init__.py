"""Bring a model to where it lasts: a folder, a claim, a bucket, a hub or a registry."""

from .run import check_export, export
from .settings import Exported, ExportSettings

__all__ = ["ExportSettings", "Exported", "check_export", "export"]

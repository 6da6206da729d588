"""From a job of an older kind to the same Plan that a TrainJob becomes."""

from .admission import admit_legacy
from .installation import Installation
from .render import render_legacy

__all__ = ["Installation", "admit_legacy", "render_legacy"]

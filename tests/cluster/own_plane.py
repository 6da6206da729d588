"""A plane of its own for a story that takes the cluster's kinds away, or brings those of another release.

Other tests share one plane and would miss them, for Kubernetes' garbage collector looks for new kinds every
30 s only.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from .control_plane.build import why_not
from .control_plane.existing import VARIABLE
from .control_plane.parts import PARTS
from .control_plane.plane import Plane, running_plane


@contextmanager
def own_plane(
    name: str, *, started: Sequence[str], built: Sequence[str] = (), kinds_of: Sequence[str] = ()
) -> Iterator[Plane]:
    """A plane with these parts started, the programs and kinds of the next, and the kinds of the last."""
    if os.environ.get(VARIABLE):
        pytest.skip("an existing cluster: its kinds are not this run's to take away")
    reasons = [why_not(), *(PARTS[each].why_not() for each in started)]
    if reason := next(filter(None, reasons), ""):
        pytest.skip(reason)
    with running_plane([*started, *built], print, kinds_of=kinds_of, name=name) as plane:
        plane.need(*started)
        yield plane

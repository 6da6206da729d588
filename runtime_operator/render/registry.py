"""The plug-ins there are: the built-in ones in their written order, then those of other packages.

Another package names its plug-ins under the entry-point group `kfp_trainer.plugins`; each entry point is a
subclass of `framework.Plugin`. They are looked up once per process. For comparison with upstream only the
built-in ones run.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from .framework import Plugin, ordered
from .plugins import BUILTIN

GROUP = "kfp_trainer.plugins"


@cache
def installed(*, upstream: bool = False) -> tuple[Plugin, ...]:
    """Every plug-in in the order in which it is asked."""
    if upstream:
        return ordered(BUILTIN)
    foreign = [point.load()() for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)]
    return ordered((*BUILTIN, *foreign))

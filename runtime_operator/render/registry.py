"""The plug-ins there are: the built-in ones in their written order, then those of other packages.

Another package names its plug-ins under the entry-point group `kfp_trainer.plugins`; each entry point is a
subclass of `framework.Plugin`. They are looked up once per process. For comparison with upstream only the
built-in ones run.

What a controller asks of all of them at once stands here too: which kinds it has to watch, and whether an
object of the cluster tells of a job's end.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.metadata import entry_points

from .framework import Plugin, Terminal, Watch, ordered, overriding
from .plan import Object
from .plugins import BUILTIN

GROUP = "kfp_trainer.plugins"


@cache
def installed(*, upstream: bool = False) -> tuple[Plugin, ...]:
    """Every plug-in in the order in which it is asked."""
    if upstream:
        return ordered(BUILTIN)
    foreign = [point.load()() for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)]
    return ordered((*BUILTIN, *foreign))


def watches() -> tuple[Watch, ...]:
    """Every kind that a controller watches beside TrainJobs and runtimes, each once."""
    return tuple(dict.fromkeys(each for plugin in installed() for each in plugin.watch_extension()))


def end_of(job: Object, children: Iterable[Object]) -> Terminal | None:
    """How the job ended, as the first plug-in tells that finds its end in one of these objects."""
    ask = overriding(installed(), "terminal_condition")
    return next((end for child in children for each in ask if (end := each(job, child)) is not None), None)

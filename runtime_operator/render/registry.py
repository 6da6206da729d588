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
from importlib.metadata import EntryPoint, entry_points

from ..errors import SetupError
from .framework import Plugin, Terminal, Watch, ordered, overriding
from .plan import Object
from .plugins import BUILTIN

GROUP = "kfp_trainer.plugins"


@cache
def installed(*, upstream: bool = False) -> tuple[Plugin, ...]:
    """Every plug-in in the order in which it is asked."""
    if upstream:
        return ordered(BUILTIN)
    foreign = [_loaded(point) for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)]
    return ordered((*BUILTIN, *foreign))


def _loaded(point: EntryPoint) -> Plugin:
    """The plug-in of another package; without it its runtimes would be built wrong, so nothing is built."""
    try:
        plugin: Plugin = point.load()()
    except (ImportError, AttributeError) as error:
        raise SetupError(
            f"the plug-in {point.name!r} cannot be loaded from {point.value}: {error}; "
            "mend or remove its package"
        ) from error
    return plugin


def watches() -> tuple[Watch, ...]:
    """Every kind that a controller watches beside TrainJobs and runtimes, each once."""
    return tuple(dict.fromkeys(each for plugin in installed() for each in plugin.watch_extension()))


def end_of(job: Object, children: Iterable[Object]) -> Terminal | None:
    """How the job ended, as the first plug-in tells that finds its end in one of these objects."""
    ask = overriding(installed(), "terminal_condition")
    return next((end for child in children for each in ask if (end := each(job, child)) is not None), None)

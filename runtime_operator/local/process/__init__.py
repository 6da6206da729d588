"""One pod as processes of this machine.

`PodRunner.start` runs a pod in a folder and returns a `Pod`: its status as a kubelet would write it, its end,
and the way to stop it. `PodRunner.adopt` takes over what a runner that was killed left running.
"""

from .backoff import Backoff
from .bench import Settings
from .events import Listener, PodEvent
from .images import Image, Images
from .isolation import Isolation, detect
from .living_pod import Pod
from .place import Place
from .references import Found, Reference, Resolver, look_up, missing
from .runner import PodRunner
from .unsupported import left_out, refuse_unsupported

__all__ = [
    "Backoff",
    "Found",
    "Image",
    "Images",
    "Isolation",
    "Listener",
    "Place",
    "Pod",
    "PodEvent",
    "PodRunner",
    "Reference",
    "Resolver",
    "Settings",
    "detect",
    "left_out",
    "look_up",
    "missing",
    "refuse_unsupported",
]

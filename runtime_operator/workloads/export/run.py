"""One export: the folder is looked at, the place tried, the files sent and proved, again after a trouble."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from typing import TypeVar

from ...errors import Retryable
from .bundle import bundle_of, check_folder
from .place import Put, open_place, read_target
from .settings import Exported, ExportSettings

Result = TypeVar("Result")
ATTEMPTS = 4
LONGEST_WAIT = 60.0


def check_export(to: str, *, private: bool = True, setting: str = "to", offline: bool = False) -> None:
    """Say in one sentence what will keep an export to `to` from ending well; `offline`: by its form alone."""
    with closing(open_place(read_target(to, os.environ, private=private, setting=setting))) as place:
        if not offline:
            _patiently(place.check, wait=time.sleep)


def export(settings: ExportSettings, *, wait: Callable[[float], None] = time.sleep) -> Exported:
    """Bring a model to where it lasts; again is cheap, since what is there is not sent again."""
    check_folder(settings.model)
    target = read_target(settings.to, os.environ, private=settings.private, setting="to")
    bundle = bundle_of(settings.model)
    with closing(open_place(target)) as place:

        def put() -> Put:
            place.check()
            return place.put(bundle)

        done = _patiently(put, wait=wait)
    return Exported(
        location=done.location,
        digest=bundle.digest,
        files=len(bundle.files),
        bytes=bundle.size,
        sent=done.sent,
    )


def _patiently(act: Callable[[], Result], *, wait: Callable[[float], None]) -> Result:
    """Act, and again where it may work later."""
    for attempt in range(1, ATTEMPTS):
        try:
            return act()
        except Retryable as trouble:
            wait(min(max(trouble.after, 2.0**attempt), LONGEST_WAIT))
    return act()

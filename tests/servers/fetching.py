"""A fetch as the tests run it: the real engine, impatient, with an environment of the test's own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from kfp_trainer.runtime_operator.workloads.fetch.engine import fetch
from kfp_trainer.runtime_operator.workloads.fetch.hidden import Secrets
from kfp_trainer.runtime_operator.workloads.fetch.order import Fetched, Order
from kfp_trainer.runtime_operator.workloads.fetch.pace import Pace, Patience
from kfp_trainer.runtime_operator.workloads.fetch.reports import Reports
from kfp_trainer.runtime_operator.workloads.fetch.selection import Selection
from kfp_trainer.runtime_operator.workloads.fetch.source import Kind

IMPATIENT = Patience(first=0.01, most=0.05, tries=6, longest=5.0)


def fetched(
    uri: str,
    target: Path,
    environ: Mapping[str, str] | None = None,
    *,
    kind: Kind = "model",
    selection: Selection | None = None,
    patience: Patience = IMPATIENT,
    every_byte: bool = False,
) -> Fetched:
    """Fetch into a folder; of this machine's environment nothing but the path is seen."""
    seen = {"PATH": os.environ["PATH"], "HOME": str(target.parent / "home"), **(environ or {})}
    order = Order(kind, uri, target, selection or Selection(kind), every_byte=every_byte)
    return fetch(order, secrets=Secrets(seen), report=Reports([]), pace=Pace(patience))


def tree(folder: Path) -> dict[str, bytes]:
    """What a folder holds, without our own record of it."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "MANIFEST.json")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}

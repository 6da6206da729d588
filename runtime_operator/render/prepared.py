"""What every job of a runtime shares, worked out once.

Which job does which step, how many pods it starts with, in which wave it runs, which plug-ins have anything
to say, and the text of the snapshot: none of it depends on the TrainJob. A runtime is a value (whoever
reads a changed one makes a new object), so what was worked out is kept beside it for as long as it lives.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..api.names import OLD_API_VERSION, TRAINER_STEP
from ..api.runtime import MLPolicy
from .framework import Runtime, overriding
from .overlay import Object
from .pods import Draft, draft
from .registry import installed
from .snapshot import dump
from .steps import labelled_step, main_container, steps
from .template import modern_spec
from .typed import typed

ENFORCING = ("enforce_ml_policy", "enforce_pod_group_policy", "slice_data")
"""the hooks that edit pods, in the order in which they are called"""

Hook = Callable[..., Any]


@dataclass(slots=True)
class Prepared:
    """A runtime, ready to be rendered many times; holding the runtime itself, it would keep it for ever."""

    spec: Object
    """the JobSet spec of its template"""
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    drafts: tuple[Draft, ...]
    names: frozenset[str]
    subdomain: str | None
    is_old: bool
    """written in the version of early texts, when programs read MASTER_ADDR"""
    enforcing: tuple[Hook, ...]
    building: tuple[Hook, ...]
    _text: str | None = None

    def snapshot(self, runtime: Runtime, *, upstream: bool) -> str:
        """The runtime as the text of a snapshot."""
        if self._text is None:
            self._text = dump(runtime, upstream=upstream)
        return self._text


_Mode = tuple[bool, bool]
_CACHE: dict[int, tuple[weakref.ref[Runtime], dict[_Mode, Prepared]]] = {}


def prepare(runtime: Runtime, *, upstream: bool, counts: bool) -> Prepared:
    """Return what all jobs of a runtime share; `counts` keeps upstream's names, order and counts."""
    key = id(runtime)
    held = _CACHE.get(key)
    if held is None or held[0]() is not runtime:
        held = _CACHE[key] = (weakref.ref(runtime, lambda _: _forget(key)), {})
    mode = (upstream, counts)
    found = held[1].get(mode)
    if found is None:
        found = held[1][mode] = _prepare(runtime, upstream=upstream, counts=counts)
    return found


def _forget(key: int) -> None:
    _CACHE.pop(key, None)


def _prepare(runtime: Runtime, *, upstream: bool, counts: bool) -> Prepared:
    serving = [each for each in installed(upstream=upstream) if each.serves(runtime)]
    template = runtime.spec.template
    spec: Object = (template.spec if template is not None else None) or {}
    if upstream:
        spec = typed(spec)
    else:
        for complete in () if counts else overriding(serving, "complete_template"):
            spec = complete(runtime, spec)
        spec = modern_spec(spec)
    metadata: Object = (template.metadata if template is not None else None) or {}
    jobs = spec.get("replicatedJobs") or ()
    names = [each["name"] for each in jobs]
    return Prepared(
        spec=spec,
        labels=metadata.get("labels") or {},
        annotations=metadata.get("annotations") or {},
        drafts=draft_jobs(jobs, runtime.spec.mlPolicy, upstream=upstream, counts=counts),
        names=frozenset(names) if len(set(names)) == len(names) else frozenset(),
        subdomain=(spec.get("network") or {}).get("subdomain"),
        is_old=runtime.raw.get("apiVersion") == OLD_API_VERSION,
        enforcing=tuple(each for hook in ENFORCING for each in overriding(serving, hook)),
        building=overriding(serving, "build_components"),
    )


def draft_jobs(
    jobs: Sequence[Object], policy: MLPolicy | None, *, upstream: bool, counts: bool
) -> tuple[Draft, ...]:
    """Say of each replicated job what it is for and how many pods it has to begin with."""
    mpi = policy is not None and policy.mpi is not None
    found = steps(jobs, mpi=mpi, upstream=upstream)
    waves: dict[str, int] = {}
    drafts = []
    for job, step in zip(jobs, found, strict=True):
        wave = 1 + max((waves.get(each["name"], -1) for each in job.get("dependsOn") or ()), default=-1)
        waves[job["name"]] = wave
        labelled = labelled_step(job) == TRAINER_STEP
        scaled = policy is not None and (labelled if counts else step == TRAINER_STEP)
        count = (policy.numNodes or 1) if scaled and policy is not None else _parallelism(job)
        main = main_container(job, step, mpi=mpi, upstream=upstream)
        drafts.append(draft(job, step=step, size=max(count, 1), wave=wave, labelled=labelled, main=main))
    return tuple(drafts)


def _parallelism(job: Object) -> int:
    spec = (job.get("template") or {}).get("spec") or {}
    return int(spec.get("parallelism") or 1)

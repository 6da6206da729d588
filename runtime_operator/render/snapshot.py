"""The runtime as it was when the job first met it.

A runtime may change or go while its jobs run, so the first pass writes it down in a ConfigMap beside the
job, and every later pass renders from there. The text is the whole runtime as YAML, as upstream writes it;
what only the API server keeps (managedFields) is left out.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import yaml

from ..api.names import CLUSTER_TRAINING_RUNTIME, GROUP, TRAINING_RUNTIME
from ..api.read import read
from ..api.runtime import ClusterTrainingRuntime, TrainingRuntime
from ..api.wire import Compat
from ..errors import FieldError, Retryable, SpecError
from .overlay import Object
from .typed import typed

if TYPE_CHECKING:
    from ..api.trainjob import TrainJob
    from .facts import Facts

    Runtime = TrainingRuntime | ClusterTrainingRuntime

SUFFIX = "-runtime-snapshot"
KEY = "runtime"
LOOK_AGAIN_AFTER = 30.0  # seconds, for a runtime that is not there
_INVALID = "invalid runtime snapshot: "
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FAST_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_FAST_DUMPER):  # type: ignore[misc]
    """Writes every value out, even one that stands twice: people read snapshots."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def runtime_of(
    job: TrainJob, runtime: Runtime | None, facts: Facts, compat: Compat = None
) -> tuple[Runtime, str | None]:
    """The runtime to render from: the snapshot's, with its text, or the one given if there is no snapshot."""
    held = facts.existing.get(("ConfigMap", job.metadata["name"] + SUFFIX))
    if held is not None:
        text = _text_of(held, job)
        frozen = _parse(text, compat)
        _same_runtime(frozen, job)
        return frozen, text
    if runtime is None:
        ref = job.spec.runtimeRef
        if ref.apiGroup != GROUP or ref.kind not in (CLUSTER_TRAINING_RUNTIME, TRAINING_RUNTIME):
            text = f"nobody serves {ref.kind!r} of {ref.apiGroup!r}: name a runtime of {GROUP}"
            raise SpecError([FieldError("spec.runtimeRef", text)])
        text = f"spec.runtimeRef: {ref.kind} {ref.name!r} is not found; create it first"
        raise Retryable(text, after=LOOK_AGAIN_AFTER)
    return runtime, None


def is_snapshot(document: Object) -> bool:
    """Whether this is the ConfigMap that keeps the runtime as a job first met it."""
    return bool(document["kind"] == "ConfigMap" and document["metadata"]["name"].endswith(SUFFIX))


def dump(runtime: Runtime, *, upstream: bool) -> str:
    """The runtime as the text of a snapshot; upstream's has what its types keep."""
    raw = typed(runtime.raw) if upstream else runtime.raw
    metadata = {key: value for key, value in raw["metadata"].items() if key != "managedFields"}
    return str(yaml.dump({**raw, "metadata": metadata}, Dumper=_Dumper, allow_unicode=True))


def _text_of(held: Object, job: TrainJob) -> str:
    owners = held["metadata"].get("ownerReferences") or ()
    if not any(owner.get("controller") and owner.get("uid", "") == job.uid for owner in owners):
        raise SpecError(_INVALID + "a snapshot configmap exists but is owned by another object")
    text = (held.get("data") or {}).get(KEY)
    if not isinstance(text, str):
        raise SpecError(_INVALID + 'snapshot ConfigMap missing "runtime" data key')
    return text


@lru_cache(maxsize=1024)
def _parse(text: str, compat: Compat) -> Runtime:
    try:
        document = yaml.load(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        raise SpecError(f"{_INVALID}unable to unmarshal the snapshot: {error}") from error
    if not isinstance(document, dict):
        raise SpecError(f"{_INVALID}unable to unmarshal the snapshot: it holds no object")
    parsed = read(document, compat=compat)
    if not isinstance(parsed, TrainingRuntime | ClusterTrainingRuntime):
        raise SpecError(f"{_INVALID}it holds a {parsed.kind}, not a runtime")
    return parsed


def _same_runtime(frozen: Runtime, job: TrainJob) -> None:
    ref = job.spec.runtimeRef
    wanted = (ref.name, ref.apiGroup, ref.kind)
    found = (frozen.name, frozen.apiVersion.partition("/")[0], frozen.kind)
    if wanted != found:
        want, got = (", ".join(f'"{part}"' for part in each) for each in (wanted, found))
        text = "runtime with name, api group and kind of"
        wrong = f"the snapshot refers to the wrong runtime: expecting a {text} {want} but found {text} {got}"
        raise SpecError(_INVALID + wrong)

"""May this TrainJob be created, or changed like this? Every reason against it, before a cluster says no.

`admit` asks in the order of an admission webhook, after the schema (`api.check`): is there such a runtime,
what do the plug-ins say, what of the patches, and, by default, what would JobSet say to the JobSet that this
job becomes. Upstream admits what JobSet then refuses, and the job stays without a word.

By default an update that leaves the spec as it is always passes, and the snapshot stands in for a runtime
that is gone: nobody must be kept from deleting, labelling or suspending a job.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import FieldError, SpecError
from ..facts import NO_FACTS, Facts
from ..framework import Proposal
from ..registry import installed
from . import initializers, jobset, patches, runtime_reference

if TYPE_CHECKING:
    from ...api.runtime import ClusterTrainingRuntime, TrainingRuntime
    from ...api.trainjob import TrainJob
    from ...api.wire import Compat

    Runtime = TrainingRuntime | ClusterTrainingRuntime

__all__ = ["Verdict", "admit"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What admission says: no errors is yes."""

    errors: tuple[FieldError, ...] = ()
    warnings: tuple[str, ...] = ()


def admit(
    job: TrainJob,
    runtime: Runtime | None,
    facts: Facts = NO_FACTS,
    *,
    old: TrainJob | None = None,
    compat: Compat = None,
) -> Verdict:
    """Judge a TrainJob that passed its schema; `runtime` is the one it names, None if there is none."""
    upstream = compat == "upstream"
    if not upstream and old is not None and _is_untouched(job, old):
        return Verdict()
    try:
        found = runtime_reference.find(job, runtime, facts, old=old, upstream=upstream)
    except SpecError as error:
        return Verdict(_named(job, error.errors), error.warnings)
    if found is None:
        return Verdict((), (runtime_reference.gone(job),))
    warnings = runtime_reference.warnings(found)
    proposal = Proposal(job, old, found, facts, upstream)
    errors = tuple(_errors(proposal))
    if errors or upstream:
        return Verdict(_named(job, errors), warnings)
    predicted = jobset.predict(proposal)
    return Verdict(_named(job, predicted.errors), tuple(dict.fromkeys((*warnings, *predicted.warnings))))


def _is_untouched(job: TrainJob, old: TrainJob) -> bool:
    """Tell whether only metadata or status change, or the job is on its way out."""
    return job.spec == old.spec or bool(job.metadata.get("deletionTimestamp"))


def _errors(proposal: Proposal) -> Iterator[FieldError]:
    for plugin in installed(upstream=proposal.upstream):
        if plugin.serves(proposal.runtime):
            yield from plugin.custom_validation(proposal)
    yield from initializers.check(proposal)
    yield from patches.check(proposal)


def _named(job: TrainJob, errors: tuple[FieldError, ...]) -> tuple[FieldError, ...]:
    """Say in each error which object it is about."""
    name = f"TrainJob/{job.name}"
    return tuple(FieldError(each.field, each.detail, each.type, each.object or name) for each in errors)

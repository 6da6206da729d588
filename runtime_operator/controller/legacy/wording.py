"""What a job says when it is made, suspended and resumed: v1's words, and those of the MPI Operator."""

from __future__ import annotations

from ...api.legacy import LegacyJob


def created(job: LegacyJob) -> str:
    """The message of Created."""
    return f"{_who(job)} is created."


def stopped(job: LegacyJob) -> str:
    """The message of Running when the job is suspended."""
    return f"{_who(job)} is suspended."


def suspended(job: LegacyJob) -> str:
    """The message of Suspended."""
    return "MPIJob suspended" if job.kind.uses_ssh else f"{_who(job)} is suspended."


def resumed(job: LegacyJob) -> str:
    """The message of Suspended once that is over."""
    return "MPIJob resumed" if job.kind.uses_ssh else f"{_who(job)} is resumed."


def never_ran(job: LegacyJob) -> str:
    """The message of Running when the job ended before anybody saw it run."""
    return f"{_who(job)} is finished but Running condition was never set."


def _who(job: LegacyJob) -> str:
    name = f"{job.namespace}/{job.name}" if job.kind.uses_ssh else job.name
    return f"{job.kind.name} {name}"

"""All passes until nothing changes: what a cluster's controllers come to, at one moment.

Jobs settle first, then the JobSet takes a pass over what they have come to, and so on. The result says
when to look again though nothing has happened: a back-off, a deadline, a time to live.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import Fatal
from .actions import Decision, Event, earlier
from .apply import apply_all
from .collect import collect
from .job import reconcile_job
from .jobset import reconcile_jobset
from .model import Pod, State

MOST_ROUNDS = 1000


@dataclass(frozen=True, slots=True)
class Settled:
    """A state in which nothing is left to do now."""

    state: State
    events: tuple[Event, ...] = ()
    look_again: float | None = None
    """when to settle again even if nothing has been reported until then"""


@dataclass(frozen=True, slots=True)
class Start:
    """Run the pod and report how it fares."""

    pod: Pod


@dataclass(frozen=True, slots=True)
class Stop:
    """Stop the pod, with its grace period, and report its end; at once if it never ran."""

    pod: Pod


@dataclass(frozen=True, slots=True)
class Remove:
    """Forget this pod, which is gone, and throw away what was only its own."""

    pod: Pod


Command = Start | Stop | Remove


def settle(state: State, now: float) -> Settled:
    """Let the Jobs and the JobSet come to rest."""
    events: list[Event] = []
    for _ in range(MOST_ROUNDS):
        jobs = settle_jobs(state, now)
        decision = reconcile_jobset(jobs.state, now)
        events += [*jobs.events, *_told(decision)]
        state = apply_all(jobs.state, decision.actions, now)
        if not decision.actions:
            return Settled(state, tuple(events), earlier(jobs.look_again, decision.look_again))
    raise Fatal(f"JobSet {state.name}: does not come to rest after {MOST_ROUNDS} passes")


def settle_jobs(state: State, now: float) -> Settled:
    """Let the Jobs and what is deleted come to rest, while the JobSet looks away."""
    events: list[Event] = []
    for _ in range(MOST_ROUNDS):
        decisions = [reconcile_job(job, state.pods_of(job), now) for job in state.jobs]
        acted = apply_all(state, (action for each in decisions for action in each.actions), now)
        events += [event for each in decisions for event in _told(each)]
        before, state = state, collect(acted, now)
        if state is before:
            return Settled(state, tuple(events), earlier(*(each.look_again for each in decisions)))
    raise Fatal(f"Jobs of {state.name}: do not come to rest after {MOST_ROUNDS} passes")


def _told(decision: Decision) -> list[Event]:
    return [action for action in decision.actions if isinstance(action, Event)]


def commands_between(before: State, after: State) -> tuple[Command, ...]:
    """What is to be done to the pods that really run, to get from one state to the other."""
    old = {pod.uid: pod for pod in before.pods}
    left = {pod.uid for pod in after.pods}
    commands: list[Command] = [Remove(pod) for pod in before.pods if pod.uid not in left]
    for pod in after.pods:
        known = old.get(pod.uid)
        if pod.terminating and (known is None or known.deleted is None):
            commands.append(Stop(pod))
    commands += [Start(pod) for pod in after.pods if pod.uid not in old and pod.active]
    return tuple(commands)

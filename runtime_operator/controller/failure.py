"""What a job died of, in one sentence: pod, node, container, exit code, signal, last words, what to do.

When one pod of many dies the others follow: ranks that lose their peer end with an error of their own, and
the rest is told to stop. So what came from outside (an eviction, a lost node) counts first, then the
container that ended badly by itself before the others, and those that were told to stop come last. Only the
last attempt of the JobSet counts; of the earlier ones it recovered.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable, Sequence

from ..conditions import read_time
from .pod_view import Death, PodView

OOM = "OOMKilled"
TOLD_TO_STOP = frozenset({137, 143})
PLAIN = frozenset({"", "Error", "ContainerStatusUnknown"})
"""reasons that say no more than the exit code"""
LONGEST_WORDS = 300
LINES = 100  # of a log that are looked at for last words
_SAYS_SOMETHING = re.compile(r"\w{2}")
_RANK = re.compile(r"^\[?rank ?\d+\]?:\s*", re.IGNORECASE)
_EXCEPTION = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit|Timeout)\b(?::|$)")
_SUMMARY = re.compile(r"^torch\.distributed\.elastic\..*ChildFailedError")

LOST_NODE = frozenset({"NodeLost", "DeletionByTaintManager", "DeletionByPodGC", "NodeShutdown", "Terminated"})
PREEMPTED = "a pod of higher priority took its place: run the job again, or raise its priority"
ADVICE = {
    "Evicted": "ask for what the node ran short of, or free it",
    "EvictionByEvictionAPI": "its node was drained: run the job again",
    "PreemptionByScheduler": PREEMPTED,
    "Preempting": PREEMPTED,
    "TerminationByKubelet": "its node ran short of something or was shut down: run the job again",
    "DeadlineExceeded": "raise activeDeadlineSeconds of the pod",
}
BY_CODE = {
    126: "the command is there but cannot be executed: check its rights and its interpreter",
    127: "the command was not found: check command, args and image",
    128: "the container could not be started: check command, args and mounts",
    134: "the program aborted itself: look at its log",
    137: "it was killed from outside or ran out of memory: look at the events of its node",
    139: "the program crashed: check the versions of its native libraries, such as CUDA and NCCL",
    143: "it was told to stop: look for a drain, a preemption or a deletion",
}


def first_death(pods: Iterable[PodView]) -> Death | None:
    """The death that the others follow from, of the last attempt of these pods."""
    seen = [(pod.attempt, death) for pod in pods for death in pod.deaths]
    last = max((attempt for attempt, _ in seen), default=0)
    return min((death for attempt, death in seen if attempt == last), key=_rank, default=None)


def _rank(death: Death) -> tuple[int, str, str]:
    if death.exit_code is None:
        order = 0
    elif death.exit_code in TOLD_TO_STOP and death.reason != OOM:
        order = 2
    else:
        order = 1
    return order, death.finished, death.pod


def told(death: Death, words: str = "") -> str:
    """The sentence about a death; `words` are the last ones of its log, if it left no message."""
    words = words or last_words(death.message.splitlines())
    where = f"pod {death.pod}" + (f" on node {death.node}" if death.node else "")
    if death.container:
        where += f", container {death.container}"
    said = f": {words}" if words else ""
    return f"{where}: {_how(death)}{said}; {_advice(death, words)}"


def wants_words(death: Death) -> bool:
    """Whether only the container's log can tell what it said last."""
    return bool(death.container) and death.reason != OOM and not death.message.strip()


def _how(death: Death) -> str:
    if death.exit_code is None:
        lost = f"node {death.node} was lost" if death.node else "its node was lost"
        return f"{death.reason}, {lost}" if death.reason in LOST_NODE else death.reason
    reason = "" if death.reason in PLAIN else f"{death.reason}, "
    return f"{reason}exit code {death.exit_code}{_signal(death.exit_code)}{_after(death)}"


def _signal(code: int) -> str:
    try:
        return f" ({signal.Signals(code - 128).name})" if code > 128 else ""
    except ValueError:
        return ""


def _after(death: Death) -> str:
    """How long it ran, which tells a wrong command from a leak."""
    if not (death.started and death.finished):
        return ""
    seconds = int((read_time(death.finished) - read_time(death.started)).total_seconds())
    if seconds < 120:
        return f" after {max(seconds, 0)} s"
    return f" after {seconds // 60} min" if seconds < 7200 else f" after {seconds // 3600} h"


def _advice(death: Death, words: str) -> str:
    if death.reason == OOM:
        limit = f" than {death.memory}" if death.memory else ""
        return f"ask for more memory{limit}, or lower the batch size"
    if death.exit_code is None:
        if death.reason in LOST_NODE:
            return "run the job again; checkpoints save what was done"
        return ADVICE.get(death.reason, "run the job again")
    if death.exit_code in BY_CODE:
        return BY_CODE[death.exit_code]
    if "collective operation timeout" in words or "NCCL" in words:
        return "a peer was slow or gone: compare the logs of the other pods"
    return f"see kubectl logs {death.pod} -c {death.container}"


def last_words(lines: Sequence[str]) -> str:
    """The line of a log that names the error: the last exception, else the last line that says anything."""
    said = [_RANK.sub("", line.strip()) for line in lines]
    said = [line for line in said if _SAYS_SOMETHING.search(line)]
    named = [line for line in said if _EXCEPTION.match(line) and not _SUMMARY.match(line)]
    line = named[-1] if named else said[-1] if said else ""
    return line if len(line) <= LONGEST_WORDS else f"{line[:LONGEST_WORDS]} …"

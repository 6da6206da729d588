"""What keeps a job's pods from running, in one sentence with what to do about it.

Three can say no: the API server, to which the Job controller sends the pods (quota, admission, claims); the
scheduler; and the kubelet, which cannot pull an image or start a container. The first pod by name speaks for
all that have the same trouble, so that the sentence stays the same while nothing new is known. A pod that
only waits for the rest of its gang speaks last, for it has no trouble of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from .pod_view import PodView, Trouble

UNSCHEDULABLE = "Unschedulable"
SCHEDULABLE = "Schedulable"
"""Volcano's word for a member that would fit, while the gang does not"""
ADVICE = {
    "ImagePullBackOff": "check the image's name, its registry and imagePullSecrets",
    "InvalidImageName": "mend the image's name",
    "ErrImageNeverPull": "bring the image to the node, or change imagePullPolicy",
    "CreateContainerConfigError": "create the Secret or ConfigMap that it names",
    "CreateContainerError": "check command, mounts and the node's runtime",
    "RunContainerError": "check command, args and mounts",
    "CrashLoopBackOff": "it starts and ends again and again: see its log",
}


def trouble_of(pods: Iterable[PodView], refusals: Iterable[str] = ()) -> str | None:
    """The sentence; None where nobody says no. `refusals` are what the API server answered to new pods."""
    refused = next(iter(refusals), None)
    if refused is not None:
        return f"its pods are refused: {refused}"
    held = sorted(((pod, pod.trouble) for pod in pods if pod.trouble), key=lambda each: _order(*each))
    if not held:
        return None
    pod, trouble = held[0]
    alike = sum(other.reason == trouble.reason for _, other in held) - 1
    more = f" (and {alike} more)" if alike else ""
    return f"pod {pod.name}{more}{_said(pod, trouble)}"


def _order(pod: PodView, trouble: Trouble) -> tuple[int, str]:
    """A container that cannot start says more than a scheduler that has no room yet."""
    if trouble.container:
        return 0, pod.name
    return 2 if trouble.reason == SCHEDULABLE else 1, pod.name


def _said(pod: PodView, trouble: Trouble) -> str:
    message = f": {trouble.message}" if trouble.message else ""
    if trouble.container:
        where = f" on node {pod.node}, container {trouble.container}: {trouble.reason}"
        image = f" of {trouble.image}" if "Image" in trouble.reason and trouble.image not in message else ""
        return f"{where}{image}{message}; {ADVICE.get(trouble.reason, 'see its events')}"
    if pod.node:
        return f" on node {pod.node} is ended from outside: {trouble.reason}{message}"
    if trouble.reason == UNSCHEDULABLE:
        return f" cannot be placed{message}"
    if trouble.reason == SCHEDULABLE:
        return " waits for room for the rest of its gang"
    if trouble.reason == "SchedulingGated":
        return " is held back by its scheduling gates"
    return f" is not placed: {trouble.reason}{message}"

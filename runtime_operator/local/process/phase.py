"""Phase and conditions of a pod, from the states of its containers, as a kubelet computes them.

A pod is not over while anything of it runs, be it a sidecar.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from .pod import Object
from .state import ContainerState, Running, Terminated

Phase = Literal["Pending", "Running", "Succeeded", "Failed"]


def pod_phase(states: Sequence[ContainerState], *, policy: str, stopped: bool) -> Phase:
    """Return the phase; `stopped` says that nothing will be started again."""
    inits = [state for state in states if state.kind == "init"]
    mains = [state for state in states if state.kind == "main"]
    alive = any(isinstance(state.now, Running) for state in states)
    if any(_failed(state) and (policy == "Never" or stopped) for state in inits) and not alive:
        return "Failed"
    if stopped and not alive:
        return "Succeeded" if mains and all(_succeeded(state) for state in mains) else "Failed"
    if not initialized(states):
        return "Pending"
    if all(isinstance(state.now, Terminated) for state in mains) and not alive:
        return _ended(mains, policy)
    if any(isinstance(state.now, Running | Terminated) or state.last is not None for state in mains):
        return "Running"
    return "Pending"


def _ended(mains: Sequence[ContainerState], policy: str) -> Phase:
    if policy == "Always":
        return "Running"
    if all(_succeeded(state) for state in mains):
        return "Succeeded"
    return "Failed" if policy == "Never" else "Running"


def _succeeded(state: ContainerState) -> bool:
    return isinstance(state.now, Terminated) and state.now.exit_code == 0


def _failed(state: ContainerState) -> bool:
    return isinstance(state.now, Terminated) and state.now.exit_code != 0


def initialized(states: Sequence[ContainerState]) -> bool:
    """Tell whether the init containers have succeeded and the sidecars have started."""
    return all(
        _succeeded(state) if state.kind == "init" else state.started
        for state in states
        if state.kind != "main"
    ) or any(isinstance(state.now, Running | Terminated) for state in states if state.kind == "main")


def conditions(states: Sequence[ContainerState], phase: Phase) -> list[dict[str, str]]:
    """List the conditions in a kubelet's order, without times."""
    over = phase in ("Succeeded", "Failed")
    ready = _readiness(states, phase)
    return [
        _condition("PodReadyToStartContainers", not over),
        _initialization(states, phase),
        _condition("Ready", not ready[0], *ready),
        _condition("ContainersReady", not ready[0], *ready),
        _condition("PodScheduled", True),
    ]


def _condition(kind: str, status: bool, reason: str = "", message: str = "") -> dict[str, str]:
    told = {"reason": reason, "message": message}
    return {"type": kind, "status": str(status)} | {key: text for key, text in told.items() if text}


def _initialization(states: Sequence[ContainerState], phase: Phase) -> dict[str, str]:
    if initialized(states):
        return _condition("Initialized", True, "PodCompleted" if phase == "Succeeded" else "")
    pending = [state.name for state in states if state.kind != "main" and not _init_done(state)]
    text = f"containers with incomplete status: [{' '.join(pending)}]"
    return _condition("Initialized", False, "ContainersNotInitialized", text)


def _readiness(states: Sequence[ContainerState], phase: Phase) -> tuple[str, str]:
    """Return the reason and message of a pod that is not ready; empty when it is."""
    if phase in ("Succeeded", "Failed"):
        return ("PodCompleted" if phase == "Succeeded" else "PodFailed"), ""
    unready = [state.name for state in states if state.kind != "init" and not state.ready]
    if unready or not initialized(states):
        return "ContainersNotReady", f"containers with unready status: [{' '.join(unready)}]"
    return "", ""


def _init_done(state: ContainerState) -> bool:
    return _succeeded(state) if state.kind == "init" else state.started


def quality_of_service(pod: Object) -> str:
    """Return Guaranteed, Burstable or BestEffort."""
    resources = [
        one.get("resources") or {}
        for one in (*pod["spec"]["containers"], *(pod["spec"].get("initContainers") or ()))
    ]
    asked = [(one.get("requests") or {}, one.get("limits") or {}) for one in resources]
    if not any(kind in part for pair in asked for part in pair for kind in ("cpu", "memory")):
        return "BestEffort"
    guaranteed = all(
        kind in limits and requests.get(kind, limits[kind]) == limits[kind]
        for requests, limits in asked
        for kind in ("cpu", "memory")
    )
    return "Guaranteed" if guaranteed else "Burstable"

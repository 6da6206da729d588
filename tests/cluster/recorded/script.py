"""Plays one case: each entry is a step, each step is seen once nothing has moved for two seconds."""

import copy
import json
import time
from typing import Any

from tests.cluster.control_plane.client import JSON_PATCH, MERGE, ApiError, Client, Json, collection

from .hand import SCHEDULER, Hand
from .view import View

QUIET_SECONDS = 2.0
LIMIT_SECONDS = 60.0
DENIED = 'admission webhook "vjobset.kb.io" denied the request: '


def record(client: Client, namespace: str, case: Json, node: str) -> dict[str, Any]:
    """What the real controllers do with a case, in the form of its expectation."""
    jobsets = collection("jobset.x-k8s.io/v1alpha2", "JobSet", namespace)
    verdict, made = _verdict(lambda: client.post(jobsets, _by_hand(case["input"])))
    if made is None:
        return {"admission": verdict}
    name = made["metadata"]["name"]
    hand = Hand(client, namespace, name, node)
    play = _Play(client, f"{jobsets}/{name}", hand, View(client, namespace, name, hand))
    hand.start()
    try:
        steps = [play.rest()]
        steps += [play.step(entry) for entry in case.get("script") or []]
    finally:
        hand.stop()
    defaults = {key: value for key, value in made["spec"].items() if key != "replicatedJobs"}
    return {"admission": verdict, "defaults": defaults, "steps": steps}


def _by_hand(jobset: Json) -> Json:
    """The JobSet with pods that no scheduler takes."""
    jobset = copy.deepcopy(jobset)
    for replicated in jobset["spec"].get("replicatedJobs") or []:
        replicated["template"]["spec"]["template"]["spec"]["schedulerName"] = SCHEDULER
    return jobset


class _Play:
    def __init__(self, client: Client, jobset: str, hand: Hand, view: View) -> None:
        self._client, self._jobset, self._hand, self._view = client, jobset, hand, view

    def step(self, entry: Any) -> dict[str, Any]:
        """Let one thing, or several at once, happen, and see what comes of it."""
        said: dict[str, Any] = {}
        for happening in entry if isinstance(entry, list) else [entry]:
            said |= self._happen(happening)
        return said | self.rest()

    def rest(self) -> dict[str, Any]:
        """What there is once nothing moves any more."""
        began = moved = time.monotonic()
        before = ""
        while True:
            pods = self._hand.pods()
            seen = self._view.now(pods)
            told = json.dumps(seen, sort_keys=True)
            if told != before or self._hand.is_busy(pods):
                before, moved = told, time.monotonic()
            if time.monotonic() - moved > QUIET_SECONDS:
                return seen
            if time.monotonic() - began > LIMIT_SECONDS:
                raise AssertionError(f"{self._jobset}: still moves after {LIMIT_SECONDS:.0f} s: {told}")
            time.sleep(0.2)

    def _happen(self, happening: dict[str, Any]) -> dict[str, Any]:
        match happening:
            case {"end": names}:
                for name in names.split():
                    self._hand.end(name, happening.get("code", 0), evicted=happening.get("evicted", False))
            case {"ready": names}:
                for name in names.split():
                    self._hand.become_ready(name)
            case {"stopped": names}:
                for name in names.split():
                    self._hand.release(name)
            case {"wait": seconds}:
                time.sleep(seconds)
            case {"suspend": value}:
                return self._patch({"spec": {"suspend": value}})
            case {"patch": change}:
                return self._patch(change)
            case {"delete": what}:
                self._delete(*what.split())
            case _:
                raise ValueError(f"script: {happening}: nobody knows how to play this")
        return {}

    def _patch(self, change: Any) -> dict[str, Any]:
        kind = JSON_PATCH if isinstance(change, list) else MERGE
        return {"admission": _verdict(lambda: self._client.patch(self._jobset, change, kind=kind))[0]}

    def _delete(self, kind: str, name: str = "") -> None:
        if kind == "pod":
            self._hand.delete(name)
            return
        jobs = self._jobset.replace("jobset.x-k8s.io/v1alpha2", "batch/v1").replace("/jobsets/", "/jobs/")
        path = self._jobset if kind == "jobset" else f"{jobs}-{name}"
        self._client.delete(f"{path}?propagationPolicy=Background")


def _verdict(ask: Any) -> tuple[dict[str, Any], Json | None]:
    """Whether the API server allows it and in which words not, and what it made."""
    try:
        return {"allowed": True}, ask()
    except ApiError as refused:
        return {"allowed": False, "message": refused.message.replace(DENIED, "")}, None

"""The recorded cases of kubeflow.org/v1 once more, on the real control plane with our operator.

Many are played at a time, for most of their time is waiting. A step is right once what a user sees is what
was recorded; those that happen while no operator runs are played together.
"""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.cluster.control_plane.client import Client, collection, exists
from tests.cluster.control_plane.nodes import NODES, add_nodes, remove_nodes
from tests.cluster.control_plane.plane import Plane
from tests.cluster.control_plane.processes import Process
from tests.cluster.older_case import OlderCase
from tests.cluster.older_kinds import serving_older_kinds
from tests.cluster.operator import kill, start_again
from tests.conformance_v1.__main__ import CASES
from tests.conformance_v1.compare import faults
from tests.conformance_v1.not_served import NOT_SERVED
from tests.counts import SOAK
from tests.recorded_cases import Difference, read_cases

Json = Mapping[str, Any]
ALL = {path.stem: case for path, case in read_cases(CASES)}
FLAGS = {
    "": (),
    "volcano": ("--gang-scheduler-name=volcano",),
    "scheduler-plugins": ("--gang-scheduler-name=scheduler-plugins-scheduler",),
    "domain": ("--custom-cluster-domain=cluster.example",),
}
PARTS = {
    "": ("scheduler", "kwok", "jobset"),
    "volcano": ("scheduler", "kwok", "jobset", "volcano"),
    "scheduler-plugins": ("scheduler", "kwok", "jobset", "coscheduling"),
    "domain": ("scheduler", "kwok", "jobset"),
}
POOL = "v1"
pytestmark = pytest.mark.skipif(
    not SOAK,
    reason="minutes, and pods that have to run at once: make soak; the same cases run simulated always",
)
AT_A_TIME = 6
STEP_SECONDS = 150.0
"""a Job that failed twice waits for twenty seconds"""
BETWEEN_LOOKS = 1.0
STANDS_SECONDS = 2.0
"""so long what is right has to stay so"""


def is_down(case: Json) -> bool:
    """Whether something happens in it while no operator runs."""
    return any(isinstance(each, list) for each in case.get("script") or ())


def names_of(variant: str, *, down: bool) -> list[str]:
    """The cases of a variant that are admitted."""
    return [
        name
        for name, case in ALL.items()
        if case.get("variant", "") == variant and case["expect"].get("steps") and is_down(case) == down
    ]


@pytest.fixture
def nodes(plane: Plane) -> Iterator[None]:
    """Nodes as those of the recordings."""
    client = plane.client
    names = add_nodes(client, 8, pool=POOL)
    room = {"example.com/gpu": "8", "ephemeral-storage": "100Gi"}
    for name in names:
        client.patch(f"{NODES}/{name}", {"metadata": {"labels": {"type": "kwok"}}})
        client.patch(f"{NODES}/{name}/status", {"status": {"capacity": room, "allocatable": room}})
    for namespace in ("lab", "vision", "kubeflow-user-example-com"):
        if not exists(client, f"{collection('v1', 'Namespace')}/{namespace}"):
            client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    yield
    remove_nodes(client, names)


@pytest.mark.parametrize(
    "variant",
    [
        pytest.param(name, marks=pytest.mark.parts(*parts), id=name or "plain")
        for name, parts in PARTS.items()
    ],
)
@pytest.mark.usefixtures("nodes")
def test_cases(plane: Plane, variant: str) -> None:
    with serving_older_kinds(plane, *FLAGS[variant]) as operator:
        with ThreadPoolExecutor(AT_A_TIME) as pool:
            found = dict(pool.map(lambda name: played(plane.client, name), names_of(variant, down=False)))
        found |= at_once(plane, operator, names_of(variant, down=True))
    wrong = {name: [str(each) for each in told] for name, told in found.items() if told}
    assert not wrong, "\n".join(f"{name}: {told}" for name, told in wrong.items())


def played(client: Client, name: str) -> tuple[str, list[Difference]]:
    """Play a case; what was wrong at the first step that did not come right."""
    case = OlderCase(client, ALL[name])
    try:
        case.create()
        wrong = comes_right(name, case, {})
        for entry in ALL[name].get("script") or ():
            if wrong:
                break
            wrong = comes_right(name, case, case.play(entry))
        return name, wrong
    finally:
        case.clear()


def at_once(plane: Plane, operator: Process, names: list[str]) -> dict[str, list[Difference]]:
    """Play cases whose whole script happens while no operator runs."""
    cases = {name: OlderCase(plane.client, ALL[name]) for name in names}
    for case in cases.values():
        case.create()
    found = {name: comes_right(name, case, {}) for name, case in cases.items()}
    kill(operator)
    for name, case in cases.items():
        (actions,) = ALL[name]["script"]
        for action in actions:
            case.play(action)
    start_again(plane, operator)
    for name, case in cases.items():
        found[name] = found[name] or comes_right(name, case, {})
        case.clear()
    return found


def comes_right(name: str, case: OlderCase, extra: dict[str, Any]) -> list[Difference]:
    """Wait until a step is as it was recorded, and stays so; else what is different."""
    end, since = time.monotonic() + STEP_SECONDS, None
    while True:
        step = case.told(extra)
        wrong = differences(name, [*case.steps, step])
        now = time.monotonic()
        since = None if wrong else since or now
        if (since and now > since + STANDS_SECONDS) or now > end:
            case.keep(step)
            return wrong
        time.sleep(BETWEEN_LOOKS)


def differences(name: str, steps: list[dict[str, Any]]) -> list[Difference]:
    """Where the steps so far differ from what was recorded, beyond what is known and listed."""
    expect = {**ALL[name]["expect"], "steps": ALL[name]["expect"]["steps"][: len(steps)]}
    known = NOT_SERVED[name].paths if name in NOT_SERVED else ()
    answer = {"admission": expect.get("admission"), "steps": steps}
    return [
        each
        for each in faults({**ALL[name], "expect": expect}, answer)
        if not any(fnmatch.fnmatchcase(each.path, path) for path in known)
    ]

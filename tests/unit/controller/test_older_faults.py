"""Whatever goes wrong on the way, a job of an older kind ends as it does on a quiet day.

The story: a PyTorchJob or MPIJob is created, runs, loses a pod that is replaced, rests, runs again, loses a
worker for good and succeeds. It is told once quietly, and again with a fault at each write; what there is at
the end is compared.
"""

from typing import Any

import pytest

from kfp_trainer.runtime_operator.controller.kinds import JOBSETS
from kfp_trainer.runtime_operator.controller.legacy.kinds import OF_MPI, SERVICES
from kfp_trainer.runtime_operator.kube.resource import JOBS, PODS, Resource
from tests.controller_stage.older import KINDS, OlderStage
from tests.counts import count
from tests.fake_api import Fault
from tests.virtual_time import in_virtual_time, run_virtually

ROLES = {
    "PyTorchJob": ("Master", {"Master": {}, "Worker": {"replicas": 2, "restartPolicy": "ExitCode"}}),
    "MPIJob": ("Launcher", {"Launcher": {}, "Worker": {"replicas": 2}}),
}
CONTAINERS = {"PyTorchJob": "pytorch", "MPIJob": "mpi"}
OF_TIME = ("lastTransitionTime", "lastUpdateTime", "creationTimestamp", "startTime", "completionTime")
OF_CHANCE = ("uid", "resourceVersion", "generation", "managedFields", "resourceNames")


async def story(stage: OlderStage, kind: str) -> None:
    """Tell it; a cluster's controllers act between the acts."""
    lead, roles = ROLES[kind]
    container = CONTAINERS[kind]

    async def goes_on() -> None:
        for _ in range(4):
            await stage.settle(10)
            stage.play()
        await stage.settle(10)

    stage.create(kind, roles)
    await goes_on()
    stage.end_pod("job-worker-0", 137, container)
    if kind == "PyTorchJob":
        await goes_on()
    stage.change({"spec": {"runPolicy": {"suspend": True}}}, kind)
    await goes_on()
    assert stage.pods() == []
    stage.change({"spec": {"runPolicy": {"suspend": False}}}, kind)
    await goes_on()
    stage.end_pod(f"job-{lead.lower()}-0", 0, container)
    await goes_on()


def world(stage: OlderStage, kind: str) -> object:
    """All there is at the end, without what is of time and chance."""
    kinds = (KINDS[kind], JOBSETS, JOBS, SERVICES, *OF_MPI)
    return [_plain(each) for one in kinds for each in stage.api.all(one)]


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items() if key not in OF_TIME + OF_CHANCE}
    return [_plain(each) for each in value] if isinstance(value, list) else value


async def told(kind: str, *faults: Fault, **settings: Any) -> tuple[object, int]:
    """The world after a story with faults, and the number of the operator's writes."""
    async with OlderStage(**settings) as stage:
        for each in faults:
            stage.api.faults.add(each)
        await story(stage, kind)
        return world(stage, kind), len(stage.written())


@pytest.fixture(scope="module", params=sorted(ROLES))
def quiet(request: pytest.FixtureRequest) -> tuple[str, object, int]:
    """The story on a quiet day."""
    kind: str = request.param
    return (kind, *run_virtually(told(kind)))


def test_on_a_quiet_day_it_succeeds(quiet: tuple[str, object, int]) -> None:
    _, there, writes = quiet
    assert "'type': 'Succeeded'" in str(there)
    assert 10 < writes < 60


@pytest.mark.parametrize("fault", ["refuse", "lose", "crash", "crash-after"])
def test_a_fault_at_a_write_changes_nothing(fault: str, quiet: tuple[str, object, int]) -> None:
    kind, there, writes = quiet
    for skip in range(0, writes, count(1, sampled=5)):
        given = Fault(fault, "write", skip=skip)
        found, _ = run_virtually(told(kind, given))
        assert given.hits == 1
        assert found == there, f"{fault} at write {skip}"


@pytest.mark.parametrize("resource", [PODS, JOBSETS, JOBS, SERVICES], ids=lambda each: each.kind)
@pytest.mark.parametrize("fault", ["drop", "double", "swap", "cut"])
def test_events_that_are_missing_doubled_reordered_or_cut_change_nothing(
    fault: str, resource: Resource
) -> None:
    there, _ = run_virtually(told("PyTorchJob"))
    for skip in range(0, 12, count(1, sampled=4)):
        given = Fault(fault, resource=resource, skip=skip)
        found, _ = run_virtually(told("PyTorchJob", given, resync_every=8.0))
        assert found == there, f"{fault} at event {skip}"


@in_virtual_time
async def test_an_api_server_that_was_away_costs_no_event_and_no_object() -> None:
    async with OlderStage() as stage:
        stage.create()
        await stage.settle(5)
        stage.play()
        await stage.settle(5)
        stage.api.stop()
        await stage.settle(30)
        stage.api.start()
        stage.end_pod("job-master-0", 0)
        await stage.settle(30)
        assert stage.types() == ["Created", "Succeeded"]
        assert [reason for reason, _ in stage.events.told].count("PyTorchJobSucceeded") == 1

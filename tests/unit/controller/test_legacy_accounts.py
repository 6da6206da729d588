"""The ServiceAccount that the launcher of an MPIJob names: somebody's, or made where there is none."""

from kfp_trainer.runtime_operator.controller.legacy.kinds import SERVICE_ACCOUNTS
from tests.controller_stage.older import OlderStage
from tests.controller_stage.stage import NAMESPACE
from tests.virtual_time import in_virtual_time

ROLES = {"Launcher": {"pod": {"serviceAccountName": "runner"}}, "Worker": {"replicas": 1}}


def owners(stage: OlderStage, name: str) -> list[str]:
    account = stage.api.need(SERVICE_ACCOUNTS, NAMESPACE, name)
    return [each["kind"] for each in account["metadata"].get("ownerReferences", ())]


async def lived(stage: OlderStage, name: str) -> list[str]:
    """The conditions of a job that has had its time to run."""
    stage.create("MPIJob", ROLES, name=name)
    for _ in range(3):
        await stage.settle(5)
        stage.play()
    await stage.settle(5)
    return stage.types("MPIJob", name)


@in_virtual_time
async def test_an_account_that_is_not_there_is_made_and_goes_with_the_job():
    async with OlderStage() as stage:
        assert await lived(stage, "first") == ["Created", "Running"]
        assert owners(stage, "runner") == ["MPIJob"]
        assert await lived(stage, "second") == ["Created", "Running"]
        assert owners(stage, "runner") == ["MPIJob"]


@in_virtual_time
async def test_an_account_that_is_there_stays_as_it_is_and_is_asked_for_once():
    async with OlderStage() as stage:
        stage.api.create(SERVICE_ACCOUNTS, {"metadata": {"name": "runner", "namespace": NAMESPACE}})
        assert await lived(stage, "first") == ["Created", "Running"]
        assert owners(stage, "runner") == []
        before = stage.written()
        await stage.restart()
        await stage.settle(5)
        assert stage.written() == before

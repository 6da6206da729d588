"""Which kinds are served."""

import pytest

from kfp_trainer.runtime_operator.kube.discovery import is_served
from kfp_trainer.runtime_operator.kube.errors import Unreachable
from kfp_trainer.runtime_operator.kube.resource import PODS, Resource
from tests.fake_api import FakeApi
from tests.virtual_time import in_virtual_time

JOBS = Resource("trainer.test", "v1", "jobs", "Job")


@in_virtual_time
async def test_a_kind_is_served_from_when_its_crd_is_there() -> None:
    api = FakeApi(Resource("trainer.test", "v1", "others", "Other"))
    transport = api.transport()
    assert await is_served(transport, PODS)
    assert not await is_served(transport, JOBS)
    api.serve(JOBS)
    assert await is_served(transport, JOBS)
    assert not await is_served(transport, Resource("else.test", "v1", "jobs", "Job"))


@in_virtual_time
async def test_no_answer_is_not_a_no() -> None:
    api = FakeApi()
    api.stop()
    with pytest.raises(Unreachable):
        await is_served(api.transport(), JOBS)

"""Events: told without waiting, counted, and cut down."""

import asyncio
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kfp_trainer.runtime_operator.kube.errors import api_error
from kfp_trainer.runtime_operator.kube.events import Recorder
from kfp_trainer.runtime_operator.kube.resource import EVENTS
from tests.fake_api import FakeApi, Fault
from tests.virtual_time import in_virtual_time, now

JOB = {
    "apiVersion": "trainer.test/v1",
    "kind": "Job",
    "metadata": {"name": "bert", "namespace": "team", "uid": "u1", "resourceVersion": "7"},
    "spec": {},
}


@asynccontextmanager
async def recording(api: FakeApi):
    recorder = Recorder(api.transport(), "trainer", instance="trainer-0", now=now)
    task = asyncio.create_task(recorder.run())
    try:
        yield recorder
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.wait((task,))


def told(api: FakeApi) -> list[tuple[str, int]]:
    return [(each["message"], each["count"]) for each in api.all(EVENTS)]


@in_virtual_time
async def test_an_event_says_what_kubectl_shows() -> None:
    api = FakeApi()
    async with recording(api) as recorder:
        await asyncio.sleep(5)
        recorder.record(JOB, "Created", "made a JobSet")
        await asyncio.sleep(1)
    (event,) = api.all(EVENTS)
    name = event.pop("metadata")["name"]
    assert name.startswith("bert.")
    assert event == {
        "apiVersion": "v1",
        "kind": "Event",
        "involvedObject": {
            "apiVersion": "trainer.test/v1",
            "kind": "Job",
            "name": "bert",
            "namespace": "team",
            "uid": "u1",
            "resourceVersion": "7",
        },
        "type": "Normal",
        "reason": "Created",
        "message": "made a JobSet",
        "count": 1,
        "firstTimestamp": "2026-01-01T00:00:05Z",
        "lastTimestamp": "2026-01-01T00:00:05Z",
        "source": {"component": "trainer"},
        "reportingComponent": "trainer",
        "reportingInstance": "trainer-0",
    }


@in_virtual_time
async def test_the_same_again_is_counted_and_written_at_most_every_ten_seconds() -> None:
    api = FakeApi()
    async with recording(api) as recorder:
        for _ in range(100):
            recorder.record(JOB, "Waits", "for room", type="Warning")
            await asyncio.sleep(1)
        await asyncio.sleep(15)
    assert told(api) == [("for room", 100)]
    assert 10 <= len(api.writes) <= 13
    (event,) = api.all(EVENTS)
    assert (event["firstTimestamp"], event["lastTimestamp"]) == (
        "2026-01-01T00:00:00Z",
        "2026-01-01T00:01:39Z",
    )


@in_virtual_time
async def test_what_was_silent_for_an_hour_is_told_anew() -> None:
    api = FakeApi()
    async with recording(api) as recorder:
        recorder.record(JOB, "Waits", "for room")
        await asyncio.sleep(3700)
        recorder.record(JOB, "Waits", "for room")
        await asyncio.sleep(1)
    assert told(api) == [("for room", 1)] * 2


@in_virtual_time
async def test_an_event_that_the_server_forgot_is_made_again() -> None:
    api = FakeApi()
    async with recording(api) as recorder:
        recorder.record(JOB, "Waits", "for room")
        await asyncio.sleep(1)
        api.remove(EVENTS, "team", api.all(EVENTS)[0]["metadata"]["name"])
        recorder.record(JOB, "Waits", "for room")
        await asyncio.sleep(20)
    assert told(api) == [("for room", 2)]


@in_virtual_time
async def test_a_flood_about_one_object_is_cut_down_and_another_is_not_touched() -> None:
    api = FakeApi()
    async with recording(api) as recorder:
        for number in range(1000):
            recorder.record(JOB, "Flood", f"number {number}")
        recorder.record({**JOB, "metadata": {**JOB["metadata"], "uid": "u2"}}, "Created", "made")
        await asyncio.sleep(60)
        assert len(told(api)) == 26
        assert recorder.dropped == 975
        await asyncio.sleep(120)
        recorder.record(JOB, "Flood", "later")
        await asyncio.sleep(1)
    assert ("later", 1) in told(api)


@in_virtual_time
async def test_a_server_that_is_away_bounds_what_waits_and_blocks_nobody() -> None:
    api = FakeApi()
    async with recording(api) as recorder:
        api.stop()
        for number in range(5000):
            metadata = {**JOB["metadata"], "uid": f"u{number}"}
            recorder.record({**JOB, "metadata": metadata}, "Created", "made")
        assert asyncio.get_running_loop().time() == 0
        assert recorder.dropped == 4000
        api.start()
        await asyncio.sleep(60)
    assert len(told(api)) == 1000


FAULTS = {
    "trouble that passes": (Fault("refuse", times=3, error=api_error(500, "", "etcd")), 1, 0),
    "an answer that is lost": (Fault("lose", times=2), 1, 0),
    "a namespace that goes": (
        Fault("refuse", error=api_error(403, "Forbidden", "is being terminated")),
        0,
        1,
    ),
    "trouble that does not pass": (Fault("refuse", times=99, error=api_error(500, "", "etcd")), 0, 1),
}


@pytest.mark.parametrize("sentence", FAULTS)
def test_a_fault(sentence: str) -> None:
    @in_virtual_time
    async def main() -> None:
        fault, count, refused = FAULTS[sentence]
        api = FakeApi()
        api.faults.add(fault)
        async with recording(api) as recorder:
            recorder.record(JOB, "Created", "made")
            await asyncio.sleep(60)
            assert (len(told(api)), recorder.refused) == (count, refused)

    main()


@in_virtual_time
async def test_the_rest_is_told_at_the_end() -> None:
    api = FakeApi()
    recorder = Recorder(api.transport(), "trainer", now=now)
    for _ in range(3):
        recorder.record(JOB, "Waits", "for room")
    await recorder.flush()
    recorder.record(JOB, "Waits", "for room")
    await recorder.flush()
    assert told(api) == [("for room", 4)]


@in_virtual_time
async def test_a_long_message_is_cut_and_a_cluster_wide_object_is_told_about_in_default() -> None:
    api = FakeApi()
    about: dict[str, Any] = {**JOB, "metadata": {"name": "shared"}}
    async with recording(api) as recorder:
        recorder.record(about, "Long", "x" * 5000)
        await asyncio.sleep(1)
    (event,) = api.all(EVENTS)
    assert (len(event["message"]), event["message"][-1]) == (1024, "…")
    assert event["metadata"]["namespace"] == "default"

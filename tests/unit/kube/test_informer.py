"""An informer against an API server in memory: whatever goes wrong, what is known becomes what is."""

import asyncio
import json
import random
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kfp_trainer.runtime_operator.kube.cache import Cached, Key
from kfp_trainer.runtime_operator.kube.errors import api_error
from kfp_trainer.runtime_operator.kube.informer import Informer
from kfp_trainer.runtime_operator.kube.resource import CONFIG_MAPS, Resource
from tests.counts import count
from tests.fake_api import FakeApi, Fault
from tests.virtual_time import in_virtual_time, run_virtually, until

JOBS = Resource("trainer.test", "v1", "jobs", "Job")
RESYNC = 330.0  # five minutes and a tenth


class Watched:
    """An informer at work, and the world as its changes tell it."""

    def __init__(self, api: FakeApi, **options: Any) -> None:
        self.world: dict[Key, str] = {}
        self.told: list[tuple[str, str, str]] = []
        self.api = api
        self.informer = Informer(api.transport(), CONFIG_MAPS, self.change, **options)

    def change(self, key: Key, old: Cached | None, new: Cached | None) -> None:
        assert self.world.get(key) == (old.head.resource_version if old else None)
        self.told.append((key[1], old.head.resource_version if old else "", _version(new)))
        if new:
            self.world[key] = new.head.resource_version
        else:
            del self.world[key]

    def truth(self) -> dict[Key, str]:
        there = [each["metadata"] for each in self.api.all(CONFIG_MAPS)]
        return {(each["namespace"], each["name"]): each["resourceVersion"] for each in there}

    def is_true(self) -> bool:
        known = {key: each.head.resource_version for key, each in self.informer.items()}
        return known == self.world == self.truth()


def _version(of: Cached | None) -> str:
    return of.head.resource_version if of else ""


@asynccontextmanager
async def watching(api: FakeApi, **options: Any):
    watched = Watched(api, **options)
    task = asyncio.create_task(watched.informer.run())
    try:
        await watched.informer.synced.wait()
        await asyncio.sleep(1)
        yield watched
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.wait((task,))


def add(api: FakeApi, *names: str) -> None:
    for name in names:
        api.create(CONFIG_MAPS, {"metadata": {"name": name, "namespace": "n"}, "data": {}})


def touch(api: FakeApi, name: str, text: str = "1") -> None:
    api.change(CONFIG_MAPS, "n", name, {"data": {"x": text}})


@in_virtual_time
async def test_what_is_there_and_what_comes_is_known() -> None:
    api = FakeApi()
    add(api, "a", "b")
    async with watching(api) as watched:
        assert watched.is_true()
        add(api, "c")
        touch(api, "a")
        api.remove(CONFIG_MAPS, "n", "b")
        await asyncio.sleep(0.1)
        assert watched.is_true()
        assert len(watched.told) == 5


@in_virtual_time
async def test_a_list_of_many_pages() -> None:
    api = FakeApi()
    add(api, *(f"c{number}" for number in range(1234)))
    async with watching(api) as watched:
        assert len(watched.informer) == 1234
        assert watched.is_true()


@in_virtual_time
async def test_a_day_of_silence_costs_a_watch_and_a_list_every_five_minutes_and_tells_nothing() -> None:
    api = FakeApi()
    add(api, "a")
    async with watching(api) as watched:
        await asyncio.sleep(24 * 3600)
        assert len(watched.told) == 1
        calls = len(api.calls)
        assert 2 * 24 * 12 * 0.8 < calls < 2 * 24 * 12 * 1.3, calls


def break_nothing(api: FakeApi) -> None:
    pass


def cut_and_change(api: FakeApi) -> None:
    api.cut()
    change_all(api)


def change_all(api: FakeApi) -> None:
    """A deletion, a creation, a change, and a namesake: what a gap must not lose."""
    api.remove(CONFIG_MAPS, "n", "a")
    add(api, "d")
    touch(api, "b")
    api.remove(CONFIG_MAPS, "n", "c")
    add(api, "c")


def compacted_gap(api: FakeApi) -> None:
    cut_and_change(api)
    api.compact()


def events(kind: str, *, times: int = 1) -> Callable[[FakeApi], None]:
    def break_events(api: FakeApi) -> None:
        api.faults.add(Fault(kind, times=times))
        change_all(api)

    return break_events


def refused_lists(api: FakeApi) -> None:
    api.faults.add(Fault("gone"))
    api.faults.add(Fault("refuse", verb="list", times=3, error=api_error(429, "", "later", retry_after=1)))
    api.cut()
    change_all(api)


def trouble_of_etcd(api: FakeApi) -> None:
    api.faults.add(Fault("refuse", verb="watch", times=3, error=api_error(500, "", "leader changed")))
    cut_and_change(api)


def hung_list(api: FakeApi) -> None:
    api.faults.add(Fault("hang", verb="list"))
    compacted_gap(api)


# sentence: what goes wrong, how soon all is known again, how many more lists that takes
CASES: dict[str, tuple[Callable[[FakeApi], None], float, int]] = {
    "nothing goes wrong": (change_all, 0.1, 0),
    "the watch is cut, and is taken up where it was": (cut_and_change, 0.3, 0),
    "history is compacted in the gap: the list shows what went": (compacted_gap, 0.5, 1),
    "the watch is told 410 once": (refused_lists, 8.0, 1 + 3),
    "a watch ends after an event": (events("cut"), 0.3, 0),
    "the watch goes silent: 75 s, the read's timeout": (events("silent"), 76.0, 0),
    "every event is told twice": (events("double", times=-1), 0.1, 0),
    "events change places": (events("swap", times=3), 61.0, 0),
    "one event is lost: the next list repairs it": (events("drop"), RESYNC, 1),
    "all events are lost": (events("drop", times=-1), RESYNC, 1),
    "the API server has trouble of its own": (trouble_of_etcd, 3.0, 0),
    "a list gets no answer": (hung_list, 42.0, 2),
}


@pytest.mark.parametrize("sentence", CASES)
def test_all_is_known_again(sentence: str) -> None:
    break_it, seconds, lists = CASES[sentence]

    async def main() -> None:
        api = FakeApi()
        add(api, "a", "b", "c")
        async with watching(api) as watched:
            before = watched.informer.lists
            break_it(api)
            await until(watched.is_true, limit=seconds, step=0.05)
            assert watched.informer.lists - before <= lists
            assert all(fault.hits for fault in api.faults.faults)
            await asyncio.sleep(3 * RESYNC)
            assert watched.is_true()

    run_virtually(main())


@in_virtual_time
async def test_a_list_of_the_past_is_not_believed() -> None:
    api = FakeApi()
    add(api, "a", "b", "c")
    async with watching(api) as watched:
        change_all(api)
        await asyncio.sleep(1)
        told = list(watched.told)
        api.faults.add(Fault("gone"))
        stale = api.faults.add(Fault("stale", behind=6, times=2))
        api.cut()
        await asyncio.sleep(0.3)
        assert "came after version" in watched.informer.trouble
        await asyncio.sleep(10)
        assert (stale.hits, watched.informer.trouble) == (2, "")
        assert watched.told == told
        assert watched.is_true()


@in_virtual_time
async def test_a_first_list_of_the_past_is_caught_up_with() -> None:
    api = FakeApi()
    add(api, "a", "b", "c")
    change_all(api)
    api.faults.add(Fault("stale", behind=6))
    async with watching(api) as watched:
        assert watched.is_true()


@in_virtual_time
async def test_an_api_server_that_was_away_for_half_a_minute_is_followed_within_three_seconds() -> None:
    api = FakeApi()
    add(api, "a", "b", "c")
    async with watching(api) as watched:
        api.stop()
        await asyncio.sleep(30)
        assert "refused" in watched.informer.trouble
        change_all(api)
        api.start()
        assert await until(watched.is_true) <= 3.5
        assert watched.informer.trouble == ""


@in_virtual_time
async def test_an_api_server_that_hangs_is_noticed_and_followed_again() -> None:
    api = FakeApi()
    add(api, "a", "b", "c")
    async with watching(api) as watched:
        api.hang()
        await asyncio.sleep(300)
        assert asyncio.get_running_loop().time() - watched.informer.last_progress > 250, (
            "liveness would not see it"
        )
        api.start()
        change_all(api)
        assert await until(watched.is_true) <= 80


@in_virtual_time
async def test_a_quiet_kind_whose_watch_says_nothing_is_no_trouble(caplog: pytest.LogCaptureFixture) -> None:
    api = FakeApi()
    async with watching(api) as watched:
        api.faults.add(Fault("silent", times=-1))
        add(api, "a")
        for _ in range(100):
            await asyncio.sleep(30)
            assert watched.informer.trouble == ""
    assert caplog.records == []


@in_virtual_time
async def test_progress_is_seen_while_nothing_happens() -> None:
    async with watching(FakeApi()) as watched:
        for _ in range(60):
            await asyncio.sleep(61)
            assert asyncio.get_running_loop().time() - watched.informer.last_progress < 130


@in_virtual_time
async def test_a_server_that_always_says_gone_is_asked_every_few_seconds_only() -> None:
    api = FakeApi()
    async with watching(api) as watched:
        api.faults.add(Fault("gone", times=-1))
        api.cut()
        before = watched.informer.lists
        await asyncio.sleep(600)
        assert 100 < watched.informer.lists - before < 500


@in_virtual_time
async def test_a_server_that_ends_every_watch_at_once_is_asked_every_few_seconds_only() -> None:
    class Ending(type(FakeApi().transport())):
        async def watch(self, resource: Resource, **_: Any):
            self._api.calls.append(("watch", ""))
            if False:
                yield b""

    api = FakeApi()
    informer = Informer(Ending(api), CONFIG_MAPS, lambda *_: None)
    task = asyncio.create_task(informer.run())
    await asyncio.sleep(600)
    task.cancel()
    assert informer.watches < 500


@in_virtual_time
async def test_a_bookmark_saves_a_list_when_history_is_compacted() -> None:
    api = FakeApi()
    add(api, "a")
    async with watching(api) as watched:
        api.create(JOBS_ELSEWHERE, {"metadata": {"name": "x"}})  # the version goes on elsewhere
        await asyncio.sleep(70)
        api.compact()
        api.cut()
        add(api, "b")
        await asyncio.sleep(1)
        assert watched.is_true()
        assert watched.informer.lists == 1


JOBS_ELSEWHERE = Resource("", "v1", "secrets", "Secret")


@in_virtual_time
async def test_a_long_wait_that_the_server_asks_for_is_obeyed() -> None:
    api = FakeApi()
    api.faults.add(Fault("refuse", verb="list", error=api_error(429, "", "later", retry_after=20)))
    async with watching(api):
        assert asyncio.get_running_loop().time() > 20


@in_virtual_time
async def test_own_writes_are_known_at_once_and_their_events_tell_nothing() -> None:
    api = FakeApi()
    transport = api.transport()
    async with watching(api) as watched:
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mine"}, "data": {"x": "1"}}
        raw = await transport.apply(CONFIG_MAPS, "n", "mine", json.dumps(body).encode(), manager="m")
        kept = watched.informer.wrote(raw)
        assert watched.informer.get(("n", "mine")) is kept
        assert "managedFields" not in kept.document()["metadata"]
        await asyncio.sleep(2 * RESYNC)
        assert watched.told == []


@in_virtual_time
async def test_only_what_is_selected_is_known() -> None:
    api = FakeApi()
    for name, labels in (("ours", {"app": "x"}), ("theirs", {})):
        api.create(CONFIG_MAPS, {"metadata": {"name": name, "namespace": "n", "labels": labels}})
    api.create(CONFIG_MAPS, {"metadata": {"name": "elsewhere", "namespace": "m", "labels": {"app": "x"}}})
    async with watching(api, namespace="n", labels="app=x") as watched:
        assert list(watched.world) == [("n", "ours")]
        api.change(CONFIG_MAPS, "n", "ours", {"metadata": {"labels": {"app": None}}})
        api.change(CONFIG_MAPS, "n", "theirs", {"metadata": {"labels": {"app": "x"}}})
        await asyncio.sleep(0.1)
        assert list(watched.world) == [("n", "theirs")]


@in_virtual_time
async def test_a_kind_that_comes_later_and_goes_again() -> None:
    api = FakeApi()
    seen: list[Key] = []
    informer = Informer(api.transport(), JOBS, lambda key, *_: seen.append(key))
    task = asyncio.create_task(informer.run())
    await asyncio.sleep(10)
    assert "could not find" in informer.trouble
    assert not informer.synced.is_set()
    api.serve(JOBS)
    await asyncio.wait_for(informer.synced.wait(), 4)
    api.create(JOBS, {"metadata": {"name": "a"}})
    await asyncio.sleep(1)
    assert seen == [("default", "a")]
    task.cancel()


@in_virtual_time
async def test_a_mistake_of_who_listens_is_not_swallowed() -> None:
    api = FakeApi()
    add(api, "a")

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ExceptionGroup) as caught:
        await Informer(api.transport(), CONFIG_MAPS, fail).run()
    assert caught.group_contains(ZeroDivisionError)


@pytest.mark.parametrize("seed", range(count(200, sampled=10)))
def test_any_mixture_of_faults_ends_in_the_truth(seed: int) -> None:
    chance = random.Random(seed)
    kinds = ["cut", "silent", "drop", "double", "swap", "gone", "stale"]

    async def main() -> None:
        api = FakeApi()
        add(api, "a", "b", "c")
        async with watching(api, chance=chance.random) as watched:
            for number in range(40):
                kind = chance.choice([*kinds, "refuse", "outage", "compact", "none"])
                if kind in kinds:
                    api.faults.add(Fault(kind, times=chance.randint(1, 3), behind=chance.randint(1, 5)))
                elif kind == "refuse":
                    verb = chance.choice(["list", "watch"])
                    api.faults.add(Fault("refuse", verb=verb, error=api_error(503, "", "away")))
                elif kind == "compact":
                    api.compact()
                elif kind == "outage":
                    api.stop()
                change(api, chance, number)
                await asyncio.sleep(chance.choice([0, 0.01, 1, 30]))
                api.start()
            api.faults.clear()
            await until(watched.is_true, limit=RESYNC + 90)

    run_virtually(main())


def change(api: FakeApi, chance: random.Random, number: int) -> None:
    name = chance.choice("abcdef")
    if not api.get(CONFIG_MAPS, "n", name):
        add(api, name)
    elif chance.random() < 0.3:
        api.remove(CONFIG_MAPS, "n", name)
    else:
        touch(api, name, str(number))

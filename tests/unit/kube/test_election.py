"""Who leads, in virtual time: never two, whatever goes wrong."""

import asyncio
import random
from contextlib import asynccontextmanager

import pytest

from kfp_trainer.runtime_operator.kube.election import Election, LeadershipLost
from kfp_trainer.runtime_operator.kube.errors import api_error
from kfp_trainer.runtime_operator.kube.resource import LEASES
from tests.counts import count
from tests.fake_api import FakeApi, Fault
from tests.virtual_time import in_virtual_time, now, run_virtually, until


class Replica:
    """One process: its part in the election, and the work that it does as leader."""

    def __init__(self, api: FakeApi, name: str, chance: random.Random | None = None) -> None:
        self.transport = api.transport()
        self.deaths = 0
        self.works = False
        jitter = (chance or random.Random(name)).random
        self.election = Election(
            self.transport, "system", "lead", name, lost=self.die, now=now, chance=jitter
        )
        self.task = asyncio.create_task(self.election.lead(self.work))

    def die(self) -> None:
        self.deaths += 1
        self.works = False

    async def work(self) -> None:
        self.works = True
        try:
            await asyncio.sleep(1e9)
        finally:
            self.works = False

    @property
    def acts(self) -> bool:
        return self.works and not self.task.done()


@asynccontextmanager
async def replicas(api: FakeApi, *names: str):
    """Replicas, and a witness that sees two leaders if there ever are."""
    made = [Replica(api, name) for name in names]
    overlaps: list[float] = []

    async def witness() -> None:
        while True:
            if sum(each.acts for each in made) > 1 or sum(each.election.is_leader for each in made) > 1:
                overlaps.append(asyncio.get_running_loop().time())
            await asyncio.sleep(0.05)

    watching = asyncio.create_task(witness())
    try:
        await until(lambda: any(each.acts for each in made))
        yield made
        assert overlaps == []
    finally:
        for task in [watching, *(each.task for each in made)]:
            task.cancel()
        await asyncio.wait([each.task for each in made])


def leader(made: list[Replica]) -> Replica:
    return next(each for each in made if each.acts)


@in_virtual_time
async def test_one_of_two_leads_and_keeps_leading() -> None:
    api = FakeApi()
    async with replicas(api, "a", "b") as made:
        first = leader(made)
        await asyncio.sleep(900)
        assert leader(made) is first
        assert first.election.is_leader
        lease = api.get(LEASES, "system", "lead")["spec"]
        assert (lease["holderIdentity"], lease["leaseTransitions"]) == (first.election.holder, 0)
        assert lease["renewTime"] > "2026-01-01T00:14"
        other = next(each for each in made if each is not first)
        assert other.election.holder == first.election.holder
        assert (other.acts, other.election.is_leader) == (False, False)


@in_virtual_time
async def test_a_leader_that_is_cut_off_stops_before_another_leads() -> None:
    async with replicas(FakeApi(), "a", "b") as made:
        first = leader(made)
        first.transport.is_cut_off = True
        stopped = await until(lambda: not first.acts, limit=30, step=0.01)
        assert 7.9 < stopped <= 10.1
        assert first.deaths == 1
        with pytest.raises(LeadershipLost, match="lease system/lead: no renewal within 10 s"):
            await first.task
        taken = await until(lambda: any(each.acts for each in made), limit=30, step=0.01)
        assert 3 < taken < 10


@in_virtual_time
async def test_with_a_hung_api_server_nobody_leads_and_afterwards_one_does() -> None:
    api = FakeApi()
    async with replicas(api, "a", "b", "c") as made:
        api.hang()
        await asyncio.sleep(10.1)
        assert not any(each.acts or each.election.is_leader for each in made)
        await asyncio.sleep(300)
        api.start()
        # a renewal whose answer was lost is news, so a whole lease is waited for after the calls that hung
        assert await until(lambda: any(each.acts for each in made)) < 10 + 2.2 + 15 + 2.2


@in_virtual_time
async def test_an_api_server_that_is_away_for_some_seconds_changes_nothing() -> None:
    api = FakeApi()
    async with replicas(api, "a", "b") as made:
        first = leader(made)
        for _ in range(20):
            api.stop()
            await asyncio.sleep(7)
            api.start()
            await asyncio.sleep(3)
            assert leader(made) is first


@in_virtual_time
async def test_a_leader_that_is_stopped_hands_over_at_once() -> None:
    api = FakeApi()
    async with replicas(api, "a", "b") as made:
        first = leader(made)
        first.task.cancel()
        assert await until(lambda: any(each.acts and each is not first for each in made)) < 3
        assert api.get(LEASES, "system", "lead")["spec"]["leaseTransitions"] == 1


@in_virtual_time
async def test_a_leader_that_dies_is_followed_after_the_lease() -> None:
    api = FakeApi()
    async with replicas(api, "a", "b") as made:
        first = leader(made)
        api.faults.add(Fault("refuse", verb="patch", error=api_error(403, "Forbidden", "no")))  # its release
        first.task.cancel()
        assert 12 < await until(lambda: any(each.acts and each is not first for each in made)) < 20


@in_virtual_time
async def test_work_under_the_lease_ends_before_the_lease_is_given_back() -> None:
    api, ends = FakeApi(), []

    async def work() -> None:
        try:
            await asyncio.sleep(1e9)
        finally:
            await asyncio.sleep(30)
            ends.append(api.get(LEASES, "system", "lead")["spec"]["holderIdentity"])

    election = Election(api.transport(), "system", "lead", "a", now=now)
    task = asyncio.create_task(election.lead(work))
    await asyncio.sleep(5)
    task.cancel()
    await asyncio.wait((task,))
    assert ends == ["a"]
    assert api.get(LEASES, "system", "lead")["spec"]["holderIdentity"] == ""


@in_virtual_time
async def test_who_is_told_twice_to_stop_renews_no_longer() -> None:
    async def work() -> None:
        try:
            await asyncio.sleep(1e9)
        finally:
            await asyncio.sleep(30)

    api = FakeApi()
    task = asyncio.create_task(Election(api.transport(), "system", "lead", "a", now=now).lead(work))
    for _ in range(2):
        await asyncio.sleep(5)
        task.cancel()
    await asyncio.wait((task,))
    await asyncio.sleep(60)
    assert api.get(LEASES, "system", "lead")["spec"]["renewTime"] < "2026-01-01T00:00:11"


@in_virtual_time
async def test_a_mistake_in_the_work_is_raised_and_the_lease_given_back() -> None:
    async def work() -> None:
        raise ZeroDivisionError

    api = FakeApi()
    with pytest.raises(ZeroDivisionError):
        await Election(api.transport(), "system", "lead", "a", now=now).lead(work)
    assert api.get(LEASES, "system", "lead")["spec"]["holderIdentity"] == ""


LEASE_LOST = {
    "somebody wrote another holder": {"spec": {"holderIdentity": "someone"}},
    "somebody took the holder away": {"spec": {"holderIdentity": ""}},
}


@pytest.mark.parametrize("sentence", LEASE_LOST)
def test_a_leader_whose_lease_is_taken_stops(sentence: str) -> None:
    async def main() -> None:
        api = FakeApi()
        async with replicas(api, "a") as made:
            api.change(LEASES, "system", "lead", LEASE_LOST[sentence])
            assert await until(lambda: not made[0].acts, limit=5) < 3
            with pytest.raises(LeadershipLost, match=r"is held by (someone|nobody)"):
                await made[0].task

    run_virtually(main())


@in_virtual_time
async def test_a_lease_that_was_deleted_is_made_again_by_its_leader() -> None:
    api = FakeApi()
    async with replicas(api, "a", "b") as made:
        first = leader(made)
        for _ in range(5):
            await asyncio.sleep(7.3)
            api.remove(LEASES, "system", "lead")
        await asyncio.sleep(20)
        assert leader(made) is first


@in_virtual_time
async def test_a_lost_answer_costs_nothing() -> None:
    api = FakeApi()
    async with replicas(api, "a", "b") as made:
        first = leader(made)
        for _ in range(10):
            api.faults.add(Fault("lose", verb="patch", times=2))
            await asyncio.sleep(20)
        assert leader(made) is first


@in_virtual_time
async def test_a_lost_answer_to_the_taking_leads_to_leading_all_the_same() -> None:
    api = FakeApi()
    api.faults.add(Fault("lose", verb="create"))
    async with replicas(api, "a"):
        assert asyncio.get_running_loop().time() < 4


@in_virtual_time
async def test_a_lease_that_an_installation_made_is_free() -> None:
    api = FakeApi()
    metadata = {"name": "lead", "namespace": "system"}
    api.create(LEASES, {"apiVersion": LEASES.api_version, "kind": LEASES.kind, "metadata": metadata})
    async with replicas(api, "a", "b") as made:
        assert asyncio.get_running_loop().time() < 4
        await asyncio.sleep(60)
        assert api.get(LEASES, "system", "lead")["spec"]["holderIdentity"] == leader(made).election.holder


@pytest.mark.parametrize("seed", range(count(300, sampled=10)))
def test_never_two_whatever_goes_wrong(seed: int) -> None:
    chance = random.Random(seed)

    async def main() -> None:
        api = FakeApi(latency=chance.choice([0.001, 0.1, 1.5]))
        async with replicas(api, "a", "b", "c") as made:
            for number in range(25):
                what = chance.choice(["hang", "stop", "cut off", "lose", "refuse", "stop a leader"])
                if what == "hang":
                    api.hang()
                elif what == "stop":
                    api.stop()
                elif what == "cut off":
                    chance.choice(made).transport.is_cut_off = True
                elif what in ("lose", "refuse"):
                    api.faults.add(Fault(what, times=chance.randint(1, 6)))
                elif what == "stop a leader":
                    for each in made:
                        if each.acts:
                            each.task.cancel()
                await asyncio.sleep(chance.uniform(0, 25))
                api.start()
                for each in made:
                    each.transport.is_cut_off = False
                if any(each.task.done() for each in made[-3:]):
                    made.append(Replica(api, f"again-{number}", chance))
            made.append(Replica(api, "last", chance))  # all others may have died
            assert await until(lambda: any(each.acts for each in made)) < 60

    run_virtually(main())

"""The queue, in virtual time."""

import asyncio
import random

from hypothesis import given
from hypothesis import strategies as st

from kfp_trainer.runtime_operator.kube.queue import WorkQueue
from tests.virtual_time import in_virtual_time, run_virtually


def clock() -> float:
    return asyncio.get_running_loop().time()


@in_virtual_time
async def test_a_key_waits_once() -> None:
    queue = WorkQueue[str]()
    for key in "aba":
        queue.add(key)
    assert [await queue.get(), await queue.get(), len(queue)] == ["a", "b", 0]


@in_virtual_time
async def test_a_key_that_is_worked_on_comes_again_when_it_is_done() -> None:
    queue = WorkQueue[str]()
    queue.add("a")
    await queue.get()
    queue.add("a")
    queue.add("a")
    assert (len(queue), queue.busy) == (0, 1)
    queue.done("a")
    assert await queue.get() == "a"
    queue.done("a")
    assert (len(queue), queue.busy) == (0, 0)


@in_virtual_time
async def test_of_several_times_the_earliest_counts() -> None:
    queue = WorkQueue[str]()
    queue.add_after("a", 60)
    queue.add_after("a", 10)
    queue.add_after("a", 30)
    assert queue.delayed == 1
    assert (await queue.get(), clock()) == ("a", 10)
    queue.done("a")
    await asyncio.sleep(100)
    assert len(queue) == 0


@in_virtual_time
async def test_a_time_that_is_over_is_now() -> None:
    queue = WorkQueue[str]()
    queue.add_after("a", 0)
    queue.add_after("b", -3)
    assert len(queue) == 2


@in_virtual_time
async def test_failures_wait_longer_each_time_up_to_half_a_minute() -> None:
    queue, waits = WorkQueue[str](chance=lambda: 1.0), []
    for _ in range(15):
        began = clock()
        queue.retry("a")
        queue.done(await queue.get())
        waits.append(round(clock() - began, 3))
    assert waits[:4] == [0.005, 0.01, 0.02, 0.04]
    assert waits[-2:] == [30.0, 30.0]
    assert queue.failures("a") == 15
    queue.forget("a")
    assert queue.failures("a") == 0


@in_virtual_time
async def test_a_retry_waits_as_long_as_the_server_asked() -> None:
    queue = WorkQueue[str]()
    queue.retry("a", at_least=17.0)
    assert (await queue.get(), clock()) == ("a", 17.0)


@in_virtual_time
async def test_a_cancelled_worker_takes_no_key_with_it() -> None:
    queue = WorkQueue[str]()
    workers = [asyncio.create_task(queue.get()) for _ in range(2)]
    await asyncio.sleep(0)
    queue.add("a")
    workers[0].cancel()
    assert await workers[1] == "a"


STEPS = st.lists(
    st.tuples(st.sampled_from("abcde"), st.sampled_from(["add", "add_after", "retry"]), st.floats(0, 2)),
    max_size=60,
)


@given(STEPS, st.integers(0, 2**32))
def test_every_key_is_worked_on_after_its_last_add_and_never_by_two(steps: list, seed: int) -> None:
    chance = random.Random(seed)

    async def main() -> None:
        queue = WorkQueue[str](chance=chance.random)
        busy: set[str] = set()
        asked, begun = dict.fromkeys("abcde", -1.0), dict.fromkeys("abcde", -1.0)

        async def work() -> None:
            while True:
                key = await queue.get()
                assert key not in busy
                busy.add(key)
                begun[key] = clock()
                await asyncio.sleep(chance.random())
                busy.remove(key)
                queue.done(key)

        workers = [asyncio.create_task(work()) for _ in range(3)]
        for key, what, pause in steps:
            arguments = (key, pause) if what == "add_after" else (key,)
            getattr(queue, what)(*arguments)
            asked[key] = clock()
            await asyncio.sleep(pause / 3)
        await asyncio.sleep(300)
        assert (len(queue), queue.busy, queue.delayed) == (0, 0, 0)
        assert all(begun[key] >= asked[key] for key in asked)
        assert not any(worker.done() for worker in workers)
        for worker in workers:
            worker.cancel()

    run_virtually(main())

"""A log is read to its end once, whatever happens to the connection meanwhile."""

import asyncio

import pytest

from kfp_trainer.runtime_operator.jobs.cluster import logs
from kfp_trainer.runtime_operator.jobs.cluster.logs import LogReader
from kfp_trainer.runtime_operator.kube.errors import Forbidden, Unreachable, error_of_status

HANG = "hang"


def line(second, text, fraction=""):
    return f"2026-01-01T00:00:{second:02}{fraction}Z {text}".encode()


class Streams:
    """A transport whose log streams are scripted: lines, and how each stream ends."""

    def __init__(self, *scripts):
        self.scripts = list(scripts)
        self.asked = []

    async def stream_log(self, namespace, pod, *, parameters):
        self.asked.append(parameters)
        for item in self.scripts.pop(0) if self.scripts else ():
            if isinstance(item, Exception):
                raise item
            if item == HANG:
                await asyncio.sleep(3600)
            yield item


CUT = Unreachable("cut")
WAITING = error_of_status({"code": 400, "message": "container is waiting to start"})
UNKNOWN = error_of_status({"code": 404, "message": "no such pod"})
A, B, C = line(1, "a"), line(2, "b"), line(3, "c")
CASES = {
    "nothing happens to it": ([[A, B, C]], "abc"),
    "it is cut, and what came is sent again": ([[A, B, CUT], [B, C]], "abc"),
    "it is cut within one second": (
        [
            [line(1, "a", ".1"), line(1, "b", ".12"), CUT],
            [line(1, "a", ".1"), line(1, "b", ".12"), line(1, "c", ".2")],
        ],
        "abc",
    ),
    "lines of the very same time are told apart": (
        [[line(1, "a"), line(1, "b"), CUT], [line(1, "a"), line(1, "b"), line(1, "c")]],
        "abc",
    ),
    "the container has not started": ([[WAITING], [A, B, C]], "abc"),
    "its kubelet does not know it yet": ([[UNKNOWN], [UNKNOWN], [A, B, C]], "abc"),
    "it is silent for a while": ([[A, HANG], [B, C]], "abc"),
    "the container has ended meanwhile": ([[A], [A, B, C]], "abc"),
    "the container never ran": ([[WAITING]], ""),
    "its pod is gone": ([[A, CUT], [UNKNOWN]], "a"),
}


@pytest.mark.parametrize("sentence", CASES)
def test_every_line_comes_once(sentence, monkeypatch):
    scripts, expected = CASES[sentence]
    monkeypatch.setattr(logs, "SILENCE", 0.05)
    streams = Streams(*scripts)

    def has_ended():
        return len(streams.asked) >= len(scripts) - 1

    async def read():
        reader = LogReader(streams, "lab", "bert-node-0-0-x", "node")
        return "".join([each.text async for each in reader.follow(has_ended)])

    assert asyncio.run(asyncio.wait_for(read(), 30)) == expected


def test_what_is_forbidden_is_told():
    streams = Streams([Forbidden(403, "Forbidden", "no pods/log for you")])

    async def read():
        reader = LogReader(streams, "lab", "bert-node-0-0-x", "node")
        return [each async for each in reader.follow(lambda: False)]

    with pytest.raises(Forbidden, match="no pods/log for you"):
        asyncio.run(read())


def test_it_is_taken_up_behind_the_last_line():
    streams = Streams([A, CUT], [B])

    async def read():
        reader = LogReader(streams, "lab", "pod", "node")
        return [each.text async for each in reader.follow(lambda: len(streams.asked) > 1)]

    assert asyncio.run(read()) == ["a", "b"]
    assert "sinceTime" not in streams.asked[0]
    assert streams.asked[1]["sinceTime"] == "2026-01-01T00:00:01Z"

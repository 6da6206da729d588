"""The log of a container: written by the launcher, read by everybody else."""

import os

import pytest

from kfp_trainer.runtime_operator.local.process.launcher.record import SIZE, Record, identity, memory_kills
from kfp_trainer.runtime_operator.local.process.launcher.scribe import LIMIT, Log, Stream, stamp
from kfp_trainer.runtime_operator.local.process.logs import Line, follow, read, tail_bytes


def scribed(*writes):
    """Return what a stream makes of some writes, without times."""
    hear, say = os.pipe()
    stream, out = Stream(hear, "stdout"), b""
    for data in writes:
        os.write(say, data)
        out += stream.take()
    os.close(say)
    assert stream.take() is None
    os.close(hear)
    out += stream.last()
    return [line.split(b" ", 1)[1] for line in out.split(b"\n")[:-1]]


# sentence: (writes, lines)
STREAMS = {
    "nothing": ([], []),
    "two lines at once": ([b"a\nb\n"], [b"stdout F a", b"stdout F b"]),
    "a line in two parts": ([b"a", b"b\n"], [b"stdout F ab"]),
    "no newline at the end": ([b"a"], [b"stdout F a"]),
    "an empty line": ([b"\n"], [b"stdout F "]),
    "a long line": ([b"x" * (LIMIT + 1) + b"\n"], [b"stdout P " + b"x" * LIMIT, b"stdout F x"]),
    "a long line without an end": ([b"x" * (LIMIT + 1)], [b"stdout P " + b"x" * LIMIT, b"stdout F x"]),
    "exactly as long as the limit": ([b"x" * LIMIT + b"\n"], [b"stdout F " + b"x" * LIMIT]),
}


@pytest.mark.parametrize("sentence", STREAMS)
def test_lines(sentence):
    writes, lines = STREAMS[sentence]
    assert scribed(*writes) == lines


def test_a_stamp_has_nanoseconds():
    assert stamp(1_700_000_000_000_000_005) == b"2023-11-14T22:13:20.000000005Z"


def test_a_full_disk_does_not_stall_the_container():
    log = Log("/dev/full")
    log.write(b"lost\n")
    assert log.error == 28


def test_a_log_is_appended(tmp_path):
    for text in (b"a\n", b"b\n", b""):
        log = Log(str(tmp_path / "log"))
        log.write(text)
    assert (tmp_path / "log").read_bytes() == b"a\nb\n"
    assert log.error == 0


def test_a_record_is_one_object_of_one_size(tmp_path):
    record = Record(str(tmp_path / "r"))
    record.write(pid=1, about='"/x"\n' * 1000)
    record.write(ended=5)
    text = (tmp_path / "r").read_text()
    assert len(text) == SIZE
    assert text.startswith('{"pid": 1, "about": "\\"/x\\"\\n')
    assert text.rstrip().endswith(', "ended": 5}')


def test_who_a_process_is():
    start, boot = identity(os.getpid())
    assert start > 0
    assert len(boot) == 36
    assert identity(2**22 + 1) == (0, "")
    assert memory_kills() >= 0


LINES = b"".join(b"2026-01-01T00:00:0%dZ stdout F line %d\n" % (number, number) for number in range(5))


def test_reading(tmp_path):
    path = tmp_path / "log"
    assert (read(path), read(path, tail=3), read(path, tail=0)) == ([], [], [])
    path.write_bytes(LINES + b"2026 stderr P half ")
    assert len(read(path)) == 5
    assert read(path, tail=2)[0] == Line("2026-01-01T00:00:03Z", "stdout", True, b"line 3")
    assert tail_bytes(path, lines=1) == b"line 4\n"


def test_the_tail_of_a_large_log(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"".join(b"t stdout F %d\n" % number for number in range(50_000)))
    assert [line.text for line in read(path, tail=2)] == [b"49998", b"49999"]
    assert len(read(path, tail=20_000)) == 20_000
    assert len(read(path, tail=90_000)) == 50_000


def test_parts_are_joined(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"t stdout P ab\nt stdout F c\n")
    assert tail_bytes(path, lines=10) == b"abc\n"


async def test_following(tmp_path):
    path = tmp_path / "log"
    rounds = iter([False, False, False, True, True])
    path.write_bytes(LINES[:40])
    seen = []

    def over():
        if len(seen) == 1:
            path.write_bytes(LINES)
        return next(rounds)

    async for line in follow(path, over):
        seen.append(line.text)
    assert seen == [b"line 0", b"line 1", b"line 2", b"line 3", b"line 4"]


async def test_following_from_the_tail(tmp_path):
    path = tmp_path / "log"
    lines = [line.text async for line in follow(path, lambda: True, tail=2)]
    assert lines == []
    path.write_bytes(LINES)
    assert [line.text async for line in follow(path, lambda: True, tail=2)] == [b"line 3", b"line 4"]

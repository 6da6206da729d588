"""Sizes, digests, waiting, room on a disk: the small rules of a fetch."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.workloads.fetch.hashing import Hashes, hash_file, tree_digest
from kfp_trainer.runtime_operator.workloads.fetch.http_answers import retry_after, same_validator
from kfp_trainer.runtime_operator.workloads.fetch.pace import Pace, Patience, Stopped
from kfp_trainer.runtime_operator.workloads.fetch.pieces import MEBI, cut
from kfp_trainer.runtime_operator.workloads.fetch.source import Digest, DigestKind
from kfp_trainer.runtime_operator.workloads.fetch.space import check_space, in_words
from kfp_trainer.runtime_operator.workloads.fetch.troubles import Transient


@given(st.integers(0, 10**13), st.integers(1, 64))
def test_what_all_connections_hold_is_bounded(total: int, connections: int) -> None:
    sizes = cut(total, connections)
    assert (1 << 14) <= sizes.chunk <= MEBI
    assert 4 * MEBI <= sizes.piece <= 16 * MEBI
    if total > connections * 200 * (1 << 14):
        assert sizes.chunk * connections <= total * 0.005


PROMISES: dict[DigestKind, str] = {
    "sha256": hashlib.sha256(b"hello").hexdigest(),
    "sha512": hashlib.sha512(b"hello").hexdigest(),
    "sha1": hashlib.sha1(b"hello").hexdigest(),
    "md5": hashlib.md5(b"hello").hexdigest(),
    "git-sha1": "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0",
}


@pytest.mark.parametrize("kind", PROMISES)
def test_a_promise_is_kept_or_broken(kind: DigestKind) -> None:
    for body, kept in ((b"hello", True), (b"hellO", False)):
        hashes = Hashes(Digest(kind, PROMISES[kind].upper()), len(body))
        hashes.update(memoryview(body[:2]))
        hashes.update(memoryview(body[2:]))
        assert hashes.kept_promise() is kept
        assert hashes.sha256 == hashlib.sha256(body).hexdigest()


def test_the_digest_of_a_tree_is_that_of_sha256sums_lines(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a" * 3_000_000)
    sums = {"b/c": "2" * 64, "a": hash_file(tmp_path / "a")}
    lines = f"{sums['a']}  a\n{sums['b/c']}  b/c\n"
    assert tree_digest(sums.items()) == f"sha256:{hashlib.sha256(lines.encode()).hexdigest()}"


TIMES = {
    None: 0.0,
    "": 0.0,
    "7": 7.0,
    "-1": 0.0,
    "soon": 0.0,
    "Thu, 01 Jan 1970 00:01:40 GMT": 100.0,
    "Wed, 31 Dec 1969 23:00:00 GMT": 0.0,
}


@pytest.mark.parametrize("value", TIMES)
def test_retry_after(value: str | None) -> None:
    assert retry_after(value, 0.0) == TIMES[value]


VALIDATORS = {
    "the same tag": ('"a"', {"etag": '"a"'}, True),
    "another tag": ('"a"', {"etag": '"b"'}, False),
    "weak and strong": ('"a"', {"etag": 'W/"a"'}, True),
    "no tag in the answer": ('"a"', {}, True),
    "nothing listed": ("", {"etag": '"b"'}, True),
    "the same time": ("modified:Mon", {"last-modified": "Mon"}, True),
    "another time": ("modified:Mon", {"last-modified": "Tue"}, False),
}


@pytest.mark.parametrize("sentence", VALIDATORS)
def test_the_file_is_the_one_that_was_listed(sentence: str) -> None:
    listed, headers, want = VALIDATORS[sentence]
    assert same_validator(listed, headers) is want


def test_waiting_grows_and_ends() -> None:
    pace = Pace(Patience(first=1, most=3, tries=4))
    waits: list[float] = []
    pace.rest = waits.append  # type: ignore[method-assign]
    for tries in (1, 2, 3):
        pace.after(Transient("x"), tries)
    assert 0.5 <= waits[0] <= 1 <= waits[1] <= 2
    assert 1.5 <= waits[2] <= 3
    with pytest.raises(Transient, match="x"):
        pace.after(Transient("x"), 4)


def test_a_source_that_asks_for_too_long_is_given_up() -> None:
    with pytest.raises(Transient) as caught:
        Pace(Patience(longest=600)).after(Transient("x", after=601), 1)
    assert caught.value.after == 601


def test_who_is_stopped_does_not_wait() -> None:
    pace = Pace(Patience(first=600))
    pace.end()
    pace.go_on()
    with pytest.raises(Stopped):
        pace.after(Transient("x"), 1)
    with pytest.raises(Stopped):
        pace.begin()


WORDS = {0: "0 B", 999: "999 B", 1000: "1.0 KB", 20_000_000_000: "20.0 GB", 3.2e12: "3.2 TB"}


@pytest.mark.parametrize("count", WORDS)
def test_bytes_in_words(count: float) -> None:
    assert in_words(count) == WORDS[count]


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    check_space(tmp_path / "..", needed=1, files=1)
    with pytest.raises(
        SetupError, match=r"1\d{3}.\d TB are still to be fetched and .* are free, make room for"
    ):
        check_space(tmp_path, needed=10**15 + 10**14, files=1)

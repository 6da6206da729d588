"""Which bytes of a log the options of a request let through."""

from datetime import UTC, datetime

import pytest

from kfp_trainer.runtime_operator.local.process.logs import Line
from tests.cluster.process_node.log_options import LogOptions

NOW = datetime(2026, 1, 2, 3, 4, 6, tzinfo=UTC)
LINES = (
    Line("2026-01-02T03:04:04.000000001Z", "stdout", True, b"one"),
    Line("2026-01-02T03:04:05.000000000Z", "stderr", False, b"tw"),
    Line("2026-01-02T03:04:05.500000000Z", "stderr", True, b"o"),
)
CASES = {
    "everything": ({}, b"one\ntwo\n"),
    "the standard output": ({"stream": "Stdout"}, b"one\n"),
    "the standard error": ({"stream": "Stderr"}, b"two\n"),
    "a limit of bytes": ({"limitBytes": "5"}, b"one\nt"),
    "no bytes": ({"limitBytes": "0"}, b""),
    "since a moment": ({"sinceTime": "2026-01-02T03:04:05Z"}, b"two\n"),
    "since a moment of another zone": ({"sinceTime": "2026-01-02T05:04:05+02:00"}, b"two\n"),
    "since some seconds ago": ({"sinceSeconds": "2"}, b"one\ntwo\n"),
    "since a second ago": ({"sinceSeconds": "1"}, b"two\n"),
    "a time for each full line": (
        {"timestamps": "true"},
        b"2026-01-02T03:04:04.000000001Z one\n2026-01-02T03:04:05.000000000Z two\n",
    ),
}


@pytest.mark.parametrize("sentence", CASES)
def test_filter(sentence):
    query, want = CASES[sentence]
    passed = LogOptions.of(query, NOW).filter()
    assert b"".join(map(passed, LINES)) == want


def test_options_are_read():
    query = {"follow": "true", "previous": "true", "tailLines": "3"}
    options = LogOptions.of(query, NOW)
    assert (options.follow, options.previous, options.tail) == (True, True, 3)


@pytest.mark.parametrize("query", [{"tailLines": "few"}, {"sinceTime": "yesterday"}, {"limitBytes": "1.5"}])
def test_what_is_no_number_and_no_moment_is_refused(query):
    with pytest.raises(ValueError):
        LogOptions.of(query, NOW)

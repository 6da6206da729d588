"""What a line of the log holds, for a program and for a person."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from kfp_trainer.runtime_operator.service.logs import JsonLines, Words, set_up_logs


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The root logger, as it was afterwards."""
    logger = logging.getLogger()
    handlers, level = logger.handlers[:], logger.level
    yield logger
    logger.handlers[:] = handlers
    logger.setLevel(level)


def record(level: int = logging.INFO, **extra: Any) -> logging.LogRecord:
    logger = logging.getLogger("kfp_trainer.runtime_operator.webhook.server")
    made = logger.makeRecord(logger.name, level, "file", 1, "refused %s", ("it",), None, extra=extra)
    made.created = 0.0
    return made


def test_a_line_for_a_program() -> None:
    line = JsonLines().format(record(namespace="team", object="bert", why='say "no"'))
    assert json.loads(line) == {
        "time": "1970-01-01T00:00:00.000+00:00",
        "level": "info",
        "part": "webhook.server",
        "message": "refused it",
        "namespace": "team",
        "object": "bert",
        "why": 'say "no"',
    }
    assert "\n" not in line


def test_a_line_for_a_person() -> None:
    line = Words().format(record(logging.WARNING, object="bert"))
    assert line.endswith("  warning: refused it  object=bert")


def test_a_mistake_is_told_with_its_place() -> None:
    try:
        raise ValueError("oops")
    except ValueError as error:
        made = record()
        made.exc_info = (type(error), error, error.__traceback__)
    assert "ValueError: oops" in json.loads(JsonLines().format(made))["exception"]
    assert "ValueError: oops" in Words().format(made)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


STREAMS: dict[str, tuple[io.StringIO, str]] = {
    "a file gets JSON": (io.StringIO(), '{"time"'),
    "a terminal gets words": (Terminal(), "hello"),
}


@pytest.mark.parametrize("sentence", STREAMS)
def test_who_gets_which(sentence: str, root: logging.Logger) -> None:
    stream, words = STREAMS[sentence]
    set_up_logs("info", stream)
    logging.getLogger("kfp_trainer").info("hello")
    logging.getLogger("kfp_trainer").debug("hidden")
    assert words in stream.getvalue()
    assert "hidden" not in stream.getvalue()

"""Tells Katib the numbers of a trial: read from the lines of its log, pushed when the trial has ended well.

A trial that pushes has no sidecar: its command is not wrapped, and nothing has to end beside it. The call is
Katib's `DBManager.ReportObservationLog`; its four small messages are written here, so that a trial's image
needs grpcio and none of Katib's packages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from ..errors import Retryable, SetupError

VALUE = re.compile(r"([\w|-]+)\s*=\s*([+-]?\d*(?:\.\d+)?(?:[Ee][+-]?\d+)?)")
"""what Katib's StdOut collector looks for where an Experiment names no format"""
TRIAL, ADDRESS = "KATIB_TRIAL_NAME", "KATIB_DB_MANAGER_ADDRESS"
USUAL_ADDRESS = "katib-db-manager.kubeflow:6789"
METHOD = "/api.v1.beta1.DBManager/ReportObservationLog"
SECONDS = 60.0
LENGTH_DELIMITED = 2


class Number(NamedTuple):
    """One value of a metric."""

    time: str
    name: str
    value: str


@contextmanager
def pushed(names: Collection[str], environ: Mapping[str, str]) -> Iterator[Callable[[str], None]]:
    """Give what says the lines of a trial; the numbers of these names in them are pushed at the end."""
    say = partial(print, flush=True)
    if not names:
        yield say
        return
    if not (trial := environ.get(TRIAL, "")):
        raise SetupError(f"{TRIAL}: is not set, so this is no trial of Katib; leave out --push")
    found: list[Number] = []

    def say_and_keep(line: str) -> None:
        found.extend(numbers_of(line, names, now=datetime.now(UTC)))
        say(line)

    yield say_and_keep
    push(trial, found, environ.get(ADDRESS) or USUAL_ADDRESS)


def numbers_of(line: str, names: Collection[str], *, now: datetime) -> list[Number]:
    """The numbers of these names in a line; one that is none (`loss=nan`) is left out."""
    read = VALUE.findall(line)
    time = now.isoformat().replace("+00:00", "Z")
    return [Number(time, name, value) for name, value in read if name in names and value.strip("+-")]


def push(trial: str, numbers: Sequence[Number], address: str) -> None:
    """Report the numbers of a trial."""
    try:
        import grpc
    except ModuleNotFoundError as error:
        raise SetupError(
            "grpcio: is not installed, and pushing to Katib needs it; pip install grpcio"
        ) from error
    with grpc.insecure_channel(address) as channel:
        try:
            channel.unary_unary(METHOD)(message(trial, numbers), timeout=SECONDS, wait_for_ready=True)
        except grpc.RpcError as error:
            raise Retryable(f"{address}: Katib took no numbers: {error.details()}", after=60) from error


def message(trial: str, numbers: Sequence[Number]) -> bytes:
    """A ReportObservationLogRequest."""
    logs = [
        _field(1, each.time) + _field(2, _field(1, each.name) + _field(2, each.value)) for each in numbers
    ]
    return _field(1, trial) + _field(2, b"".join(_field(1, log) for log in logs))


def _field(number: int, content: str | bytes) -> bytes:
    """A field of text or of a message."""
    raw = content.encode() if isinstance(content, str) else content
    return bytes([number << 3 | LENGTH_DELIMITED]) + _varint(len(raw)) + raw


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])

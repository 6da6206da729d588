"""The numbers of a trial are read from its lines as Katib reads them, and pushed as Katib takes them."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.steps.katib import METHOD, Number, message, numbers_of, pushed

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LINES = {
    "a line of ours": ("step=3 of=9 loss=0.5 eval_loss=0.25", [("loss", "0.5"), ("eval_loss", "0.25")]),
    "blanks around the sign": ("loss = 1e-3", [("loss", "1e-3")]),
    "a colon is none": ("loss: 0.5", []),
    "not a number": ("loss=nan", []),
    "another name": ("my_loss=2 train-loss=3", []),
}


@pytest.mark.parametrize("sentence", LINES)
def test_numbers_are_read_by_their_names(sentence: str) -> None:
    line, want = LINES[sentence]
    found = numbers_of(line, ["loss", "eval_loss"], now=NOW)
    assert [(each.name, each.value) for each in found] == want
    assert {each.time for each in found} <= {"2026-01-02T03:04:05Z"}


def katibs_request() -> Any:
    """The class of Katib's message, made from its four definitions."""
    text, group, many = 9, 11, 3
    file = descriptor_pb2.FileDescriptorProto(name="api.proto", package="api.v1.beta1", syntax="proto3")
    for name, fields in {
        "Metric": (("name", text, ""), ("value", text, "")),
        "MetricLog": (("time_stamp", text, ""), ("metric", group, "Metric")),
        "ObservationLog": (("metric_logs", group, "MetricLog"),),
        "ReportObservationLogRequest": (
            ("trial_name", text, ""),
            ("observation_log", group, "ObservationLog"),
        ),
    }.items():
        made = file.message_type.add(name=name)
        for number, (field, kind, type_name) in enumerate(fields, 1):
            made.field.add(name=field, number=number, type=kind, label=many if field == "metric_logs" else 1)
            if type_name:
                made.field[-1].type_name = f".api.v1.beta1.{type_name}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found = pool.FindMessageTypeByName("api.v1.beta1.ReportObservationLogRequest")
    return message_factory.GetMessageClass(found)


def test_a_request_is_what_protobuf_reads_again() -> None:
    numbers = [Number("2026-01-02T03:04:05Z", "loss", f"0.{index}") for index in range(300)]
    request = katibs_request().FromString(message("train-x", numbers))
    assert request.trial_name == "train-x"
    logs = request.observation_log.metric_logs
    assert [Number(each.time_stamp, each.metric.name, each.metric.value) for each in logs] == numbers
    assert request.SerializeToString() == message("train-x", numbers)


class Manager(grpc.GenericRpcHandler):
    """Katib's manager, as far as trials see it."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []

    def service(self, details):
        if details.method != METHOD:
            return None
        return grpc.unary_unary_rpc_method_handler(self._take)

    def _take(self, request: bytes, _context: object) -> bytes:
        self.taken.append(request)
        return b""


def test_numbers_are_pushed_at_the_end_and_only_then() -> None:
    manager = Manager()
    server = grpc.server(ThreadPoolExecutor(1), handlers=[manager])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    environ = {"KATIB_TRIAL_NAME": "train-x", "KATIB_DB_MANAGER_ADDRESS": f"127.0.0.1:{port}"}
    try:
        with pushed(["loss"], environ) as say:
            for number in range(200):
                say(f"step={number} loss=0.{number}")
            assert manager.taken == []
    finally:
        server.stop(None)
    (request,) = manager.taken
    assert request.startswith(b"\x0a\x07train-x\x12")
    assert request.count(b"loss") == 200


def test_a_trial_that_fails_pushes_nothing() -> None:
    with (
        pytest.raises(ValueError, match="broken"),
        pushed(["loss"], {"KATIB_TRIAL_NAME": "x", "KATIB_DB_MANAGER_ADDRESS": "127.0.0.1:1"}) as say,
    ):
        say("loss=0.5")
        raise ValueError("broken")


def test_outside_of_katib_nothing_can_be_pushed() -> None:
    with pytest.raises(SetupError, match="KATIB_TRIAL_NAME"), pushed(["loss"], {}):
        pass
    with pushed([], {}) as say:
        say("loss=0.5")

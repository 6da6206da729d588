"""Which options go together, and what is said of those that do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.service.settings import (
    ServiceSettings,
    check_settings,
    read_gates,
    read_older_kinds,
)

GATE = frozenset({"TrainJobStatus"})

READ: dict[str, tuple[str, frozenset[str]]] = {
    "nothing": ("", frozenset()),
    "a gate that is on": ("TrainJobStatus=true", GATE),
    "a gate that is off": ("TrainJobStatus=false", frozenset()),
    "spaces and a comma too many": (" TrainJobStatus=true , ", GATE),
}
UNREADABLE: dict[str, tuple[str, str]] = {
    "a gate that is unknown": ("Other=true", "there is no gate 'Other'; there are TrainJobStatus"),
    "no value": ("TrainJobStatus", "TrainJobStatus must be true or false, got ''"),
    "another value": ("TrainJobStatus=1", "must be true or false, got '1'"),
}
REFUSED: dict[str, tuple[ServiceSettings, str]] = {
    "progress with rights in one namespace": (
        ServiceSettings(namespace="team", features=GATE),
        "--feature-gates: TrainJobStatus needs the right to review tokens",
    ),
    "a certificate that nobody serves with": (
        ServiceSettings(webhook=False, cert_dir=Path("/certs")),
        "--cert-dir: nothing is served with a certificate here",
    ),
    "two servers on one port": (
        ServiceSettings(health_port=9443),
        "--webhook-port: 9443 is the port of --health-port too",
    ),
}
ACCEPTED: dict[str, ServiceSettings] = {
    "the defaults": ServiceSettings(),
    "one namespace": ServiceSettings(namespace="team"),
    "a port that is free, chosen by the system, for all": ServiceSettings(
        health_port=0, metrics_port=0, webhook_port=0, progress_port=0, features=GATE
    ),
    "a port of a server that is off": ServiceSettings(webhook=False, health_port=9443),
}


@pytest.mark.parametrize("sentence", READ)
def test_gates(sentence: str) -> None:
    text, want = READ[sentence]
    assert read_gates(text) == want


KINDS: dict[str, tuple[str, frozenset[str]]] = {
    "nothing": ("", frozenset()),
    "one kind": ("TFJob", frozenset({"TFJob"})),
    "in whatever case, with spaces": (" tfjob, PYTORCHJOB ,", frozenset({"TFJob", "PyTorchJob"})),
}


@pytest.mark.parametrize("sentence", KINDS)
def test_older_kinds(sentence: str) -> None:
    text, want = KINDS[sentence]
    assert read_older_kinds(text) == want


def test_an_older_kind_that_is_none() -> None:
    with pytest.raises(SpecError) as told:
        read_older_kinds("TFJob,TFJobs")
    assert str(told.value).startswith("--older-kinds: there is no kind 'TFJobs'; name some of TFJob, ")


@pytest.mark.parametrize("sentence", UNREADABLE)
def test_gates_that_cannot_be_read(sentence: str) -> None:
    text, words = UNREADABLE[sentence]
    with pytest.raises(SpecError) as told:
        read_gates(text)
    assert words in str(told.value)


@pytest.mark.parametrize("sentence", REFUSED)
def test_options_that_do_not_go_together(sentence: str) -> None:
    settings, words = REFUSED[sentence]
    with pytest.raises(SpecError) as told:
        check_settings(settings)
    assert words in str(told.value)


@pytest.mark.parametrize("sentence", ACCEPTED)
def test_options_that_do(sentence: str) -> None:
    check_settings(ACCEPTED[sentence])


def test_one_namespace_has_no_webhook() -> None:
    assert ServiceSettings().admits
    assert not ServiceSettings(namespace="team").admits
    assert not ServiceSettings(webhook=False).admits

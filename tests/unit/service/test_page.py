"""What docs/operator.md says of options and metrics is so."""

from __future__ import annotations

import re
from pathlib import Path

from kfp_trainer.runtime_operator.cli.operator import operator
from kfp_trainer.runtime_operator.service.parts import Parts
from kfp_trainer.runtime_operator.service.settings import ServiceSettings
from tests.fake_api import FakeApi

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "operator.md").read_text(encoding="utf-8")


async def test_every_metric_and_its_labels_are_told() -> None:
    parts = Parts(FakeApi().transport(), ServiceSettings(), "system")
    told: dict[str, set[str]] = {}
    for name, labels in re.findall(r"`(kfp_trainer_[a-z_]+)(?:\{([a-z,]+)\})?`", PAGE):
        told[name] = set(filter(None, labels.split(",")))
    made: dict[str, set[str]] = {}
    for collector in list(parts.registry._collector_to_names):
        labels = set(getattr(collector, "_labelnames", ()))
        for metric in collector.describe():
            suffix = "_total" if metric.type == "counter" else ""
            made[f"{metric.name}{suffix}"] = labels
    assert told == made


def test_every_option_is_told() -> None:
    options = {
        option for parameter in operator.params for option in parameter.opts if option.startswith("--")
    }
    told = set(re.findall(r"--[a-z-]+", PAGE))
    assert options - told == {"--cluster-domain", "--log-level"}

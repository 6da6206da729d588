"""The metrics that pages and the dashboard name are those that the operator has."""

import re

import pytest
from prometheus_client import CollectorRegistry

from kfp_trainer.runtime_operator.controller.metrics import Metrics
from kfp_trainer.runtime_operator.webhook.metrics import AdmissionMetrics
from tests.pages.blocks import ROOT

NAMING = ("docs/operator.md", "docs/operations.md", "manifests/monitoring/dashboard.json")


def known() -> set[str]:
    """Every name under which Prometheus sees a value."""
    registry = CollectorRegistry()
    Metrics(registry)
    AdmissionMetrics(registry)
    families = list(registry.collect())
    ends = ("", "_total", "_bucket", "_sum", "_count")
    return {f"{family.name}{end}" for family in families for end in ends}


@pytest.mark.parametrize("file", NAMING)
def test_metrics_are_there(file: str) -> None:
    named = set(re.findall(r"kfp_trainer_[a-z_]+", (ROOT / file).read_text(encoding="utf-8")))
    assert named
    assert named - known() == set()

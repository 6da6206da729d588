"""The dashboard asks for metrics that there are, and Prometheus for the port that serves them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from kfp_trainer.runtime_operator.render.facts import NO_FACTS
from kfp_trainer.runtime_operator.service.parts import Parts
from kfp_trainer.runtime_operator.service.settings import ServiceSettings
from kfp_trainer.runtime_operator.webhook.certificates import names_of
from tests.fake_api import FakeApi

ROOT = Path(__file__).resolve().parents[3]
MONITORING = ROOT / "manifests" / "monitoring"


def panels() -> list[dict[str, Any]]:
    return list(json.loads((MONITORING / "dashboard.json").read_text(encoding="utf-8"))["panels"])


async def test_every_panel_asks_for_metrics_that_there_are() -> None:
    parts = Parts(FakeApi().transport(), ServiceSettings(), "system")
    known: dict[str, set[str]] = {}
    for collector in list(parts.registry._collector_to_names):
        for name in parts.registry._collector_to_names[collector]:
            known[name] = {*getattr(collector, "_labelnames", ()), "le"}
    for panel in panels():
        for target in panel["targets"]:
            asked = re.findall(r"kfp_trainer_[a-z_]+", target["expr"])
            assert asked
            assert set(asked) <= known.keys(), panel["title"]
            labels = {
                label.strip()
                for group in re.findall(r"by \(([^)]*)\)", target["expr"])
                for label in group.split(",")
            }
            assert labels <= set.union(*(known[name] for name in asked)), panel["title"]


def test_panels_do_not_lie_on_each_other() -> None:
    places = [(each["gridPos"]["x"], each["gridPos"]["y"]) for each in panels()]
    assert len(set(places)) == len(places) == len({each["id"] for each in panels()})


def test_prometheus_asks_the_port_and_trusts_the_name_of_the_service() -> None:
    monitor = yaml.safe_load((MONITORING / "service_monitor.yaml").read_text(encoding="utf-8"))
    service = yaml.safe_load((ROOT / "manifests/manager/service.yaml").read_text(encoding="utf-8"))
    (endpoint,) = monitor["spec"]["endpoints"]
    assert endpoint["port"] in {each["name"] for each in service["spec"]["ports"]}
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    names = names_of(NO_FACTS.operator_service, NO_FACTS.operator_namespace)
    assert endpoint["tlsConfig"]["serverName"] in names
    assert endpoint["tlsConfig"]["ca"]["secret"]["name"] == NO_FACTS.certificate


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl: not on the PATH")
def test_grafana_finds_the_dashboard_by_its_label_whole() -> None:
    built = subprocess.run(["kubectl", "kustomize", str(MONITORING)], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    objects = {each["kind"]: each for each in yaml.load_all(built.stdout, Loader=yaml.CSafeLoader)}
    assert objects.keys() == {"ConfigMap", "ServiceMonitor"}
    held = objects["ConfigMap"]
    assert held["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert json.loads(held["data"]["dashboard.json"])["panels"] == panels()
    places = {each["metadata"]["namespace"] for each in objects.values()}
    assert places == {NO_FACTS.operator_namespace}

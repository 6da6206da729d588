"""The versions that pages and manifests name are those that are tested."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.cluster.control_plane.programs import KUBERNETES_VERSION, versions

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "supported_versions.md"
PARTS = {
    "Kubernetes": ("kubernetes", "k8s.io/kubernetes"),
    "etcd": ("kubernetes", "go.etcd.io/etcd/server/v3"),
    "Volcano": ("kubernetes", "volcano.sh/volcano"),
    "scheduler-plugins": ("kubernetes", "sigs.k8s.io/scheduler-plugins"),
    "JobSet": ("managers", "sigs.k8s.io/jobset"),
    "Kueue": ("managers", "sigs.k8s.io/kueue"),
    "Kubeflow Trainer": ("managers", "github.com/kubeflow/trainer/v2"),
    "KWOK": ("managers", "sigs.k8s.io/kwok"),
    "Training Operator": ("training_operator", "github.com/kubeflow/training-operator"),
}
"""the Go module of each part, and in which go.mod of the control plane it is pinned"""
SAID_OTHERWISE = {"Python", "Linux, x86_64"}


def rows(heading: str) -> dict[str, str]:
    """What a table of the page tells as tested, by the part; empty if nothing is."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    cells = [[each.strip() for each in line.strip("| ").split("|")] for line in section.splitlines()]
    return {each[0]: each[1] for each in cells if len(each) > 1 and each[0] not in ("part", "package", "---")}


def constraints() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_the_cluster_is_tested_in_the_version_that_the_page_tells(part: str) -> None:
    module, path = PARTS[part]
    assert f"v{rows('On a cluster')[part]}" == versions(module)[path]


def test_the_server_says_the_version_that_it_is_built_from() -> None:
    assert "v{}.{}.{}".format(*KUBERNETES_VERSION) == versions("kubernetes")["k8s.io/kubernetes"]


def test_nothing_is_called_tested_that_no_file_pins() -> None:
    told = {**rows("On a cluster"), **rows("On one machine")}
    assert {name for name, tested in told.items() if tested} == {*PARTS, *SAID_OTHERWISE}


def test_packages_are_tested_in_the_versions_that_the_page_tells() -> None:
    told = rows("Packages")
    assert len(told) > 5
    assert told.items() <= constraints().items()


def test_python_is_the_one_that_is_tested() -> None:
    told = rows("On one machine")["Python"]
    (pinned,) = re.findall(r"on Python ([0-9.]+) ", (ROOT / "constraints.txt").read_text(encoding="utf-8"))
    assert told == pinned
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == f">={pinned}"
    workflow = (ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8")
    assert f'python: ["{pinned}"]' in workflow


def test_the_page_of_the_control_plane_tells_the_same() -> None:
    page = (ROOT / "docs/cluster.md").read_text(encoding="utf-8")
    told = rows("On a cluster")
    for words, part in (("JobSet", "JobSet"), ("Kueue", "Kueue"), ("Trainer", "Kubeflow Trainer")):
        minor = ".".join(told[part].split(".")[:2])
        assert set(re.findall(rf"\b{words} ([0-9]+\.[0-9]+)\b", page)) == {minor}
    assert re.findall(r"Kubernetes ([0-9]+\.[0-9]+)", page)[0] == "{}.{}".format(*KUBERNETES_VERSION)


def test_jobset_is_the_one_that_is_tested() -> None:
    page = (ROOT / "docs/operator.md").read_text(encoding="utf-8")
    tested = versions("managers")["sigs.k8s.io/jobset"]
    assert re.findall(r"jobset/releases/download/(v[0-9.]+)/", page) == [tested]

"""The versions that pages and manifests name are those that are tested."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_jobset_is_the_one_that_is_tested() -> None:
    modules = (ROOT / "tests/cluster/control_plane/managers/go.mod").read_text(encoding="utf-8")
    (tested,) = re.findall(r"sigs\.k8s\.io/jobset (v[0-9.]+)", modules)
    page = (ROOT / "docs/operator.md").read_text(encoding="utf-8")
    assert re.findall(r"jobset/releases/download/(v[0-9.]+)/", page) == [tested]

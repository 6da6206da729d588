"""The control plane of the cluster ring, for clients that speak to an API server."""

import pytest

from tests.cluster import conftest as ring
from tests.cluster.conftest import (
    client,
    cluster,
    namespace,
    new_namespace,
    plane,
    simulated,
    whole_cluster,
)

__all__ = [
    "client",
    "cluster",
    "namespace",
    "new_namespace",
    "plane",
    "simulated",
    "whole_cluster",
]


def pytest_configure(config: pytest.Config) -> None:
    ring.pytest_configure(config)
    # the SDK's models, as they are written
    config.addinivalue_line("filterwarnings", "ignore:Support for class-based `config`:DeprecationWarning")

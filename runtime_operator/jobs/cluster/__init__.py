"""Jobs of a cluster: the same protocol, over an API server."""

from __future__ import annotations

from .jobs import ClusterJobs

__all__ = ["ClusterJobs"]

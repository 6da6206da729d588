"""What the tests of fetching share."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.workloads.fetch import engine
from kfp_trainer.runtime_operator.workloads.fetch.connections import Limits


@pytest.fixture
def short_stall(monkeypatch: pytest.MonkeyPatch) -> float:
    """A connection counts as hanging after half a second."""
    seconds = 0.5
    monkeypatch.setattr(engine, "Limits", lambda stall: Limits(stall=seconds))
    return seconds

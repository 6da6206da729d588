import os
import sys
from types import SimpleNamespace

import pytest

from kfp_trainer.runtime_operator.workloads.threads import limit_threads


def test_the_variable_is_set_for_what_is_loaded_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    limit_threads(2)
    assert os.environ["OMP_NUM_THREADS"] == "2"


def test_a_torch_that_is_loaded_already_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(set_num_threads=told.append))
    limit_threads(3)
    assert told == [3]


def test_without_a_number_torch_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    limit_threads(None)
    assert "OMP_NUM_THREADS" not in os.environ

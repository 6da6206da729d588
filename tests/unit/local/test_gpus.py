import pytest

from kfp_trainer.runtime_operator.errors import Retryable
from kfp_trainer.runtime_operator.local import gpus
from kfp_trainer.runtime_operator.local.folder import write_json


def pod(*amounts: int) -> dict:
    containers = [{"name": str(n), "resources": {"limits": {"nvidia.com/gpu": n, "cpu": 1}}} for n in amounts]
    return {"spec": {"containers": containers}}


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine of four GPUs; makes the folders of pods."""
    monkeypatch.setattr(gpus, "machine_gpus", lambda: ("0", "1", "2", "3"))

    def folder(name: str):
        (tmp_path / name).mkdir(exist_ok=True)
        return tmp_path / name

    return folder


def test_a_pod_asks_for_what_its_containers_ask_for():
    assert gpus.asked(pod(2, 1)) == 3
    assert gpus.asked({"spec": {"containers": [{"name": "a"}]}}) == 0


def test_devices_are_handed_out_once(machine, tmp_path):
    assert gpus.devices_for(tmp_path, machine("a"), pod(2)) == ("0", "1")
    assert gpus.devices_for(tmp_path, machine("b"), pod(1)) == ("2",)
    with pytest.raises(Retryable, match="needs 2 GPUs and 1 of 4 are free"):
        gpus.devices_for(tmp_path, machine("c"), pod(2))


def test_devices_come_back(machine, tmp_path):
    folder = machine("a")
    gpus.devices_for(tmp_path, folder, pod(4))
    gpus.hand_back(tmp_path, folder)
    assert gpus.devices_for(tmp_path, machine("b"), pod(4)) == ("0", "1", "2", "3")


def test_a_pod_that_has_ended_or_gone_has_nothing(machine, tmp_path):
    ended, gone = machine("ended"), machine("gone")
    gpus.devices_for(tmp_path, ended, pod(2))
    gpus.devices_for(tmp_path, gone, pod(2))
    write_json(ended / "status.json", {"phase": "Failed"})
    gone.rmdir()
    assert gpus.devices_for(tmp_path, machine("new"), pod(4)) == ("0", "1", "2", "3")


def test_a_pod_that_asks_for_none_sees_none(machine, tmp_path):
    assert gpus.devices_for(tmp_path, machine("a"), pod(0)) == ()


def test_a_machine_without_gpus_hands_out_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(gpus, "machine_gpus", lambda: ())
    assert gpus.devices_for(tmp_path, tmp_path, pod(1)) is None

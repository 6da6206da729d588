import pytest

from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.local.keys import PRIVATE, PUBLIC, DrawnKeys


def test_keys_are_drawn_when_they_are_asked_for_and_only_once(monkeypatch):
    drawn = []

    def keygen(command, **_):
        drawn.append(command)
        path = command[-1]
        for name, text in ((path, "private"), (f"{path}.pub", "public")):
            with open(name, "w") as file:
                file.write(text)

    monkeypatch.setattr("subprocess.run", keygen)
    keys = DrawnKeys()
    assert set(keys) == {PRIVATE, PUBLIC} and not drawn
    assert (keys[PRIVATE], keys[PUBLIC]) == ("private", "public")
    assert len(drawn) == 1


def test_other_keys_are_not_there():
    assert "curve" not in DrawnKeys()


def test_a_machine_without_ssh_is_told_so(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SetupError, match="ssh-keygen: not found"):
        DrawnKeys()[PRIVATE]

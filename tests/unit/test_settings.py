from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.settings import read_settings

CASES = {
    "an absolute home is taken as it is": ("/data/trainer", Path("/data/trainer")),
    "blanks around it do not count": ("  /data/trainer ", Path("/data/trainer")),
    "a tilde is the person's own folder": ("~/trainer", Path.home() / "trainer"),
    "an empty one means the default": ("", Path.home() / ".local/share/kfp-trainer"),
}


@pytest.mark.parametrize("sentence", CASES)
def test_home(sentence: str) -> None:
    given, want = CASES[sentence]
    settings = read_settings({"KFP_TRAINER_HOME": given})
    assert settings.home == want
    assert {settings.jobs, settings.cache, settings.runs} == {want / "jobs", want / "cache", want / "runs"}


def test_a_relative_home_is_refused_with_the_path_to_write_instead() -> None:
    with pytest.raises(SetupError, match="KFP_TRAINER_HOME: must be an absolute path, got 'here'; write /"):
        read_settings({"KFP_TRAINER_HOME": "here"})

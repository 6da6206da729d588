import pytest

from kfp_trainer.runtime_operator.cli.pipelines import parse_parameters
from kfp_trainer.runtime_operator.errors import SpecError

GOOD = {
    "text": ("model_path=/models/a", {"model_path": "/models/a"}),
    "a number": ("steps=40", {"steps": 40}),
    "a mapping": ("training={epochs: 2}", {"training": {"epochs": 2}}),
    "a value that holds an equals sign": ("model_path=a=b", {"model_path": "a=b"}),
}
BAD = {
    "no equals sign": ("steps", "must be NAME=VALUE with a name of model_path, steps, training"),
    "a name the pipeline does not have": (
        "step=1",
        "must be NAME=VALUE with a name of model_path, steps, training",
    ),
    "broken YAML": ("training={a", "the value is not YAML"),
}
KNOWN = {"model_path", "steps", "training"}


@pytest.mark.parametrize("sentence", GOOD)
def test_parameters_are_read(sentence: str) -> None:
    given, want = GOOD[sentence]
    assert parse_parameters([given], known=KNOWN) == want


@pytest.mark.parametrize("sentence", BAD)
def test_a_wrong_parameter_is_refused(sentence: str) -> None:
    given, want = BAD[sentence]
    with pytest.raises(SpecError, match=f"-p .*: {want}"):
        parse_parameters([given], known=KNOWN)

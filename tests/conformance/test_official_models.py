"""The models of `kubeflow_trainer_api`, which the SDK is made of, read all we take and all we print."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import kubeflow_trainer_api.models as official
import pytest

from tests.conformance.__main__ import CASES
from tests.conformance.answer import answer
from tests.recorded_cases import read_cases

MODELS = {
    "TrainJob": official.TrainerV1alpha1TrainJob,
    "TrainingRuntime": official.TrainerV1alpha1TrainingRuntime,
    "ClusterTrainingRuntime": official.TrainerV1alpha1ClusterTrainingRuntime,
    "JobSet": official.JobsetV1alpha2JobSet,
}
BUILT = {path.stem: case for path, case in read_cases(CASES) if case["expect"]["outcome"] == "built"}


def lost(given: Any, read: Any, path: str = "") -> list[str]:
    """What stands in a document and not in what the model made of it; a number may come back as text."""
    if isinstance(given, dict) and isinstance(read, dict):
        return [each for key, value in given.items() for each in lost(value, read.get(key), f"{path}.{key}")]
    if isinstance(given, list) and isinstance(read, list) and len(given) == len(read):
        return [
            each
            for n, (one, other) in enumerate(zip(given, read, strict=True))
            for each in lost(one, other, f"{path}[{n}]")
        ]
    if isinstance(read, datetime):
        read = read.strftime("%Y-%m-%dT%H:%M:%SZ")
    same = given == read or str(given) == str(read) or (not given and not read)
    return [] if same else [f"{path}: {given!r} became {read!r}"]


def read(document: dict[str, Any]) -> list[str]:
    parsed = MODELS[document["kind"]].from_dict(document)
    assert parsed is not None
    return lost({**document, "metadata": {}}, {**parsed.to_dict(), "metadata": {}})


@pytest.mark.parametrize("name", BUILT)
def test_what_we_take_and_what_we_print(name):
    case = BUILT[name]
    unknown = case["expect"].get("unknownFields")
    taken = [] if unknown else [each for each in case["input"] if each["kind"] in MODELS]
    printed = [each for each in answer(case, compat=None).get("objects", ()) if each["kind"] in MODELS]
    assert {each["kind"]: read(each) for each in (*taken, *printed) if read(each)} == {}

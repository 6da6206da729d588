"""A run knows its processes, and refuses to be many models by mistake."""

import pytest

from kfp_trainer.runtime_operator.errors import SetupError, SpecError
from kfp_trainer.runtime_operator.workloads.finetune.processes import Place, read_place, share_of_batch

PLACES = {
    "no variables: alone": ({}, Place(0, 1)),
    "torchrun's variables count": ({"RANK": "3", "WORLD_SIZE": "4", "PET_NNODES": "4"}, Place(3, 4)),
    "a pod of one process needs no torchrun": ({"PET_NNODES": "1", "PET_NPROC_PER_NODE": "1"}, Place(0, 1)),
    "auto is left to torchrun": ({"PET_NPROC_PER_NODE": "auto"}, Place(0, 1)),
}


@pytest.mark.parametrize("sentence", PLACES)
def test_places(sentence: str) -> None:
    environment, place = PLACES[sentence]
    assert read_place(environment) == place


@pytest.mark.parametrize("name", ["PET_NNODES", "PET_NPROC_PER_NODE"])
def test_several_processes_without_torchrun_are_refused(name: str) -> None:
    with pytest.raises(SetupError, match=f"{name}: asks for 2 but this is one process, start with torchrun"):
        read_place({name: "2"})


SHARES = {"one process takes all": (16, 1, 16), "four take a quarter each": (16, 4, 4)}


@pytest.mark.parametrize("sentence", SHARES)
def test_shares(sentence: str) -> None:
    batch, processes, share = SHARES[sentence]
    assert share_of_batch(batch, processes) == share


UNEVEN = {"between two multiples": (16, 3, "take 15 or 18"), "fewer rows than processes": (2, 4, "take 4")}


@pytest.mark.parametrize("sentence", UNEVEN)
def test_uneven_batches(sentence: str) -> None:
    batch, processes, advice = UNEVEN[sentence]
    with pytest.raises(SpecError, match=advice):
        share_of_batch(batch, processes)

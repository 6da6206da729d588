"""A run knows its processes, and refuses to be many models by mistake."""

import pytest

from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.workloads.finetune.processes import Place, read_place

PLACES = {
    "no variables: alone": ({}, Place(0, 1)),
    "torchrun's variables count": ({"RANK": "3", "WORLD_SIZE": "4", "PET_NNODES": "4"}, Place(3, 4)),
    "those of this machine are counted": (
        {"RANK": "1", "WORLD_SIZE": "16", "LOCAL_WORLD_SIZE": "8"},
        Place(1, 16, local=8),
    ),
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


NONSENSE = {
    "a rank in words": ({"RANK": "a", "WORLD_SIZE": "2"}, "RANK: must be a number from 0, got 'a'"),
    "a rank without a number of processes": ({"RANK": "0"}, "WORLD_SIZE: must be a number from 1, got ''"),
    "a rank beyond the last": ({"RANK": "5", "WORLD_SIZE": "2"}, "RANK: 5 is not below WORLD_SIZE 2"),
    "a number of processes without a rank": ({"WORLD_SIZE": "2"}, "WORLD_SIZE: is 2 and RANK is not set"),
    "processes of this machine in words": (
        {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "x"},
        "LOCAL_WORLD_SIZE: must be a number from 1, got 'x'",
    ),
    "fewer nodes than none": ({"PET_NNODES": "-1"}, "PET_NNODES: must be a number, a range, auto"),
    "as many as auto8": ({"PET_NPROC_PER_NODE": "auto8"}, "PET_NPROC_PER_NODE: must be .*, got 'auto8'"),
    "a range of nodes": ({"PET_NNODES": "1:4"}, "PET_NNODES: asks for 1:4 but this is one process"),
}


@pytest.mark.parametrize("sentence", NONSENSE)
def test_nonsense_is_one_sentence(sentence: str) -> None:
    environment, words = NONSENSE[sentence]
    with pytest.raises(SetupError, match=words):
        read_place(environment)

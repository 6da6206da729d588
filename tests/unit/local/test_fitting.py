import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.jobs.shipped import shipped_runtimes
from kfp_trainer.runtime_operator.local.fitting import Size, fit, smaller

SMALLER = {
    "each node loses GPUs": ((2, 4), 4, (2, 2)),
    "what does not divide is left over": ((2, 4), 5, (2, 2)),
    "nodes go when there is not one GPU for each": ((8, 1), 3, (3, 1)),
    "without GPUs it is the CPU": ((2, 4), 0, (2, 0)),
    "never more than asked for": ((1, 2), 8, (1, 2)),
}


@pytest.mark.parametrize("sentence", SMALLER)
def test_smaller(sentence):
    wanted, gpus, expected = SMALLER[sentence]
    assert smaller(Size(*wanted), gpus) == Size(*expected)


def job(nodes: int, gpus: int) -> dict:
    trainer = {
        "numNodes": nodes,
        "command": ["train"],
        "resourcesPerNode": {"limits": {"amd.com/gpu": gpus, "cpu": 2}},
    }
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "bert"},
        "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": trainer},
    }


def fitted(*, gpus: int, allow_fewer: bool):
    return fit([job(2, 4)], shipped=shipped_runtimes(), gpus=gpus, allow_fewer=allow_fewer)


def test_what_fits_stays_as_it_is():
    submission = fitted(gpus=8, allow_fewer=False)
    assert submission.warnings == ()
    assert submission.train_job["spec"]["trainer"]["numNodes"] == 2


@pytest.mark.parametrize("gpus, has", [(4, "has 4"), (0, "has none")])
def test_too_much_is_refused_with_the_sentence_why(gpus, has):
    with pytest.raises(SpecError, match=f"asks for 8 GPUs at once and this machine {has}; .*--allow-fewer"):
        fitted(gpus=gpus, allow_fewer=False)


def test_a_smaller_job_says_so_and_counts_its_processes_anew():
    submission = fitted(gpus=4, allow_fewer=True)
    assert submission.warnings[0].startswith(
        "runs smaller here: 2 nodes with 2 GPUs each instead of 2 nodes with 4"
    )
    trainer = submission.train_job["spec"]["trainer"]
    assert trainer["numProcPerNode"] == 2
    assert trainer["resourcesPerNode"]["limits"] == {"amd.com/gpu": "2", "cpu": 2}


def test_a_smaller_job_is_the_same_job():
    assert fitted(gpus=4, allow_fewer=True).digest == fitted(gpus=8, allow_fewer=False).digest

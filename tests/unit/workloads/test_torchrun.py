"""What torchrun ran says how it ends: a mistake stays a mistake, and a signal is told."""

import pytest
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure

from kfp_trainer.runtime_operator.workloads.torchrun import exit_code

ENDS: dict[str, tuple[dict[int, int], int, str]] = {
    "a mistake in the settings": ({0: 2}, 2, ""),
    "a mistake that only one process finds": ({1: 2}, 2, ""),
    "an exception": ({0: 1}, 1, ""),
    "killed for its memory": ({1: -9}, 137, "the process of rank 1 was ended by SIGKILL\n"),
    "asked to end": ({0: -15}, 143, "the process of rank 0 was ended by SIGTERM\n"),
}


@pytest.mark.parametrize("sentence", ENDS)
def test_ends_as_its_processes_did(sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    codes, ends_with, told = ENDS[sentence]
    failures = {rank: ProcessFailure(rank, 100 + rank, code, "<N/A>") for rank, code in codes.items()}
    assert exit_code(ChildFailedError("python", failures)) == ends_with
    assert capsys.readouterr().err == told


def test_the_first_that_failed_says_it(capsys: pytest.CaptureFixture[str]) -> None:
    failures = {rank: ProcessFailure(rank, 100 + rank, code, "<N/A>") for rank, code in ((0, -15), (1, 2))}
    failures[0].timestamp, failures[1].timestamp = 20, 10
    assert exit_code(ChildFailedError("python", failures)) == 2

"""Every case is answered as upstream answers it, where upstream is right and where it is not."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.conformance.__main__ import CASES, RECORDINGS
from tests.conformance.answer import answer
from tests.conformance.compare import faults
from tests.recorded_cases import read_cases, write_answers

ALL = {path.stem: case for path, case in read_cases(CASES)}
TOLD = ("input", "features", "reconcile", "fullSnapshot")
FEWEST = 242


def test_all_cases_are_here():
    assert len(ALL) >= FEWEST


@pytest.mark.parametrize("name", ALL)
def test_case(name):
    told = {key: ALL[name][key] for key in TOLD if key in ALL[name]}
    assert [str(each) for each in faults(ALL[name], answer(told))] == []


def test_an_answer_survives_its_file(tmp_path):
    names = (
        "patch-as-kueue-writes-it",
        "invalid-deadline-zero",
        "status-complete",
        "mpi-slots-of-the-trainjob",
    )
    source, target = tmp_path / "cases", tmp_path / "answers"
    source.mkdir()
    for name in names:
        (source / f"{name}.yaml").symlink_to(CASES / f"{name}.yaml")
    assert write_answers(RECORDINGS, source, target) == 0
    for name in names:
        written = yaml.safe_load((target / f"{name}.yaml").read_text())
        assert faults(ALL[name], written) == []


def test_check_counts_and_fails_when_a_case_is_wrong(tmp_path):
    case = {**ALL["image-only"], "expect": {"objects": []}}
    (tmp_path / "wrong.yaml").write_text(yaml.safe_dump(case))
    (tmp_path / "right.yaml").symlink_to(CASES / "image-only.yaml")
    run = subprocess.run(
        [sys.executable, "-m", "tests.conformance", "check", str(tmp_path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.splitlines()[0] == "wrong [command-args-image]"
    assert run.stdout.splitlines()[-1] == "1 of 2 cases right"
    assert run.returncode == 1

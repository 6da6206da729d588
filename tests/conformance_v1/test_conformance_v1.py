"""Every case is answered as the Training Operator did, but for those whose difference is known and listed."""

import fnmatch
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.conformance_v1.__main__ import CASES, RECORDINGS
from tests.conformance_v1.answer import answer
from tests.conformance_v1.compare import faults
from tests.conformance_v1.not_served import NOT_SERVED
from tests.recorded_cases import read_cases, write_answers

ALL = {path.stem: case for path, case in read_cases(CASES)}
TOLD = ("input", "variant", "script")
FEWEST = 160


def test_all_cases_are_here():
    assert len(ALL) >= FEWEST
    assert NOT_SERVED.keys() <= ALL.keys()


@pytest.mark.parametrize("name", ALL)
def test_case(name):
    told = {key: ALL[name][key] for key in TOLD if key in ALL[name]}
    found = faults(ALL[name], answer(told))
    known = NOT_SERVED[name].paths if name in NOT_SERVED else ()
    new = [str(each) for each in found if not any(fnmatch.fnmatchcase(each.path, path) for path in known)]
    assert new == []
    assert bool(found) == (name in NOT_SERVED), "a case that is answered right leaves the list"


def test_an_answer_survives_its_file(tmp_path):
    names = ("pytorch-master-and-workers", "invalid-tf-no-containers", "suspend-and-resume-jaxjob")
    source, target = tmp_path / "cases", tmp_path / "answers"
    source.mkdir()
    for name in names:
        (source / f"{name}.yaml").symlink_to(CASES / f"{name}.yaml")
    assert write_answers(RECORDINGS, source, target) == 0
    for name in names:
        written = yaml.safe_load((target / f"{name}.yaml").read_text())
        assert faults(ALL[name], written) == []


def test_check_counts_and_fails_when_a_case_is_wrong(tmp_path):
    case = {**ALL["tf-one-worker"], "expect": {"admission": {"allowed": False}}}
    (tmp_path / "wrong.yaml").write_text(yaml.safe_dump(case))
    (tmp_path / "right.yaml").symlink_to(CASES / "tf-one-worker.yaml")
    run = subprocess.run(
        [sys.executable, "-m", "tests.conformance_v1", "check", str(tmp_path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.splitlines()[0] == "wrong [tf-render]"
    assert run.stdout.splitlines()[-1] == "1 of 2 cases right"
    assert run.returncode == 1


@pytest.mark.parametrize(
    ("path", "change"),
    {
        "a variable with another value": (
            "env",
            lambda pod: pod["containers"][0]["env"][0].update(value="2"),
        ),
        "a label that is not there": ("labels", lambda pod: pod["labels"].popitem()),
        "a pod that has failed": ("phase", lambda pod: pod.update(phase="Failed")),
        "a container too many": ("containers", lambda pod: pod["containers"].append({"name": "other"})),
    }.values(),
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_the_comparer_finds(path, change):
    case = ALL["pytorch-master-and-workers"]
    given = answer(case)
    change(given["steps"][0]["pods"][1])
    assert any(path in each.path for each in faults(case, given))


def test_a_job_that_is_resumed_begins_anew_with_every_replica():
    case = ALL["jax-three-processes"]
    script = [{"end": "worker-0", "code": 0}, {"suspend": True}, {"suspend": False}]
    steps = answer({"input": case["input"], "script": script})["steps"]
    seen = [[(each["phase"], each["incarnation"]) for each in step["pods"]] for step in steps]
    assert seen[1:] == [[("Succeeded", 1), ("Running", 1), ("Running", 1)], [], [("Running", 2)] * 3]


def test_pods_that_fail_again_and_again_are_replaced_until_the_limit():
    case = ALL["exit-code-130-of-worker-pytorchjob"]
    *others, job = case["input"]
    limited = {**job, "spec": {**job["spec"], "runPolicy": {"backoffLimit": 3}}}
    script = [{"end": "worker-1", "code": 130}] * 3
    steps = answer({"input": [*others, limited], "script": script})["steps"]
    assert [step["state"] for step in steps] == ["Running", "Running", "Running", "Failed"]
    assert [step["pods"][-1]["incarnation"] for step in steps] == [1, 2, 3, 3]


def test_a_replica_that_has_ended_well_counts_when_its_pod_is_gone():
    case = ALL["jax-three-processes"]
    script = [{"end": "worker-0", "code": 0}, {"delete": "worker-0"}, {"end": "worker-1 worker-2", "code": 0}]
    steps = answer({"input": case["input"], "script": script})["steps"]
    assert [step["state"] for step in steps] == ["Running", "Running", "Running", "Succeeded"]
    assert [len(step["pods"]) for step in steps] == [3, 3, 2, 2]

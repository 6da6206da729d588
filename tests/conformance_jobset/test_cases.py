"""Every recorded case is answered as the real controllers answered it, on all paths that count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conformance_jobset.__main__ import RECORDINGS
from tests.conformance_jobset.answer import CASES, answer
from tests.conformance_jobset.compare import differences, faults
from tests.conformance_jobset.go_json import go_json, unreadable
from tests.recorded_cases import main, read_cases

RECORDED = {path.stem: case for path, case in read_cases(CASES)}
SMALL = ("plain-success", "ttl-0", "bad-ttl")


@pytest.mark.parametrize("name", RECORDED)
def test_a_case_is_answered_as_recorded(name: str) -> None:
    case = RECORDED[name]
    told = {key: value for key, value in case.items() if key in ("input", "script", "topic", "sentence")}
    assert [str(each) for each in faults(case, answer(told))] == []


def test_all_cases_are_there() -> None:
    assert len(RECORDED) == 151


WRONG = {
    "another phase": (
        "steps.0.pods.worker-0-1-1.phase",
        lambda a: a["steps"][0]["pods"][1].update(phase="Failed"),
    ),
    "a pod too few": ("steps.0.pods.worker-0-1-1", lambda a: a["steps"][0]["pods"].pop()),
    "another order": ("steps.0.appeared", lambda a: a["steps"][0]["appeared"].insert(0, ["worker-1"])),
    "false for 0": ("steps.0.jobs.worker-0.failed", lambda a: a["steps"][0]["jobs"][0].update(failed=False)),
    "a step too few": ("steps.2", lambda a: a["steps"].pop()),
    "another default": ("defaults.suspend", lambda a: a["defaults"].update(suspend=True)),
    "another service": ("steps.0.services", lambda a: a["steps"][0].update(services=["beta"])),
    "refused": ("admission.allowed", lambda a: a.update(admission={"allowed": False})),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_a_wrong_answer_is_seen(sentence: str) -> None:
    path, spoil = WRONG[sentence]
    case = RECORDED["plain-success"]
    given = answer(case)
    spoil(given)  # type: ignore[no-untyped-call]
    assert [each.path for each in differences(case["expect"], given)] == [path]
    assert faults(case, given, [path]) == []


def test_what_is_empty_is_the_same_as_what_is_missing() -> None:
    empty = {"admission": {"message": "", "warnings": []}, "steps": [{"jobs": [], "events": ["x"]}]}
    assert differences({"steps": [{}]}, empty) == []


def test_lists_without_names_are_compared_in_their_order() -> None:
    want, got = ({"steps": [{"parts": parts}]} for parts in ([{"a": 1}, {"a": 2}], [{"a": 1}, {"a": 3}]))
    assert [each.path for each in differences(want, got)] == ["steps.0.parts.1.a"]
    first, second = ({"steps": [{"parts": parts}]} for parts in ([1, 2], [2, 1]))
    assert [each.path for each in differences(first, second)] == ["steps.0.parts"]


UNREADABLE: dict[str, tuple[dict[str, Any], str]] = {
    "a fraction": (
        {"failurePolicy": {"maxRestarts": 0.5}},
        "number 0.5 FailurePolicy.spec.failurePolicy.maxRestarts int32",
    ),
    "a text": ({"suspend": "yes"}, "string JobSetSpec.spec.suspend bool"),
    "a number": ({"replicatedJobs": [{"name": 1}]}, "number ReplicatedJob.spec.replicatedJobs.name string"),
    "a list": ({"managedBy": []}, "array JobSetSpec.spec.managedBy string"),
}


@pytest.mark.parametrize("sentence", UNREADABLE)
def test_what_go_cannot_read_is_said_in_its_words(sentence: str) -> None:
    spec, words = UNREADABLE[sentence]
    *said, where, kind = words.split()
    text = f"json: cannot unmarshal {' '.join(said)} into Go struct field {where} of type {kind}"
    assert unreadable("JobSetSpec", spec, "spec") == text


def test_go_leaves_out_what_is_empty_and_keeps_the_order_of_its_fields() -> None:
    container = {"image": "a<b", "name": "main", "env": [{"value": "1", "name": "A"}]}
    pod = {"metadata": {"labels": {"b": "2", "a": "1"}}, "spec": {"containers": [container]}}
    job = {"replicas": 0, "name": "worker", "template": {"spec": {"suspend": False, "template": pod}}}
    assert go_json("ReplicatedJob", [job]) == (
        '[{"name":"worker","template":{"metadata":{},"spec":{"template":{"metadata":{"labels":{"a":"1","b":"2"}},'
        '"spec":{"containers":[{"name":"main","image":"a\\u003cb","env":[{"name":"A","value":"1"}],"resources":{}}]}},'
        '"suspend":false}}}]'
    )


def copied(folder: Path) -> Path:
    folder.mkdir()
    for name in SMALL:
        (folder / f"{name}.yaml").write_bytes((CASES / f"{name}.yaml").read_bytes())
    return folder


def test_a_folder_is_answered(tmp_path: Path) -> None:
    source, target = copied(tmp_path / "in"), tmp_path / "out"
    assert main(RECORDINGS, ["answer", str(source), str(target)]) == 0
    written = dict(read_cases(target))
    assert sorted(path.stem for path in written) == sorted(SMALL)
    for path, given in written.items():
        assert faults(RECORDED[path.stem], given, ["admission.message"]) == []


def test_a_folder_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = copied(tmp_path / "in")
    assert main(RECORDINGS, ["check", str(source)]) == 0
    path = source / "plain-success.yaml"
    path.write_text(path.read_text().replace("phase: Running", "phase: Pending", 1))
    assert main(RECORDINGS, ["check", str(source)]) == 1
    assert main(RECORDINGS, ["check", str(source), "--allow", "steps.*.phase"]) == 0
    assert "2 of 3 cases right" in capsys.readouterr().out


def test_a_script_that_nobody_can_play_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = copied(tmp_path / "in")
    path = source / "plain-success.yaml"
    path.write_text(path.read_text().replace("end: ", "explode: "))
    assert main(RECORDINGS, ["answer", str(source), str(tmp_path / "out")]) == 1
    assert "plain-success: ValueError: script: {'explode'" in capsys.readouterr().err
    assert main(RECORDINGS, ["check", str(source)]) == 1

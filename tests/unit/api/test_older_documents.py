"""Documents as early texts write them are accepted, each with exactly the warnings that its habits earn."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from kfp_trainer.runtime_operator.api import check, check_runtime, read

TEXT = (Path(__file__).parent / "older_documents.yaml").read_text(encoding="utf-8")
DOCUMENTS = list(yaml.safe_load_all(TEXT))
WHOLE = [document for document in DOCUMENTS if "kind" in document]
FRAGMENTS = [document for document in DOCUMENTS if "kind" not in document]

OLD, PROCESSES, JOB = "DeprecatedVersion", "ProcessesInRuntime", "TrainerJobGuessed"
CONTAINER, COMMAND = "ContainerName", "CommandSplit"
PLAIN = [OLD, JOB, CONTAINER]
TORCH = [OLD, PROCESSES, JOB, CONTAINER, COMMAND]
WARNINGS = [
    ("torch-ddp", [OLD]),
    ("torch-distributed-multi-node", [*TORCH, "StaleMasterAddress"]),
    ("torch-distributed-multi-node", TORCH),
    ("deepspeed-training", [OLD, JOB, "LauncherMoved", CONTAINER, CONTAINER]),
    ("mpi-training", [OLD, "LauncherMoved"]),
    ("torch-distributed-volcano", TORCH),
    ("torch-high-priority", PLAIN),
    ("urgent-training", [OLD, "MetadataInSpec"]),
    ("torch-topology-aware", PLAIN),
    ("torch-distributed-volcano", TORCH),
    ("my-training", [OLD]),
]


def _judged(document):
    """Errors and the first words of all warnings, from schema and admission."""
    checked = check(document)
    errors, warnings = list(checked.errors), list(checked.warnings)
    assert checked.unknown_fields == ()
    if document["kind"] != "TrainJob" and not errors:
        admitted = check_runtime(checked.stored)
        errors += admitted.errors
        warnings += admitted.warnings
    return errors, [text.split(":")[0] for text in warnings]


def _merged(base, part):
    """The document with a part of another laid over it."""
    if not isinstance(base, dict) or not isinstance(part, dict):
        return part
    return base | {key: _merged(base.get(key), value) for key, value in part.items()}


@pytest.mark.parametrize("index", range(len(WARNINGS)), ids=lambda index: f"{index} {WARNINGS[index][0]}")
def test_a_whole_document(index):
    document, (name, warnings) = WHOLE[index], WARNINGS[index]
    assert document["metadata"]["name"] == name
    assert _judged(document) == ([], warnings)
    assert read(check(document).stored).name == name


def test_no_document_is_left_out():
    assert len(WHOLE) == len(WARNINGS)
    assert len(FRAGMENTS) == 4


def test_parts_are_accepted_in_the_documents_they_belong_to():
    nodes, gang, sources, elastic = FRAGMENTS
    job, runtime, again = WHOLE[0], WHOLE[1], WHOLE[2]
    assert _judged(_merged(job, nodes)) == _judged(job)
    assert _judged(_merged(job, sources)) == _judged(job)
    for base in (runtime, again):
        assert _judged(_merged(base, gang)) == _judged(base)
        whole = _merged(base, elastic)
        (error,), _ = _judged(whole)
        assert error.field == "spec.mlPolicy"
        assert error.detail == "numNodes should not be set if torch.elasticPolicy is configured"
        del whole["spec"]["mlPolicy"]["numNodes"]
        errors, warnings = _judged(whole)
        assert errors == []
        assert warnings == [OLD, PROCESSES, "ElasticPolicy", *_judged(base)[1][2:]]

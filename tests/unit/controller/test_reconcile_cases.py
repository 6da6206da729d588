"""What upstream's controller did in one pass over a stored TrainJob, asked of ours as it runs.

The objects of a case are put on the stage before the operator starts; when all is quiet, status and JobSet
are those of the case, but for what the case calls a defect.
"""

import json

import pytest

from kfp_trainer.runtime_operator import api
from kfp_trainer.runtime_operator.controller.kinds import CLUSTER_TRAINING_RUNTIMES, JOBSETS, TRAIN_JOBS
from tests.conformance.__main__ import CASES
from tests.conformance.answer import OURS_ALONE
from tests.conformance.compare import faults
from tests.controller_stage import Stage
from tests.controller_stage.stage import NAMESPACE
from tests.recorded_cases import read_cases
from tests.virtual_time import in_virtual_time

RECONCILED = {path.stem: case for path, case in read_cases(CASES) if case.get("reconcile")}
KINDS = {each.kind: each for each in (TRAIN_JOBS, CLUSTER_TRAINING_RUNTIMES, JOBSETS)}
LONG = 4000.0  # longer than the deadlines in the cases


def test_all_cases_are_here():
    assert len(RECONCILED) == 12


@pytest.mark.parametrize("name", RECONCILED)
@in_virtual_time
async def test_case(name):
    case = RECONCILED[name]
    stage = Stage()
    stage.api.garbage_after = None
    job = put(stage, case["input"])
    async with stage:
        await stage.settle(LONG)
        status = stage.api.need(TRAIN_JOBS, NAMESPACE, job).get("status") or {}
        told = {
            "status": {key: value for key, value in status.items() if key not in OURS_ALONE},
            "jobSetExists": stage.api.get(JOBSETS, NAMESPACE, job) is not None,
        }
    for each in told["status"].get("conditions") or ():
        del each["lastTransitionTime"]
    assert [str(each) for each in faults(case, told)] == []


def put(stage, documents):
    """Store the objects; what belongs to the job of the case belongs to the stored one."""
    (job,) = (each for each in documents if each["kind"] == "TrainJob")
    uid = job["metadata"]["uid"]
    stored = stage.api.create(TRAIN_JOBS, api.check(job).stored)
    for each in documents:
        if each is not job:
            text = json.dumps(each).replace(uid, stored["metadata"]["uid"])
            document = json.loads(text)
            kept = document if each["kind"] == "JobSet" else api.check(document).stored
            stage.api.create(KINDS[each["kind"]], kept)
    return job["metadata"]["name"]

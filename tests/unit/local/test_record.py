import pytest

from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.jobs.shipped import shipped_runtimes
from kfp_trainer.runtime_operator.local.folder import JobFolder
from kfp_trainer.runtime_operator.local.record import make_job, read_record, read_records
from kfp_trainer.runtime_operator.local.submission import submit


def make(jobs, name: str = "bert", owner: str = "", attempt: int = 0) -> JobFolder:
    spec = {"runtimeRef": {"name": "torch-distributed"}, "trainer": {"numNodes": 2, "command": ["train"]}}
    job = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": name},
        "spec": spec,
    }
    submission = submit([job], shipped=shipped_runtimes())
    return make_job(jobs, submission, owner=owner, attempt=attempt, now=100.0)


def test_what_is_written_is_read(tmp_path):
    folder = make(tmp_path, owner="run/task", attempt=2)
    record = read_record(folder)
    assert (folder.namespace, folder.name) == ("default", "bert")
    assert (record.owner, record.attempt, record.created) == ("run/task", 2, 100.0)
    assert list(record.addresses) == ["bert-node-0-0", "bert-node-0-1"]
    assert list(record.ports) == [29500]
    assert record.train_job["metadata"]["creationTimestamp"] == "1970-01-01T00:01:40Z"
    assert record.train_job["metadata"]["uid"] != record.jobset["metadata"]["uid"]


def test_jobs_that_have_not_ended_share_no_port(tmp_path):
    found = [read_record(make(tmp_path, name)) for name in ("one", "two")]
    assert len({port for each in found for port in (*each.ports.values(), each.progress_port)}) == 4
    assert found[0].token != found[1].token


def test_of_two_who_make_one_job_the_first_wins(tmp_path):
    make(tmp_path, owner="first")
    assert read_record(make(tmp_path, owner="second")).owner == "first"


def test_a_job_of_another_version_is_named_and_stands_in_nobodys_way(tmp_path):
    folder = make(tmp_path)
    folder.write("job", {"version": 0})
    with pytest.raises(SetupError, match="was not made by this version of kfp-trainer; remove the folder"):
        read_record(folder)
    assert list(read_records(tmp_path)) == []

"""`convert`, as a person calls it."""

import pytest
import yaml

from kfp_trainer.runtime_operator.cli.main import run
from tests.legacy_jobs import legacy_document


@pytest.fixture
def call(tmp_path, capsys):
    def of(document):
        path = tmp_path / "job.yaml"
        path.write_text(yaml.safe_dump(document))
        code = run(["convert", "-f", str(path)])
        return code, *capsys.readouterr()

    return of


def test_the_runtime_and_the_trainjob_are_printed_and_what_is_lost_is_told(call):
    code, out, err = call(legacy_document("PyTorchJob", {"Master": {}, "Worker": {}}))
    assert (code, [each["kind"] for each in yaml.safe_load_all(out)]) == (0, ["TrainingRuntime", "TrainJob"])
    assert err.startswith("not carried over: PyTorchJob/job: host names: ")


def test_a_job_that_is_wrong_is_not_converted(call):
    code, out, err = call(legacy_document("PyTorchJob", {"Master": {"replicas": 2}}))
    assert (code, out, "must be 1" in err) == (2, "", True)


def test_a_file_without_such_a_job_is_refused(call):
    code, _, err = call({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
    assert (code, "no job of an older kind in it" in err) == (2, True)

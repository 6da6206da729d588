"""Which news waits while there is work."""

from kfp_trainer.runtime_operator.controller.patience import PatientRecorder

JOB = {
    "apiVersion": "v",
    "kind": "TrainJob",
    "metadata": {"name": "bert", "namespace": "lab", "uid": "u", "resourceVersion": "1", "labels": {}},
    "spec": {"long": "x"},
}


class Recorder:
    def __init__(self):
        self.told = []

    def record(self, about, reason, message, *, type_="Normal"):
        self.told.append((about, reason, type_))


def reasons(recorder):
    return [reason for _, reason, _ in recorder.told]


def test_good_news_waits_and_bad_news_does_not():
    busy, told = [True], Recorder()
    patient = PatientRecorder(told, lambda: busy[0])
    patient.record(JOB, "Created", "m")
    patient.record(JOB, "Failed", "m", type_="Warning")
    patient.tell()
    assert reasons(told) == ["Failed"]
    busy[0] = False
    patient.tell()
    assert reasons(told) == ["Failed", "Created"]
    about, _, type_ = told.told[1]
    assert (about["kind"], about["metadata"]["uid"], type_) == ("TrainJob", "u", "Normal")
    assert "spec" not in about
    patient.record(JOB, "Running", "m")
    assert reasons(told)[-1] == "Running"

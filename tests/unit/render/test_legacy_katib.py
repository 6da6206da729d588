"""Katib's rules for trials of the older kinds: whose log it reads, and when a trial has ended.

They are those of Katib's own defaults for kubeflow.org/v1 (`tests/katib_rules.py`).
"""

from datetime import UTC, datetime

import pytest
import yaml

from kfp_trainer.runtime_operator.api.legacy import LEGACY_KINDS, check_legacy, read_legacy
from kfp_trainer.runtime_operator.controller.legacy import PodState, decide
from kfp_trainer.runtime_operator.render.legacy import admit_legacy, render_legacy
from kfp_trainer.runtime_operator.render.legacy.parts import lay_out
from tests.katib_rules import broken_rules, primary_templates, trial_has, trial_of
from tests.legacy_jobs import legacy_document, legacy_job

NOW = datetime(2026, 11, 1, tzinfo=UTC)
TRIAL = {"apiVersion": "kubeflow.org/v1beta1", "kind": "Trial", "name": "job", "uid": "t", "controller": True}
TWO = {"replicas": 2}
JOBS = {
    "a chief": ("TFJob", {"Chief": {}, "Worker": TWO}, "chief"),
    "the first of some workers": ("TFJob", {"PS": {}, "Worker": {"replicas": 3}}, "worker"),
    "a master": ("PyTorchJob", {"Master": {}, "Worker": TWO}, "master"),
    "the first worker where no master is": ("PyTorchJob", {"Worker": TWO}, "worker"),
    "the master of XGBoost": ("XGBoostJob", {"Master": {}, "Worker": TWO}, "master"),
    "a launcher": ("MPIJob", {"Launcher": {}, "Worker": TWO}, "launcher"),
    "the first process of JAX": ("JAXJob", {"Worker": TWO}, "worker"),
    "one worker alone": ("TFJob", {"Worker": {}}, "worker"),
}


def trial(kind, roles, **spec):
    """A job that Katib has made."""
    document = legacy_document(kind, roles, **spec)
    return read_legacy({**document, "metadata": {**document["metadata"], "ownerReferences": [TRIAL]}})


@pytest.mark.parametrize("who", JOBS)
def test_katib_reads_the_log_of(who):
    kind, roles, role = JOBS[who]
    job = trial(kind, roles)
    (primary,) = primary_templates(render_legacy(job).find("JobSet"))
    assert primary["metadata"]["labels"]["training.kubeflow.org/replica-type"] == role
    assert LEGACY_KINDS[kind].container in [each["name"] for each in primary["spec"]["containers"]]


@pytest.mark.parametrize("who", JOBS)
def test_the_pods_of_a_trial_are_those_of_any_job(who):
    kind, roles, _ = JOBS[who]
    hosts = [
        sorted(layout.host(part.role, index) for part, index in layout.places())
        for layout in (lay_out(legacy_job(kind, roles)), lay_out(trial(kind, roles)))
    ]
    assert hosts[0] == hosts[1]


def test_jobs_of_others_keep_all_workers_in_one():
    (worker,) = lay_out(legacy_job("JAXJob", {"Worker": TWO})).parts
    assert (worker.name, worker.count) == ("worker", 2)


ENDS = {"a trial succeeds with its job": (0, "Succeeded"), "a trial fails with its job": (1, "Failed")}


@pytest.mark.parametrize("kind", ["TFJob", "PyTorchJob", "MPIJob", "XGBoostJob", "JAXJob"])
@pytest.mark.parametrize("sentence", ENDS)
def test_when_it_has_ended(sentence, kind):
    code, word = ENDS[sentence]
    lead = {"TFJob": "Chief", "MPIJob": "Launcher", "JAXJob": "Worker"}.get(kind, "Master")
    job = trial(kind, {lead: {"restartPolicy": "Never"}})
    running = decide(job, {}, [PodState(lead, 0, "pod", "Running")], NOW).status
    assert not trial_has("Succeeded", running) and not trial_has("Failed", running)
    end = PodState(lead, 0, "pod", "Failed" if code else "Succeeded", exit_code=code)
    status = decide(job, running, [end], NOW).status
    assert [each for each in ("Succeeded", "Failed") if trial_has(each, status)] == [word]


EXPERIMENT = """
spec:
  maxTrialCount: 4
  parallelTrialCount: 2
  objective: {type: minimize, objectiveMetricName: loss}
  algorithm: {algorithmName: random}
  parameters:
  - {name: lr, parameterType: double, feasibleSpace: {min: "0.01", max: "0.1"}}
  trialTemplate:
    primaryContainerName: pytorch
    trialParameters:
    - {name: rate, reference: lr}
    trialSpec:
      apiVersion: kubeflow.org/v1
      kind: PyTorchJob
      spec:
        pytorchReplicaSpecs:
          Master: &role
            replicas: 1
            restartPolicy: OnFailure
            template:
              spec:
                containers:
                - name: pytorch
                  image: ghcr.io/example/train:1
                  command: [python, train.py, "--lr=${trialParameters.rate}"]
          Worker: {<<: *role, replicas: 2}
"""


def test_an_experiment_of_pytorchjobs_needs_no_change():
    experiment = yaml.safe_load(EXPERIMENT)
    assert broken_rules(experiment) == []
    made = trial_of(experiment)
    assert not check_legacy(made).errors and not admit_legacy(check_legacy(made).stored).errors
    experiment["spec"]["trialTemplate"]["primaryContainerName"] = "training-container"
    assert broken_rules(experiment) == ["a primary container that no role has"]

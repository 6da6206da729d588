"""Which objects of a plan are applied."""

import pytest

from kfp_trainer.runtime_operator.controller.apply_rules import to_apply

JOBSET = "jobset.x-k8s.io/v1alpha2"
VOLCANO = "scheduling.volcano.sh/v1beta1"


def thing(kind, name="bert", version="v1", *, owner="uid", **spec):
    owners = [{"uid": owner, "controller": True}] if owner else []
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "ownerReferences": owners},
        "spec": spec,
    }


WANTED = thing("JobSet", version=JOBSET)
GANG = thing("PodGroup", version=VOLCANO)
KEYS = {**thing("Secret", "bert-mpi-ssh-auth"), "immutable": True}
CURVE = thing("Secret", "bert-flux-curve")
HOSTS = thing("ConfigMap", "bert-mpi-hostfile")
SNAPSHOT = thing("ConfigMap", "bert-runtime-snapshot")

# what is wanted, what exists, whether the job is suspended, whether it is applied
CASES = {
    "nothing is there": (WANTED, None, False, True),
    "a JobSet that runs is left alone": (
        WANTED,
        thing("JobSet", version=JOBSET, suspend=False),
        False,
        False,
    ),
    "a JobSet that rests is built again": (
        WANTED,
        thing("JobSet", version=JOBSET, suspend=True),
        False,
        True,
    ),
    "a JobSet that is to rest is told so": (WANTED, thing("JobSet", version=JOBSET), True, True),
    "a namesake's JobSet is not touched": (
        WANTED,
        thing("JobSet", version=JOBSET, owner="x", suspend=True),
        True,
        False,
    ),
    "a JobSet that nobody owns is taken over": (
        WANTED,
        thing("JobSet", version=JOBSET, owner=None, suspend=True),
        False,
        True,
    ),
    "the gang of a running job is left alone": (GANG, GANG, False, False),
    "the gang of a resting job is counted again": (GANG, GANG, True, True),
    "a PodGroup of another scheduler is another object": (
        GANG,
        thing("PodGroup", version="scheduling.x-k8s.io/v1alpha1"),
        False,
        True,
    ),
    "keys are made once": (KEYS, KEYS, True, False),
    "a Secret that may change is written each time": (CURVE, CURVE, False, True),
    "hosts are written each time": (HOSTS, HOSTS, False, True),
    "the runtime is written down once": (SNAPSHOT, SNAPSHOT, True, False),
}


@pytest.mark.parametrize("sentence", CASES)
def test_to_apply(sentence):
    wanted, old, suspended, applied = CASES[sentence]
    job = {"metadata": {"name": "bert", "uid": "uid"}, "spec": {"suspend": suspended}}
    existing = {} if old is None else {(old["kind"], old["metadata"]["name"]): old}
    assert to_apply([wanted], job, existing) == ((wanted,) if applied else ())


def test_the_order_of_the_plan_stays():
    job = {"metadata": {"name": "bert", "uid": "uid"}, "spec": {}}
    objects = [SNAPSHOT, HOSTS, GANG, WANTED]
    assert to_apply(objects, job, {("PodGroup", "bert"): GANG}) == (SNAPSHOT, HOSTS, WANTED)


def test_of_a_job_that_runs_elsewhere_nothing_is_applied():
    job = {"metadata": {"name": "bert"}, "spec": {"managedBy": "kueue.x-k8s.io/multikueue"}}
    assert to_apply([WANTED], job, {}) == ()

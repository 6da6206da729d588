"""Which ConfigMaps of a job stay as Trainer made them."""

from types import SimpleNamespace

import pytest

from kfp_trainer.runtime_operator.controller.from_trainer import FromTrainer
from kfp_trainer.runtime_operator.controller.memory import Memory
from kfp_trainer.runtime_operator.kube.resource import CONFIG_MAPS
from tests.fake_api import FakeApi
from tests.virtual_time import run_virtually

JOB = {"metadata": {"name": "bert", "namespace": "lab", "uid": "1"}}
OURS, THEIRS = {"kfp-trainer/train-job": "bert"}, {}
HOSTS, AUTHORITY = "bert-mpi-hostfile", "bert-tls-config"


def owned(kind, name, labels, *, owner="1"):
    owners = [{"kind": "TrainJob", "name": "bert", "uid": owner, "controller": True}]
    metadata = {"name": name, "namespace": "lab", "labels": labels, "ownerReferences": owners}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata}


# what is wanted, the labels of the one that stands, the labels of the JobSet, whether it is kept
CASES = {
    "hosts that Trainer listed for its JobSet": (HOSTS, THEIRS, THEIRS, True),
    "hosts that Trainer listed, of a job that was resumed since": (HOSTS, THEIRS, OURS, True),
    "hosts that somebody deleted": (HOSTS, None, THEIRS, False),
    "hosts that we listed, and no cache knows of": (HOSTS, OURS, OURS, False),
    "hosts of a job without a JobSet": (HOSTS, THEIRS, None, False),
    "the authority, for trainers that do not report": (AUTHORITY, None, THEIRS, True),
    "the authority, for trainers that know Trainer's": (AUTHORITY, THEIRS, THEIRS, False),
    "the authority, of a JobSet of ours": (AUTHORITY, None, OURS, False),
}


@pytest.mark.parametrize("sentence", CASES)
def test_what_stays_as_trainer_made_it(sentence):
    name, stands, labels, want = CASES[sentence]

    async def ask():
        api = FakeApi(CONFIG_MAPS)
        if stands is not None:
            api.create(CONFIG_MAPS, owned("ConfigMap", name, stands))
        looks = FromTrainer(api.transport(), SimpleNamespace(others={}))
        existing = {} if labels is None else {("JobSet", "bert"): owned("JobSet", "bert", labels)}
        memory = Memory("1")
        wanted = owned("ConfigMap", name, OURS)
        return [await looks.keeps(wanted, JOB, existing, memory) for _ in range(2)]

    assert run_virtually(ask()) == [want, want]

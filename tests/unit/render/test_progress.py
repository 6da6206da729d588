"""A trainer may post its progress where the gate is on, and only for its own job."""

from __future__ import annotations

import base64

import pytest

from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.render.facts import Facts

ON = frozenset({"TrainJobStatus"})
SECRET = {"data": {"ca.crt": base64.b64encode(b"pem").decode()}}


def facts(secret=SECRET, **more):
    metadata = {"namespace": more.get("operator_namespace", "kubeflow-system")}
    named = {"metadata": metadata, **secret} if secret else None
    existing = {("Secret", "kubeflow-trainer-webhook-cert"): named} if named else {}
    return Facts(existing=existing, features=ON, **more)


def test_every_container_of_the_trainer_knows_where_and_who(world):
    node = world.replicated_job(sidecars=[{"name": "side", "image": "s"}])
    runtime = world.runtime_of({"torch": {}}, node, world.replicated_job("other", step=""))
    plan = world.plan_of(runtime, world.train_job(), facts=facts(operator_namespace="ops", progress_port=1))
    path = "trainer.kubeflow.org/v1alpha1/namespaces/lab/trainjobs/bert/status"
    for name in ("node", "side"):
        env = world.env_of(plan, name)
        assert env["KUBEFLOW_TRAINER_SERVER_URL"] == (
            f"https://kubeflow-trainer-controller-manager.ops.svc:1/apis/{path}"
        )
        assert env["KUBEFLOW_TRAINER_SERVER_CA_CERT"] == "/var/run/secrets/kubeflow/trainer/ca.crt"
        assert env["KUBEFLOW_TRAINER_SERVER_TOKEN"] == "/var/run/secrets/kubeflow/trainer/token"
        assert world.container_of(plan, name)["volumeMounts"] == [
            {
                "name": "kubeflow-trainer-token",
                "mountPath": "/var/run/secrets/kubeflow/trainer",
                "readOnly": True,
            }
        ]
    (volume,) = world.pod_of(plan)["volumes"]
    assert volume["projected"]["sources"] == [
        {"serviceAccountToken": {"audience": path, "expirationSeconds": 3600, "path": "token"}},
        {"configMap": {"name": "bert-tls-config", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
    ]
    assert plan.find("ConfigMap", "bert-tls-config")["data"] == {"ca.crt": "pem"}
    assert world.env_of(plan, job="other") == {}


def test_off_by_default(world):
    plan = world.plan_of(world.runtime_of({"torch": {}}), world.train_job())
    assert "volumes" not in world.pod_of(plan)
    assert plan.find("ConfigMap", "bert-tls-config") is None


def test_a_job_without_a_trainer_posts_nothing(world):
    jobs = [world.replicated_job("a", step=""), world.replicated_job("b", step="")]
    plan = world.plan_of(world.runtime_of(None, *jobs), world.train_job(), facts=facts())
    assert "volumes" not in world.pod_of(plan, "a")


BROKEN = {
    "no Secret": (None, "failed to look up status server tls secret: secret 'kubeflow-trainer-webhook-cert'"),
    "the Secret of somebody else": (
        {**SECRET, "metadata": {"namespace": "lab"}},
        "failed to look up status server tls secret: secret 'kubeflow-trainer-webhook-cert'",
    ),
    "a Secret without the authority": ({"data": {}}, "failed to find status server ca.crt in tls secret"),
}


@pytest.mark.parametrize("sentence", BROKEN)
def test_broken_installations(sentence, world):
    secret, want = BROKEN[sentence]
    with pytest.raises(SetupError, match=want):
        world.plan_of(world.runtime_of({"torch": {}}), world.train_job(), facts=facts(secret))

"""What a person does with the SDK of the Training Operator, in an environment of its own; tells it as JSON.

python training_sdk_job.py KUBECONFIG NAMESPACE POOL KIND
python training_sdk_job.py KUBECONFIG NAMESPACE POOL function
"""

import json
import sys

from kubeflow.training import TrainingClient
from kubeflow.training import models as m
from kubeflow.training.constants import constants

LEADS = {
    "TFJob": "Chief",
    "PyTorchJob": "Master",
    "XGBoostJob": "Master",
    "PaddleJob": "Master",
    "MPIJob": "Launcher",
    "JAXJob": None,
}
FIELDS = {
    "TFJob": "tf_replica_specs",
    "PyTorchJob": "pytorch_replica_specs",
    "XGBoostJob": "xgb_replica_specs",
    "PaddleJob": "paddle_replica_specs",
    "MPIJob": "mpi_replica_specs",
    "JAXJob": "jax_replica_specs",
}
NAME = "sdk"


def job_of(kind: str, namespace: str, pool: str) -> object:
    """A job of one that leads, if the kind has one, and two workers; each says who it is."""

    def role(name: str, replicas: int) -> object:
        says = f"echo {name.lower()} here"
        if kind == "MPIJob" and name == "Worker":
            says += "; exec sleep 1000"
        container = m.V1Container(
            name=constants.JOB_PARAMETERS[kind]["container"],
            image="lab.example/train:1",
            command=["sh", "-c", says],
        )
        spec = m.V1PodSpec(containers=[container], node_selector={"pool": pool})
        return m.KubeflowOrgV1ReplicaSpec(replicas=replicas, template=m.V1PodTemplateSpec(spec=spec))

    roles = {"Worker": role("Worker", 2)}
    if LEADS[kind]:
        roles = {LEADS[kind]: role(LEADS[kind], 1), **roles}
    policy = m.KubeflowOrgV1RunPolicy(clean_pod_policy="None")
    spec = getattr(m, f"KubeflowOrgV1{kind}Spec")(run_policy=policy, **{FIELDS[kind]: roles})
    return getattr(m, f"KubeflowOrgV1{kind}")(
        api_version="kubeflow.org/v1",
        kind=kind,
        metadata=m.V1ObjectMeta(name=NAME, namespace=namespace),
        spec=spec,
    )


def train(given: dict) -> None:
    """Say who this is; the SDK sends the source of this function to the pods."""
    import os

    print(f"{given['greeting']} from rank {os.environ['RANK']} of {os.environ['WORLD_SIZE']}")


def run_function(kubeconfig: str, namespace: str) -> None:
    """Run a function of this file in two pods."""
    sdk = TrainingClient(config_file=kubeconfig, namespace=namespace)
    sdk.create_job(
        name=NAME,
        base_image="lab.example/train:1",
        train_func=train,
        parameters={"greeting": "hello"},
        num_workers=2,
        num_procs_per_worker=1,
        labels={"team": "lab"},
    )
    sdk.wait_for_job_conditions(NAME, wait_timeout=180, polling_interval=1)
    said = sdk.get_job_logs(NAME, is_master=False)[0].values()
    sdk.delete_job(NAME)
    print("\n" + json.dumps(sorted(line for text in said for line in text.splitlines() if "hello" in line)))


def main(kubeconfig: str, namespace: str, pool: str, kind: str) -> None:
    if kind == "function":
        return run_function(kubeconfig, namespace)
    sdk = TrainingClient(config_file=kubeconfig, namespace=namespace, job_kind=kind)
    sdk.create_job(job_of(kind, namespace, pool))
    done = sdk.wait_for_job_conditions(NAME, wait_timeout=180, polling_interval=1)
    sdk.get_job_logs(NAME, follow=True)
    told = {
        "conditions": [each.type for each in done.status.conditions if each.status == "True"],
        "asked": [sdk.is_job_created(NAME), sdk.is_job_succeeded(NAME), sdk.is_job_failed(NAME)],
        "listed": [each.metadata.name for each in sdk.list_jobs()],
        "pods": len(sdk.get_job_pod_names(NAME)),
        "leading": len(sdk.get_job_pod_names(NAME, is_master=True)),
        "second": len(sdk.get_job_pod_names(NAME, replica_type="worker", replica_index=1)),
        "said": sorted(text.strip() for text in sdk.get_job_logs(NAME)[0].values()),
        "workers": sorted(
            text.strip()
            for text in sdk.get_job_logs(NAME, is_master=False, replica_type="worker")[0].values()
        ),
        "events": sorted(sdk.get_job_logs(NAME, is_master=False, verbose=True)[1]),
    }
    sdk.delete_job(NAME)
    print("\n" + json.dumps(told))
    return None


if __name__ == "__main__":
    main(*sys.argv[1:])

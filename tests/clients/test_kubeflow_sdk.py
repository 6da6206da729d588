"""The official Kubeflow SDK, unmodified, against our operator as its manifests install it."""

from collections.abc import Iterator
from typing import Any

import pytest
from kubeflow.trainer import (
    BuiltinTrainer,
    CustomTrainer,
    CustomTrainerContainer,
    KubernetesBackendConfig,
    LoraConfig,
    TorchTuneConfig,
    TrainerClient,
)
from kubeflow.trainer.options import Labels, Name, TrainerCommand

from tests.cluster.control_plane.client import ApiError, Client, Json, eventually
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.manifests import JOBSET, condition, read
from tests.cluster.operator import TRAINER, delete_jobs, path_of
from tests.cluster.operator_install import installation
from tests.cluster.process_node.starting import PROCESS_NODE

pytestmark = [
    pytest.mark.parts("scheduler", "process-node", "jobset"),
    # what the SDK's own libraries warn of
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

PATIENCE = 180


@pytest.fixture(scope="module", autouse=True)
def installed(whole_cluster: Cluster) -> Iterator[None]:
    """Our operator, for all tests of this file."""
    whole_cluster.need("scheduler", "process-node", "jobset")
    with installation(whole_cluster):
        yield


@pytest.fixture
def sdk(cluster: Cluster, client: Client, namespace: str) -> Iterator[TrainerClient]:
    """The SDK as a person uses it, with a runtime of torch and one of TorchTune."""
    client.create(runtime("torch-here", "torch"), namespace)
    client.create(runtime("torchtune-llama3.2-1b", "torchtune"), namespace)
    config = KubernetesBackendConfig(namespace=namespace, config_file=str(cluster.kubeconfig))
    yield TrainerClient(backend_config=config)
    delete_jobs(client, namespace)


def runtime(name: str, framework: str) -> Json:
    """A runtime as the SDK wants it, whose pods are processes of this machine."""
    container = {
        "name": "node",
        "image": "ghcr.io/kfp-trainer/workload:test",
        "resources": {"limits": {"cpu": 2}},
        "env": [{"name": "OMP_NUM_THREADS", "value": "1"}],
    }
    pod = {
        "spec": {"restartPolicy": "Never", "nodeSelector": {"pool": PROCESS_NODE}, "containers": [container]}
    }
    ancestor = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    job = {"metadata": {"labels": ancestor}, "spec": {"backoffLimit": 0, "template": pod}}
    return {
        "apiVersion": TRAINER,
        "kind": "TrainingRuntime",
        "metadata": {"name": name, "labels": {"trainer.kubeflow.org/framework": framework}},
        "spec": {
            "mlPolicy": {"numNodes": 1, "torch": {}},
            "template": {"spec": {"replicatedJobs": [{"name": "node", "template": job}]}},
        },
    }


def train_a_line(steps: str, rate: str) -> None:
    """Fit y = 3x over all processes, each with rows of its own."""
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(rank)
    model = DistributedDataParallel(torch.nn.Linear(1, 1, bias=False))
    optimiser = torch.optim.SGD(model.parameters(), lr=float(rate))
    for _ in range(int(steps)):
        x = torch.randn(32, 1)
        loss = ((model(x) - 3 * x) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    weight = model.module.weight.item()
    print(f"rank {rank} of {world} has weight {weight:.3f}", flush=True)
    dist.destroy_process_group()


def trained(sdk: TrainerClient, **options: Any) -> str:
    """Train the line on two nodes of two processes; the job's name."""
    trainer = CustomTrainer(
        func=train_a_line,
        func_args={"steps": "60", "rate": "0.2"},
        num_nodes=2,
        resources_per_node={"cpu": 2},
    )
    return str(sdk.train(runtime="torch-here", trainer=trainer, **options))


def test_runtimes_are_listed(sdk: TrainerClient) -> None:
    found = {each.name: each for each in sdk.list_runtimes()}
    assert {"torch-here", "torchtune-llama3.2-1b"} <= set(found)
    assert found["torch-here"].trainer.framework == "torch"
    assert sdk.get_runtime("torch-here").name == "torch-here"


def test_a_function_is_trained_on_two_nodes_of_two_processes(
    sdk: TrainerClient, client: Client, namespace: str
) -> None:
    name = trained(sdk, options=[Labels({"team": "lab"})])
    sdk.wait_for_job_status(name, status={"Running", "Complete"}, timeout=PATIENCE, polling_interval=1)
    lines = list(sdk.get_job_logs(name, follow=True))
    said = "\n".join(lines)
    assert "of 4 has weight 3.0" in said, said
    job = sdk.wait_for_job_status(name, timeout=PATIENCE, polling_interval=1)
    assert (job.status, job.num_nodes) == ("Complete", 2)
    assert sorted(step.name for step in job.steps) == ["node-0", "node-1"]
    assert {step.status for step in job.steps} == {"Succeeded"}
    assert job.creation_timestamp is not None
    assert name in [each.name for each in sdk.list_jobs()]
    assert "TrainJob" in {event.involved_object_kind for event in sdk.get_job_events(name)}
    assert client.get(path_of(namespace, name))["metadata"]["labels"]["team"] == "lab"


def own_container(sdk: TrainerClient, name: str, *command: str) -> str:
    """Run a command in an image of one's own."""
    trainer = CustomTrainerContainer(
        image="ghcr.io/kfp-trainer/workload:test", num_nodes=1, env={"GREETING": "hello"}
    )
    options = [Name(name), TrainerCommand(list(command))]
    return str(sdk.train(runtime="torch-here", trainer=trainer, options=options))


def test_a_container_of_ones_own_runs(sdk: TrainerClient) -> None:
    name = own_container(sdk, "own-image", "sh", "-c", "echo $GREETING from $PET_NNODES")
    assert name == "own-image"
    job = sdk.wait_for_job_status(name, timeout=PATIENCE, polling_interval=1)
    assert job.status == "Complete"
    assert list(sdk.get_job_logs(name)) == ["hello from 1"]


def test_a_job_that_fails_says_so(sdk: TrainerClient, client: Client, namespace: str) -> None:
    own_container(sdk, "fails", "sh", "-c", "echo no such data >&2; exit 3")
    found = sdk.wait_for_job_status("fails", status={"Failed"}, timeout=PATIENCE, polling_interval=1)
    assert found.status == "Failed"
    failed = condition(client.get(path_of(namespace, "fails")), "Failed")
    assert failed is not None
    assert "exit code 3" in failed["message"]
    assert "no such data" in failed["message"]


def test_a_built_in_trainer_becomes_the_objects_that_upstream_makes(
    sdk: TrainerClient, client: Client, namespace: str
) -> None:
    config = TorchTuneConfig(
        epochs=2,
        batch_size=4,
        num_nodes=1,
        peft_config=LoraConfig(lora_rank=8),
        resources_per_node={"cpu": 2},
    )
    name = sdk.train(runtime="torchtune-llama3.2-1b", trainer=BuiltinTrainer(config=config))
    jobset = eventually("its JobSet is there", lambda: _jobset(client, namespace, name), limit=60)
    (job,) = jobset["spec"]["replicatedJobs"]
    container = job["template"]["spec"]["template"]["spec"]["containers"][0]
    words = [*container["command"], *container.get("args", [])]
    assert words[:2] == ["tune", "run"]
    assert "model.lora_rank=8" in words
    assert any("lora_finetune" in word for word in words)


def _jobset(client: Client, namespace: str, name: str) -> Json | None:
    """The JobSet of a job, if there is one."""
    try:
        return read(client, JOBSET, "JobSet", namespace, name)
    except ApiError:
        return None


def test_a_deleted_job_is_gone(sdk: TrainerClient, client: Client, namespace: str) -> None:
    name = trained(sdk)
    sdk.delete_job(name)
    eventually("its JobSet is gone", lambda: _jobset(client, namespace, name) is None, limit=60)
    assert name not in [each.name for each in sdk.list_jobs()]

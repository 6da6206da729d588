"""The lives of jobs of the older kinds, played to an API server in memory in virtual time."""

import pytest

from kfp_trainer.runtime_operator.controller.kinds import JOBSETS
from kfp_trainer.runtime_operator.controller.legacy.kinds import SERVICES
from kfp_trainer.runtime_operator.kube.resource import JOBS, PODS
from tests.controller_stage.older import KINDS, OlderStage
from tests.controller_stage.stage import NAMESPACE, VOLCANO
from tests.virtual_time import in_virtual_time

INDEX, ROLE = "training.kubeflow.org/replica-index", "training.kubeflow.org/job-role"
HOSTS = ["job-master-0", "job-worker-0", "job-worker-1"]


@in_virtual_time
async def test_a_job_lives_from_its_creation_to_its_success():
    async with OlderStage() as stage:
        stage.create()
        await stage.settle(2)
        assert stage.names(JOBSETS) == ["job"]
        assert stage.names(SERVICES) == HOSTS
        assert stage.types() == ["Created"]
        stage.play()
        await stage.settle(10)
        assert stage.types() == ["Created", "Running"]
        assert stage.older()["status"]["replicaStatuses"]["Worker"]["active"] == 2
        stage.end_pod("job-master-0", 0)
        await stage.settle(2)
        status = stage.older()["status"]
        assert stage.types() == ["Created", "Succeeded"]
        assert status["completionTime"]
        assert "active" not in status["replicaStatuses"]["Worker"]
        assert stage.events.told[-1][0] == "PyTorchJobSucceeded"
        assert stage.names(JOBSETS) == ["job"]
        stage.operator.measure()
        of_metrics = stage.operator.metrics.registry.get_sample_value
        assert of_metrics("kfp_trainer_older_jobs", {"kind": "PyTorchJob"}) == 1
        ended = {"kind": "PyTorchJob", "condition": "Succeeded"}
        assert of_metrics("kfp_trainer_older_jobs_ended_total", ended) == 1


@in_virtual_time
async def test_pods_carry_their_number_and_their_role():
    async with OlderStage() as stage:
        stage.create("JAXJob", {"Worker": {"replicas": 2}})
        await stage.settle(2)
        stage.play()
        await stage.settle(2)
        labels = [each["metadata"]["labels"] for each in stage.pods()]
        assert [(each[INDEX], each.get(ROLE)) for each in labels] == [("0", "master"), ("1", None)]


@in_virtual_time
async def test_an_unchanged_world_is_left_alone_after_a_restart_too():
    async with OlderStage() as stage:
        stage.create()
        stage.create("MPIJob", {"Launcher": {}, "Worker": {"replicas": 2}}, name="mpi")
        await stage.settle(5)
        stage.play()
        await stage.settle(10)
        before = stage.written()
        await stage.restart()
        await stage.settle(3 * stage.settings.resync_every)
        assert stage.written() == before


@in_virtual_time
async def test_the_job_of_a_pod_that_failed_for_good_is_held_and_the_others_are_not():
    async with OlderStage() as stage:
        workers = {"replicas": 3, "restartPolicy": "Never"}
        stage.create("TFJob", {"Chief": {}, "Worker": workers}, enableDynamicWorker=True)
        await stage.settle(2)
        stage.play()
        await stage.settle(2)
        stage.end_pod("job-worker-1", 1, "tensorflow")
        await stage.settle(2)
        assert held(stage) == ["job-worker-1"]
        assert stage.types("TFJob") == ["Created", "Running"]
        (failed,) = stage.pods("job-worker-1")
        stage.api.remove(PODS, NAMESPACE, failed["metadata"]["name"])
        await stage.settle(2)
        assert held(stage) == []


@in_virtual_time
async def test_a_pod_that_failed_for_good_counts_although_it_was_replaced_while_nobody_looked():
    async with OlderStage() as stage:
        stage.create("PyTorchJob", {"Worker": {"restartPolicy": "Never"}})
        await stage.settle(2)
        stage.play()
        await stage.settle(2)
        await stage.stop()
        stage.end_pod("job-worker-0", 1)
        stage.play()
        assert len(stage.pods("job-worker-0")) == 2
        await stage.start()
        await stage.settle(2)
        assert stage.types() == ["Created", "Failed"]
        assert held(stage) == ["job-worker-0"]


@in_virtual_time
async def test_of_a_job_that_is_over_no_pod_comes_back():
    async with OlderStage() as stage:
        stage.create("PyTorchJob", {"Master": {"restartPolicy": "Never"}, "Worker": {}})
        await stage.settle(2)
        stage.play()
        stage.end_pod("job-master-0", 1)
        await stage.settle(2)
        for each in stage.pods("job-master-0"):
            stage.api.remove(PODS, NAMESPACE, each["metadata"]["name"])
        await stage.settle(20)
        assert held(stage) == ["job-master-0"]


def held(stage: OlderStage) -> list[str]:
    """The Jobs that may have no pod."""
    return [name for name in stage.names(JOBS) if stage.parallelism(name) == 0]


@in_virtual_time
async def test_the_end_is_known_before_anything_goes():
    """Of an operator that dies in between the next one knows that the job is over."""
    async with OlderStage() as stage:
        stage.create(runPolicy={"cleanPodPolicy": "All"})
        await stage.settle(2)
        stage.play()
        await stage.settle(10)
        before = len(stage.written())
        stage.end_pod("job-master-0", 0)
        await stage.settle(2)
        written = [(each.verb, each.resource.kind) for each in stage.written()[before:]]
        assert written[0] == ("patch", "PyTorchJob")
        assert ("delete", "JobSet") in written
        await stage.settle(60)
        assert stage.names(JOBSETS) == stage.names(SERVICES) == stage.pods() == []
        assert stage.types() == ["Created", "Succeeded"]


@in_virtual_time
async def test_a_job_is_suspended_and_resumed():
    async with OlderStage() as stage:
        stage.create()
        await stage.settle(2)
        stage.play()
        await stage.settle(2)
        stage.suspend(True)
        await stage.settle(2)
        assert stage.names(JOBSETS) == stage.names(SERVICES) == []
        assert stage.types() == ["Created", "Suspended"]
        stage.suspend(False)
        await stage.settle(5)
        stage.play()
        await stage.settle(2)
        assert stage.types() == ["Created", "Running"]
        assert len(stage.pods()) == 3


@in_virtual_time
async def test_a_gang_of_volcano_has_pods_once_it_is_let_in():
    async with OlderStage(gang_scheduler="volcano") as stage:
        stage.create()
        await stage.settle(40)
        assert stage.names(VOLCANO) == ["job"]
        assert [each["spec"].get("suspend") for each in stage.api.all(JOBSETS)] == [True]
        assert stage.names(SERVICES) == []
        stage.api.change(VOLCANO, NAMESPACE, "job", {"status": {"phase": "Inqueue"}})
        await stage.settle(2)
        assert [each["spec"].get("suspend", False) for each in stage.api.all(JOBSETS)] == [False]
        assert stage.names(SERVICES) == HOSTS


@in_virtual_time
async def test_what_somebody_else_made_stays_and_the_job_says_what_is_in_its_way():
    async with OlderStage() as stage:
        theirs = {"metadata": {"name": "job-worker-1", "namespace": NAMESPACE}, "spec": {"ports": []}}
        stage.api.create(SERVICES, theirs)
        stage.create()
        await stage.settle(20)
        assert "ownerReferences" not in stage.api.need(SERVICES, NAMESPACE, "job-worker-1")["metadata"]
        told = [message for reason, message in stage.events.told if reason == "ErrResourceExists"]
        assert len(told) == 1
        assert 'Resource "job-worker-1" of PyTorchJobKind "Service" already exists' in told[0]
        stage.api.remove(SERVICES, NAMESPACE, "job-worker-1")
        await stage.settle(60)
        assert stage.names(SERVICES) == HOSTS
        assert stage.names(JOBSETS) == ["job"]


@in_virtual_time
async def test_a_job_that_is_over_is_deleted_in_time_and_not_before():
    async with OlderStage() as stage:
        stage.create(runPolicy={"ttlSecondsAfterFinished": 100})
        await stage.settle(2)
        stage.play()
        await stage.settle(2)
        stage.end_pod("job-master-0", 0)
        await stage.settle(95)
        assert stage.types() == ["Created", "Succeeded"]
        await stage.settle(15)
        assert stage.names(KINDS["PyTorchJob"]) == []


@in_virtual_time
async def test_a_job_has_its_deadline_though_nothing_happens():
    async with OlderStage() as stage:
        stage.create(runPolicy={"activeDeadlineSeconds": 300})
        await stage.settle(2)
        stage.play()
        await stage.settle(290)
        assert stage.types() == ["Created", "Running"]
        await stage.settle(15)
        assert stage.types() == ["Created", "Failed"]


@pytest.mark.parametrize("served", [frozenset(), frozenset({"TFJob"})], ids=["none", "another kind"])
@in_virtual_time
async def test_a_kind_that_is_not_served_is_left_alone(served):
    async with OlderStage(older_kinds=served) as stage:
        stage.create()
        await stage.settle(60)
        assert stage.written() == []
        asked = {name for _, name in stage.api.calls}
        assert "pytorchjobs.kubeflow.org" not in asked


@in_virtual_time
async def test_of_a_burst_every_job_gets_its_jobset_before_any_gets_its_names():
    async with OlderStage() as stage:
        names = [f"job-{number}" for number in range(20)]
        for each in names:
            stage.create("JAXJob", {"Worker": {"replicas": 3}}, name=each)
        await stage.settle(20)
        made = [each.resource for each in stage.written() if each.verb == "create"]
        assert made[:20] == [JOBSETS] * 20
        assert made[20:] == [SERVICES] * 60
        assert all(stage.types("JAXJob", each) == ["Created"] for each in names)


@in_virtual_time
async def test_a_steady_stream_of_others_keeps_a_job_from_its_names_for_seconds_only():
    async with OlderStage() as stage:
        stage.transport.write_takes = 1.0
        for number in range(60):
            stage.create("JAXJob", {"Worker": {}}, name=f"job-{number}")
            await stage.settle(0.5)
            if number == 20:
                assert "job-0-worker-0" in stage.names(SERVICES)


@in_virtual_time
async def test_a_kind_is_served_from_the_moment_that_its_crd_is_there():
    async with OlderStage() as stage:
        stage.api.withdraw(KINDS["PyTorchJob"])
        await stage.settle(60)
        stage.api.serve(KINDS["PyTorchJob"])
        stage.create()
        await stage.settle(60)
        assert stage.names(JOBSETS) == ["job"]


@in_virtual_time
async def test_a_job_that_breaks_a_rule_fails_with_the_sentence_of_admission():
    async with OlderStage() as stage:
        stage.create(roles={"Worker": {"restartPolicy": "Sometimes"}})
        await stage.settle(5)
        assert stage.types() == ["Created", "Failed"]
        said = stage.older()["status"]["conditions"][-1]["message"]
        assert "spec.pytorchReplicaSpecs[Worker].restartPolicy" in said
        assert stage.names(JOBSETS) == []


@pytest.mark.parametrize(("policy", "then"), [("Never", "Failed"), ("OnFailure", "Restarting")])
@in_virtual_time
async def test_a_running_pod_that_somebody_deletes_has_failed(policy, then):
    async with OlderStage() as stage:
        stage.create("PyTorchJob", {"Worker": {"replicas": 2, "restartPolicy": policy}})
        await stage.settle(2)
        stage.play()
        await stage.settle(2)
        (doomed,) = stage.pods("job-worker-1")
        going = {"metadata": {"deletionTimestamp": "2026-01-01T00:01:00Z", "finalizers": ["kubelet"]}}
        stage.api.change(PODS, NAMESPACE, doomed["metadata"]["name"], going)
        await stage.settle(2)
        assert stage.types()[-1] == then
        stage.api.change(PODS, NAMESPACE, doomed["metadata"]["name"], {"metadata": {"finalizers": None}})
        stage.play()
        await stage.settle(10)
        assert stage.types()[-1] == ("Failed" if then == "Failed" else "Running")


@in_virtual_time
async def test_a_job_that_runs_keeps_its_template_until_it_rests():
    async with OlderStage() as stage:
        stage.create("PyTorchJob", {"Worker": {}})
        await stage.settle(2)
        stage.play()
        await stage.settle(2)
        other = {"containers": [{"name": "pytorch", "image": "lab.example/train:2"}]}
        stage.change({"spec": {"pytorchReplicaSpecs": {"Worker": {"template": {"spec": other}}}}})
        await stage.settle(2)
        assert "train:1" in str(stage.api.all(JOBSETS)) and "train:2" not in str(stage.api.all(JOBSETS))
        stage.suspend(True)
        await stage.settle(2)
        stage.suspend(False)
        await stage.settle(2)
        assert "train:2" in str(stage.api.all(JOBSETS)) and "train:1" not in str(stage.api.all(JOBSETS))


@in_virtual_time
async def test_a_replica_that_has_ended_well_counts_when_its_pod_is_gone():
    async with OlderStage() as stage:
        stage.create("JAXJob", {"Worker": {"replicas": 2}})
        await stage.settle(2)
        stage.play()
        await stage.settle(2)
        stage.end_pod("job-worker-0", 0, "jax")
        complete = {"conditions": [{"type": "Complete", "status": "True"}]}
        stage.api.change(JOBS, NAMESPACE, "job-worker-0", {"status": complete})
        (ended,) = stage.pods("job-worker-0")
        stage.api.remove(PODS, NAMESPACE, ended["metadata"]["name"])
        await stage.settle(10)
        assert stage.older("JAXJob")["status"]["replicaStatuses"]["Worker"]["succeeded"] == 1
        stage.end_pod("job-worker-1", 0, "jax")
        await stage.settle(10)
        assert stage.types("JAXJob") == ["Created", "Succeeded"]


@pytest.mark.parametrize("ended", ["succeeded", "failed for good"])
@in_virtual_time
async def test_a_job_that_is_made_again_inherits_nothing_of_what_is_not_yet_collected(ended):
    async with OlderStage() as stage:
        role = {"restartPolicy": "Never"}
        stage.create("PyTorchJob", {"Worker": role})
        await stage.settle(2)
        stage.play()
        stage.end_pod("job-worker-0", 0 if ended == "succeeded" else 1)
        if ended == "succeeded":
            done = {"type": "Complete", "status": "True"}
            stage.api.change(JOBS, NAMESPACE, "job-worker-0", {"status": {"conditions": [done]}})
        await stage.settle(2)
        stage.api.remove(KINDS["PyTorchJob"], NAMESPACE, "job", propagation="Orphan")
        stage.create("PyTorchJob", {"Worker": role})
        await stage.settle(30)
        assert stage.types() == ["Created"]
        stage.api.remove(JOBSETS, NAMESPACE, "job")
        await stage.settle(30)
        stage.play()
        await stage.settle(10)
        assert stage.types() == ["Created", "Running"]

"""The lives of TrainJobs, played to an API server in memory in virtual time."""

import pytest

from kfp_trainer.runtime_operator.controller.kinds import CLUSTER_TRAINING_RUNTIMES, JOBSETS, TRAIN_JOBS
from kfp_trainer.runtime_operator.controller.settings import ControllerSettings
from kfp_trainer.runtime_operator.kube.errors import api_error
from kfp_trainer.runtime_operator.kube.resource import CONFIG_MAPS, EVENTS, PODS, SECRETS
from tests.controller_stage import GANG, Stage, runtime
from tests.controller_stage.cast import died, mpi_runtime, waits
from tests.controller_stage.stage import COSCHEDULING, NAMESPACE, VOLCANO
from tests.counts import count
from tests.fake_api import Fault
from tests.virtual_time import in_virtual_time, until

NEVER_AGAIN = 600.0  # seconds in which nothing may come back


@in_virtual_time
async def test_a_job_lives_in_four_writes():
    async with Stage() as stage:
        stage.create_job()
        await stage.until_jobset()
        stage.report(active=1)
        await stage.settle(1)
        stage.report(ready=1, active=1)
        await stage.settle(5)
        stage.report(succeeded=1)
        stage.end()
        await stage.settle()
        assert stage.conditions() == {"Complete": ("True", "AllJobsCompleted")}
        assert [(each.verb, each.resource.kind) for each in stage.written()] == [
            ("apply", "ConfigMap"),
            ("apply", "JobSet"),
            ("patch", "TrainJob"),
            ("patch", "TrainJob"),
        ]
        assert stage.status()["jobsStatus"][0]["succeeded"] == 1
        assert "why" not in stage.status()
        assert [reason for reason, _ in stage.events.told] == [
            "JobSetCreated",
            "Running",
            "AllJobsCompleted",
        ]


@in_virtual_time
async def test_a_second_look_writes_nothing_not_even_by_another_operator():
    async with Stage() as stage:
        stage.api.create(CLUSTER_TRAINING_RUNTIMES, mpi_runtime())
        stage.api.create(CLUSTER_TRAINING_RUNTIMES, runtime("gang", gang=GANG))
        stage.create_job("runs")
        stage.create_job("rests", suspend=True)
        stage.create_job("hosts", runtime="mpi")
        stage.create_job("gang", runtime="gang")
        stage.create_job("ended")
        for name in ("runs", "rests", "hosts", "gang", "ended"):
            await stage.until_jobset(name)
        stage.report("runs", ready=1)
        stage.end("ended")
        await stage.settle()
        before = len(stage.written())
        await stage.restart()
        await stage.settle(2 * stage.settings.resync_every)
        assert stage.written()[before:] == []


ENDS = {
    "a complete job whose JobSet is deleted by hand": ("Completed", "AllJobsCompleted", "Complete"),
    "a failed job whose JobSet is deleted by hand": ("Failed", "ReachedMaxRestarts", "Failed"),
}


@pytest.mark.parametrize("is_told", [True, False], ids=["seen", "gone before the end was seen"])
@pytest.mark.parametrize("sentence", ENDS)
@in_virtual_time
async def test_an_end_is_an_end(sentence, is_told):
    how, reason, want = ENDS[sentence]
    async with Stage() as stage:
        stage.create_job()
        await stage.until_jobset()
        stage.end(how=how, reason=reason)
        if is_told:
            await stage.settle()
        stage.api.remove(JOBSETS, NAMESPACE, "bert")
        await stage.settle(NEVER_AGAIN)
        assert stage.conditions() == {want: ("True", reason)}
        assert stage.jobset() is None
        assert len(stage.written(JOBSETS)) == 1


@in_virtual_time
async def test_a_jobset_that_is_deleted_while_its_job_runs_is_made_again():
    async with Stage() as stage:
        stage.create_job()
        first = await stage.until_jobset()
        stage.api.remove(JOBSETS, NAMESPACE, "bert")
        await stage.settle()
        assert stage.jobset()["metadata"]["uid"] != first["metadata"]["uid"]


@in_virtual_time
async def test_a_deadline_is_kept_although_deletions_fail():
    async with Stage() as stage:
        stage.create_job(activeDeadlineSeconds=60)
        await stage.until_jobset()
        broken = Fault("refuse", verb="delete", resource=JOBSETS, times=5, error=api_error(500, "", "broken"))
        stage.api.faults.add(broken)
        stage.report(ready=1)
        assert await until(lambda: "Failed" in stage.conditions(), limit=90) < 62
        await stage.settle()
        assert broken.hits == 5
        assert stage.jobset() is None
        assert stage.conditions() == {"Failed": ("True", "DeadlineExceeded")}
        assert stage.message() == "TrainJob exceeded its active deadline"


@in_virtual_time
async def test_a_job_whose_image_never_comes_fails_at_its_start_deadline_and_says_why():
    async with Stage() as stage:
        stage.create_job(startDeadlineSeconds=120)
        await stage.until_jobset()
        stage.report(active=1)
        stage.add_pod(**waits("ImagePullBackOff", "manifest unknown"))
        took = await until(lambda: "Failed" in stage.conditions(), limit=200)
        assert 115 < took < 125
        assert stage.conditions() == {"Failed": ("True", "StartDeadlineExceeded")}
        assert "within 120 s" in stage.message()
        assert "manifest unknown" in stage.message()
        await stage.settle()
        assert stage.jobset() is None


@in_virtual_time
async def test_a_ttl_clears_the_job_away_with_all_it_had():
    async with Stage() as stage:
        stage.create_job(ttlSecondsAfterFinished=100)
        await stage.until_jobset()
        stage.end()
        await stage.settle(90)
        assert stage.job()
        await stage.settle(30)
        assert stage.job() is None
        assert stage.children() == []


@in_virtual_time
async def test_suspended_and_resumed_fifty_times_it_has_one_jobset_and_loses_no_patch():
    async with Stage() as stage:
        stage.create_job()
        uid = (await stage.until_jobset())["metadata"]["uid"]
        generation = 0
        for turn in range(count(50, sampled=50)):
            patch = {
                "manager": "acme.io/queue",
                "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [_select(str(turn))]}}},
            }
            stage.change_job(suspend=True)
            await until(lambda: stage.jobset()["spec"]["suspend"])
            await stage.settle(1)
            assert stage.conditions()["Suspended"] == ("True", "Suspended")
            stage.change_job(suspend=False, runtimePatches=[patch])
            await until(lambda: not stage.jobset()["spec"]["suspend"])
            await stage.settle(1)
            assert stage.conditions()["Suspended"] == ("False", "Resumed")
            jobset = stage.jobset()
            assert jobset["metadata"]["uid"] == uid
            assert jobset["metadata"]["generation"] > generation
            generation = jobset["metadata"]["generation"]
            pods = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
            assert pods["spec"]["nodeSelector"] == {"zone": str(turn)}
        assert len(stage.api.all(JOBSETS)) == 1


def _select(zone):
    pods = {"spec": {"nodeSelector": {"zone": zone}}}
    return {"name": "node", "template": {"spec": {"template": pods}}}


@in_virtual_time
async def test_what_kueue_takes_back_is_taken_out_of_the_jobset():
    manager = "kueue.x-k8s.io/manager"
    given = {"template": {"spec": {"replicatedJobs": [_select("a")]}}}
    async with Stage() as stage:
        stage.create_job(suspend=True, runtimePatches=[{"manager": manager}])
        await stage.until_jobset()
        stage.change_job(runtimePatches=[{"manager": manager, "trainingRuntimeSpec": given}])
        stage.change_job(suspend=False)
        await until(lambda: not stage.jobset()["spec"]["suspend"])
        pods = stage.jobset()["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
        assert pods["spec"]["nodeSelector"] == {"zone": "a"}
        stage.change_job(suspend=True)
        await until(lambda: stage.jobset()["spec"]["suspend"])
        await stage.restart()  # what was applied is forgotten
        stage.change_job(runtimePatches=[{"manager": manager}])
        await stage.settle(5)
        pods = stage.jobset()["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
        assert "nodeSelector" not in pods["spec"]


@in_virtual_time
async def test_counts_of_a_job_that_rests_are_told_at_once_for_kueue_waits_for_them():
    async with Stage() as stage:
        stage.create_job()
        await stage.until_jobset()
        stage.report(active=1, ready=1)
        await until(lambda: stage.status().get("jobsStatus"))
        stage.change_job(suspend=True)
        await until(lambda: stage.conditions())
        stage.report(active=0, suspended=1)
        assert await until(lambda: stage.status()["jobsStatus"][0]["active"] == 0) < 1


@in_virtual_time
async def test_a_job_of_the_same_name_inherits_nothing():
    async with Stage() as stage:
        stage.api.garbage_after = 20.0
        stage.create_job()
        first = await stage.until_jobset()
        stage.end(how="Failed", reason="FailedJobs")
        await stage.settle(5)
        assert "Failed" in stage.conditions()
        stage.delete_job()
        stage.create_job()
        await stage.settle(10)
        assert stage.conditions() == {}
        assert stage.jobset()["metadata"]["uid"] == first["metadata"]["uid"]
        await until(lambda: (stage.jobset() or first)["metadata"]["uid"] != first["metadata"]["uid"])
        await stage.settle(5)
        assert stage.conditions() == {}


@in_virtual_time
async def test_what_an_orphaning_deletion_left_is_neither_taken_over_nor_touched():
    async with Stage() as stage:
        stage.api.garbage_after = None
        stage.create_job()
        left = await stage.until_jobset()
        stage.report(active=1, ready=1)
        stage.delete_job()
        for resource, name in ((JOBSETS, "bert"), (CONFIG_MAPS, "bert-runtime-snapshot")):
            stage.api.change(resource, NAMESPACE, name, {"metadata": {"ownerReferences": None}})
        await stage.settle(5)
        stage.create_job()
        await stage.settle(20)
        assert stage.status() == {
            "why": "waits until JobSet bert and ConfigMap bert-runtime-snapshot of before are deleted, "
            "which belong to nobody: delete them by hand"
        }
        assert stage.jobset()["metadata"]["uid"] == left["metadata"]["uid"]
        for resource, name in ((JOBSETS, "bert"), (CONFIG_MAPS, "bert-runtime-snapshot")):
            stage.api.remove(resource, NAMESPACE, name)
        new = await stage.until_jobset()
        await stage.settle(20)
        assert new["metadata"]["ownerReferences"][0]["uid"] == stage.job()["metadata"]["uid"]
        assert "belong to nobody" not in stage.status().get("why", "")


@in_virtual_time
async def test_keys_of_a_namesake_are_waited_out_and_never_taken_over():
    async with Stage() as stage:
        stage.api.create(CLUSTER_TRAINING_RUNTIMES, mpi_runtime())
        stage.api.garbage_after = None
        stage.create_job(runtime="mpi")
        await stage.until_jobset()
        old = stage.api.get(SECRETS, NAMESPACE, "bert-mpi-ssh-auth")
        stage.delete_job()
        stage.api.remove(JOBSETS, NAMESPACE, "bert")
        for each in stage.api.all(CONFIG_MAPS):
            stage.api.remove(CONFIG_MAPS, NAMESPACE, each["metadata"]["name"])
        stage.create_job(runtime="mpi")
        await stage.settle(10)
        assert stage.jobset() is None
        assert stage.api.get(SECRETS, NAMESPACE, "bert-mpi-ssh-auth") == old
        stage.api.remove(SECRETS, NAMESPACE, "bert-mpi-ssh-auth")
        await stage.until_jobset()
        new = stage.api.get(SECRETS, NAMESPACE, "bert-mpi-ssh-auth")
        assert new["data"] != old["data"]
        assert new["metadata"]["ownerReferences"][0]["uid"] == stage.job()["metadata"]["uid"]


@in_virtual_time
async def test_foreground_deletion_leaves_nothing():
    async with Stage() as stage:
        stage.api.create(CLUSTER_TRAINING_RUNTIMES, runtime("gang", gang=GANG))
        stage.create_job(runtime="gang")
        await stage.until_jobset()
        stage.delete_job(propagation="Foreground")
        await stage.settle(NEVER_AGAIN)
        assert stage.job() is None
        assert stage.children() == []


@pytest.mark.parametrize("writes", range(6))
@in_virtual_time
async def test_a_job_that_is_deleted_while_it_is_made_leaves_nothing(writes):
    async with Stage() as stage:
        stage.api.create(CLUSTER_TRAINING_RUNTIMES, runtime("gang", gang=GANG))
        stage.create_job(runtime="gang")
        await until(lambda: len(stage.written()) >= min(writes, 3), step=0.001)
        stage.delete_job()
        await stage.settle()
        assert stage.job() is None
        assert stage.children() == []


@in_virtual_time
async def test_a_job_that_another_controller_manages_is_not_touched():
    async with Stage() as stage:
        stage.create_job(managedBy="kueue.x-k8s.io/multikueue")
        await stage.settle(NEVER_AGAIN)
        assert stage.written() == []
        assert stage.status() == {}


@in_virtual_time
async def test_a_job_outlives_its_runtime():
    async with Stage() as stage:
        stage.create_job()
        await stage.until_jobset()
        stage.api.remove(CLUSTER_TRAINING_RUNTIMES, "", "torch")
        stage.change_job(suspend=True)
        await until(lambda: stage.jobset()["spec"]["suspend"])
        await stage.restart()
        stage.change_job(suspend=False)
        await until(lambda: not stage.jobset()["spec"]["suspend"])
        stage.end()
        await stage.settle()
        assert stage.conditions()["Complete"] == ("True", "AllJobsCompleted")


@in_virtual_time
async def test_a_job_waits_for_its_runtime_says_so_and_starts_as_soon_as_it_is_there():
    async with Stage() as stage:
        stage.create_job(runtime="later")
        await until(lambda: stage.status(), limit=5)
        assert "'later' is not found" in stage.status()["why"]
        await stage.settle(100)
        stage.api.create(CLUSTER_TRAINING_RUNTIMES, runtime("later"))
        assert await until(lambda: stage.jobset()) < 1
        await stage.settle()
        assert "why" not in stage.status()


@in_virtual_time
async def test_a_gang_lives_as_long_as_its_job_runs():
    async with Stage() as stage:
        stage.api.create(CLUSTER_TRAINING_RUNTIMES, runtime("gang", gang=GANG))
        stage.create_job(runtime="gang", suspend=True)
        await stage.until_jobset()
        await stage.settle()
        assert stage.children((VOLCANO,)) == []
        stage.change_job(suspend=False)
        await until(lambda: not stage.jobset()["spec"]["suspend"], step=0.001)
        assert stage.children((VOLCANO,)) == ["PodGroup/bert"]  # before its pods are made
        stage.change_job(suspend=True)
        await until(lambda: not stage.children((VOLCANO,)), limit=2)
        stage.change_job(suspend=False)
        await until(lambda: stage.children((VOLCANO,)), limit=2)
        stage.end()
        await until(lambda: not stage.children((VOLCANO,)), limit=2)


@in_virtual_time
async def test_a_scheduler_that_is_installed_later_is_found():
    async with Stage(COSCHEDULING) as stage:
        stage.api.create(CLUSTER_TRAINING_RUNTIMES, runtime("gang", gang=GANG))
        stage.create_job(runtime="gang")
        await until(lambda: stage.status(), limit=10)
        assert "the cluster knows no PodGroup of scheduling.volcano.sh/v1beta1" in stage.status()["why"]
        assert stage.jobset() is None
        stage.api.serve(VOLCANO)
        assert await until(lambda: stage.jobset(), limit=60) <= 35
        assert stage.children((VOLCANO,)) == ["PodGroup/bert"]


@in_virtual_time
async def test_a_job_that_trainer_began_is_gone_on_with():
    async with Stage() as stage:
        stage.create_job()
        await stage.until_jobset()
        for resource, name in ((JOBSETS, "bert"), (CONFIG_MAPS, "bert-runtime-snapshot")):
            stage.api.change(resource, NAMESPACE, name, lambda document: document["metadata"].pop("labels"))

        def as_trainer_made_it(document):
            container = document["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"][
                "containers"
            ][0]
            container["env"].reverse()

        stage.api.change(JOBSETS, NAMESPACE, "bert", as_trainer_made_it)
        stage.api.change(CLUSTER_TRAINING_RUNTIMES, "", "torch", {"metadata": {"labels": {"a": "b"}}})
        before = stage.jobset()["spec"]["replicatedJobs"]
        snapshot = stage.api.get(CONFIG_MAPS, NAMESPACE, "bert-runtime-snapshot")
        await stage.restart()
        stage.change_job(suspend=True)
        await until(lambda: stage.jobset()["spec"]["suspend"])
        stage.change_job(suspend=False)
        await until(lambda: not stage.jobset()["spec"]["suspend"])
        assert stage.jobset()["spec"]["replicatedJobs"] == before
        assert stage.api.get(CONFIG_MAPS, NAMESPACE, "bert-runtime-snapshot") == snapshot


@in_virtual_time
async def test_files_that_trainer_made_for_a_jobset_stay_with_it():
    theirs = {"data": {"hostfile": "as Trainer orders them"}}
    async with Stage() as stage:
        stage.api.create(CLUSTER_TRAINING_RUNTIMES, mpi_runtime())
        stage.create_job(runtime="mpi")
        await stage.until_jobset()
        made = ((CONFIG_MAPS, "bert-mpi-hostfile"), (CONFIG_MAPS, "bert-runtime-snapshot"), (JOBSETS, "bert"))
        for resource, name in made:
            stage.api.change(resource, NAMESPACE, name, lambda document: document["metadata"].pop("labels"))
        stage.api.change(CONFIG_MAPS, NAMESPACE, "bert-mpi-hostfile", theirs)
        await stage.restart()
        for suspend in (True, False):
            stage.change_job(suspend=suspend)
            await until(lambda now=suspend: stage.jobset()["spec"]["suspend"] is now)
        await stage.settle()
        assert stage.api.get(CONFIG_MAPS, NAMESPACE, "bert-mpi-hostfile")["data"] == theirs["data"]


@in_virtual_time
async def test_a_gang_that_trainer_made_stays_while_it_runs_and_goes_when_it_rests():
    async with Stage() as stage:
        stage.api.create(CLUSTER_TRAINING_RUNTIMES, runtime("gang", gang=GANG))
        stage.create_job(runtime="gang")
        await stage.until_jobset()
        for resource, name in ((VOLCANO, "bert"), (CONFIG_MAPS, "bert-runtime-snapshot"), (JOBSETS, "bert")):
            stage.api.change(resource, NAMESPACE, name, lambda document: document["metadata"].pop("labels"))
        stage.api.change(VOLCANO, NAMESPACE, "bert", {"spec": {"minMember": 7}})
        await stage.restart()
        stage.report(active=1, ready=1)
        await stage.settle()
        assert stage.api.get(VOLCANO, NAMESPACE, "bert")["spec"]["minMember"] == 7
        stage.change_job(suspend=True)
        await until(lambda: not stage.children((VOLCANO,)))
        stage.change_job(suspend=False)
        await until(lambda: stage.children((VOLCANO,)))
        assert stage.api.get(VOLCANO, NAMESPACE, "bert")["spec"]["minMember"] == 2
        stage.end()
        await until(lambda: not stage.children((VOLCANO,)))


@in_virtual_time
async def test_what_the_api_server_refuses_is_told():
    async with Stage() as stage:

        def refuse(resource, old, new):
            if resource is JOBSETS:
                raise api_error(403, "Forbidden", 'admission webhook "vjobset.kb.io" denied: name too long')

        stage.api.admission.append(refuse)
        stage.create_job()
        assert await until(lambda: stage.status()) < 5
        assert "name too long" in stage.status()["why"]
        assert "JobSet bert" in stage.status()["why"]
        assert any("name too long" in message for _, message in stage.events.told)
        stage.api.admission.remove(refuse)
        await stage.settle()
        assert stage.jobset()
        assert "why" not in stage.status()


@in_virtual_time
async def test_pods_that_quota_refuses_are_told_until_they_are_made():
    async with Stage() as stage:
        stage.create_job()
        await stage.until_jobset()
        stage.report(active=0)
        stage.api.create(
            EVENTS,
            {
                "metadata": {"name": "x", "namespace": NAMESPACE},
                "involvedObject": {"kind": "Job", "name": "bert-node-0"},
                "type": "Warning",
                "reason": "FailedCreate",
                "message": 'Error creating: pods "bert-node-0-0-abcde" is forbidden: exceeded quota: q',
                "lastTimestamp": "2026-01-01T00:00:01Z",
            },
        )
        assert await until(lambda: "why" in stage.status()) < 5
        assert "exceeded quota: q" in stage.status()["why"]
        assert [message for reason, message in stage.events.told if reason == "PodsWait"] == [
            'its pods are refused: pods "bert-node-0-0-abcde" is forbidden: exceeded quota: q'
        ]
        pods = [stage.add_pod(index=index, phase="Running") for index in range(2)]
        assert len(pods) == 2
        stage.report(ready=1)
        await until(lambda: "startTime" in stage.status(), limit=5)
        assert "why" not in stage.status()


@in_virtual_time
async def test_in_one_namespace_nothing_of_another_is_seen_or_written():
    async with Stage(settings=ControllerSettings(workers=2, namespace="other")) as stage:
        stage.create_job()
        await stage.settle()
        assert stage.written() == []


@in_virtual_time
async def test_a_namespaced_operator_works_without_the_rights_of_a_cluster():
    settings = ControllerSettings(workers=2, namespace=NAMESPACE)
    stage = Stage(settings=settings)
    for resource in (CLUSTER_TRAINING_RUNTIMES,):
        error = api_error(403, "Forbidden", "clustertrainingruntimes is forbidden")
        stage.api.faults.add(Fault("refuse", verb="list", resource=resource, times=-1, error=error))
    async with stage:
        from kfp_trainer.runtime_operator.controller.kinds import TRAINING_RUNTIMES

        mine = {**runtime("mine"), "kind": "TrainingRuntime"}
        mine["metadata"]["namespace"] = NAMESPACE
        stage.api.create(TRAINING_RUNTIMES, mine)
        stage.api.create(
            TRAIN_JOBS,
            {
                **_job_of_namespaced_runtime(),
            },
        )
        await stage.until_jobset()


def _job_of_namespaced_runtime():
    from tests.controller_stage import job

    document = job()
    document["spec"]["runtimeRef"] = {
        "name": "mine",
        "kind": "TrainingRuntime",
        "apiGroup": "trainer.kubeflow.org",
    }
    return document


@in_virtual_time
async def test_a_failed_job_says_who_died_of_what_and_its_last_words():
    async with Stage() as stage:
        stage.create_job()
        await stage.until_jobset()
        made = stage.add_pod(index=1, **died(1))
        stage.api.logs[NAMESPACE, made["metadata"]["name"], "node"] = [
            "Traceback (most recent call last):",
            "ValueError: no such column: text",
            "",
        ]
        await stage.settle(1)
        stage.api.remove(PODS, NAMESPACE, made["metadata"]["name"])  # Kubernetes deletes pods of failed Jobs
        stage.end(how="Failed", reason="FailedJobs")
        assert await until(lambda: "Failed" in stage.conditions()) < 2
        message = stage.message()
        for part in (
            made["metadata"]["name"],
            "node gpu-17",
            "container node",
            "exit code 1",
            "no such column",
        ):
            assert part in message
        assert message.startswith("jobset failed: ")


TRACES = {
    "a JobSet that completed and went while nobody watched": ("AllJobsCompleted", "Complete"),
    "a JobSet that failed and went while nobody watched": ("ReachedMaxRestarts", "Failed"),
    "a JobSet that was deleted while it ran": ("", ""),
}


@pytest.mark.parametrize("sentence", TRACES)
@in_virtual_time
async def test_the_end_is_told_by_the_events_that_it_left(sentence):
    reason, want = TRACES[sentence]
    async with Stage() as stage:
        stage.create_job()
        await stage.until_jobset()
        stage.report(ready=1)
        await stage.settle(5)
        await stage.stop()
        stage.api.remove(JOBSETS, NAMESPACE, "bert")
        if reason:
            event = {
                "metadata": {"name": "bert.1", "namespace": NAMESPACE},
                "involvedObject": {"kind": "JobSet", "name": "bert"},
                "reason": reason,
                "message": "so it ended",
                "lastTimestamp": "2026-01-01T00:00:04Z",
            }
            stage.api.create(EVENTS, event)
        await stage.start()
        await stage.settle()
        assert bool(stage.jobset()) == (not want)
        assert stage.conditions() == ({want: ("True", reason)} if want else {})


@in_virtual_time
async def test_an_object_that_the_api_server_keeps_in_another_form_is_applied_once():
    async with Stage() as stage:

        def rewrite(resource, old, new):
            if resource is CONFIG_MAPS and "hostfile" in new.get("data", {}):
                new["data"]["added"] = "by a webhook"

        stage.api.admission.append(rewrite)
        stage.api.create(CLUSTER_TRAINING_RUNTIMES, mpi_runtime())
        stage.create_job(runtime="mpi")
        await stage.until_jobset()
        for number in range(5):
            stage.report(job="node", active=number % 2)
            await stage.settle(20)
        hosts = [each for each in stage.written(CONFIG_MAPS) if each.key[1] == "bert-mpi-hostfile"]
        assert len(hosts) == 1


@in_virtual_time
async def test_without_a_webhook_a_job_that_breaks_a_rule_fails_and_says_which():
    async with Stage(settings=ControllerSettings(workers=2, judges=True)) as stage:
        stage.create_job(trainer={"env": [{"name": "PET_NNODES", "value": "9"}]})
        await until(stage.conditions)
        assert stage.conditions() == {"Failed": ("True", "RuntimeInvalid")}
        assert "PET_NNODES" in stage.message()
        assert stage.jobset() is None


@in_virtual_time
async def test_the_gauges_tell_of_the_queue_and_of_silence():
    async with Stage() as stage:
        stage.create_job()
        await stage.until_jobset()
        stage.operator.measure()
        registry = stage.operator.metrics.registry
        assert registry.get_sample_value("kfp_trainer_jobs") == 1
        assert registry.get_sample_value("kfp_trainer_is_leader") == 1
        assert registry.get_sample_value("kfp_trainer_jobset_latency_seconds_count") == 1
        written = {"verb": "apply", "kind": "JobSet"}
        assert registry.get_sample_value("kfp_trainer_writes_total", written) == 1
        await stage.settle(10)
        stage.operator.measure()
        silence = registry.get_sample_value("kfp_trainer_watch_silence_seconds", {"kind": "TrainJob"})
        assert silence >= 9
        stage.end()
        await stage.settle(2)
        assert registry.get_sample_value("kfp_trainer_jobs_ended_total", {"condition": "Complete"}) == 1


@in_virtual_time
async def test_without_the_right_to_read_events_a_lost_jobset_is_made_again():
    async with Stage() as stage:
        stage.create_job()
        await stage.until_jobset()
        stage.report(ready=1)
        await stage.settle(5)
        error = api_error(403, "Forbidden", "events is forbidden")
        stage.api.faults.add(Fault("refuse", verb="list", resource=EVENTS, times=-1, error=error))
        stage.api.remove(JOBSETS, NAMESPACE, "bert")
        await stage.settle()
        assert stage.jobset()


@in_virtual_time
async def test_a_log_that_may_not_be_read_is_done_without():
    async with Stage() as stage:
        stage.create_job()
        await stage.until_jobset()
        restarted = died(1)["containerStatuses"][0]["state"]
        status = {
            "name": "node",
            "lastState": restarted,
            "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        }
        stage.add_pod(phase="Running", containerStatuses=[status])
        error = api_error(403, "Forbidden", "pods/log is forbidden")
        stage.api.faults.add(Fault("refuse", verb="log", resource=PODS, times=-1, error=error))
        stage.end(how="Failed", reason="FailedJobs")
        await until(stage.conditions)
        assert "exit code 1" in stage.message()


@in_virtual_time
async def test_a_question_that_fails_is_asked_again_and_is_no_mistake(caplog):
    async with Stage() as stage:
        stage.create_job()
        await stage.until_jobset()
        stage.api.change(
            CONFIG_MAPS,
            NAMESPACE,
            "bert-runtime-snapshot",
            lambda document: document["metadata"].pop("labels"),
        )
        error = api_error(503, "", "busy")
        stage.api.faults.add(Fault("refuse", verb="get", resource=CONFIG_MAPS, times=3, error=error))
        await stage.restart()
        stage.change_job(suspend=True)
        await until(lambda: stage.jobset()["spec"]["suspend"])
        assert "mistake" not in caplog.text

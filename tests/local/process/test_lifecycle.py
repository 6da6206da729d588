"""Restarts, probes, hooks, sidecars and stops, in every way to run a pod."""

import asyncio
import socket
from pathlib import Path

from kfp_trainer.runtime_operator.local.process.strays import marked

SH = ["sh", "-c"]
FAST = {"periodSeconds": 0.02, "failureThreshold": 1}


def status_of(living, name="main"):
    status = living.status()
    return next(
        one
        for one in (*status["containerStatuses"], *status.get("initContainerStatuses", ()))
        if one["name"] == name
    )


def condition(living, kind):
    return next(one for one in living.status()["conditions"] if one["type"] == kind)


def left_over(bed, name="main", number=0):
    return marked(bed.folder / "containers" / name / str(number))


async def test_on_failure_restarts_in_place_and_keeps_the_log_before(bed, pod_of):
    script = "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) > n; echo run $n; [ $n = 2 ] || exit 4"
    living = bed.start(pod_of(*SH, script, spec={"restartPolicy": "OnFailure"}))
    assert await bed.end(living) == "Succeeded"
    status = status_of(living)
    assert status["restartCount"] == 2
    assert status["lastState"]["terminated"]["exitCode"] == 4
    assert bed.log(number=1) == "run 1\n"
    assert bed.log(number=2) == "run 2\n"
    assert not (bed.folder / "containers/main/0").exists()
    waits = [event.message for event in bed.events if event.reason == "CrashLoopBackOff"]
    assert len(waits) == 1, "the first restart is at once, the second waits"


async def test_back_off_shows_as_crash_loop(bed, pod_of):
    living = bed.start(pod_of(*SH, "exit 1", spec={"restartPolicy": "OnFailure"}))
    await bed.until(lambda event: event.reason == "CrashLoopBackOff")
    status = status_of(living)
    assert status["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert status["lastState"]["terminated"]["exitCode"] == 1
    assert living.phase == "Running"
    await living.stop(0)
    assert living.phase == "Failed"
    assert status_of(living)["state"]["terminated"]["exitCode"] == 1


async def test_always_restarts_a_success(bed, pod_of):
    living = bed.start(pod_of("true", spec={"restartPolicy": "Always"}))
    await bed.until(lambda event: event.kind == "started" and event.restarts == 1)
    await living.stop(0)
    assert living.phase in ("Succeeded", "Failed")


async def test_stop_is_sigterm_then_sigkill_of_all(bed, pod_of):
    deep = "setsid sh -c 'trap \"\" TERM; echo deep; sleep 60'"
    script = f"trap '' TERM; {deep} & echo up; while :; do sleep 60; done"
    living = bed.start(pod_of(*SH, script))
    await bed.seen("deep")
    await bed.seen("up")
    assert left_over(bed)
    assert await living.stop(0.2) == "Failed"
    assert status_of(living)["state"]["terminated"]["exitCode"] == 137
    assert left_over(bed) == []


async def test_stop_lets_a_container_end_by_itself(bed, pod_of):
    living = bed.start(pod_of(*SH, "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.02; done"))
    await bed.seen("up")
    assert await living.stop(5) == "Succeeded"
    assert "bye\n" in bed.log()


async def test_a_second_stop_shortens_the_first(bed, pod_of):
    living = bed.start(pod_of(*SH, "trap '' TERM; echo up; while :; do sleep 60; done"))
    await bed.seen("up")
    slow = asyncio.create_task(living.stop(60))
    await asyncio.sleep(0)
    assert await living.stop(0.1) == "Failed"
    assert await slow == "Failed"


async def test_what_the_command_leaves_behind_ends_with_it(bed, pod_of):
    living = bed.start(pod_of(*SH, "setsid sh -c 'echo deep; sleep 60' & sleep 0.1"))
    assert await bed.end(living) == "Succeeded"
    assert bed.log() == "deep\n"
    assert left_over(bed) == []


async def test_init_containers_run_in_order_before_the_others(bed, pod_of):
    mounts = [{"name": "d", "mountPath": "/d"}]
    inits = [
        {"name": name, "image": "any", "command": [*SH, f"echo {name} >> /d/log"], "volumeMounts": mounts}
        for name in ("one", "two")
    ]
    spec = {"volumes": [{"name": "d", "emptyDir": {}}], "initContainers": inits}
    living = bed.start(pod_of("cat", "/d/log", spec=spec, volumeMounts=mounts))
    assert await bed.end(living) == "Succeeded"
    assert bed.log() == "one\ntwo\n"


async def test_an_init_container_that_fails_ends_the_pod(bed, pod_of):
    spec = {"initContainers": [{"name": "one", "image": "any", "command": [*SH, "exit 5"]}]}
    living = bed.start(pod_of("true", spec=spec))
    assert await bed.end(living) == "Failed"
    assert status_of(living, "one")["state"]["terminated"]["exitCode"] == 5
    assert status_of(living)["state"]["waiting"]["reason"] == "PodInitializing"


async def test_a_sidecar_starts_before_and_stops_after(bed, pod_of):
    mounts = [{"name": "d", "mountPath": "/d"}]
    sidecar = {
        "name": "side",
        "image": "any",
        "restartPolicy": "Always",
        "command": [*SH, "trap 'cat /d/x; exit 0' TERM; touch /d/up; while :; do sleep 0.02; done"],
        "startupProbe": {"exec": {"command": [*SH, "test -e /d/up"]}, **FAST, "failureThreshold": 100},
        "volumeMounts": mounts,
    }
    spec = {"volumes": [{"name": "d", "emptyDir": {}}], "initContainers": [sidecar]}
    living = bed.start(pod_of(*SH, "test -e /d/up && echo done > /d/x", spec=spec, volumeMounts=mounts))
    assert await bed.end(living) == "Succeeded"
    assert "done\n" in bed.log("side")
    told = [(event.kind, event.container or event.reason) for event in bed.events]
    assert (
        told.index(("exited", "main")) < told.index(("exited", "side")) < told.index(("phase", "Succeeded"))
    )


async def test_no_grace_is_no_grace_for_sidecars_too(bed, pod_of):
    stubborn = [*SH, "trap '' TERM; echo up; while :; do sleep 60; done"]
    sidecar = {"name": "side", "image": "any", "command": stubborn, "restartPolicy": "Always"}
    living = bed.start(pod_of(*stubborn, spec={"initContainers": [sidecar]}))
    await bed.seen("up")
    await bed.seen("up", "side")
    slow = asyncio.create_task(living.stop(60))
    await asyncio.sleep(0)
    async with asyncio.timeout(1.5):
        assert await living.stop(0) == "Failed"
        await slow


async def test_an_exec_probe_makes_ready_and_unready(bed, pod_of):
    probe = {"exec": {"command": [*SH, "test -e $HERE/yes"]}, **FAST}
    env = [{"name": "HERE", "value": str(bed.folder)}]
    living = bed.start(pod_of("sleep", "60", readinessProbe=probe, env=env))
    await bed.kind("started")
    assert condition(living, "Ready")["status"] == "False"
    (bed.folder / "yes").touch()
    await bed.kind("ready")
    assert condition(living, "Ready")["status"] == "True"
    (bed.folder / "yes").unlink()
    await bed.kind("unready")
    assert status_of(living)["ready"] is False


async def test_a_tcp_probe_waits_for_the_port(bed, pod_of, python):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serve = (
        "import socket, os, time\n"
        "s = socket.create_server(('127.0.0.1', int(os.environ['SERVE_PORT'])))\n"
        "time.sleep(60)\n"
    )
    probe = {"tcpSocket": {"port": "web"}, **FAST, "failureThreshold": 100}
    pod = pod_of(
        *python(serve),
        readinessProbe=probe,
        ports=[{"name": "web", "containerPort": 8080}],
        env=[{"name": "SERVE_PORT", "value": "8080"}],
    )
    bed.start(pod, ports={8080: port})
    await bed.kind("ready")


async def test_an_http_probe_reads_the_status(bed, pod_of, python):
    serve = (
        "import socket, os\n"
        "s = socket.create_server(('127.0.0.1', 0))\n"
        "open('port.new', 'w').write(str(s.getsockname()[1])); os.rename('port.new', 'port')\n"
        "for answer in (b'500 No', b'200 OK', b'200 OK', b'200 OK'):\n"
        "    c, _ = s.accept(); c.recv(4096); c.sendall(b'HTTP/1.1 ' + answer + b'\\r\\n\\r\\n'); c.close()\n"
        "while 1: s.accept()[0].close()\n"
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serve = serve.replace("0))", f"{port}))")
    probe = {"httpGet": {"port": port, "path": "/healthz"}, **FAST, "failureThreshold": 100}
    bed.start(pod_of(*python(serve), readinessProbe=probe))
    await bed.kind("ready")


async def test_a_failed_startup_probe_restarts(bed, pod_of):
    probe = {"exec": {"command": ["false"]}, **FAST}
    bed.start(pod_of("sleep", "60", startupProbe=probe, spec={"restartPolicy": "OnFailure"}))
    event = await bed.until(lambda event: event.reason == "Unhealthy")
    assert event.message == "Startup probe failed: exit code 1"
    await bed.until(lambda event: event.kind == "started" and event.restarts == 1)


async def test_a_failed_liveness_probe_restarts(bed, pod_of):
    script = "touch ok; sleep 0.1; rm ok; sleep 60"
    probe = {"exec": {"command": [*SH, "test -e ok"]}, **FAST, "initialDelaySeconds": 0.05}
    bed.start(pod_of(*SH, script, livenessProbe=probe, spec={"restartPolicy": "OnFailure"}))
    ended = await bed.kind("exited")
    assert ended.exit_code == 143
    await bed.until(lambda event: event.kind == "started" and event.restarts == 1)


async def test_a_probe_that_hangs_is_a_no(bed, pod_of):
    probe = {"exec": {"command": ["sleep", "60"]}, **FAST, "timeoutSeconds": 0.1}
    bed.start(pod_of("sleep", "60", livenessProbe=probe))
    event = await bed.until(lambda event: event.reason == "Unhealthy")
    assert event.message == "Liveness probe failed: no answer within 0.1s"


async def test_hooks_run_after_the_start_and_before_the_end(bed, pod_of):
    hooks = {
        "postStart": {"exec": {"command": [*SH, "echo started > $HERE/post"]}},
        "preStop": {"exec": {"command": [*SH, "cat $HERE/post > $HERE/pre"]}},
    }
    env = [{"name": "HERE", "value": str(bed.folder)}]
    living = bed.start(pod_of("sleep", "60", lifecycle=hooks, env=env))
    await bed.kind("ready")
    await living.stop(5)
    assert Path(bed.folder / "pre").read_text() == "started\n"


async def test_a_hook_may_sleep(bed, pod_of):
    hooks = {"preStop": {"sleep": {"seconds": 0.1}}}
    living = bed.start(
        pod_of(*SH, "trap 'echo bye; exit' TERM; echo up; while :; do sleep 0.02; done", lifecycle=hooks)
    )
    await bed.seen("up")
    await living.stop(5)
    assert "bye\n" in bed.log()


async def test_an_init_container_is_not_restarted_after_its_success(bed, pod_of):
    init = {"name": "one", "image": "any", "command": [*SH, "echo init >> log; [ $(wc -l < log) = 2 ]"]}
    living = bed.start(
        pod_of(*SH, "cat log; sleep 60", spec={"restartPolicy": "Always", "initContainers": [init]})
    )
    await bed.seen("init\ninit\n")
    assert status_of(living, "one")["restartCount"] == 1
    assert status_of(living, "one")["ready"] is True


async def test_a_startup_probe_takes_its_time(bed, pod_of):
    probe = {"exec": {"command": [*SH, "test -e ok"]}, "periodSeconds": 0.02, "failureThreshold": 1000}
    living = bed.start(
        pod_of(
            *SH, "echo up; while ! test -e go; do sleep 0.02; done; touch ok; sleep 60", startupProbe=probe
        )
    )
    await bed.seen("up")
    assert status_of(living)["started"] is False
    (bed.folder / "work/go").touch()
    await bed.kind("ready")
    assert status_of(living)["started"] is True


async def test_a_failed_hook_ends_the_container(bed, pod_of):
    bed.start(pod_of("sleep", "60", lifecycle={"postStart": {"exec": {"command": ["false"]}}}))
    ended = await bed.kind("exited")
    assert ended.exit_code == 143


async def test_a_container_waits_for_what_it_names(bed, pod_of):
    env = [{"name": "X", "valueFrom": {"configMapKeyRef": {"name": "late", "key": "x"}}}]
    living = bed.start(pod_of(*SH, "echo $X", env=env))
    event = await bed.kind("waiting")
    assert event.reason == "CreateContainerConfigError"
    assert 'configmap "late" not found' in status_of(living)["state"]["waiting"]["message"]
    bed.objects.config_maps["late"] = {"kind": "ConfigMap", "data": {"x": "here"}}
    assert await bed.end(living) == "Succeeded"
    assert bed.log() == "here\n"


async def test_a_waiting_container_can_be_stopped(bed, pod_of):
    living = bed.start(pod_of("true", envFrom=[{"secretRef": {"name": "late"}}]))
    await bed.kind("waiting")
    assert await living.stop() == "Failed"


async def test_the_pods_deadline(bed, pod_of):
    living = bed.start(pod_of("sleep", "60", spec={"activeDeadlineSeconds": 0.2}))
    assert await bed.end(living) == "Failed"
    assert living.status()["reason"] == "DeadlineExceeded"


async def test_the_pods_devices_are_split(bed, pod_of):
    def one(name, count):
        return {
            "name": name,
            "image": "any",
            "command": [*SH, "echo devices $CUDA_VISIBLE_DEVICES"],
            "resources": {"limits": {"nvidia.com/gpu": count}},
        }

    living = bed.start(pod_of(containers=[one("a", 1), one("b", 2)]), gpus=("4", "5", "6"))
    assert await bed.end(living) == "Succeeded"
    assert (bed.log("a"), bed.log("b")) == ("devices 4\n", "devices 5,6\n")


async def test_an_unknown_image_is_said_once(bed, pod_of):
    living = bed.start(pod_of("true"))
    await bed.end(living)
    notes = [event.message for event in bed.events if event.reason == "Image"]
    assert len(notes) == 1
    assert notes[0].startswith("image any is not in the table; it runs in ")

"""A runner that is killed loses nothing: the next one takes over what lives and goes on with what died."""

import asyncio
import json
import os
import signal
import time

import pytest

from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.local.process import Place
from kfp_trainer.runtime_operator.local.process.strays import marked

SH = ["sh", "-c"]
RUNNER = """
import asyncio, json, sys
from pathlib import Path
from kfp_trainer.runtime_operator.local.process import Backoff, Isolation, Place, PodRunner, Settings

class Nothing:
    async def config_map(self, name): return None
    secret = claim = config_map
    async def token(self, audience, seconds): return ""

async def main():
    way, folder, pod = sys.argv[1:]
    runner = PodRunner(Settings(Isolation(way), backoff=Backoff(base=0.3, longest=1.0)))
    def tell(event):
        print(event.kind, event.container, event.reason, flush=True)
    living = runner.start(json.loads(pod), Place(Path(folder)), resolver=Nothing(), listener=tell)
    await living.wait()
    print(json.dumps(living.status()), flush=True)

asyncio.run(main())
"""


@pytest.fixture
def killed_runner(bed, own_process):
    """Start a pod in another process, and kill that one when it tells of an event."""

    def run(pod, until):
        process = own_process(RUNNER, bed.way.value, str(bed.folder), json.dumps(pod))
        with process:
            for line in process.stdout:
                if line.startswith(until):
                    process.kill()
                    break

    return run


async def test_what_lives_is_taken_over(bed, pod_of, killed_runner):
    killed_runner(pod_of(*SH, "echo up; while ! test -e go; do sleep 0.02; done; exit 7"), "started main")
    living = bed.adopt()
    await bed.kind("started")
    assert living.phase == "Running"
    (bed.folder / "work/go").touch()
    assert await bed.end(living) == "Failed"
    status = living.status()["containerStatuses"][0]
    assert (status["state"]["terminated"]["exitCode"], status["restartCount"]) == (7, 0)
    assert bed.log() == "up\n"


async def test_what_lives_can_be_stopped_and_asked(bed, pod_of, killed_runner):
    probe = {"exec": {"command": [*SH, "test -e ok"]}, "periodSeconds": 0.02}
    pod = pod_of(*SH, "touch ok; echo up; while :; do sleep 60; done", readinessProbe=probe)
    killed_runner(pod, "ready main")
    living = bed.adopt()
    await bed.kind("ready")
    assert await living.stop(5) == "Failed"
    assert marked(bed.folder / "containers" / "main" / "0") == []


async def test_what_ended_meanwhile_is_known(bed, pod_of, killed_runner):
    killed_runner(pod_of(*SH, "echo up; sleep 0.2; exit 9"), "started main")
    deadline = time.monotonic() + 5
    while marked(bed.folder / "containers" / "main" / "0") and time.monotonic() < deadline:
        time.sleep(0.02)
    living = bed.adopt()
    assert await bed.end(living) == "Failed"
    assert living.status()["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 9


async def test_what_died_meanwhile_is_restarted_by_policy(bed, pod_of, killed_runner):
    script = "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) > n; sleep 0.1; [ $n = 1 ] || exit 4"
    killed_runner(pod_of(*SH, script, spec={"restartPolicy": "OnFailure"}), "started main")
    living = bed.adopt()
    assert await bed.end(living) == "Succeeded"
    assert living.status()["containerStatuses"][0]["restartCount"] == 1


async def test_init_containers_are_not_run_again(bed, pod_of, killed_runner):
    init = {"name": "one", "image": "any", "command": [*SH, "echo init >> log"]}
    script = "cat log; while ! test -e go; do sleep 0.02; done"
    killed_runner(pod_of(*SH, script, spec={"initContainers": [init]}), "started main")
    living = bed.adopt()
    (bed.folder / "work/go").touch()
    assert await bed.end(living) == "Succeeded"
    assert bed.log() == "init\n"


async def test_a_stop_goes_on(bed, pod_of):
    living = bed.start(pod_of(*SH, "trap '' TERM; echo up; while :; do sleep 60; done"))
    await bed.seen("up")
    wish = json.dumps({"by": time.time() + 0.1, "reason": "", "message": ""})
    await bed.detach(living)
    (bed.folder / "stop").write_text(wish)
    living = bed.adopt()
    assert await bed.end(living) == "Failed"


async def test_a_stopped_pod_starts_nothing_more(bed, pod_of):
    living = bed.start(pod_of(*SH, "exit 1", spec={"restartPolicy": "OnFailure"}))
    await bed.until(lambda event: event.reason == "CrashLoopBackOff")
    await bed.detach(living)
    runs = sorted(path.name for path in (bed.folder / "containers/main").iterdir())
    (bed.folder / "stop").write_text(json.dumps({"by": 0, "reason": "", "message": ""}))
    assert await bed.end(bed.adopt()) == "Failed"
    assert sorted(path.name for path in (bed.folder / "containers/main").iterdir()) == runs


async def test_a_sidecar_that_outlived_the_others_is_stopped(bed, pod_of):
    stubborn = "trap '' TERM; echo up; while :; do sleep 60; done"
    sidecar = {"name": "side", "image": "any", "command": [*SH, stubborn], "restartPolicy": "Always"}
    inits = [{"name": "one", "image": "any", "command": ["true"]}, sidecar]
    living = bed.start(pod_of("true", spec={"initContainers": inits}))
    await bed.kind("exited")
    await bed.detach(living)
    assert marked(bed.folder / "containers" / "side" / "0")
    living = bed.adopt()
    assert await bed.end(living) == "Succeeded"
    assert marked(bed.folder / "containers" / "side" / "0") == []
    ends = {
        one["name"]: one["state"]["terminated"]["exitCode"]
        for one in living.status()["initContainerStatuses"]
    }
    assert ends == {"one": 0, "side": 137}


async def test_a_pod_that_is_over_stays_over(bed, pod_of):
    living = bed.start(pod_of(*SH, "exit 3"))
    await bed.end(living)
    again = bed.adopt()
    assert await bed.end(again) == "Failed"
    assert again.status() == living.status()


async def test_a_launcher_that_is_killed_takes_its_container_along(bed, pod_of):
    living = bed.start(pod_of(*SH, "setsid sleep 60 & echo up; sleep 60"))
    await bed.seen("up")
    record = json.loads((bed.folder / "containers/main/0/record").read_text())
    os.kill(record["pid"], signal.SIGKILL)
    assert await bed.end(living) == "Failed"
    ended = living.status()["containerStatuses"][0]["state"]["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (137, "ContainerStatusUnknown")
    assert marked(bed.folder / "containers" / "main" / "0") == []


async def test_a_number_used_again_is_not_the_launcher(bed, pod_of):
    """The record names a process that lives, but that started at another time: nothing is signalled."""
    living = bed.start(pod_of("true"))
    await bed.end(living)
    path = bed.folder / "containers/main/0/record"
    record = json.loads(path.read_text())
    path.write_text(json.dumps({key: record[key] for key in ("boot", "start", "started")} | {"pid": 1}))
    again = bed.adopt()
    assert await bed.end(again) == "Failed"
    assert again.status()["containerStatuses"][0]["state"]["terminated"]["reason"] == "ContainerStatusUnknown"


async def test_letting_go_at_any_moment_leaks_nothing(bed, pod_of):
    """Pods are let go while they start, run, are asked, and end; each is taken over and comes to its end."""
    probe = {"exec": {"command": ["true"]}, "periodSeconds": 0.01}
    pod = pod_of("sleep", "0.1", readinessProbe=probe)
    before = os.listdir("/proc/self/fd")

    async def one(number):
        others = {"resolver": bed.objects, "listener": bed.hear}
        place = Place(bed.folder.with_name(f"pod-{number}"))
        living = bed.runner.start(pod, place, **others)
        await asyncio.sleep(0.03 * number)
        await living.detach()
        async with asyncio.timeout(10):
            return await bed.runner.adopt(place.folder, **others).wait()

    assert await asyncio.gather(*map(one, range(10))) == ["Succeeded"] * 10
    assert len(os.listdir("/proc/self/fd")) == len(before)


async def test_a_start_that_failed_is_known(bed, pod_of):
    first = bed.start(pod_of("no-such-program"))
    await bed.end(first)
    again = bed.adopt()
    assert await bed.end(again) == "Failed"
    assert again.status() == first.status()


async def test_a_start_that_failed_while_nobody_looked_is_known(bed, pod_of):
    """The launcher's own record, which the runner had no time to put into words."""
    await bed.end(bed.start(pod_of("no-such-program")))
    record = bed.folder / "containers/main/0/record"
    record.write_text(json.dumps({"pid": 1, "start": 0, "boot": "", "failed": "exec", "errno": 2}))
    again = bed.adopt()
    assert await bed.end(again) == "Failed"
    ended = again.status()["containerStatuses"][0]["state"]["terminated"]
    assert (ended["reason"], ended["exitCode"]) == ("StartError", 128)


async def test_a_record_that_cannot_be_read_is_an_end_that_nobody_saw(bed, pod_of):
    await bed.end(bed.start(pod_of("true")))
    (bed.folder / "containers/main/0/record").write_text('{"pid": 1')
    (bed.folder / "containers/main/0/wait").unlink()
    again = bed.adopt()
    assert await bed.end(again) == "Succeeded", "nothing says that it began: it is started"


async def test_a_folder_is_started_once(bed, pod_of):
    with pytest.raises(SetupError, match="no pod has been started here; start it"):
        bed.adopt()
    await bed.end(bed.start(pod_of("true")))
    with pytest.raises(SetupError, match="a pod has been started here; adopt it or remove it first"):
        bed.start(pod_of("true"))

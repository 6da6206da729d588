"""What a pod offers beside its life: logs, commands in it, host names, fresh tokens, a network of its own."""

import json
import os
import random
import subprocess
import time
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import SetupError, SpecError
from kfp_trainer.runtime_operator.local.process.logs import follow
from kfp_trainer.runtime_operator.local.process.volumes import memory_folder

SH = ["sh", "-c"]
WAIT = "while ! test -e go; do sleep 0.02; done"


async def test_a_log_is_followed_to_its_end(bed, pod_of):
    living = bed.start(pod_of(*SH, f"echo one; {WAIT}; echo two"))
    await bed.seen("one")
    lines = []
    path = living.log("main")
    async for line in follow(path, lambda: living.phase in ("Succeeded", "Failed")):
        lines.append(line.text)
        if line.text == b"one":
            (bed.folder / "work/go").touch()
    assert lines == [b"one", b"two"]
    assert living.log("main", previous=True) is None


async def test_a_command_in_a_container(bed, pod_of):
    mounts = [{"name": "d", "mountPath": "/deep/d"}]
    pod = pod_of(
        *SH, "echo up; sleep 60", spec={"volumes": [{"name": "d", "emptyDir": {}}]}, volumeMounts=mounts
    )
    living = bed.start(pod)
    await bed.kind("started")
    assert await living.execute(
        "main", ["sh", "-c", "echo $HOSTNAME > /deep/d/x; cat /deep/d/x; exit 3"]
    ) == (
        3,
        "peer-0\n",
    )
    assert await living.execute("main", ["no-such-program"]) == (126, "exec: No such file or directory\n")
    await living.stop(0)
    with pytest.raises(SetupError, match='container "main": it does not run'):
        await living.execute("main", ["true"])


async def test_new_host_names_reach_a_running_pod(bed, pod_of):
    living = bed.start(pod_of(*SH, f"{WAIT}; getent hosts peer-9.job"), hosts={"peer-0": "127.0.0.1"})
    await bed.kind("started")
    living.update_hosts({"peer-9.job": "127.0.0.9"})
    (bed.folder / "work/go").touch()
    assert await bed.end(living) == ("Succeeded" if bed.way.own_view else "Failed")


async def test_names_are_looked_up_as_the_node_says(bed, pod_of):
    living = bed.start(pod_of("cat", "/etc/resolv.conf"), resolv_conf="nameserver 127.0.0.9\n")
    await bed.end(living)
    assert (bed.log() == "nameserver 127.0.0.9\n") is bed.way.own_view


async def test_a_token_is_renewed(bed, pod_of):
    source = {"serviceAccountToken": {"path": "token", "audience": "it", "expirationSeconds": 0.1}}
    volumes = [{"name": "t", "projected": {"sources": [source]}}]
    script = 'a=$(cat /t/token); while [ "$a" = "$(cat /t/token)" ]; do sleep 0.02; done'
    mounts = [{"name": "t", "mountPath": "/t"}]
    pod = pod_of(*SH, script, spec={"volumes": volumes}, volumeMounts=mounts)
    assert await bed.end(bed.start(pod)) == "Succeeded"


async def test_volumes_are_removed_and_logs_stay(bed, pod_of):
    volumes = [{"name": "a", "emptyDir": {}}, {"name": "m", "emptyDir": {"medium": "Memory"}}]
    living = bed.start(pod_of("echo", "hi", spec={"volumes": volumes}))
    await bed.end(living)
    memory = memory_folder(living._bench.place, "m")
    assert memory.is_dir()
    living.remove_volumes()
    assert not memory.exists()
    assert not (bed.folder / "volumes").exists()
    assert bed.log() == "hi\n"


async def test_nothing_starts_of_a_pod_that_asks_for_too_much(bed, pod_of):
    with pytest.raises(SpecError, match=r"spec.hostPID: not done on this machine"):
        bed.start(pod_of("true", spec={"hostPID": True}))
    assert not bed.folder.exists()


async def test_the_machines_own_folders_stay_as_they_are(bed, pod_of):
    mounts = [
        {"name": "d", "mountPath": path}
        for path in ("/no-such-top/x", "/etc/no-such/x", str(Path.home() / ".no-such"))
    ]
    pod = pod_of(*SH, "true", spec={"volumes": [{"name": "d", "emptyDir": {}}]}, volumeMounts=mounts)
    before = Path("/proc/self/mountinfo").read_text()
    assert await bed.end(bed.start(pod)) == "Succeeded"
    assert not any(Path(mount["mountPath"]).exists() for mount in mounts)
    assert Path("/proc/self/mountinfo").read_text() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a network namespace")
async def test_a_network_of_its_own(bed, pod_of):
    with subprocess.Popen(
        ["unshare", "-n", "sh", "-c", "echo up; exec sleep 60"], stdout=subprocess.PIPE
    ) as holder:
        holder.stdout.readline()
        living = bed.start(
            pod_of(*SH, f"cat /proc/net/dev; echo up; {WAIT}"), network=f"/proc/{holder.pid}/ns/net"
        )
        await bed.seen("up")
        await bed.kind("started")
        code, inside = await living.execute("main", ["cat", "/proc/net/dev"])
        (bed.folder / "work/go").touch()
        assert await bed.end(living) == "Succeeded"
        holder.kill()
    assert (code, len(inside.splitlines())) == (0, 3), "two lines of heading and the loopback device"
    assert len(bed.log().splitlines()) == 4


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
    runner = PodRunner(Settings(Isolation(way), backoff=Backoff(base=0.05, longest=1.0)))
    others = {"resolver": Nothing(), "listener": lambda event: None}
    if (Path(folder) / "pod.json").exists():
        living = runner.adopt(Path(folder), **others)
    else:
        living = runner.start(json.loads(pod), Place(Path(folder)), **others)
    print("here", flush=True)
    await living.wait()
    print(json.dumps(living.status()), flush=True)

asyncio.run(main())
"""
SEED = int(os.environ.get("KFP_TRAINER_SEED", "7"))
KILLS = 50 if os.environ.get("KFP_TRAINER_SOAK") else 5


def test_a_runner_killed_at_random_moments_loses_nothing(way, tmp_path, pod_of, own_process):
    """Each container runs exactly once however often the runner dies, and the pod ends as it would have."""
    append = "echo $0 >> log; sleep 0.15"
    inits = [
        {"name": name, "image": "any", "command": [*SH, append, name]} for name in ("one", "two", "three")
    ]
    pod = pod_of(*SH, append + "; exit 3", "main", spec={"initContainers": inits})
    chance = random.Random(SEED)
    status = ""
    for _ in range(KILLS):
        with own_process(RUNNER, way.value, str(tmp_path / "pod"), json.dumps(pod)) as process:
            process.stdout.readline()
            time.sleep(chance.uniform(0.0, 0.12))
            process.kill()
            status = process.stdout.read()
    if not status:
        with own_process(RUNNER, way.value, str(tmp_path / "pod"), json.dumps(pod)) as process:
            status = process.stdout.read().removeprefix("here\n")
    main = json.loads(status)["containerStatuses"][0]
    assert (main["state"]["terminated"]["exitCode"], main["restartCount"]) == (3, 0)
    assert (tmp_path / "pod" / "work" / "log").read_text() == "one\ntwo\nthree\nmain\n"

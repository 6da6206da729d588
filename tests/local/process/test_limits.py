"""Out of memory, out of disk, unreadable folders: told apart, each in one sentence."""

import json
import os
import shutil
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.local.process import Isolation

SH = ["sh", "-c"]
RUNNER = """
import asyncio, json, sys
from pathlib import Path
from kfp_trainer.runtime_operator.local.process import Isolation, Place, PodRunner, Settings

class Nothing:
    async def config_map(self, name): return None
    secret = claim = config_map
    async def token(self, audience, seconds): return ""

async def main():
    way, folder, pod = sys.argv[1:]
    runner = PodRunner(Settings(Isolation(way)))
    place = Place(Path(folder))
    living = runner.start(json.loads(pod), place, resolver=Nothing(), listener=lambda event: None)
    await living.wait()
    print(json.dumps(living.status()), flush=True)

asyncio.run(main())
"""
CGROUPS = Path("/sys/fs/cgroup")
SMALL = 192 << 20

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a small disk or a small memory")


@pytest.fixture
def small_memory():
    """Return the file that puts a process into a group with little memory."""
    first_version = CGROUPS / "memory"
    parent = first_version if first_version.is_dir() else CGROUPS
    group = parent / f"kfp-trainer-test-{os.getpid()}"
    try:
        group.mkdir()
        limit = "memory.limit_in_bytes" if first_version.is_dir() else "memory.max"
        (group / limit).write_text(str(SMALL))
    except OSError as error:
        pytest.skip(f"this machine gives no memory groups: {error}")
    yield group / "cgroup.procs"
    group.rmdir()


@pytest.fixture
def run_elsewhere(tmp_path, own_process):
    """Run a pod in another process and return its status."""

    def run(way, pod, *before):
        with own_process(RUNNER, way.value, str(tmp_path / "pod"), json.dumps(pod), before=before) as process:
            return json.loads(process.stdout.read())

    return run


def ended(status):
    return status["containerStatuses"][0]["state"]["terminated"]


def test_what_the_kernel_kills_for_memory_is_oom_killed(way, pod_of, python, small_memory, run_elsewhere):
    pod = pod_of(*python("x = bytearray(1 << 30)"))
    status = run_elsewhere(way, pod, *SH, f'echo $$ > {small_memory}; exec "$@"', "sh")
    assert (ended(status)["reason"], ended(status)["exitCode"]) == ("OOMKilled", 137)
    assert ended(status)["message"].startswith("the kernel killed it for lack of memory; give it more")


def test_a_full_disk_ends_no_container_and_is_told(way, pod_of, run_elsewhere, tmp_path):
    (tmp_path / "pod").mkdir()
    small = f'mount -t tmpfs -o size=256k none {tmp_path}/pod; exec "$@"'
    status = run_elsewhere(way, pod_of(*SH, "seq 100000; exit 3"), "unshare", "-m", *SH, small, "sh")
    assert ended(status)["exitCode"] == 3
    assert ended(status)["message"].startswith("lines of its log are lost: the disk is full; free some space")


def test_a_restart_on_a_full_disk_says_so(way, pod_of, run_elsewhere, tmp_path):
    (tmp_path / "pod").mkdir()
    small = f'mount -t tmpfs -o size=256k none {tmp_path}/pod; exec "$@"'
    init = {"name": "fill", "image": "any", "command": [*SH, "cat /dev/zero > /d/x; true"]}
    init["volumeMounts"] = [{"name": "d", "mountPath": "/d"}]
    spec = {"volumes": [{"name": "d", "emptyDir": {}}], "initContainers": [init]}
    status = run_elsewhere(way, pod_of("true", spec=spec), "unshare", "-m", *SH, small, "sh")
    assert status["phase"] == "Failed"
    assert (ended(status)["reason"], ended(status)["exitCode"]) == ("StartError", 128)
    assert "the disk is full; free some space" in ended(status)["message"]


async def test_a_folder_that_is_not_there(bed, pod_of):
    volumes = [{"name": "d", "hostPath": {"path": "/no/such/data", "type": "Directory"}}]
    living = bed.start(pod_of("true", spec={"volumes": volumes}))
    assert await bed.end(living) == "Failed"
    assert ended(living.status())["message"] == (
        'container "main": volume "d": "/no/such/data": no such file or directory; '
        "check that it exists and that you may read it"
    )


async def test_a_claim_without_its_folder(bed, pod_of):
    shutil.rmtree(bed.objects.claims["work"])
    volumes = [{"name": "w", "persistentVolumeClaim": {"claimName": "work"}}]
    living = bed.start(pod_of("true", spec={"volumes": volumes}))
    assert await bed.end(living) == "Failed"
    assert "not a directory; check that it exists" in ended(living.status())["message"]


async def test_a_pods_folder_that_cannot_be_made(bed, pod_of):
    bed.folder.parent.joinpath("file").touch()
    bed.folder = bed.folder.parent / "file" / "pod"
    with pytest.raises(SetupError, match="not a directory; check that it exists"):
        bed.start(pod_of("true"))


async def test_read_only_is_read_only_where_there_is_a_view(bed, pod_of):
    volumes = [{"name": "d", "emptyDir": {}}]
    mounts = [{"name": "d", "mountPath": "/d", "readOnly": True}]
    living = bed.start(pod_of(*SH, "touch /d/x", spec={"volumes": volumes}, volumeMounts=mounts))
    phase = await bed.end(living)
    assert phase == ("Succeeded" if bed.way is Isolation.REWRITING else "Failed")

"""Which ways a machine allows, and what a view of its own must not break."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator import errors
from kfp_trainer.runtime_operator.local.process import Isolation, detect, isolation

SH = ["sh", "-c"]
SYSTEM = shutil.which("python3", path="/usr/bin")
NOBODY = """
import os, sys, tempfile
from kfp_trainer.runtime_operator import errors
from kfp_trainer.runtime_operator.local.process import isolation
open(os.devnull, encoding="ascii").close()
tempfile.tempdir, sys.executable = sys.argv[1:]
os.setgroups([]); os.setgid(65534); os.setuid(65534)
print([isolation.works(way) for way in isolation.Isolation])
"""


def is_open_to_all(file: str) -> bool:
    return all(folder.stat().st_mode & 0o001 for folder in Path(file).resolve().parents)


@pytest.mark.skipif(os.geteuid() != 0 or SYSTEM is None, reason="needs root to become nobody")
@pytest.mark.skipif(not is_open_to_all(errors.__file__), reason="nobody cannot reach this checkout")
def test_an_ordinary_user_gets_a_view_of_his_own(tmp_path):
    tmp_path.chmod(0o777)
    for folder in tmp_path.parents:
        if folder.is_relative_to(tempfile.gettempdir()) and folder != Path(tempfile.gettempdir()):
            folder.chmod(0o755)
    out = subprocess.run([sys.executable, "-c", NOBODY, tmp_path, SYSTEM], capture_output=True, text=True)
    assert out.stdout in ("[False, True, True]\n", "[False, False, True]\n"), out.stderr


def test_the_best_way_is_found():
    detect.cache_clear()
    assert isolation.works(detect())
    assert Isolation.REWRITING.shortcomings
    assert not Isolation.NAMESPACES.shortcomings


def test_a_machine_that_allows_nothing(monkeypatch):
    monkeypatch.setattr(isolation, "works", lambda way: False)
    detect.cache_clear()
    assert detect() is Isolation.REWRITING
    detect.cache_clear()


async def test_a_mount_may_hide_the_pods_own_folder(bed, pod_of):
    top = "/" + bed.folder.parts[1]
    pod = pod_of(
        *SH,
        f"pwd; echo hi > {top}/x; cat {top}/x",
        spec={"volumes": [{"name": "d", "emptyDir": {}}]},
        volumeMounts=[{"name": "d", "mountPath": top}],
    )
    assert await bed.end(bed.start(pod)) == "Succeeded"
    assert bed.log() == f"{bed.folder}/work\nhi\n"
    assert not Path(top, "x").exists()


async def test_a_machine_without_process_descriptors(bed, pod_of, monkeypatch):
    """As on a Mac: the lock alone tells of the end."""
    monkeypatch.delattr(os, "pidfd_open")
    living = bed.start(pod_of(*SH, "trap 'exit 4' TERM; echo up; while :; do sleep 0.02; done"))
    await bed.seen("up")
    assert await living.stop(5) == "Failed"
    assert living.status()["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 4


async def test_a_mount_may_hide_the_interpreter(bed, pod_of):
    """The machine's own variables are not rewritten, and what runs the container stays in its view."""
    home = Path(sys.prefix).parent
    pod = pod_of(
        "python",
        "-c",
        "import json; open('$(OUT)/x', 'w').write('hi'); print(open('$(OUT)/x').read())",
        spec={"volumes": [{"name": "d", "emptyDir": {}}]},
        env=[{"name": "OUT", "value": str(home)}],
        volumeMounts=[{"name": "d", "mountPath": str(home)}],
    )
    assert await bed.end(bed.start(pod)) == "Succeeded", bed.log()
    assert bed.log() == "hi\n"
    assert not (home / "x").exists()


async def test_a_mount_may_hide_this_program(bed, pod_of):
    """As one at /tmp hides a checkout there, from which it is installed to be worked on."""
    package = Path(errors.__file__).parent
    pod = pod_of(
        "python",
        "-c",
        "from kfp_trainer.runtime_operator import errors; print(errors.__name__)",
        spec={"volumes": [{"name": "d", "emptyDir": {}}]},
        volumeMounts=[{"name": "d", "mountPath": str(package.parent)}],
    )
    assert await bed.end(bed.start(pod)) == "Succeeded", bed.log()
    assert bed.log() == "kfp_trainer.runtime_operator.errors\n"


async def test_what_the_node_gives_is_not_rewritten(bed, pod_of):
    top = "/" + bed.folder.parts[1]
    token = bed.folder.parent / "pod" / "token"
    bed.folder.mkdir()
    token.write_text("secret\n")
    pod = pod_of(
        *SH,
        "cat $TOKEN_FILE",
        spec={"volumes": [{"name": "d", "emptyDir": {}}]},
        volumeMounts=[{"name": "d", "mountPath": top}],
    )
    assert await bed.end(bed.start(pod, env={"TOKEN_FILE": str(token)})) == "Succeeded"
    assert bed.log() == "secret\n"

"""What only a node of a cluster asks of a pod: security contexts, objects that change, somebody who talks."""

import asyncio
import os
from dataclasses import replace
from typing import Any

import pytest

from kfp_trainer.runtime_operator.local.process import Isolation
from kfp_trainer.runtime_operator.local.process.isolation import works
from kfp_trainer.runtime_operator.local.process.joining import Session

STRICT = {
    "runAsUser": 7,
    "runAsGroup": 8,
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
}
WHO = """
import os
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(os.getuid(), os.getgid(), int(status["CapEff"], 16), status["NoNewPrivs"].strip())
for folder in ("/", os.getcwd(), "/data", "/data/inner"):
    try:
        open(os.path.join(folder, "new"), "w").close()
        print("written")
    except OSError as problem:
        print(problem.strerror)
print(open("/dev/null", "w").write("x"))
"""


def settle(bed: Any, **settings: Any) -> None:
    bed.runner.settings = replace(bed.runner.settings, **settings)


async def test_a_container_is_who_its_security_context_says(
    bed: Any, way: Any, pod_of: Any, python: Any
) -> None:
    if not way.own_view:
        pytest.skip("a read-only root needs a view of its own")
    if not works(Isolation.USER_NAMESPACES):
        pytest.skip("this machine does not allow user namespaces, in which a container is another user")
    settle(bed, identities=True)
    mounts = [
        {"name": "data", "mountPath": "/data"},
        {"name": "inner", "mountPath": "/data/inner", "readOnly": True},
    ]
    volumes = [{"name": "data", "emptyDir": {}}, {"name": "inner", "emptyDir": {}}]
    made = pod_of(*python(WHO), securityContext=STRICT, volumeMounts=mounts, spec={"volumes": volumes})
    await bed.end(bed.start(made))
    read_only = "Read-only file system"
    assert bed.log().splitlines() == ["7 8 0 1", read_only, read_only, "written", read_only, "1"]


async def test_a_local_run_leaves_security_contexts_out(bed: Any, pod_of: Any, python: Any) -> None:
    await bed.end(bed.start(pod_of(*python("import os; print(os.getuid())"), securityContext=STRICT)))
    assert bed.log() == f"{os.getuid()}\n"


async def test_a_container_that_must_not_be_root_waits(bed: Any, pod_of: Any) -> None:
    settle(bed, identities=True)
    bed.start(pod_of("true", securityContext={"runAsNonRoot": True}))
    waiting = await bed.kind("waiting")
    assert waiting.reason == "CreateContainerConfigError"
    assert "runs as root; set runAsUser" in waiting.message


async def test_an_object_that_changes_is_seen_in_its_volume(bed: Any, pod_of: Any) -> None:
    settle(bed, refresh=0.1)
    mounts = [{"name": "settings", "mountPath": "/settings"}]
    volumes = [{"name": "settings", "configMap": {"name": "settings"}}]
    shell = "echo $(cat /settings/lr); until test -e /settings/new; do sleep 0.05; done; cat /settings/new"
    living = bed.start(pod_of("sh", "-c", shell, volumeMounts=mounts, spec={"volumes": volumes}))
    await bed.seen("0.1")
    bed.objects.config_maps["settings"]["data"] = {"new": "news"}
    assert await bed.end(living) == "Succeeded"
    assert bed.log() == "0.1\nnews\n"


async def heard(descriptor: int) -> bytes:
    """All that a command says."""
    parts = []
    while data := await asyncio.to_thread(os.read, descriptor, 1000):
        parts.append(data)
    return b"".join(parts)


async def session(bed: Any, pod_of: Any, shell: str, **streams: bool) -> Session:
    living = bed.start(pod_of("sleep", "600"))
    await bed.kind("started")
    opened: Session = await living.open_session("main", ["sh", "-c", shell], **streams)
    return opened


async def test_somebody_talks_to_a_command_in_a_container(bed: Any, pod_of: Any) -> None:
    talk = await session(
        bed, pod_of, "read name; echo hello $name; echo no >&2; exit 3", reads=True, terminal=False
    )
    os.write(talk.reads, b"you\n")
    talk.close_input()
    assert (await heard(talk.says), await heard(talk.warns), await talk.ended()) == (
        b"hello you\n",
        b"no\n",
        3,
    )
    talk.close()


async def test_a_command_that_nobody_talks_to_reads_nothing(bed: Any, pod_of: Any) -> None:
    talk = await session(bed, pod_of, "cat; echo done", reads=False, terminal=False)
    assert (await heard(talk.says), await talk.ended()) == (b"done\n", 0)
    talk.close()


async def test_a_command_has_a_terminal_if_it_is_given_one(bed: Any, pod_of: Any) -> None:
    talk = await session(
        bed, pod_of, "test -t 0 && test -t 1 && echo yes < /dev/tty", reads=True, terminal=True
    )
    assert await talk.ended() == 0
    assert os.read(talk.says, 100) == b"yes\r\n"
    talk.close()


async def test_a_command_is_ended_when_nobody_listens_any_more(bed: Any, pod_of: Any) -> None:
    talk = await session(bed, pod_of, "sleep 600", reads=False, terminal=False)
    talk.stop()
    assert await talk.ended() != 0
    talk.close()

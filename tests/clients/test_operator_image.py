"""The operator's image, built without an engine: what is in it, and that it serves as a cluster runs it."""

import contextlib
import json
import os
import signal
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.images.building import Built, build, run
from tests.images.inputs import make_context
from tests.images.layers import why_not
from tests.images.page import told_megabytes
from tests.servers.ports import free_port
from tests.servers.web import Answer, Asked, Service, said

PORTS = ("health", "metrics", "webhook", "progress")
UNKNOWN = "1000740000:0"
"""as some clusters run every image: a number without a name, in the group of root"""
pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"images: {why_not()}")


class EmptyApi(Service):
    """An API server that has nothing: lists are empty, watches silent, and whatever is written is taken."""

    def _answer(self, asked: Asked) -> Answer:
        if "watch" in asked.query:
            return Answer(headers={"Content-Length": "1000"}, hang=True)
        if asked.method == "GET":
            return said(200, {"metadata": {"resourceVersion": "1"}, "items": [], "resources": []})
        return said(200, json.loads(asked.body))


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build("operator", make_context(tmp_path_factory.mktemp("images")))


def test_it_is_as_small_as_told(image: Built) -> None:
    assert image.own_megabytes == pytest.approx(told_megabytes("operator"), rel=0.25)


def test_its_user_writes_nowhere_but_to_tmp(image: Built) -> None:
    folders = "/tmp / /opt/kfp-trainer /etc /var/lib"
    script = f"id -u; for each in {folders}; do touch $each/a 2>/dev/null && echo $each; done; true"
    assert run(image.container(), ["sh", "-c", script]).split() == ["65532", "/tmp"]


def test_it_holds_no_pip_and_nothing_to_train_with(image: Built) -> None:
    names = ["kfp_trainer", "pip", "torch", "kfp", "numpy", "kubernetes"]
    code = f"import importlib.util as found; print(*[each for each in {names} if found.find_spec(each)])"
    assert run(image.container(), ["python3", "-c", code]).split() == ["kfp_trainer"]


@pytest.mark.parametrize("user", ["", UNKNOWN])
def test_it_renders_on_its_own_runtimes(image: Built, user: str, tmp_path: Path) -> None:
    job = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "hello"}}
    job["spec"] = {"runtimeRef": {"name": "torch-distributed"}}
    (tmp_path / "job.yaml").write_text(json.dumps(job))
    inside = image.container({tmp_path / "job.yaml": "/tmp/job.yaml"})
    inside = replace(inside, user=user or inside.user)
    said = run(inside, [*image.config.entrypoint, "render", "-f", "/tmp/job.yaml"])
    assert "kind: JobSet" in said


def test_it_is_ready_and_ends_when_it_is_asked_to(image: Built, tmp_path: Path) -> None:
    ports = {name: free_port() for name in PORTS}
    with EmptyApi() as api, running(image, api, ports, tmp_path) as (process, first):
        health = f"http://127.0.0.1:{ports['health']}"
        eventually(lambda: answers(f"{health}/readyz"))
        assert answers(f"https://127.0.0.1:{ports['metrics']}/metrics")
        os.kill(first, signal.SIGTERM)  # it is process 1 of its container, with which no shell and no init is
        assert process.wait(60) == 0
    ended = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert "stops" in [line["message"] for line in ended]


@contextlib.contextmanager
def running(
    image: Built, api: EmptyApi, ports: dict[str, int], folder: Path
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """What the image runs without another command; yields it, and the process that a kubelet would signal."""
    kubeconfig, scratch = folder / "kubeconfig", folder / "scratch"
    kubeconfig.write_text(kubeconfig_of(api.url))
    scratch.mkdir()
    words = [
        *image.config.entrypoint,
        *image.config.command,
        "--kubeconfig=/tmp/kubeconfig",
        "--host=127.0.0.1",
    ]
    words += [
        "--feature-gates=TrainJobStatus=true",
        *(f"--{name}-port={port}" for name, port in ports.items()),
    ]
    command = image.container({kubeconfig: "/tmp/kubeconfig"}).command(words, scratch)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        eventually(lambda: children.read_text().split())
        yield process, int(children.read_text().split()[0])
    finally:
        process.kill()
        process.wait()


def kubeconfig_of(server: str) -> str:
    me = {"name": "me"}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "me",
            "contexts": [{**me, "context": {"cluster": "me", "user": "me", "namespace": "kubeflow-system"}}],
            "clusters": [{**me, "cluster": {"server": server}}],
            "users": [{**me, "user": {"token": "x"}}],
        }
    )


def answers(url: str) -> bool:
    """Whether it says 200; its certificate is its own."""
    try:
        with urllib.request.urlopen(url, timeout=10, context=ssl._create_unverified_context()) as answer:
            return bool(answer.status == 200)
    except urllib.error.HTTPError as error:
        error.close()
        return False
    except OSError:
        return False


def eventually(condition: Callable[[], object], seconds: float = 120.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.1)

"""Secrets that were planted come out nowhere: output, manifest, process list, exceptions, the work folder."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from tests.servers.fetching import fetched
from tests.servers.site import Site
from tests.servers.web import Answer, Asked, WebServer

MODULE = "kfp_trainer.runtime_operator.workloads.fetch"
CANARY = "canary+0123/456=="
"""with characters that look different in a query"""
FORMS = ("canary+0123/456", "canary%2B0123", "canary 0123", "canary%200123")


def leaks(text: str) -> list[str]:
    return [form for form in FORMS if form in text]


@pytest.fixture
def site() -> Iterator[Site]:
    with Site({"config.json": b"{}", "model.safetensors": os.urandom(3_000_000)}) as site:
        yield site


WAYS: dict[str, tuple[str, Mapping[str, str]]] = {
    "a bearer token": ("http://HOST/", {"ACCESS_TOKEN": CANARY}),
    "a password in the address": ("http://user:canary%2B0123%2F456%3D%3D@HOST/", {}),
    "a token for a user in the address": ("http://canary%2B0123%2F456%3D%3D@HOST/", {}),
    "a signed query": ("http://HOST/model.safetensors?X-Amz-Signature=canary%2B0123%2F456%3D%3D", {}),
    "keys of a store": (
        "s3://bucket/prefix",
        {"ENDPOINT": "http://HOST", "ACCESS_KEY_ID": "someone", "SECRET_ACCESS_KEY": CANARY},
    ),
    "an account's token of a store": (
        "s3://bucket/prefix",
        {
            "ENDPOINT": "http://HOST",
            "ACCESS_KEY_ID": "someone",
            "SECRET_ACCESS_KEY": "other-secret",
            "SESSION_TOKEN": CANARY,
        },
    ),
    "a proxy's password": ("http://HOST/", {"ANY_PROXY_PASSWORD": CANARY}),
}
FATES = {
    "it works": None,
    "it is refused": Answer(403, {}, CANARY.encode()),
    "the refusal repeats it": Answer(400, {}, b'{"message": "bad token %s"}' % CANARY.encode()),
    "the redirect repeats it": Answer(302, {"Location": f"http://u:{CANARY}@127.0.0.1:1/x?sig={CANARY}"}),
    "it is broken": Answer(500, {}, b"<Code>canary</Code>"),
}


@pytest.mark.parametrize("fate", FATES)
@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_it_is_told(site: Site, tmp_path: Path, way: str, fate: str) -> None:
    uri, environ = WAYS[way]
    if answer := FATES[fate]:
        site.web.spoil(answer, times=1000)
    environ = {name: value.replace("HOST", site.web.host) for name, value in environ.items()}
    try:
        fetched(uri.replace("HOST", site.web.host), tmp_path / "d", environ)
    except KfpTrainerError as error:
        assert not leaks(f"{error} {error!r} {''.join(traceback.format_exception(error))}")
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in written if leaks(path.name + path.read_bytes().decode("latin-1"))]


def test_nothing_of_it_is_in_the_output_or_the_process_list(tmp_path: Path) -> None:
    seen: list[str] = []

    def answer(asked: Asked) -> Answer:
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                seen.append(process.read_bytes().decode("latin-1"))
            except OSError:
                continue
        return Answer(200, {"ETag": '"1"'}, b"{}") if asked.path.endswith("json") else Answer(500)

    with WebServer(answer) as web:
        for name in ("a.json", "b.txt"):
            environ = {
                **os.environ,
                "STORAGE_URI": f"http://user:{'canary%2B0123%2F456%3D%3D'}@{web.host}/{name}",
                "ACCESS_TOKEN": CANARY,
            }
            process = subprocess.Popen(
                [sys.executable, "-m", MODULE, "dataset", "", str(tmp_path / name)],
                env=environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            enough = threading.Timer(5, process.terminate)
            enough.start()
            out, _ = process.communicate(timeout=300)
            enough.cancel()
            assert out
            assert not leaks(out)
    assert seen
    assert not [line for line in seen if leaks(line)]


def test_a_password_on_the_command_line_is_taken_off_it(tmp_path: Path) -> None:
    """A person who types it has told the process list already; the process takes it back at once."""
    lines: list[str] = []

    def answer(asked: Asked) -> Answer:
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                lines.append(process.read_bytes().decode("latin-1"))
            except OSError:
                continue
        return Answer(200, {"ETag": '"1"'}, b"{}")

    with WebServer(answer) as web:
        uri = f"http://user:canary%2B0123%2F456%3D%3D@{web.host}/a.json"
        command = [sys.executable, "-m", MODULE, "dataset", uri, str(tmp_path / "d")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert [line for line in lines if MODULE in line]
    assert not [line for line in lines if leaks(line)]

"""Planted secrets: in no line of the command's output, no manifest and nothing that a broken run leaves."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.servers import go_program
from tests.servers.git_server import GitServer
from tests.servers.hub import Hub
from tests.servers.registry import Registry
from tests.servers.tars import LAYER, tar
from tests.servers.web import Answer, WebServer

MODULE = "kfp_trainer.runtime_operator.workloads.fetch"
SECRET = "hf_Canary.0123456789+/="
FILES = {"config.json": b"{}", "m.safetensors": os.urandom(300_000)}


@dataclass
class Place:
    """Where to fetch from, with which secret, and which server to break."""

    uri: str
    environ: dict[str, str]
    servers: list[WebServer]
    store: WebServer


@contextmanager
def hub(folder: Path) -> Iterator[Place]:
    with Hub() as hub:
        hub.add("org/name", FILES, token=SECRET)
        environ = {"HF_ENDPOINT": hub.url, "ACCESS_TOKEN": SECRET}
        yield Place("hf://org/name", environ, [hub.web, hub.cdn], hub.cdn)


@contextmanager
def registry(folder: Path) -> Iterator[Place]:
    with Registry(folder, user="me", password=SECRET, cdn=True) as registry:
        registry.push("org/car", "v1", [(LAYER, tar(FILES), {})])
        environ = {"REGISTRY_USERNAME": "me", "REGISTRY_PASSWORD": SECRET}
        servers = [registry.web, registry.tokens, registry.cdn]
        yield Place(f"oci://{registry.host}/org/car:v1", environ, servers, registry.cdn)


@contextmanager
def git(folder: Path) -> Iterator[Place]:
    with GitServer(folder, user="me", password=SECRET) as server:
        server.commit("org/repo", FILES)
        environ = {"GIT_USERNAME": "me", "GIT_PASSWORD": SECRET}
        yield Place(f"git+{server.url}/org/repo.git", environ, [server.web, server.store], server.store)


@contextmanager
def git_with_a_token_in_the_address(folder: Path) -> Iterator[Place]:
    with git(folder) as place:
        inside = place.uri.replace("://", "://me:hf_Canary.0123456789%2B%2F%3D@")
        yield Place(inside, {}, place.servers, place.store)


PLACES: dict[str, Callable[[Path], object]] = {
    "a hub": hub,
    "a registry": registry,
    "a git server": git,
    "a git server, the password in the address": git_with_a_token_in_the_address,
}


def test_the_words_are_found_where_they_stand() -> None:
    assert _leaks(b"x " + SECRET.encode() + b" y")
    assert _leaks(base64.b64encode(f"me:{SECRET}".encode()))
    assert not _leaks(b"nothing")


@pytest.mark.parametrize("broken", [False, True], ids=["a fetch that works", "a fetch that fails"])
@pytest.mark.parametrize("name", PLACES)
def test_secrets_stand_nowhere(tmp_path: Path, name: str, broken: bool) -> None:
    if name == "a registry" and (why := go_program.why_not()):
        pytest.skip(why)
    with PLACES[name](tmp_path / "served") as place:  # type: ignore[attr-defined]
        if broken:
            place.store.spoil(Answer(404), times=1000)
        told = _run(place, tmp_path / "work")
        signed = _secrets_on_the_way(place)
    for text in (*told, *_left(tmp_path / "work")):
        assert not _leaks(text)
        assert not [each for each in signed if each in text]
    assert signed, "there was something to hide"
    assert ((tmp_path / "work/d/MANIFEST.json").exists()) is not broken


def _run(place: Place, folder: Path) -> tuple[bytes, bytes]:
    """Fetch by the command, as an initializer does; what it printed."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "GIT_"))}
    environ |= {**place.environ, "HOME": str(folder / "home"), "STORAGE_URI": place.uri}
    folder.mkdir()
    # by STORAGE_URI, since an address on the command line is everybody's to see
    command = [sys.executable, "-m", MODULE, "model", "", str(folder / "d")]
    ran = subprocess.run(command, env=environ, capture_output=True, timeout=300)
    return ran.stdout, ran.stderr


def _secrets_on_the_way(place: Place) -> list[bytes]:
    """What the servers gave to show: tokens of a registry, signatures of addresses."""
    headers = [each.headers.get("authorization", "") for server in place.servers for each in server.asked]
    signatures = [each.query.get("Signature", "") for server in place.servers for each in server.asked]
    words = [header.partition(" ")[2] for header in headers] + signatures
    return [word.encode() for word in {*words} if len(word) > 6]


def _left(folder: Path) -> Iterator[bytes]:
    """Everything in the folder: names and contents."""
    for path in folder.rglob("*"):
        yield str(path.relative_to(folder)).encode()
        if path.is_file() and path.suffix not in (".safetensors",):
            yield path.read_bytes()


def _leaks(text: bytes) -> bool:
    quoted = "hf_Canary.0123456789%2B%2F%3D"
    forms = [SECRET, quoted, base64.b64encode(f"me:{SECRET}".encode()).decode()]
    return any(form.encode() in text for form in forms)

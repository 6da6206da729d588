"""Hubs, registries and git servers that go wrong in several ways at once: right bytes or a refusal.

Each case sets some faults on some of a place's servers, fetches, and fetches again without them. 24 cases
here, 300 in `make soak`.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from tests.counts import count
from tests.servers import go_program
from tests.servers.fetching import IMPATIENT, fetched, tree
from tests.servers.git_server import GitServer
from tests.servers.hub import Hub
from tests.servers.registry import Registry
from tests.servers.tars import LAYER, gz, tar
from tests.servers.web import Answer, WebServer

SECRET = "canary-s3cret-0123"
FILES = {
    "config.json": b"{}",
    "a.safetensors": os.urandom(3_000_000),
    "b.safetensors": os.urandom(400_000),
    "sub/empty.json": b"",
    **{f"sub/{number}.json": os.urandom(number * 1000) for number in range(1, 6)},
}
FAULTS: dict[str, Callable[[random.Random], dict[str, Any]]] = {
    "the body ends early": lambda dice: {"cut_after": dice.randrange(50_000)},
    "the connection is reset": lambda dice: {"cut_after": dice.randrange(50_000), "reset": True},
    "it is reset before an answer": lambda dice: {"cut_after": 0, "reset": True},
    "it hangs": lambda dice: {"cut_after": dice.randrange(20_000), "hang": True},
    "too many requests": lambda dice: {"answer": Answer(429, {"Retry-After": str(dice.randrange(2))})},
    "it is broken": lambda dice: {"answer": Answer(dice.choice([500, 502, 503, 504]))},
    "the token has expired": lambda dice: {"answer": Answer(dice.choice([401, 403]))},
    "it is gone": lambda dice: {"answer": Answer(dice.choice([404, 410]))},
    "it redirects in a circle": lambda dice: {"answer": Answer(302, {"Location": "?again"})},
    "it redirects to nowhere": lambda dice: {"answer": Answer(302, {"Location": "http://127.0.0.1:1/"})},
    "other bytes come": lambda dice: {"body": os.urandom(4_000_000)},
    "a page of HTML comes": lambda dice: {"answer": Answer(200, {"Content-Type": "text/html"}, b"<html>")},
    "an empty object comes": lambda dice: {"answer": Answer(200, {}, b"{}")},
    "nothing comes": lambda dice: {"answer": Answer(200)},
    "the range is another one": lambda dice: {"headers": {"Content-Range": "bytes 7-8/9"}},
    "the range is refused": lambda dice: {"answer": Answer(416)},
}
Place = tuple[str, dict[str, str], list[WebServer]]
"""an address, the environment, and the servers that may go wrong"""


@contextmanager
def a_hub(folder: Path) -> Iterator[Place]:
    with Hub(page=4) as hub:
        hub.add("org/name", FILES, token=SECRET)
        environ = {"HF_ENDPOINT": hub.url, "ACCESS_TOKEN": SECRET}
        yield "hf://org/name", environ, [hub.web, hub.cdn]


@contextmanager
def a_registry(folder: Path) -> Iterator[Place]:
    with Registry(folder / "registry", user="me", password=SECRET, cdn=True) as registry:
        first = {path: body for path, body in FILES.items() if "sub" not in path}
        second = {path: body for path, body in FILES.items() if "sub" in path}
        registry.push("org/car", "v1", [(LAYER, tar(first), {}), (f"{LAYER}+gzip", gz(tar(second)), {})])
        environ = {"REGISTRY_USERNAME": "me", "REGISTRY_PASSWORD": SECRET}
        servers = [registry.web, registry.tokens, registry.cdn]
        yield f"oci://{registry.host}/org/car:v1", environ, servers


@contextmanager
def a_git_server(folder: Path) -> Iterator[Place]:
    with GitServer(folder / "git", user="me", password=SECRET) as server:
        server.commit("org/repo", FILES)
        environ = {"GIT_USERNAME": "me", "GIT_PASSWORD": SECRET}
        yield f"git+{server.url}/org/repo.git", environ, [server.web, server.store]


PLACES = {"a hub": a_hub, "a registry": a_registry, "a git server": a_git_server}


@pytest.mark.parametrize("seed", range(count(100, sampled=8)))
@pytest.mark.parametrize("place", PLACES)
def test_right_bytes_or_a_refusal(tmp_path: Path, place: str, seed: int) -> None:
    if place == "a registry" and (why := go_program.why_not()):
        pytest.skip(why)
    dice = random.Random(f"{place} {seed}")
    served = tmp_path / "served"
    target = tmp_path / "fetched" / "d"
    with PLACES[place](served) as (uri, environ, servers):
        told = [spoil(dice.choice(servers), dice) for _ in range(dice.randint(1, 3))]
        try:
            fetched(uri, target, environ, patience=replace(IMPATIENT, stall=1.0))
        except KfpTrainerError as error:
            assert not target.exists(), f"{told}: a folder beside {error}"
            assert "\n" not in str(error), told
            assert SECRET not in str(error), told
        else:
            assert tree(target) == FILES, told
        for server in servers:
            server.faults.clear()
        fetched(uri, target, environ)
        assert tree(target) == FILES, told
    assert [path.name for path in target.parent.iterdir()] == ["d"], "nothing else is left"


def spoil(server: WebServer, dice: random.Random) -> str:
    """Set one fault for some requests and name it."""
    name = dice.choice(list(FAULTS))
    # git notices only after some seconds that nothing comes
    times = 1 if name == "it hangs" else dice.choice([1, 1, 2, 4, 100])
    path = dice.choice(
        ["", "", "/blobs/", "/tree/", "/resolve/", "/objects/", "manifests", "info/refs", "token"]
    )
    server.spoil(**FAULTS[name](dice), path=path, times=times)
    return f"{name} for {times} of {path or 'any'}"

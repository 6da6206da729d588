"""Encrypted hubs and git servers: an authority that is trusted, one that is not, and ways out of TLS."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from tests.servers.certificates import self_signed
from tests.servers.fetching import fetched, tree
from tests.servers.git_server import GitServer
from tests.servers.hub import Hub
from tests.servers.web import Answer, WebServer

SMALL = {"config.json": b"{}", "data/a.json": b"[]"}
BIG = {**SMALL, "m.safetensors": b"weights, which lie in another store"}


class Places:
    """A hub and a git server behind TLS; their stores for big files are not."""

    def __init__(self, hub: Hub, git: GitServer, context: ssl.SSLContext) -> None:
        self.hub, self.git = hub, git
        self.hub_front = WebServer(lambda asked: hub.web._answer(asked), tls=context)
        self.git_front = WebServer(lambda asked: git.web._answer(asked), tls=context)

    def fill(self, files: dict[str, bytes]) -> None:
        self.hub.add("org/name", files)
        self.git.commit("org/name", files)

    def address(self, place: str) -> str:
        return "hf://org/name" if place == "hub" else f"git+{self.git_front.url}/org/name.git"


@pytest.fixture
def authority(tmp_path: Path) -> tuple[Path, ssl.SSLContext]:
    return self_signed(tmp_path)


@pytest.fixture
def places(tmp_path: Path, authority: tuple[Path, ssl.SSLContext]) -> Iterator[Places]:
    with Hub() as hub, GitServer(tmp_path / "git") as git:
        places = Places(hub, git, authority[1])
        with places.hub_front, places.git_front:
            yield places


@pytest.fixture
def trusting(
    places: Places, authority: tuple[Path, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """The environment of somebody who trusts the authority."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority[0]))
    return {"SSL_CERT_FILE": str(authority[0]), "HF_ENDPOINT": places.hub_front.url}


@pytest.mark.parametrize("place", ["hub", "git"])
def test_an_authority_that_is_named_is_trusted(
    places: Places, trusting: dict[str, str], tmp_path: Path, place: str
) -> None:
    places.fill(SMALL)
    fetched(places.address(place), tmp_path / "d", trusting)
    assert tree(tmp_path / "d") == SMALL


@pytest.mark.parametrize("place", ["hub", "git"])
def test_another_authority_is_not(places: Places, tmp_path: Path, place: str) -> None:
    places.fill(SMALL)
    with pytest.raises(KfpTrainerError, match=r"certificate.*name the authority in SSL_CERT_FILE"):
        fetched(places.address(place), tmp_path / "d", {"HF_ENDPOINT": places.hub_front.url})


@pytest.mark.parametrize("place", ["hub", "git"])
def test_big_files_are_not_taken_from_an_unencrypted_store(
    places: Places, trusting: dict[str, str], tmp_path: Path, place: str
) -> None:
    places.fill(BIG)
    places.git.store.url = "http://store.example"
    with pytest.raises(KfpTrainerError, match=r"not encrypted|no encrypted HTTP"):
        fetched(places.address(place), tmp_path / "d", trusting)
    assert not places.hub.cdn.asked
    assert not places.git.store.asked


@pytest.mark.parametrize("place", ["hub", "git"])
def test_a_redirect_out_of_tls_is_refused(
    places: Places, trusting: dict[str, str], tmp_path: Path, place: str
) -> None:
    places.fill(SMALL)
    targets = {
        places.hub.web: "/api/models/org/name/revision/main",
        places.git.web: "/org/name.git/info/refs?service=git-upload-pack",
    }
    for front, away in ((places.hub_front, places.hub.web), (places.git_front, places.git.web)):
        front.spoil(Answer(302, {"Location": f"{away.url}{targets[away]}"}), times=100)
    with pytest.raises(KfpTrainerError, match="not encrypted"):
        fetched(places.address(place), tmp_path / "d", trusting)
    assert not places.hub.web.asked
    assert not places.git.web.asked

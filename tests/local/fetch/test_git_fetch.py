"""git+https:// against git's own server on loopback: one commit, LFS objects, and passwords that stay."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from kfp_trainer.runtime_operator.workloads.fetch.hidden import Secrets
from kfp_trainer.runtime_operator.workloads.fetch.sources.git_address import GitAddress
from kfp_trainer.runtime_operator.workloads.fetch.sources.git_program import Git
from tests.servers.fetching import fetched, tree
from tests.servers.git_server import GitServer
from tests.servers.web import OTHER_NAME, Answer, Asked

USER, PASSWORD = "me", "canary-p4ssword"
LOGIN = {"GIT_USERNAME": USER, "GIT_PASSWORD": PASSWORD}
WEIGHTS = os.urandom(1_000_000)
FILES = {
    "README.md": b"# read me\n",
    # what a checkout or an export would change stays as it was committed
    ".gitattributes": b"*.md text eol=crlf\n*.safetensors filter=lfs -text\nsecret export-ignore\n",
    "secret": b"is a file like others",
    "empty": b"",
    "data/train.jsonl": b'{"a": 1}\n' * 1000,
    "data/a b/ü.txt": b"name",
    "model/model.safetensors": WEIGHTS,
    "big.dat": os.urandom(300_000),
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    with GitServer(tmp_path / "served", user=USER, password=PASSWORD) as server:
        yield server


def _uri(server: GitServer, rest: str = "", name: str = "org/repo") -> str:
    return f"git+{server.url}/{name}.git{rest}"


REVISIONS = {
    "the default branch": "",
    "a branch": "@main",
    "a tag": "@v1",
    "a full name": "@refs/tags/v1",
    "a commit": "@COMMIT",
}


@pytest.mark.parametrize("sentence", REVISIONS)
def test_a_repository_becomes_a_folder(server: GitServer, tmp_path: Path, sentence: str) -> None:
    commit = server.commit("org/repo", FILES, tag="v1")
    newest = commit
    if sentence in ("a tag", "a full name", "a commit"):
        newest = server.commit("org/repo", {"new": b"1"})
    rest = REVISIONS[sentence].replace("COMMIT", commit)
    done = fetched(_uri(server, rest), tmp_path / "d", LOGIN, kind="dataset")
    assert tree(tmp_path / "d") == FILES
    assert done.manifest.revision == commit
    assert (newest == commit) is (sentence in ("the default branch", "a branch"))


def test_a_folder_of_a_repository(server: GitServer, tmp_path: Path) -> None:
    server.commit("org/repo", FILES)
    fetched(_uri(server, "#subdirectory=model"), tmp_path / "d", LOGIN)
    assert tree(tmp_path / "d") == {"model.safetensors": WEIGHTS}


def test_another_folder_is_another_fetch(server: GitServer, tmp_path: Path) -> None:
    server.commit("org/repo", {"a/x": b"same", "b/x": b"same", "b/y": b"more"})
    fetched(_uri(server, "#subdirectory=a"), tmp_path / "d", LOGIN)
    fetched(_uri(server, "#subdirectory=b"), tmp_path / "d", LOGIN)
    assert tree(tmp_path / "d") == {"x": b"same", "y": b"more"}


def test_a_commit_that_is_no_tip_comes_where_the_server_gives_only_tips(
    server: GitServer, tmp_path: Path
) -> None:
    commit = server.commit("org/repo", {"old": b"1"})
    server.commit("org/repo", {"new": b"1"})
    answer = server.web._answer
    refused: list[Asked] = []

    def only_tips(asked: Asked) -> Answer:
        if b"want " + commit.encode() in asked.body and b"deepen 1" in asked.body:
            refused.append(asked)
            return Answer(200, {"Content-Type": "application/x-git-upload-pack-result"}, _refusal(commit))
        return answer(asked)

    server.web._answer = only_tips
    fetched(_uri(server, f"@{commit}"), tmp_path / "d", LOGIN)
    assert tree(tmp_path / "d") == {"old": b"1"}
    assert refused


def _refusal(commit: str) -> bytes:
    said = f"ERR upload-pack: not our ref {commit}".encode()
    return b"%04x" % (len(said) + 4) + said


def test_the_second_fetch_writes_nothing(server: GitServer, tmp_path: Path) -> None:
    server.commit("org/repo", FILES)
    fetched(_uri(server), tmp_path / "d", LOGIN)
    before = (tmp_path / "d/model/model.safetensors").stat()
    server.store.asked.clear()
    assert fetched(_uri(server), tmp_path / "d", LOGIN).fetched == 0
    assert not server.store.asked
    assert (tmp_path / "d/model/model.safetensors").stat() == before


def test_a_new_commit_fetches_only_what_is_new(server: GitServer, tmp_path: Path) -> None:
    server.commit("org/repo", FILES)
    fetched(_uri(server), tmp_path / "d", LOGIN)
    server.commit("org/repo", {**FILES, "new": b"1"})
    assert fetched(_uri(server), tmp_path / "d", LOGIN).fetched == 1
    assert tree(tmp_path / "d") == {**FILES, "new": b"1"}


def test_links_within_the_tree_are_files_and_others_are_refused(server: GitServer, tmp_path: Path) -> None:
    inside = [("100644", "file", b"body"), ("120000", "link", b"file"), ("120000", "again", b"./link")]
    server.commit_tree("org/repo", inside)
    fetched(_uri(server), tmp_path / "d", LOGIN)
    assert tree(tmp_path / "d") == {"file": b"body", "link": b"body", "again": b"body"}


BAD = {
    "a link to outside": ([("120000", "x", b"../../etc/passwd")], "is a symlink"),
    "a link to an absolute name": ([("120000", "x", b"/etc/passwd")], "is a symlink"),
    "a link to nothing": ([("120000", "x", b"y")], "is a symlink"),
    "a link to itself": ([("120000", "x", b"x")], "is a symlink"),
    "a name that leads out": ([("100644", "..", b"1")], "leads out of the folder"),
    "a submodule": ([("100644", "a", b"1"), ("160000", "sub", b"1")], "is a submodule"),
}


@pytest.mark.parametrize("sentence", BAD)
def test_a_bad_tree_is_refused(server: GitServer, tmp_path: Path, sentence: str) -> None:
    entries, want = BAD[sentence]
    server.commit_tree("org/repo", entries)
    with pytest.raises(KfpTrainerError, match=want):
        fetched(_uri(server), tmp_path / "d", LOGIN)
    assert not (tmp_path / "d").exists()


REFUSALS = {
    "no login": ("org/repo", "", {}, "may not be read .*, give GIT_USERNAME and GIT_PASSWORD"),
    "a wrong password": ("org/repo", "", {**LOGIN, "GIT_PASSWORD": "canary-wrong"}, "may not be read"),
    "no such repository": ("org/none", "", LOGIN, "is no repository .*, mind the spelling"),
    "no such tag": ("org/repo", "@v9", LOGIN, "has no revision 'v9', give a branch, a tag or a whole commit"),
    "no such commit": ("org/repo", "@" + "1" * 40, LOGIN, "has no revision '1111"),
    "half a commit": ("org/repo", "@1234567", LOGIN, "has no revision '1234567'"),
    "no such folder": ("org/repo", "#subdirectory=nope", LOGIN, "has no folder 'nope'"),
}


@pytest.mark.parametrize("sentence", REFUSALS)
def test_a_refusal_says_what_to_do(server: GitServer, tmp_path: Path, sentence: str) -> None:
    name, rest, environ, want = REFUSALS[sentence]
    server.commit("org/repo", FILES)
    with pytest.raises(KfpTrainerError, match=want) as caught:
        fetched(_uri(server, rest, name), tmp_path / "d", environ)
    assert "canary" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_password_stays_with_its_host(server: GitServer, tmp_path: Path) -> None:
    server.commit("org/repo", FILES)
    with GitServer(tmp_path / "elsewhere", name=OTHER_NAME) as elsewhere:
        elsewhere.commit("org/repo", {"a": b"1"})
        server.web._answer = lambda asked: Answer(302, {"Location": f"{elsewhere.url}{asked.target}"})
        fetched(_uri(server), tmp_path / "d", LOGIN)
        assert tree(tmp_path / "d") == {"a": b"1"}
        assert elsewhere.web.asked
        assert not [each for each in elsewhere.web.asked if "authorization" in each.headers]


def test_an_lfs_object_comes_without_the_password(server: GitServer, tmp_path: Path) -> None:
    server.commit("org/repo", FILES)
    fetched(_uri(server), tmp_path / "d", LOGIN)
    assert server.store.asked
    sent = {each.headers["authorization"] for each in server.store.asked}
    assert all(each.startswith("Signed ") for each in sent)
    text = (tmp_path / "d/MANIFEST.json").read_text(encoding="utf-8")
    assert "canary" not in text
    assert "Signed" not in text


def test_no_password_stands_on_a_command_line(server: GitServer, tmp_path: Path) -> None:
    server.commit("org/repo", FILES)
    seen: list[bytes] = []
    over = threading.Event()
    answer = server.web._answer

    def slow(asked: Asked) -> Answer:
        time.sleep(0.3)
        return answer(asked)

    def watch() -> None:
        while not over.wait(0.02):
            for process in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    seen.append(process.read_bytes())
                except OSError:
                    continue

    server.web._answer = slow
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        fetched(_uri(server), tmp_path / "d", LOGIN)
    finally:
        over.set()
        watcher.join()
    own = [line for line in seen if b"git" in line and server.url.encode() in line]
    assert own, "git was seen at work"
    assert not [line for line in seen if PASSWORD.encode() in line]


def test_the_persons_own_git_has_no_part(
    server: GitServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.commit("org/repo", {"a.txt": b"1\n"})
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(f'[url "http://127.0.0.1:1/"]\n insteadOf = {server.url}/\n')
    (home / ".netrc").write_text(f"machine 127.0.0.1 login {USER} password {PASSWORD}\n")
    monkeypatch.setenv("HOME", str(home))
    with pytest.raises(KfpTrainerError, match="may not be read"):
        fetched(_uri(server), tmp_path / "d")
    fetched(_uri(server), tmp_path / "d", LOGIN)
    assert tree(tmp_path / "d") == {"a.txt": b"1\n"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_volume_that_shows_another_owner_will_do(tmp_path: Path) -> None:
    address = GitAddress("https://h.io/r.git", "")
    git = Git(
        address, tmp_path / "r", Secrets({"PATH": os.environ["PATH"]}), text="git+https://h.io", stall=60
    )
    git.init()
    for path in [tmp_path / "r", *(tmp_path / "r").rglob("*")]:
        os.chown(path, 12345, 12345)
    assert git.ask("rev-parse", "--is-bare-repository") == b"true\n"


MENDED = {
    "an object ends early": ("store", {"path": "/objects/", "cut_after": 100_000, "times": 3}),
    "an object is reset": ("store", {"path": "/objects/", "cut_after": 1000, "reset": True, "times": 3}),
    "too many requests at the store": ("store", {"answer": Answer(429, {"Retry-After": "1"})}),
    "the store is broken for a moment": ("store", {"answer": Answer(503), "times": 2}),
    "the batch API is broken for a moment": ("web", {"path": "/batch", "answer": Answer(500), "times": 2}),
    "an object is another one once": (
        "store",
        {"path": "/objects/", "body": bytes(len(WEIGHTS)), "times": 1},
    ),
    "the server is broken for a moment": ("web", {"path": "info/refs", "answer": Answer(500), "times": 2}),
}


@pytest.mark.parametrize("sentence", MENDED)
def test_a_passing_fault_is_got_over(server: GitServer, tmp_path: Path, sentence: str) -> None:
    where, fault = MENDED[sentence]
    server.commit("org/repo", FILES)
    (server.store if where == "store" else server.web).spoil(**fault)  # type: ignore[arg-type]
    fetched(_uri(server), tmp_path / "d", LOGIN)
    assert tree(tmp_path / "d") == FILES


LASTING = {
    "an object is always another one": ("store", {"body": bytes(len(WEIGHTS))}, "do not hash to"),
    "the server has lost an object": (
        "web",
        {"path": "/batch", "body": b'{"objects": []}'},
        "does not answer for",
    ),
    "it is no LFS server": (
        "web",
        {"path": "/batch", "body": b"<html>"},
        "does not answer as an LFS server does",
    ),
    "the batch API lets nobody in": (
        "web",
        {"path": "/batch", "answer": Answer(403)},
        "LFS server does not let us",
    ),
    "the store is gone": ("store", {"answer": Answer(404)}, "404"),
    "the server is broken": ("web", {"path": "info/refs", "answer": Answer(500)}, "500"),
}


@pytest.mark.parametrize("sentence", LASTING)
def test_a_lasting_fault_is_one_sentence(server: GitServer, tmp_path: Path, sentence: str) -> None:
    where, fault, want = LASTING[sentence]
    server.commit("org/repo", FILES)
    (server.store if where == "store" else server.web).spoil(**fault, times=100)  # type: ignore[arg-type]
    with pytest.raises(KfpTrainerError, match=want) as caught:
        fetched(_uri(server), tmp_path / "d", LOGIN)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "d").exists()


def test_an_object_that_is_not_there_is_said(server: GitServer, tmp_path: Path) -> None:
    server.commit("org/repo", FILES)
    server._lfs.clear()
    with pytest.raises(KfpTrainerError, match=r"the LFS server lacks [0-9a-f]{64} \(Object does not exist\)"):
        fetched(_uri(server), tmp_path / "d", LOGIN)


def test_addresses_that_run_out_on_the_way_are_asked_for_anew(server: GitServer, tmp_path: Path) -> None:
    server.commit("org/repo", FILES)
    answer = server.store._answer
    first: list[str] = []

    def forgetful(asked: Asked) -> Answer:
        signature = asked.headers["authorization"]
        if not first:
            first.append(signature)
        return Answer(403, {}, b"expired") if signature in first else answer(asked)

    server.store._answer = forgetful
    fetched(_uri(server), tmp_path / "d", LOGIN)
    assert tree(tmp_path / "d") == FILES
    assert len(server.web.asked_for("/batch")) == 2


def test_the_repository_may_name_its_own_lfs_server(server: GitServer, tmp_path: Path) -> None:
    lines = f"[lfs]\n\turl = {server.url}/org/other.git/info/lfs\n".encode()
    server.commit("org/repo", {**FILES, ".lfsconfig": lines})
    fetched(_uri(server), tmp_path / "d", LOGIN)
    assert tree(tmp_path / "d") == {**FILES, ".lfsconfig": lines}
    assert [re.sub(r"/objects.*", "", each.target) for each in server.web.asked_for("/batch")] == [
        "/org/other.git/info/lfs"
    ]

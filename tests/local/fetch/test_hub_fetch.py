"""hf:// against a hub on loopback: the tree that huggingface_hub gets, pinned, or one sentence."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from kfp_trainer.runtime_operator.workloads.fetch.selection import Selection
from kfp_trainer.runtime_operator.workloads.fetch.sources import xet
from tests.servers.fetching import IMPATIENT, fetched, tree
from tests.servers.hub import Hub, XetStore
from tests.servers.web import Answer, Asked, sha256

TOKEN = "hf_canary_0123456789"
WEIGHTS = os.urandom(9_000_000)
FILES = {
    "config.json": b'{"model_type": "llama"}',
    "model.safetensors": WEIGHTS,
    "data/train.parquet": os.urandom(5000),
    "data/part one/ünï.txt": "ü".encode(),
    "empty.txt": b"",
    ".gitattributes": b"*.safetensors filter=lfs\n",
    **{f"many/{number:02}.json": b"%d" % number for number in range(30)},
}


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub(page=7) as hub:
        yield hub


@pytest.fixture
def home(hub: Hub, tmp_path: Path) -> dict[str, str]:
    """The environment of a person who has never used a hub."""
    return {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf")}


@pytest.mark.parametrize("kind", ["dataset", "model"])
def test_the_tree_is_the_one_that_huggingface_hub_gets(
    hub: Hub, home: dict[str, str], tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    from huggingface_hub import snapshot_download

    commit = hub.add("org/name", FILES, kind=kind, token=TOKEN)
    theirs = tmp_path / "theirs"
    snapshot_download(
        "org/name",
        repo_type=kind,
        endpoint=hub.url,
        local_dir=theirs,
        token=TOKEN,
        cache_dir=tmp_path / "cache",
    )
    ours = fetched(
        "hf://org/name",
        tmp_path / "ours",
        {**home, "ACCESS_TOKEN": TOKEN},
        kind="dataset" if kind == "dataset" else "model",
    )
    want = {path: body for path, body in tree(theirs).items() if not path.startswith(".cache/")}
    assert tree(tmp_path / "ours") == want == FILES
    assert ours.manifest.revision == commit


REVISIONS = {
    "the branch main": "",
    "a tag": "@v1",
    "a branch with a slash": "@feature%2Fx",
    "a pull request": "@refs/pr/1",
}


@pytest.mark.parametrize("sentence", REVISIONS)
def test_a_revision_becomes_a_commit(hub: Hub, home: dict[str, str], tmp_path: Path, sentence: str) -> None:
    refs = {"": "main", "@v1": "v1", "@feature%2Fx": "feature/x", "@refs/pr/1": "refs/pr/1"}
    commits = {given: hub.add("org/name", {"a": given.encode()}, ref=ref) for given, ref in refs.items()}
    given = REVISIONS[sentence]
    done = fetched(f"hf://org/name{given}", tmp_path / "d", home)
    assert (done.manifest.revision, tree(tmp_path / "d")) == (commits[given], {"a": given.encode()})


def test_a_commit_needs_no_lookup(hub: Hub, home: dict[str, str], tmp_path: Path) -> None:
    commit = hub.add("org/name", {"a": b"old"})
    hub.add("org/name", {"a": b"new"})
    fetched(f"hf://org/name@{commit}", tmp_path / "d", home)
    assert tree(tmp_path / "d") == {"a": b"old"}
    assert not hub.web.asked_for("/revision/")


def test_a_branch_that_moves_meanwhile_changes_nothing(
    hub: Hub, home: dict[str, str], tmp_path: Path
) -> None:
    commit = hub.add("org/name", {"a": b"old", "b": b"old"})
    answer = hub.web._answer

    def move(asked: object) -> Answer:
        hub.add("org/name", {"a": b"new"})
        hub.web._answer = answer
        return answer(asked)  # type: ignore[arg-type]

    hub.web.faults.clear()
    first = hub.web._answer
    hub.web._answer = lambda asked: move(asked) if "/tree/" in asked.target else first(asked)
    done = fetched("hf://org/name", tmp_path / "d", home)
    assert (done.manifest.revision, tree(tmp_path / "d")) == (commit, {"a": b"old", "b": b"old"})


def test_the_second_fetch_moves_nothing(hub: Hub, home: dict[str, str], tmp_path: Path) -> None:
    hub.add("org/name", FILES)
    fetched("hf://org/name", tmp_path / "d", home)
    before = len(hub.cdn.asked)
    assert fetched("hf://org/name", tmp_path / "d", home).fetched == 0
    assert len(hub.cdn.asked) == before


PARTS = {
    "a folder": ("many", {f"{number:02}.json": b"%d" % number for number in range(30)}),
    "a folder with a blank": ("data/part%20one", {"ünï.txt": "ü".encode()}),
    "one file": ("config.json", {"config.json": FILES["config.json"]}),
}


@pytest.mark.parametrize("sentence", PARTS)
def test_a_part_of_a_repository(hub: Hub, home: dict[str, str], tmp_path: Path, sentence: str) -> None:
    under, want = PARTS[sentence]
    hub.add("org/name", FILES, kind="dataset")
    fetched(f"hf://datasets/org/name/{under}", tmp_path / "d", home, kind="dataset")
    assert tree(tmp_path / "d") == want


TOKENS = {
    "by Trainer's name": {"ACCESS_TOKEN": TOKEN},
    "by the hub's own name": {"HF_TOKEN": TOKEN},
    "in a file": {"HF_TOKEN_PATH": "token-file"},
    "where the login keeps it": {},
}


@pytest.mark.parametrize("sentence", TOKENS)
def test_a_token_comes_from(hub: Hub, home: dict[str, str], tmp_path: Path, sentence: str) -> None:
    hub.add("org/name", FILES, token=TOKEN, gated=True)
    given = dict(TOKENS[sentence])
    file = tmp_path / "hf/token"
    if "HF_TOKEN_PATH" in given:
        file = tmp_path / given["HF_TOKEN_PATH"]
        given["HF_TOKEN_PATH"] = str(file)
    if not (given.keys() & {"ACCESS_TOKEN", "HF_TOKEN"}):
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{TOKEN}\n", encoding="utf-8")
    fetched("hf://org/name", tmp_path / "d", {**home, **given})
    assert tree(tmp_path / "d") == FILES


def test_a_token_goes_to_the_hub_alone(hub: Hub, home: dict[str, str], tmp_path: Path) -> None:
    hub.add("org/name", FILES, token=TOKEN)
    fetched("hf://org/name", tmp_path / "d", {**home, "ACCESS_TOKEN": TOKEN})
    assert hub.cdn.asked
    assert not [each for each in hub.cdn.asked if "authorization" in each.headers]
    assert TOKEN not in (tmp_path / "d/MANIFEST.json").read_text(encoding="utf-8")


REFUSALS = {
    "no such repository, no token": (
        "hf://org/none",
        "",
        "there is no such model on .*, or it needs a token",
    ),
    "no such repository": (
        "hf://org/none",
        TOKEN,
        "there is no such model on .*, or the token may not see it",
    ),
    "no such revision": ("hf://org/open@nope", "", "has no revision 'nope', give a branch"),
    "gated, no token": ("hf://org/gated", "", "is gated: ask for access on .*/org/gated, then give a token"),
    "gated, another's token": (
        "hf://org/gated",
        "hf_of_another",
        "is gated, and the token's account has no access",
    ),
    "private, a token that is not valid": ("hf://org/private", "hf_of_another", "does not accept the token"),
    "no such folder": ("hf://org/open/nope", "", "holds no files"),
}


@pytest.mark.parametrize("sentence", REFUSALS)
def test_a_refusal_says_what_to_do(hub: Hub, home: dict[str, str], tmp_path: Path, sentence: str) -> None:
    uri, token, want = REFUSALS[sentence]
    hub.add("org/open", FILES)
    hub.add("org/gated", FILES, token=TOKEN, gated=True)
    hub.add("org/private", FILES, token=TOKEN)
    with pytest.raises(KfpTrainerError, match=want) as caught:
        fetched(uri, tmp_path / "d", {**home, "ACCESS_TOKEN": token})
    assert str(caught.value).startswith(uri)
    assert "\n" not in str(caught.value)
    assert not (token and token in str(caught.value))
    assert not (tmp_path / "d").exists()


MENDED = {
    "the body ends early": {"path": "^/[0-9a-f]{64}", "cut_after": 100_000, "times": 4},
    "the connection is reset": {"path": "^/[0-9a-f]{64}", "cut_after": 1000, "reset": True, "times": 3},
    "too many requests at the CDN": {"path": "^/[0-9a-f]{64}", "answer": Answer(429, {"Retry-After": "1"})},
    "the CDN is broken for a moment": {"path": "^/[0-9a-f]{64}", "answer": Answer(503), "times": 3},
    "too many requests at the hub": {"path": "/resolve/", "answer": Answer(429, {"Retry-After": "1"})},
    "the hub counts requests": {"path": "/tree/", "answer": Answer(429, {"RateLimit": '"api";r=0;t=1'})},
    "the hub is broken for a moment": {"path": "/revision/", "answer": Answer(502), "times": 2},
    "a page of the tree ends early": {"path": "cursor=7", "cut_after": 50},
    "a small file ends early": {"path": "config.json", "cut_after": 3, "times": 2},
    "a small file is another one once": {"path": "config.json", "body": b"x" * 23},
    "weights are other ones once": {"path": f"^/{sha256(WEIGHTS)}", "body": bytes(len(WEIGHTS))},
}


@pytest.mark.parametrize("sentence", MENDED)
def test_a_passing_fault_is_got_over(hub: Hub, home: dict[str, str], tmp_path: Path, sentence: str) -> None:
    fault = dict(MENDED[sentence])
    hub.add("org/name", FILES)
    server = hub.cdn if str(fault["path"]).startswith("^") else hub.web
    server.spoil(**fault)  # type: ignore[arg-type]
    fetched("hf://org/name", tmp_path / "d", home)
    assert tree(tmp_path / "d") == FILES
    assert not [each for each in server.faults if each.times == fault.get("times", 1)], "the fault was met"


LASTING = {
    "weights are always other ones": (
        {"path": f"^/{sha256(WEIGHTS)}", "body": bytes(len(WEIGHTS))},
        "do not hash to",
    ),
    "a small file is always another one": ({"path": "config.json", "body": b"x" * 23}, "do not hash to"),
    "the hub is broken": ({"path": "/api/", "answer": Answer(500)}, "500"),
    "the hub redirects in a circle": (
        {"path": "/api/", "answer": Answer(302, {"Location": "/api/x"})},
        "circle",
    ),
    "it is no hub": (
        {"path": "/api/", "answer": Answer(200, {}, b"<html>")},
        "does not answer as a hub does",
    ),
    "it is another API": (
        {"path": "/api/", "answer": Answer(200, {}, b"{}")},
        "does not answer as a hub does",
    ),
    "the list goes on at another host": (
        {"path": "/tree/", "headers": {"Link": '<http://127.0.0.1:1/x>; rel="next"'}},
        "goes on at http://127.0.0.1:1/x, which is another host",
    ),
    "a file has no digest": (
        {"path": "/tree/", "answer": Answer(200, {}, b'[{"type": "file", "path": "a", "size": 1}]')},
        "the hub tells no size and digest of 'a'",
    ),
    "a name leads out of the folder": (
        {
            "path": "/tree/",
            "answer": Answer(
                200, {}, b'[{"type": "file", "path": "../a", "size": 1, "oid": "%s"}]' % (b"a" * 40)
            ),
        },
        "leads out of the folder",
    ),
}


@pytest.mark.parametrize("sentence", LASTING)
def test_a_lasting_fault_is_one_sentence(
    hub: Hub, home: dict[str, str], tmp_path: Path, sentence: str
) -> None:
    fault, want = LASTING[sentence]
    hub.add("org/name", FILES, token=TOKEN)
    server = hub.cdn if str(fault["path"]).startswith("^") else hub.web
    server.spoil(**fault, times=100)  # type: ignore[arg-type]
    with pytest.raises(KfpTrainerError, match=want) as caught:
        fetched("hf://org/name", tmp_path / "d", {**home, "ACCESS_TOKEN": TOKEN})
    assert "\n" not in str(caught.value)
    assert TOKEN not in str(caught.value)
    assert not (tmp_path / "d").exists()


def test_a_hub_that_sends_only_whole_files_will_do(hub: Hub, home: dict[str, str], tmp_path: Path) -> None:
    hub.add("org/name", FILES)
    answer = hub.cdn._answer
    asked_whole: list[bool] = []

    def whole(asked: Asked) -> Answer:
        asked_whole.append("range" not in asked.headers)
        kept = {name: value for name, value in asked.headers.items() if name != "range"}
        return answer(replace(asked, headers=kept))

    hub.cdn._answer = whole
    fetched("hf://org/name", tmp_path / "d", home)
    assert tree(tmp_path / "d") == FILES
    assert not all(asked_whole), "a part was asked for first"


def test_signed_addresses_that_run_out_on_the_way_are_asked_for_anew(
    home: dict[str, str], tmp_path: Path
) -> None:
    with Hub(signed_for=0.4) as hub:
        hub.add("org/name", {"a.safetensors": WEIGHTS, "b.safetensors": WEIGHTS[::-1]})
        slow = hub.cdn._answer

        def answer(asked: object) -> Answer:
            time.sleep(0.25)
            return slow(asked)  # type: ignore[arg-type]

        hub.cdn._answer = answer
        fetched("hf://org/name", tmp_path / "d", {**home, "HF_ENDPOINT": hub.url})
        assert tree(tmp_path / "d") == {"a.safetensors": WEIGHTS, "b.safetensors": WEIGHTS[::-1]}


def test_a_token_that_is_replaced_on_the_way_is_read_again(
    hub: Hub, home: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN, encoding="utf-8")
    following = tmp_path / "following"
    following.write_text("hf_the_next_one", encoding="utf-8")
    hub.add("org/name", FILES, token=TOKEN)
    answer = hub.web._answer

    alone = threading.Lock()

    def rotate(asked: Asked) -> Answer:
        with alone:  # a second request never sees the server's new token beside the file's old one
            if "/resolve/" in asked.target and hub.repos["model", "org/name"].token == TOKEN:
                hub.repos["model", "org/name"].token = "hf_the_next_one"
                following.replace(file)
            return answer(asked)

    hub.web._answer = rotate
    fetched("hf://org/name", tmp_path / "d", {**home, "HF_TOKEN_PATH": str(file)})
    assert tree(tmp_path / "d") == FILES


def _cached(home: dict[str, str], body: bytes, name: str) -> Path:
    blob = Path(home["HF_HOME"], "hub/models--org--name/blobs", name)
    blob.parent.mkdir(parents=True, exist_ok=True)
    blob.write_bytes(body)
    return blob


def test_what_the_cache_holds_is_not_fetched(hub: Hub, home: dict[str, str], tmp_path: Path) -> None:
    commit = hub.add("org/name", FILES)
    blobs = hub.repos["model", "org/name"].commits[commit]
    _cached(home, WEIGHTS, blobs["model.safetensors"].sha256)
    _cached(home, FILES["config.json"], blobs["config.json"].git_id)
    fetched("hf://org/name", tmp_path / "d", home)
    assert tree(tmp_path / "d") == FILES
    assert not hub.web.asked_for("resolve/.*/(model.safetensors|config.json)")


def test_a_damaged_cache_is_not_believed(hub: Hub, home: dict[str, str], tmp_path: Path) -> None:
    commit = hub.add("org/name", FILES)
    blob = hub.repos["model", "org/name"].commits[commit]["model.safetensors"]
    _cached(home, b"\0" + WEIGHTS[1:], blob.sha256)
    fetched("hf://org/name", tmp_path / "d", home)
    assert tree(tmp_path / "d") == FILES


@pytest.fixture
def stored(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> XetStore:
    """Xet's storage as a folder, which hf_xet serves itself, with the weights in it."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "xet-home"))
    hf_xet = pytest.importorskip("hf_xet")
    monkeypatch.setattr(xet, "STORAGES", ("local://",))
    address = f"local://{tmp_path}/xet"
    with hf_xet.XetSession().new_upload_commit(endpoint=address) as commit:
        upload = commit.start_upload_bytes(WEIGHTS)
    return XetStore(address, {WEIGHTS: upload.result().xet_info.hash})


def test_weights_come_from_xet_where_the_hub_has_it(
    hub: Hub, home: dict[str, str], tmp_path: Path, stored: XetStore
) -> None:
    hub.xet = stored
    hub.add("org/name", FILES, token=TOKEN)
    fetched("hf://org/name", tmp_path / "d", {**home, "ACCESS_TOKEN": TOKEN})
    assert tree(tmp_path / "d") == FILES
    assert not hub.web.asked_for("resolve/.*/model.safetensors")


XET_TROUBLES = {
    "the storage has lost it": "lost",
    "the hub gives no token": "token",
    "it is switched off": "off",
}


@pytest.mark.parametrize("sentence", XET_TROUBLES)
def test_without_xet_the_weights_come_over_http(
    hub: Hub, home: dict[str, str], tmp_path: Path, stored: XetStore, sentence: str
) -> None:
    trouble = XET_TROUBLES[sentence]
    hub.xet = stored
    hub.add("org/name", FILES)
    if trouble == "lost":
        stored.address = f"local://{tmp_path}/elsewhere"
    if trouble == "token":
        hub.web.spoil(Answer(500), path="xet-read-token", times=100)
    more = {"HF_HUB_DISABLE_XET": "1"} if trouble == "off" else {}
    fetched("hf://org/name", tmp_path / "d", {**home, **more})
    assert tree(tmp_path / "d") == FILES
    assert hub.web.asked_for("resolve/.*/model.safetensors")


def test_a_xet_stream_that_hangs_is_left(
    hub: Hub, home: dict[str, str], tmp_path: Path, stored: XetStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.xet = stored
    hub.add("org/name", FILES)
    released = threading.Event()
    monkeypatch.setattr(xet.XetStorage, "chunks", lambda *_: released.wait(60) and [])
    fetched("hf://org/name", tmp_path / "d", home, patience=replace(IMPATIENT, stall=0.3))
    released.set()
    assert tree(tmp_path / "d") == FILES


def test_a_selection_leaves_out_other_formats(hub: Hub, home: dict[str, str], tmp_path: Path) -> None:
    hub.add("org/name", {**FILES, "pytorch_model.bin": b"pickle", "tf_model.h5": b"tf"})
    fetched("hf://org/name", tmp_path / "d", home, selection=Selection("model"))
    assert tree(tmp_path / "d") == FILES
    assert not hub.web.asked_for("resolve/.*/(pytorch_model.bin|tf_model.h5)")

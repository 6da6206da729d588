"""oci:// against a real registry on loopback: images, artifacts, tokens, and tars that none should unpack."""

from __future__ import annotations

import base64
import json
import os
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from kfp_trainer.runtime_operator.workloads.fetch.source import Kind
from tests.servers import go_program
from tests.servers.fetching import fetched, tree
from tests.servers.registry import EMPTY, INDEX, Registry
from tests.servers.tars import LAYER, gz, special, tar, zstd
from tests.servers.web import Answer, Asked, sha256

USER, PASSWORD = "me", "canary-p4ssword"
LOGIN = {"REGISTRY_USERNAME": USER, "REGISTRY_PASSWORD": PASSWORD}
TITLE = "org.opencontainers.image.title"
WEIGHTS = os.urandom(6_000_000)
CAR = [
    (LAYER, tar({"etc/passwd": b"root", "models/config.json": b"{}", "models/old.json": b"old"}), {}),
    (f"{LAYER}+gzip", gz(tar({"models/model.safetensors": WEIGHTS, "models/.wh.old.json": b""})), {}),
    (f"{LAYER}+zstd", zstd(tar({"./models/sub/notes.txt": b"notes"})), {}),
]
MODEL = {"config.json": b"{}", "model.safetensors": WEIGHTS, "sub/notes.txt": b"notes"}

pytestmark = pytest.mark.skipif(bool(go_program.why_not()), reason=go_program.why_not() or "can be built")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """One registry with tokens for all tests; what each asked and spoiled is cleared before the next."""
    with Registry(tmp_path_factory.mktemp("registry"), user=USER, password=PASSWORD) as registry:
        yield registry


@pytest.fixture
def registry(served: Registry) -> Registry:
    for server in (served.web, served.tokens, served.cdn):
        server.asked.clear()
        server.faults.clear()
    served.redirect_blobs = False
    return served


WAYS: dict[str, tuple[Kind, str, dict[str, bytes]]] = {
    "a model car: what lies in /models": ("model", "", MODEL),
    "a dataset: the whole image": (
        "dataset",
        "",
        {"etc/passwd": b"root", **{f"models/{path}": body for path, body in MODEL.items()}},
    ),
    "a model, but the whole image": (
        "model",
        "/",
        {"etc/passwd": b"root", **{f"models/{path}": body for path, body in MODEL.items()}},
    ),
    "a folder": ("model", "/models/sub", {"notes.txt": b"notes"}),
}


@pytest.mark.parametrize("sentence", WAYS)
def test_an_image_becomes_a_folder(registry: Registry, tmp_path: Path, sentence: str) -> None:
    kind, under, want = WAYS[sentence]
    pushed = registry.push("org/car", "v1", CAR)
    done = fetched(f"oci://{registry.host}/org/car:v1{under}", tmp_path / "d", LOGIN, kind=kind)
    assert tree(tmp_path / "d") == want
    assert done.manifest.revision == pushed["digest"]


def test_an_image_with_its_model_at_the_top(registry: Registry, tmp_path: Path) -> None:
    registry.push("org/flat", "v1", [(LAYER, tar({"config.json": b"{}", "m.safetensors": b"w"}), {})])
    fetched(f"oci://{registry.host}/org/flat:v1", tmp_path / "d", LOGIN)
    assert tree(tmp_path / "d") == {"config.json": b"{}", "m.safetensors": b"w"}


def test_artifacts_of_three_makers(registry: Registry, tmp_path: Path) -> None:
    pushed = registry.push(
        "org/artifact",
        "v1",
        [
            ("application/vnd.oci.empty.v1+json", b"{}", {}),
            (LAYER, b"the file itself", {TITLE: "oras/notes.txt"}),
            (
                f"{LAYER}+gzip",
                gz(tar({"folder/a": b"1"})),
                {TITLE: "folder", "io.deis.oras.content.unpack": "true"},
            ),
            (
                "application/vnd.cncf.model.weight.v1.raw",
                WEIGHTS,
                {"org.cncf.model.filepath": "m.safetensors"},
            ),
            ("application/vnd.kitops.modelkit.code.v1.tar+gzip", gz(tar({"code/run.py": b"pass"})), {}),
        ],
        config_type=EMPTY,
    )
    fetched(f"oci://{registry.host}/org/artifact@{pushed['digest']}", tmp_path / "d", LOGIN)
    assert tree(tmp_path / "d") == {
        "oras/notes.txt": b"the file itself",
        "folder/a": b"1",
        "m.safetensors": WEIGHTS,
        "code/run.py": b"pass",
    }


def test_of_an_index_comes_this_machines_manifest(registry: Registry, tmp_path: Path) -> None:
    described = [
        {
            **registry.push("org/multi", machine, [(LAYER, tar({"for": machine.encode()}), {})]),
            "platform": {"os": "linux", "architecture": machine},
        }
        for machine in ("amd64", "arm64")
    ]
    index = registry.push_manifest(
        "org/multi", "v1", {"schemaVersion": 2, "mediaType": INDEX, "manifests": described}
    )
    done = fetched(f"oci://{registry.host}/org/multi:v1", tmp_path / "d", LOGIN)
    here = {"x86_64": b"amd64", "aarch64": b"arm64"}[os.uname().machine]
    assert tree(tmp_path / "d") == {"for": here}
    assert done.manifest.revision == index["digest"]


def test_the_second_fetch_moves_nothing(registry: Registry, tmp_path: Path) -> None:
    registry.push("org/car", "v1", CAR)
    fetched(f"oci://{registry.host}/org/car:v1", tmp_path / "d", LOGIN)
    registry.web.asked.clear()
    assert fetched(f"oci://{registry.host}/org/car:v1", tmp_path / "d", LOGIN).fetched == 0
    assert not registry.web.asked_for("/blobs/")


def test_another_image_under_the_tag_takes_the_place_of_the_first(registry: Registry, tmp_path: Path) -> None:
    registry.push("org/moving", "v1", CAR)
    fetched(f"oci://{registry.host}/org/moving:v1", tmp_path / "d", LOGIN)
    registry.push("org/moving", "v1", CAR[:1])
    fetched(f"oci://{registry.host}/org/moving:v1", tmp_path / "d", LOGIN)
    assert tree(tmp_path / "d") == {"config.json": b"{}", "old.json": b"old"}


def test_a_tag_that_moves_meanwhile_changes_nothing(registry: Registry, tmp_path: Path) -> None:
    pushed = registry.push("org/moved", "v1", CAR)
    answer = registry.web._answer

    def move(asked: Asked) -> Answer:
        if "/blobs/" in asked.target:
            registry.web._answer = answer
            registry.push("org/moved", "v1", [(LAYER, tar({"models/x": b"new"}), {})])
        return answer(asked)

    registry.web._answer = move
    done = fetched(f"oci://{registry.host}/org/moved:v1", tmp_path / "d", LOGIN)
    assert (tree(tmp_path / "d"), done.manifest.revision) == (MODEL, pushed["digest"])


def test_a_run_that_was_broken_off_is_finished_by_the_next(registry: Registry, tmp_path: Path) -> None:
    registry.push("org/car", "v1", CAR)
    last = "/blobs/sha256:" + sha256(CAR[1][1])
    registry.web.spoil(Answer(404), path=last, times=100)
    with pytest.raises(KfpTrainerError, match=r"lists the layer sha256:.* and does not hold it"):
        fetched(f"oci://{registry.host}/org/car:v1", tmp_path / "d", LOGIN)
    assert not (tmp_path / "d").exists()
    registry.web.faults.clear()
    registry.web.asked.clear()
    fetched(f"oci://{registry.host}/org/car:v1", tmp_path / "d", LOGIN)
    assert tree(tmp_path / "d") == MODEL
    assert registry.web.asked_for(last)


LOGINS = {
    "by name and password": LOGIN,
    "as docker keeps it": {"DOCKER_CONFIG": "docker"},
    "as podman keeps it": {"REGISTRY_AUTH_FILE": "docker/config.json"},
    "as docker keeps it at home": {},
}


@pytest.mark.parametrize("sentence", LOGINS)
def test_a_login_is_used(registry: Registry, tmp_path: Path, sentence: str) -> None:
    registry.push("org/car", "v1", CAR)
    pair = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    for folder in (tmp_path / "docker", tmp_path / "home/.docker"):
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps({"auths": {registry.host: {"auth": pair}}}))
    given = {
        name: value if name.startswith("REGISTRY_") and "FILE" not in name else str(tmp_path / value)
        for name, value in LOGINS[sentence].items()
    }
    fetched(f"oci://{registry.host}/org/car:v1", tmp_path / "d", given)
    assert tree(tmp_path / "d") == MODEL


def test_an_open_repository_needs_no_login(registry: Registry, tmp_path: Path) -> None:
    registry.push("open/car", "v1", CAR)
    fetched(f"oci://{registry.host}/open/car:v1", tmp_path / "d")
    assert tree(tmp_path / "d") == MODEL


def test_a_registry_that_sends_only_whole_layers_will_do(registry: Registry, tmp_path: Path) -> None:
    registry.push("open/big", "v1", CAR)
    answer = registry.web._answer
    parts: list[str] = []

    def whole(asked: Asked) -> Answer:
        parts.extend(value for name, value in asked.headers.items() if name == "range")
        kept = {name: value for name, value in asked.headers.items() if name != "range"}
        return answer(replace(asked, headers=kept))

    registry.web._answer = whole
    try:
        fetched(f"oci://{registry.host}/open/big:v1", tmp_path / "d")
    finally:
        registry.web._answer = answer
    assert tree(tmp_path / "d") == MODEL
    assert parts, "parts were asked for first"


def test_a_token_goes_to_the_registry_alone(registry: Registry, tmp_path: Path) -> None:
    registry.redirect_blobs = True
    registry.push("org/car", "v1", CAR)
    fetched(f"oci://{registry.host}/org/car:v1", tmp_path / "d", LOGIN)
    assert tree(tmp_path / "d") == MODEL
    assert registry.cdn.asked
    assert not [each for each in registry.cdn.asked if "authorization" in each.headers]
    basic = [each for each in registry.web.asked if each.headers.get("authorization", "").startswith("Basic")]
    assert not basic, "the password goes to the token server and not to the registry"


def test_tokens_that_run_out_on_the_way_are_renewed(registry: Registry, tmp_path: Path) -> None:
    registry.push("org/car", "v1", CAR)
    answer = registry.web._answer
    stale: set[str] = set()

    def forgetful(asked: Asked) -> Answer:
        """The registry as if the token that listed the image had run out before the first layer."""
        token = asked.headers.get("authorization", "")
        if "/manifests/" in asked.target and token:
            stale.add(token)
        kept = {name: value for name, value in asked.headers.items() if name != "authorization"}
        is_stale = "/blobs/" in asked.target and token in stale
        return answer(replace(asked, headers=kept) if is_stale else asked)

    registry.web._answer = forgetful
    try:
        fetched(f"oci://{registry.host}/org/car:v1", tmp_path / "d", LOGIN)
    finally:
        registry.web._answer = answer
    assert tree(tmp_path / "d") == MODEL
    assert len(registry.tokens.asked) == 2


REFUSALS = {
    "no login": ("org/car:v1", {}, "does not let us read it.*REGISTRY_USERNAME"),
    "a wrong password": (
        "org/car:v1",
        {**LOGIN, "REGISTRY_PASSWORD": "wrong-canary"},
        "does not let us read it",
    ),
    "no such tag": ("org/car:v9", LOGIN, "has no org/car with v9, mind the spelling"),
    "no such name": ("org/none:v1", LOGIN, "has no org/none with v1, mind the spelling"),
    "no such digest": ("org/car@sha256:" + "0" * 64, LOGIN, "has no org/car with sha256:0"),
}


@pytest.mark.parametrize("sentence", REFUSALS)
def test_a_refusal_says_what_to_do(registry: Registry, tmp_path: Path, sentence: str) -> None:
    place, environ, want = REFUSALS[sentence]
    registry.push("org/car", "v1", CAR)
    with pytest.raises(KfpTrainerError, match=want) as caught:
        fetched(f"oci://{registry.host}/{place}", tmp_path / "d", environ)
    assert "canary" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_password_is_not_sent_unencrypted_to_another_machine(registry: Registry, tmp_path: Path) -> None:
    registry.push("org/car", "v1", CAR)
    challenge = 'Bearer realm="http://tokens.example/token",service="x"'
    registry.web.spoil(Answer(401, {"WWW-Authenticate": challenge}), path="/manifests/", times=9)
    with pytest.raises(KfpTrainerError, match="a password is not sent unencrypted"):
        fetched(f"oci://{registry.host}/org/car:v1", tmp_path / "d", LOGIN)


BAD = {
    "a name that leads out": (tar({"a": b"1", "../x": b"1"}), "leads out of the folder"),
    "a name that leads out from within": (tar({"a/../../x": b"1"}), "leads out of the folder"),
    "an absolute name": (tar({"/tmp/x": b"1"}), "is absolute"),
    "a symlink to outside": (tar({}, special("x", tarfile.SYMTYPE, "/etc/passwd")), "is a symlink"),
    "a file through a symlink": (
        tar({}, special("d", tarfile.SYMTYPE, "/tmp"))[:-1024] + tar({"d/x": b"1"}),
        "is a symlink|a file and a folder",
    ),
    "a hard link to outside": (tar({}, special("x", tarfile.LNKTYPE, "../../x")), "is a hard link"),
    "a device": (tar({}, special("x", tarfile.CHRTYPE)), "is a device"),
    "a bomb": (gz(tar({"x": bytes(600 << 20)})), "more than 100 times its size"),
    "no tar": (b"hello" * 300, "is no tar that can be read"),
    "a tar that is cut": (gz(tar({"x": WEIGHTS}))[:-5000], "is no tar that can be read"),
    "the same name as a file and a folder": (tar({"a": b"1", "a/b": b"2"}), "a file and a folder"),
}


@pytest.mark.parametrize("sentence", BAD)
def test_a_bad_layer_is_refused(registry: Registry, tmp_path: Path, sentence: str) -> None:
    layer, want = BAD[sentence]
    registry.push("org/bad", "v1", [(LAYER, layer, {})])
    with pytest.raises(KfpTrainerError, match=want):
        fetched(f"oci://{registry.host}/org/bad:v1", tmp_path / "d", LOGIN)
    assert not (tmp_path / "d").exists()
    assert not list(tmp_path.glob("x"))


def test_a_title_that_leads_out_is_refused(registry: Registry, tmp_path: Path) -> None:
    registry.push("org/bad", "v1", [("text/plain", b"1", {TITLE: "../x"})], config_type=EMPTY)
    with pytest.raises(KfpTrainerError, match="leads out of the folder"):
        fetched(f"oci://{registry.host}/org/bad:v1", tmp_path / "d", LOGIN)


MENDED = {
    "a layer ends early": {"cut_after": 300_000, "times": 3},
    "a layer is reset": {"cut_after": 1000, "reset": True, "times": 3},
    "too many requests": {"answer": Answer(429, {"Retry-After": "1"})},
    "the registry is broken for a moment": {"answer": Answer(503), "times": 3},
}


@pytest.mark.parametrize("redirected", [False, True], ids=["from the registry", "from its store"])
@pytest.mark.parametrize("sentence", MENDED)
def test_a_passing_fault_is_got_over(
    registry: Registry, tmp_path: Path, sentence: str, redirected: bool
) -> None:
    registry.redirect_blobs = redirected
    registry.push("org/car", "v1", CAR)
    server = registry.cdn if redirected else registry.web
    server.spoil(**MENDED[sentence], path="" if redirected else "/blobs/")  # type: ignore[arg-type]
    fetched(f"oci://{registry.host}/org/car:v1", tmp_path / "d", LOGIN)
    assert tree(tmp_path / "d") == MODEL


def test_a_layer_with_other_bytes_is_refused(registry: Registry, tmp_path: Path) -> None:
    layer = tar({"models/a": b"right"})
    pushed = registry.push("org/wrong", "v1", [(LAYER, layer, {})])
    other = layer.replace(b"right", b"wrong")
    registry.web.spoil(path="/blobs/", times=100, body=other)
    with pytest.raises(KfpTrainerError, match="do not hash to what the source promises"):
        fetched(f"oci://{registry.host}/org/wrong@{pushed['digest']}", tmp_path / "d", LOGIN)
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize("more", [b"", b"more"], ids=["shorter", "longer"])
def test_a_layer_of_another_size_is_refused(registry: Registry, tmp_path: Path, more: bytes) -> None:
    layer = tar({"models/a": b"right"})
    registry.push("org/wrong", "v1", [(LAYER, layer, {})])
    other = layer + more if more else layer[:-512]
    registry.web.spoil(path="/blobs/", times=1000, body=other, headers={"Content-Length": str(len(other))})
    with pytest.raises(KfpTrainerError, match="blobs/sha256"):
        fetched(f"oci://{registry.host}/org/wrong:v1", tmp_path / "d", LOGIN)
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize("by", ["tag", "digest"])
def test_a_manifest_with_other_bytes_is_refused(registry: Registry, tmp_path: Path, by: str) -> None:
    pushed = registry.push("org/car", "v1", CAR)
    other = json.dumps({"schemaVersion": 2, "mediaType": pushed["mediaType"], "layers": []}).encode()
    registry.web.spoil(
        path="/manifests/",
        times=100,
        body=other,
        length=None,
        headers={"Docker-Content-Digest": pushed["digest"], "Content-Type": pushed["mediaType"]},
    )
    reference = ":v1" if by == "tag" else f"@{pushed['digest']}"
    with pytest.raises(KfpTrainerError, match="the registry sends a manifest with"):
        fetched(f"oci://{registry.host}/org/car{reference}", tmp_path / "d", {**LOGIN, "X": by})


def test_secrets_stand_nowhere(registry: Registry, tmp_path: Path) -> None:
    registry.redirect_blobs = True
    registry.push("org/car", "v1", CAR)
    fetched(f"oci://{registry.host}/org/car:v1", tmp_path / "d", LOGIN)
    text = (tmp_path / "d/MANIFEST.json").read_text(encoding="utf-8")
    assert "canary" not in text
    assert "secret-of-the-address" not in text

"""Models go to folders, claims, buckets, hubs and registries, arrive whole, and come back the same.

Every server is real or speaks with the unmodified client: MinIO, the distribution project's registry, and a
hub for huggingface_hub.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import KfpTrainerError, Retryable
from kfp_trainer.runtime_operator.workloads.export import Exported, ExportSettings, check_export, export
from kfp_trainer.runtime_operator.workloads.export.bundle import RECORD
from tests.servers import go_program
from tests.servers.fetching import fetched, tree
from tests.servers.hub_writes import User, WritableHub
from tests.servers.minio import Minio
from tests.servers.registry import Registry
from tests.servers.web import Answer

# what the hub's own client says of how it sends a large file
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content:DeprecationWarning")
GO = pytest.mark.skipif(bool(go_program.why_not()), reason=go_program.why_not() or "can be built")
TOKEN, READER, STRANGER = "hf_canary_writer_123", "hf_canary_reader_123", "hf_canary_stranger_123"
GUARDED = [pytest.param("s3", marks=GO), pytest.param("oci", marks=GO), "hf"]
USERS = {TOKEN: User("me", ("org",)), READER: User("me", ("org",), "read"), STRANGER: User("you")}
USER, PASSWORD = "me", "canary-p4ssword"
WEIGHTS = os.urandom(17_000_000)  # more than one part of a bucket's upload
MODEL = {
    "config.json": b"{}",
    "model-1.safetensors": WEIGHTS,
    "model-2.safetensors": os.urandom(1000),
    "chat_template.jinja": b"{{ messages }}",
    "sub/notes.txt": b"notes",
    "empty.txt": b"",
}
STAYS = {"MANIFEST.json": b"{}", "training_args.bin": b"pickle", ".hidden": b"x", "sub/.git/config": b"x"}


@dataclass
class Where:
    """One kind of place: an address, what lets us in, and what does not."""

    address: str
    environ: dict[str, str]
    wrong: dict[str, str] = field(default_factory=dict)
    words: str = ""
    look: Callable[[], str] = lambda: ""
    """something that changes whenever anything at the place changes"""


@pytest.fixture(scope="module")
def hub() -> Iterator[WritableHub]:
    with WritableHub(USERS) as hub:
        yield hub


@pytest.fixture(scope="module")
def minio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Minio]:
    with Minio(tmp_path_factory.mktemp("minio")) as minio:
        client = minio.client()
        client.create_bucket(Bucket="bucket")
        yield minio
        client.close()


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with Registry(tmp_path_factory.mktemp("registry"), user=USER, password=PASSWORD) as registry:
        yield registry


@pytest.fixture(params=["folder", "claim", *[pytest.param(kind, marks=GO) for kind in ("s3", "oci")], "hf"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Where:
    """Each kind of place, with a name of this test's own."""
    name = tmp_path.name.replace("_", "-").lower().rstrip("-")
    match request.param:
        case "folder":
            return Where(str(tmp_path / "kept"), {})
        case "claim":
            (tmp_path / "claims" / "kept").mkdir(parents=True)
            return Where("pvc://kept/a/model", {"KFP_TRAINER_CLAIMS": str(tmp_path / "claims")})
        case "s3":
            minio: Minio = request.getfixturevalue("minio")
            wrong = {**minio.environ, "SECRET_ACCESS_KEY": "canary-wrong-secret"}
            words = "to write there give ACCESS_KEY_ID and SECRET_ACCESS_KEY"
            return Where(f"s3://bucket/{name}/model", minio.environ, wrong, words)
        case "oci":
            registry: Registry = request.getfixturevalue("registry")
            environ = {"REGISTRY_USERNAME": USER, "REGISTRY_PASSWORD": PASSWORD}
            wrong = {**environ, "REGISTRY_PASSWORD": "canary-wrong-password"}
            words = "the registry does not let us in, give REGISTRY_USERNAME"
            return Where(f"oci://{registry.host}/org/{name}:v1", environ, wrong, words)
    hub: WritableHub = request.getfixturevalue("hub")
    environ = {"HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN}
    return Where(f"hf://org/{name}", environ, {**environ, "HF_TOKEN": READER}, "the token may only read")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write(tmp_path / "model", MODEL | STAYS)


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials of whoever runs the tests."""
    for name in list(os.environ):
        if name.startswith(("HF_", "AWS_", "REGISTRY_", "ACCESS_", "SECRET_", "ENDPOINT", "DOCKER_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for path, body in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(body)
    return folder


def exported(model: Path, to: str) -> Exported:
    return export(ExportSettings(model=model, to=to), wait=lambda seconds: None)


def came_back(where: Where, location: str, folder: Path) -> dict[str, bytes]:
    """What somebody who fetches the model from there gets."""
    if "://" not in location:
        location = f"file://{location}"
    fetched(location, folder, where.environ)
    return {path: body for path, body in tree(folder).items() if path not in (RECORD, ".gitattributes")}


def test_a_model_arrives_and_comes_back(
    where: Where, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in where.environ.items():
        monkeypatch.setenv(name, value)
    check_export(where.address)
    done = exported(model, where.address)
    assert (done.files, done.sent) == (len(MODEL), len(MODEL))
    assert came_back(where, done.location, tmp_path / "back") == MODEL
    again = exported(model, where.address)
    assert again == done.model_copy(update={"sent": 0})


def test_the_next_model_takes_its_place(
    where: Where, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of the one before is left among its weights; what both have is not sent again."""
    for name, value in where.environ.items():
        monkeypatch.setenv(name, value)
    first = exported(model, where.address)
    (model / "model-2.safetensors").unlink()
    (model / "config.json").write_bytes(b'{"new": 1}')
    second = exported(model, where.address)
    assert second.digest != first.digest
    assert second.sent < len(MODEL)
    found = came_back(where, second.location, tmp_path / "back")
    assert found == {path: body for path, body in tree(model).items() if path not in STAYS}


@pytest.mark.parametrize("where", GUARDED, indirect=True)
def test_who_may_not_write_is_told_before_any_work(
    where: Where, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in where.wrong.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(KfpTrainerError, match=where.words) as caught:
        check_export(where.address)
    text = str(caught.value)
    assert "\n" not in text
    assert "canary" not in text


@pytest.mark.parametrize("where", GUARDED, indirect=True)
def test_who_shows_nothing_is_told(where: Where, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in where.environ.items():
        if name in ("ENDPOINT", "HF_ENDPOINT"):
            monkeypatch.setenv(name, value)
    with pytest.raises(KfpTrainerError, match=r"in the environment|REGISTRY_USERNAME"):
        check_export(where.address)


@pytest.mark.parametrize("where", ["folder", "claim", pytest.param("s3", marks=GO)], indirect=True)
def test_what_others_put_there_is_left_alone(
    where: Where, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    for name, value in where.environ.items():
        monkeypatch.setenv(name, value)
    if where.address.startswith("s3"):
        client = request.getfixturevalue("minio").client()
        key = f"{where.address.removeprefix('s3://bucket/')}/mine.txt"
        client.put_object(Bucket="bucket", Key=key, Body=b"mine")
        client.close()
    else:
        write(tmp_path / ("claims/kept/a/model" if "pvc" in where.address else "kept"), {"mine.txt": b"mine"})
    with pytest.raises(KfpTrainerError, match="that no export has put there"):
        check_export(where.address)
    with pytest.raises(KfpTrainerError, match="that no export has put there"):
        exported(model, where.address)


@GO
def test_an_export_that_was_broken_off_counts_for_nothing_and_goes_on(
    minio: Minio, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import obstore

    for name, value in minio.environ.items():
        monkeypatch.setenv(name, value)
    put, sent = obstore.put, []

    def breaks(store: object, key: str, body: object, **more: object) -> object:
        if key.endswith("model-2.safetensors"):
            raise KeyboardInterrupt
        sent.append(key)
        return put(store, key, body, **more)

    with monkeypatch.context() as patch:
        patch.setattr(obstore, "put", breaks)
        with pytest.raises(KeyboardInterrupt):
            exported(model, "s3://bucket/broken/model")
    client = minio.client()
    record = json.loads(client.get_object(Bucket="bucket", Key=f"broken/model/{RECORD}")["Body"].read())
    client.close()
    assert record["complete"] is False
    done = exported(model, "s3://bucket/broken/model")
    assert done.sent < len(MODEL)


@GO
def test_what_arrived_as_something_else_is_noticed(
    minio: Minio, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import obstore

    for name, value in minio.environ.items():
        monkeypatch.setenv(name, value)
    put = obstore.put

    def spoils(store: object, key: str, body: object, **more: object) -> object:
        if key.endswith("model-2.safetensors"):
            return put(store, key, bytes(1000))
        return put(store, key, body, **more)

    monkeypatch.setattr(obstore, "put", spoils)
    with pytest.raises(KfpTrainerError, match=r"model-2\.safetensors arrived as something else"):
        exported(model, "s3://bucket/spoilt/model")


@GO
def test_an_object_whose_etag_says_nothing_is_read_back(
    minio: Minio, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kfp_trainer.runtime_operator.workloads.export import objects

    for name, value in minio.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(objects, "_etag", lambda file: "another")
    assert exported(model, "s3://bucket/opaque/model").sent == len(MODEL)
    assert exported(model, "s3://bucket/opaque/model").sent == 0


def test_a_card_that_people_wrote_stays(
    hub: WritableHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    hub.add("org/card", {"README.md": b"by hand", "old.safetensors": b"old", "config.json": b"old"})
    small = write(tmp_path / "small", {"config.json": b"{}", "model.safetensors": b"new"})
    commits = hub.taken
    done = exported(small, "hf://org/card")
    assert hub.taken == commits + 1
    found = tree_of(hub, "org/card", done.location)
    assert found == {"README.md": b"by hand", "config.json": b"{}", "model.safetensors": b"new"}


def tree_of(hub: WritableHub, repo: str, location: str) -> dict[str, bytes]:
    commit = location.rpartition("@")[2]
    return {path: bytes(blob.body) for path, blob in hub.repos["model", repo].commits[commit].items()}  # type: ignore[arg-type]


def test_a_branch_is_made_and_the_default_left(
    hub: WritableHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    small = write(tmp_path / "small", {"config.json": b"{}", "model.safetensors": b"new"})
    exported(small, "hf://org/branches@next")
    refs = hub.repos["model", "org/branches"].refs
    assert refs["next"] != refs["main"]


def test_a_namespace_of_others(hub: WritableHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.setenv("HF_TOKEN", STRANGER)
    with pytest.raises(KfpTrainerError, match=r"the token is of you, who may write to you and not to org"):
        check_export("hf://org/name")


def test_a_hub_that_cannot_just_now_is_asked_again(
    hub: WritableHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    small = write(tmp_path / "small", {"config.json": b"{}", "model.safetensors": b"new"})
    hub.web.spoil(Answer(500), path="/commit/")
    assert exported(small, "hf://org/again").sent == 2
    hub.web.spoil(Answer(500), path="whoami", times=100)
    with pytest.raises(Retryable, match="the hub cannot serve now"):
        exported(small, "hf://org/again")
    hub.web.faults.clear()


@GO
def test_a_registry_that_cannot_just_now_is_asked_again(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGISTRY_USERNAME", USER)
    monkeypatch.setenv("REGISTRY_PASSWORD", PASSWORD)
    small = write(tmp_path / "small", {"config.json": b"{}", "model.safetensors": b"new"})
    registry.web.spoil(Answer(503), path="/manifests/v1", method="PUT")
    assert exported(small, f"oci://{registry.host}/org/again:v1").files == 2


@GO
def test_the_same_model_is_the_same_image(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGISTRY_USERNAME", USER)
    monkeypatch.setenv("REGISTRY_PASSWORD", PASSWORD)
    files = {"config.json": b"{}", "model.safetensors": os.urandom(2_000_000)}
    one, other = (write(tmp_path / name, files) for name in ("one", "other"))
    os.utime(other / "config.json", (1, 1))
    first = exported(one, f"oci://{registry.host}/org/same:v1")
    second = exported(other, f"oci://{registry.host}/org/same:v2")
    assert (second.location, second.sent) == (first.location, 0)


REFUSED = {
    "nowhere": ("", "to: is empty, give a folder or an address"),
    "a place nobody knows": (
        "s4://bucket/prefix",
        "s4://bucket/prefix is no place to export to, did",
    ),
    "a page": ("https://example.org/x", "is no place to export to, known are az, file"),
    "a bucket without a prefix": ("s3://bucket", r"names no prefix, give s3://BUCKET/PREFIX"),
    "a password in the address": (
        "oci://me:canary@registry.example/x:v1",
        "has a name, a password or a query",
    ),
    "a signature in the address": ("s3://bucket/x?X-Amz-Signature=canarycanary", "keep the address bare"),
    "an image by its digest": (f"oci://r.example/x@sha256:{'0' * 64}", "names no tag to push"),
    "a part of a repository": ("hf://org/name/sub", "names no repository to write to"),
    "a claim that is not mounted": ("pvc://none/x", "the claim none is not mounted at"),
    "a claim itself": ("pvc://claim", r"names no folder of a claim, give pvc://CLAIM/PATH"),
    "another machine": ("file://host/x", r"names another machine, give file:///PATH"),
    "a file": ("{here}/file", "is a file, give a folder"),
    "a hub without a token": ("hf://org/name", "there is no token, give HF_TOKEN"),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cannot_work_is_one_sentence(
    sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    to, words = REFUSED[sentence]
    (tmp_path / "file").touch()
    with pytest.raises(KfpTrainerError, match=words) as caught:
        check_export(to.format(here=tmp_path))
    assert "\n" not in str(caught.value)
    assert "canary" not in str(caught.value)


NO_MODELS: dict[str, tuple[dict[str, bytes], str]] = {
    "nothing": ({}, "does not exist"),
    "no configuration": ({"model.safetensors": b"x"}, "has neither config.json nor adapter_config.json"),
    "no weights": ({"config.json": b"{}"}, r"has no \*\.safetensors, there is nothing to export"),
}


@pytest.mark.parametrize("sentence", NO_MODELS)
def test_what_is_no_model_stays(sentence: str, tmp_path: Path) -> None:
    files, words = NO_MODELS[sentence]
    write(tmp_path / "model", files)
    with pytest.raises(KfpTrainerError, match=words):
        exported(tmp_path / "model", str(tmp_path / "to"))


def test_a_full_disk_leaves_the_model_before(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kfp_trainer.runtime_operator.workloads.export import folder

    exported(model, str(tmp_path / "kept"))
    before = tree(tmp_path / "kept")
    (model / "config.json").write_bytes(b"other")

    def full(*given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder.shutil, "copyfile", full)
    with pytest.raises(KfpTrainerError, match="No space left on device"):
        exported(model, str(tmp_path / "kept"))
    assert tree(tmp_path / "kept") == before


def test_the_command_says_where_it_is(model: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kfp_trainer.runtime_operator.workloads.export"]
    flags = [f"--model={model}", f"--to={tmp_path / 'kept'}"]
    done = subprocess.run([*command, *flags], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{tmp_path / 'kept'}: {len(MODEL)} files, ")

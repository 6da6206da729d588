"""package://: files of an installed package, and of a wheel from an index; nothing of it is run."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from tests.servers.fetching import fetched, tree
from tests.servers.web import Answer, Asked, WebServer, ranged

PASSWORD = "index-canary-0123"
WEIGHTS = bytes(range(256)) * 20_000
MEMBERS = {
    "small_model/__init__.py": b"raise SystemExit('this must not run')",
    "small_model/weights/model.safetensors": WEIGHTS,
    "small_model/weights/config.json": b"{}",
    "small_model-1.2.dist-info/RECORD": b"",
}


def make_wheel(file: Path, members: dict[str, bytes]) -> bytes:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members.items():
            archive.writestr(name, body)
    return file.read_bytes()


class Index:
    """An index with one project, in JSON or in HTML."""

    def __init__(self, folder: Path) -> None:
        self.wheels = {
            name: make_wheel(folder / name, {**MEMBERS, "small_model/weights/built-for": name.encode()})
            for name in (
                "small_model-1.2-cp311-cp311-linux_x86_64.whl",
                "small_model-1.2-py3-none-any.whl",
                "small_model-1.3-py3-none-any.whl",
            )
        }
        self.format = "json"
        self.lie = False
        self.web = WebServer(self.answer)

    def answer(self, asked: Asked) -> Answer:
        if asked.path.startswith("/files/"):
            body = self.wheels[asked.path.removeprefix("/files/")]
            return ranged(asked, body[:-1] + b"x" if self.lie else body, {"ETag": '"1"'})
        if asked.path != "/simple/small-model/":
            return Answer(404)
        sums = {name: hashlib.sha256(body).hexdigest() for name, body in self.wheels.items()}
        if self.format == "html":
            links = "".join(
                f'<a href="/files/{name}#sha256={value}">{name}</a>' for name, value in sums.items()
            )
            return Answer(200, {"Content-Type": "text/html"}, links.encode())
        files = [
            {"filename": name, "url": f"/files/{name}", "hashes": {"sha256": value}}
            for name, value in sums.items()
        ]
        kind = "application/vnd.pypi.simple.v1+json"
        return Answer(200, {"Content-Type": kind}, json.dumps({"files": files}).encode())


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    (tmp_path / "wheels").mkdir()
    index = Index(tmp_path / "wheels")
    with index.web:
        yield index


@pytest.mark.parametrize("format", ["json", "html"])
@pytest.mark.parametrize("variable", ["UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"])
def test_a_wheel_of_an_index(index: Index, tmp_path: Path, format: str, variable: str) -> None:
    index.format = format
    url = f"http://user:{PASSWORD}@{index.web.host}/simple/"
    done = fetched("package://small.model==1.2/small_model/weights", tmp_path / "d", {variable: url})
    assert tree(tmp_path / "d") == {
        "model.safetensors": WEIGHTS,
        "config.json": b"{}",
        "built-for": b"small_model-1.2-py3-none-any.whl",
    }
    assert done.manifest.revision == "small.model==1.2"
    assert PASSWORD not in (tmp_path / "d/MANIFEST.json").read_text()
    assert all("authorization" in asked.headers for asked in index.web.asked)


def test_a_second_fetch_moves_nothing(index: Index, tmp_path: Path) -> None:
    environ = {"PIP_INDEX_URL": f"{index.web.url}/simple"}
    uri = "package://small-model==1.2/small_model/weights"
    fetched(uri, tmp_path / "d", environ)
    sent = len(index.web.asked_for("/files/", method="GET"))
    assert fetched(uri, tmp_path / "d", environ).fetched == 0
    assert len(index.web.asked_for("/files/", method="GET")) == sent


def test_a_folder_of_wheels(index: Index, tmp_path: Path) -> None:
    environ = {"PIP_FIND_LINKS": str(tmp_path / "wheels")}
    fetched("package://small-model==1.2/small_model/weights/config.json", tmp_path / "d", environ)
    assert tree(tmp_path / "d") == {"config.json": b"{}"}
    assert not index.web.asked


def test_an_installed_package_is_taken_as_it_is(tmp_path: Path) -> None:
    from importlib.metadata import version

    uri = f"package://click=={version('click')}/click"
    done = fetched(uri, tmp_path / "d", {"PIP_INDEX_URL": "http://127.0.0.1:1/"}, kind="dataset")
    import click

    assert tree(tmp_path / "d")["core.py"] == (Path(click.__file__).parent / "core.py").read_bytes()
    assert all(file.promised.startswith("sha256:") for file in done.manifest.files)


REFUSALS = {
    "no version": ("package://small-model/x", "names no version, give package://NAME==VERSION/PATH"),
    "no such version": ("package://small-model==9/x", "has no wheel of small-model 9"),
    "no such package": ("package://other==1/x", "404"),
    "no such path": ("package://small-model==1.2/nowhere", "none of its|holds no files"),
}


@pytest.mark.parametrize("sentence", REFUSALS)
def test_a_refusal_is_one_sentence(index: Index, tmp_path: Path, sentence: str) -> None:
    uri, want = REFUSALS[sentence]
    with pytest.raises(KfpTrainerError, match=want):
        fetched(uri, tmp_path / "d", {"PIP_INDEX_URL": f"{index.web.url}/simple"})
    assert not (tmp_path / "d").exists()


def test_a_wheel_that_is_another_one_is_refused(index: Index, tmp_path: Path) -> None:
    index.lie = True
    with pytest.raises(KfpTrainerError, match="do not hash to what the source promises"):
        fetched("package://small-model==1.2/", tmp_path / "d", {"PIP_INDEX_URL": f"{index.web.url}/simple"})
    assert not (tmp_path / "d").exists()


EVIL = {
    "a name that leads out": "small_model/weights/../../../../evil.json",
    "a name that is absolute": "small_model/weights//etc/evil.json",
}


@pytest.mark.parametrize("sentence", EVIL)
def test_a_member_that_leads_elsewhere_is_refused(tmp_path: Path, sentence: str) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    make_wheel(wheels / "small_model-1.2-py3-none-any.whl", {**MEMBERS, EVIL[sentence]: b"evil"})
    with pytest.raises(KfpTrainerError, match=r"leads out of the folder|is absolute"):
        fetched(
            "package://small-model==1.2/small_model/weights", tmp_path / "d", {"PIP_FIND_LINKS": str(wheels)}
        )
    assert not (tmp_path / "d").exists()
    assert not list(tmp_path.rglob("evil*"))

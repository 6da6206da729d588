"""Answers that no server should give, addresses that lead nowhere: the right bytes, or one sentence."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from kfp_trainer.runtime_operator.workloads.fetch import lease
from kfp_trainer.runtime_operator.workloads.fetch.collect import Collector
from kfp_trainer.runtime_operator.workloads.fetch.pace import Patience
from kfp_trainer.runtime_operator.workloads.fetch.part import Part
from kfp_trainer.runtime_operator.workloads.fetch.selection import Selection
from tests.servers.fetching import fetched, tree
from tests.servers.site import Site
from tests.servers.web import Answer

FILES = {"config.json": b"{}", "model.safetensors": os.urandom(300_000)}
SHORT = Patience(first=0.01, most=0.02, tries=3, longest=5.0)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(FILES) as site:
        yield site


def refused(uri: str, target: Path, environ: dict[str, str] | None = None) -> str:
    with pytest.raises(KfpTrainerError) as caught:
        fetched(uri, target, environ, patience=SHORT)
    assert not target.exists()
    text = str(caught.value)
    assert "\n" not in text and "canary" not in text
    return text


ADDRESSES = {
    "a port that is none": ("http://localhost:abc/x", "is not an address, mind the brackets and the port"),
    "a port beyond all ports": (
        "http://localhost:99999/x",
        "is not an address, mind the brackets and the port",
    ),
    "half a bracket": ("http://[::1/x", "is not an address, mind the brackets and the port"),
    "a host with an empty part": ("http://a..b/x", "is not a host that can be asked"),
    "a host beyond all length": (f"http://{'ä' * 300}/x", "is not a host that can be asked"),
    "a host with a space": ("http://a b/x", "is not a host that can be asked"),
}


@pytest.mark.parametrize("sentence", ADDRESSES)
def test_an_address_that_leads_nowhere_is_one_sentence(tmp_path: Path, sentence: str) -> None:
    uri, want = ADDRESSES[sentence]
    assert want in refused(uri, tmp_path / "d")


REDIRECTS = {
    "to nothing": (None, "redirects in a circle"),
    "to half a bracket": ("http://[canary", "is no address"),
    "to a port beyond all ports": ("http://127.0.0.1:99999/", "is no address"),
    "to a host with an empty part": ("http://a..b/", "is not a host that can be asked"),
    "to a script": ("javascript:alert(1)", "which is not HTTP"),
    "to where nobody listens": ("http://127.0.0.1:9/?sig=canary-0123456789", "no connection"),
}


@pytest.mark.parametrize("sentence", REDIRECTS)
def test_a_redirect_that_leads_nowhere_is_one_sentence(site: Site, tmp_path: Path, sentence: str) -> None:
    where, want = REDIRECTS[sentence]
    headers = {"Location": where} if where else {}
    site.web.spoil(Answer(307, headers), path="model", times=99)
    assert want in refused(site.url, tmp_path / "d")


def test_a_redirect_to_a_name_in_unicode_is_followed(site: Site, tmp_path: Path) -> None:
    """The rules want percent signs; servers send UTF-8."""
    site.files["größe.json"] = b"[1]"
    where = "/größe.json".encode().decode("latin-1")
    site.web.spoil(Answer(302, {"Location": where}), path="x.json", times=99)
    fetched(f"{site.web.url}/x.json", tmp_path / "d", kind="dataset")
    assert tree(tmp_path / "d") == {"x.json": b"[1]"}


PASSING: dict[str, Answer] = {
    "Retry-After as a date in the past": Answer(503, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
    "Retry-After that is no number": Answer(503, {"Retry-After": "soon"}),
    "Retry-After in digits of another kind": Answer(503, {"Retry-After": "\xb2"}),
    "Retry-After below zero": Answer(429, {"Retry-After": "-5"}),
    "Retry-After of an impossible date": Answer(429, {"Retry-After": "Wed, 99 Foo 99999 99:99:99 GMT"}),
    "a length beyond all files": Answer(200, {"Content-Length": "9" * 5000}),
    "a length in digits of another kind": Answer(200, {"Content-Length": "\xb2"}),
    "a range of another kind": Answer(206, {"Content-Range": "lines 1-2/3"}, b"x"),
    "a range beyond all files": Answer(206, {"Content-Range": f"bytes {'9' * 5000}-1/2"}, b"x"),
}


@pytest.mark.parametrize("sentence", PASSING)
def test_an_odd_answer_is_got_over(site: Site, tmp_path: Path, sentence: str) -> None:
    for method in ("HEAD", "GET"):
        site.web.spoil(PASSING[sentence], path="model", method=method)
    fetched(site.url, tmp_path / "d", patience=SHORT)
    assert tree(tmp_path / "d") == FILES


@pytest.mark.parametrize("sentence", PASSING)
def test_an_odd_answer_that_lasts_is_one_sentence(site: Site, tmp_path: Path, sentence: str) -> None:
    site.web.spoil(PASSING[sentence], path="model", times=99)
    assert refused(site.url, tmp_path / "d")


def test_a_wait_without_end_is_not_waited(site: Site, tmp_path: Path) -> None:
    site.web.spoil(Answer(429, {"Retry-After": "9" * 500}), path="model", times=99)
    assert "429" in refused(site.url, tmp_path / "d")


TOKENS = {
    "a line end": "canary-token\nX-Injected: yes",
    "a sign that no header holds": "canary-token-\u2019",
}


@pytest.mark.parametrize("sentence", TOKENS)
def test_a_token_that_cannot_be_sent_is_not_told(site: Site, tmp_path: Path, sentence: str) -> None:
    text = refused(site.url, tmp_path / "d", {"ACCESS_TOKEN": TOKENS[sentence]})
    assert "Authorization has a line break or a character that no header can hold" in text
    assert not site.web.asked


NAMES: dict[str, tuple[str, str]] = {
    "a folder of our record's name": ("MANIFEST.json/x.json", "the name of our own record"),
    "a name of 300 letters": (f"{'x' * 300}.json", "is longer than a disk allows"),
    "a very deep name": ("/".join(["folder"] * 700) + "/x.json", "lie deeper than|longer than a disk allows"),
}


@pytest.mark.parametrize("sentence", NAMES)
def test_a_name_that_no_disk_holds_is_refused(tmp_path: Path, sentence: str) -> None:
    name, want = NAMES[sentence]
    with Site({**FILES, name: b"x"}) as site:
        assert re.search(want, refused(site.url, tmp_path / "d"))


def test_names_that_we_use_ourselves_are_names_like_others(tmp_path: Path) -> None:
    files = {
        **FILES,
        ".MANIFEST.json.part": b"1",
        ".fetch/journal": b"2",
        ".lock": b"3",
        ".d.lock": b"4",
        ".d.fetch/tree/x": b"5",
        "sub/MANIFEST.json": b"6",
    }
    with Site(files) as site:
        fetched(site.url, tmp_path / "d", kind="dataset")
        assert {name: (tmp_path / "d" / name).read_bytes() for name in files} == files
        assert fetched(site.url, tmp_path / "d", kind="dataset").fetched == 0


@pytest.mark.parametrize("name", [".fetch/tree/x.json", ".lock", ".lock.abc", "lost+found/x"])
def test_a_mount_point_keeps_its_own_names(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "d").mkdir()
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) == tmp_path / "d")
    with Site({**FILES, name: b"x"}) as site, pytest.raises(KfpTrainerError, match="needs itself"):
        fetched(site.url, tmp_path / "d", kind="dataset")
    assert not (tmp_path / "d/MANIFEST.json").exists()
    with Site({**FILES, name: b"x"}) as site:
        fetched(
            site.url, tmp_path / "d", kind="dataset", selection=Selection("dataset", ignore=(f"{name}*",))
        )
    assert tree(tmp_path / "d") == FILES


LEFT: dict[str, dict[str, bytes]] = {
    "a journal of rubbish": {
        ".d.fetch/journal": b"\nwrote x y z .\nsynced q .\nboot .\ndone a b c d .\n\xff ."
    },
    "a journal that lies": {".d.fetch/journal": b"\nboot x .\nsynced 99999999999999999999 .\nwrote a -5 7 ."},
    "a record of rubbish": {"d/MANIFEST.json": b'{"tool": "kfp-trainer", "format": 1, "files": [1]}'},
    "a record that is no object": {"d/MANIFEST.json": b"[]"},
    "a record of wrong types": {
        "d/MANIFEST.json": b'{"tool": "kfp-trainer", "format": 1, "source": 1, "kind": 2, "revision": 3, '
        b'"digest": 4, "bytes": "x", "listing": [], "selection": [], "started": 0, "finished": 0, '
        b'"left_out": [], "files": [{"path": 1, "size": "x", "sha256": 2, "mtime_ns": "y", "key": []}]}'
    },
    "a lock of rubbish": {".d.lock": b"\xff\xfe{"},
}


@pytest.mark.parametrize("sentence", LEFT)
def test_what_an_earlier_run_left_in_rags_is_got_over(
    site: Site, tmp_path: Path, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease.Lease.__init__, "__kwdefaults__", {"stale": 0.2, "beat": 5.0})
    for name, body in LEFT[sentence].items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(body)
    fetched(site.url, tmp_path / "d")
    assert tree(tmp_path / "d") == FILES


def test_a_disk_that_does_not_tell_two_names_apart_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a disk keeps one file of the two; here the other is taken away as soon as it is in its place."""
    take = Collector.take

    def take_and_lose(self: Collector, part: Part, size: int, sha256: str) -> None:
        take(self, part, size, sha256)
        if part.entry.path == "READme.md":
            (tmp_path / ".d.fetch/tree/READme.md").unlink()

    monkeypatch.setattr(Collector, "take", take_and_lose)
    with Site({**FILES, "readme.md": b"1", "READme.md": b"2"}) as site:
        text = refused(site.url, tmp_path / "d")
    assert "does not tell the name 'READme.md' from another file's" in text

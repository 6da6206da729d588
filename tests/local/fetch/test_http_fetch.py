"""http:// against a web server on loopback: what is there arrives, once, and nothing else takes its place."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from kfp_trainer.runtime_operator.workloads.fetch.hashing import hash_file, tree_digest
from kfp_trainer.runtime_operator.workloads.fetch.pace import Patience
from kfp_trainer.runtime_operator.workloads.fetch.selection import Selection
from tests.servers.fetching import fetched, tree
from tests.servers.site import Meter, Site
from tests.servers.web import Answer, WebServer, sha256

BIG = os.urandom(19_000_000)
FILES = {
    "config.json": b"{}",
    "model.safetensors": BIG,
    "data/train.jsonl": b'{"prompt": "a"}\n' * 1000,
    "data/part one/ünï.txt": "ü".encode(),
    "empty.txt": b"",
    **{f"many/{number:03}.txt": b"%d" % number for number in range(150)},
}


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(FILES) as site:
        yield site


def test_an_index_arrives_whole(site: Site, tmp_path: Path) -> None:
    done = fetched(site.url, tmp_path / "d")
    assert tree(tmp_path / "d") == FILES
    assert (done.fetched, done.manifest.bytes) == (sum(map(len, FILES.values())),) * 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d"], "nothing else is left"


def test_the_manifest_tells_what_arrived_and_from_where(site: Site, tmp_path: Path) -> None:
    fetched(site.url, tmp_path / "d")
    document = json.loads((tmp_path / "d/MANIFEST.json").read_text(encoding="utf-8"))
    sums = {path: sha256(body) for path, body in FILES.items()}
    assert {file["path"]: file["sha256"] for file in document["files"]} == sums
    assert document["digest"] == tree_digest(sums.items())
    assert document["source"] == site.url
    assert document["revision"].startswith("index-")
    assert document["started"] <= document["finished"]


def test_one_file_arrives_under_its_name(site: Site, tmp_path: Path) -> None:
    done = fetched(f"{site.url}data/part%20one/%C3%BCn%C3%AF.txt", tmp_path / "d")
    assert tree(tmp_path / "d") == {"ünï.txt": "ü".encode()}
    assert done.manifest.revision == sha256("ü".encode())[:16]


def test_the_second_fetch_moves_nothing(site: Site, tmp_path: Path) -> None:
    first = fetched(site.url, tmp_path / "d")
    sent = site.sent()
    second = fetched(site.url, tmp_path / "d")
    assert (second.fetched, second.manifest) == (0, first.manifest)
    assert site.sent() == sent


def test_only_what_changed_at_the_source_is_fetched(site: Site, tmp_path: Path) -> None:
    fetched(site.url, tmp_path / "d")
    site.files["config.json"] = b'{"a": 1}'
    del site.files["empty.txt"]
    done = fetched(site.url, tmp_path / "d")
    assert tree(tmp_path / "d") == site.files
    assert done.fetched == len(b'{"a": 1}')


DAMAGES = {
    "a file is gone": (lambda folder: (folder / "config.json").unlink(), False),
    "a file is shorter": (lambda folder: (folder / "config.json").write_bytes(b"{"), False),
    "a file has other bytes": (lambda folder: (folder / "config.json").write_bytes(b"[]"), False),
    "a file has other bytes and its old time": (lambda folder: _forge(folder / "config.json"), True),
    "a file is a link": (lambda folder: _link(folder / "config.json"), False),
}


@pytest.mark.parametrize("sentence", DAMAGES)
def test_a_damaged_folder_is_mended(site: Site, tmp_path: Path, sentence: str) -> None:
    damage, every_byte = DAMAGES[sentence]
    fetched(site.url, tmp_path / "d")
    damage(tmp_path / "d")
    done = fetched(site.url, tmp_path / "d", every_byte=every_byte)
    assert tree(tmp_path / "d") == FILES
    assert not (tmp_path / "d/config.json").is_symlink()
    assert done.fetched == len(FILES["config.json"])


def _forge(file: Path) -> None:
    before = file.stat()
    file.write_bytes(b"[]")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def _link(file: Path) -> None:
    file.rename(file.parent.parent / "elsewhere")
    file.symlink_to(file.parent.parent / "elsewhere")


def test_a_copied_folder_is_read_and_believed(site: Site, tmp_path: Path) -> None:
    fetched(site.url, tmp_path / "d")
    for path in (tmp_path / "d").rglob("*"):
        os.utime(path, (1, 1))
    assert fetched(site.url, tmp_path / "d").fetched == 0


def test_a_folder_of_somebody_else_is_left_alone(site: Site, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/thesis.tex").write_text("mine")
    with pytest.raises(KfpTrainerError, match=r"holds files that no fetch has put there .thesis.tex."):
        fetched(site.url, tmp_path / "d")
    assert tree(tmp_path / "d") == {"thesis.tex": b"mine"}


def test_a_note_beside_fetched_files_is_not_thrown_away(site: Site, tmp_path: Path) -> None:
    fetched(site.url, tmp_path / "d")
    (tmp_path / "d/note.txt").write_text("mine")
    assert fetched(site.url, tmp_path / "d").fetched == 0
    site.files["config.json"] = b"[1]"
    with pytest.raises(KfpTrainerError, match=r"note.txt"):
        fetched(site.url, tmp_path / "d")
    assert (tmp_path / "d/note.txt").read_text() == "mine"


def test_a_server_without_validators_is_read_in_one_stream_and_never_believed(tmp_path: Path) -> None:
    with Site({"a.bin": BIG}, validator="") as site:
        fetched(f"{site.url}a.bin", tmp_path / "d", kind="dataset")
        assert not [each for each in site.web.asked if "range" in each.headers]
        site.files["a.bin"] = BIG[::-1]
        done = fetched(f"{site.url}a.bin", tmp_path / "d", kind="dataset")
        assert tree(tmp_path / "d") == {"a.bin": BIG[::-1]}
        assert done.fetched == len(BIG)


def test_a_server_without_ranges_is_read_from_the_start(tmp_path: Path) -> None:
    with Site({"a.safetensors": BIG}, ranges=False) as site:
        site.web.spoil(path="a.safetensors", method="GET", cut_after=5_000_000)
        fetched(site.url, tmp_path / "d")
        assert tree(tmp_path / "d") == {"a.safetensors": BIG}


def test_sums_beside_the_files_are_compared(tmp_path: Path) -> None:
    files = {"a.txt": b"a", "b/c.txt": b"c"}
    sums = "".join(f"{sha256(body)}  {path}\n" for path, body in files.items()).encode()
    with Site({**files, "SHA256SUMS": sums}) as site:
        fetched(site.url, tmp_path / "d")
        site.files["b/c.txt"] = b"x"
        with pytest.raises(KfpTrainerError, match=r"c.txt: its bytes do not hash to what"):
            fetched(site.url, tmp_path / "e")
    assert not (tmp_path / "e").exists()


NAMES = {
    "a name with ..": ("..%2Fx", "leads out of the folder by .."),
    "a name with .. in the middle": ("a%2F..%2F..%2Fx", "leads out of the folder by .."),
    "an absolute name": ("%2Fetc%2Fpasswd", "is absolute"),
    "a name with a backslash": ("a%5Cb", "has a backslash"),
    "a name with a line end": ("a%0Ab", "control character"),
    "a name with a NUL": ("a%00b", "control character"),
}


@pytest.mark.parametrize("sentence", NAMES)
def test_a_name_that_leads_elsewhere_is_refused(site: Site, tmp_path: Path, sentence: str) -> None:
    name, want = NAMES[sentence]
    page = f'<a href="{name}">x</a><a href="config.json">y</a>'.encode()
    site.web.spoil(Answer(200, {"Content-Type": "text/html"}, page), path="^/$", times=9)
    site.web.spoil(Answer(200, {"ETag": '"1"'}, b"evil"), path="%", times=9)
    with pytest.raises(KfpTrainerError, match=want):
        fetched(site.url, tmp_path / "d")
    assert not (tmp_path / "d").exists()
    assert not (tmp_path / "x").exists()


LASTING = {
    "it is not there": ("nope.txt", Answer(404), "404 Not Found, mind the spelling"),
    "it may not be read": ("config.json", Answer(403), "403 Forbidden, check the credentials"),
    "it redirects in a circle": ("config.json", Answer(302, {"Location": "/config.json"}), "in a circle"),
    "it redirects to a file": ("config.json", Answer(302, {"Location": "file:///etc/passwd"}), "not HTTP"),
    "it is always busy": ("config.json", Answer(503), "503"),
    "it is busy for an hour": ("config.json", Answer(429, {"Retry-After": "3600"}), "429"),
    "it is compressed": (
        "config.json",
        Answer(200, {"Content-Encoding": "gzip", "ETag": '"1"'}, b"zz"),
        "is sent as gzip",
    ),
}


@pytest.mark.parametrize("sentence", LASTING)
def test_a_lasting_fault_is_one_sentence(site: Site, tmp_path: Path, sentence: str) -> None:
    name, answer, want = LASTING[sentence]
    site.web.spoil(answer, path=name, times=1000)
    began = time.monotonic()
    with pytest.raises(KfpTrainerError, match=want) as caught:
        fetched(f"{site.url}{name}", tmp_path / "d")
    assert "\n" not in str(caught.value)
    assert time.monotonic() - began < 20
    assert {path.name for path in tmp_path.iterdir()} <= {".d.fetch"}


def test_a_hang_is_noticed_and_gone_on_from(site: Site, tmp_path: Path, short_stall: float) -> None:
    site.web.spoil(path="model.safetensors", method="GET", cut_after=100_000, hang=True, times=3)
    began = time.monotonic()
    done = fetched(site.url, tmp_path / "d")
    assert tree(tmp_path / "d") == FILES
    assert time.monotonic() - began >= short_stall
    assert done.fetched < sum(map(len, FILES.values())) * 1.01


def test_a_trickle_is_broken_off_and_gone_on_from(site: Site, tmp_path: Path) -> None:
    patience = Patience(first=0.01, most=0.01, tries=20, stall=0.5, least_rate=1_000_000)
    with Meter(int(site.web.host.rpartition(":")[2]), rate=50_000) as meter:
        site.files["slow.json"] = os.urandom(100_000)
        fetched(f"http://127.0.0.1:{meter.port}/slow.json", tmp_path / "d", patience=patience)
        assert meter.count < 150_000, "what had come was kept"
    assert tree(tmp_path / "d") == {"slow.json": site.files["slow.json"]}
    assert len(site.web.asked_for("slow.json", method="GET")) > 1


def test_retry_after_is_obeyed(site: Site, tmp_path: Path) -> None:
    site.web.spoil(Answer(429, {"Retry-After": "1"}), path="config.json")
    began = time.monotonic()
    fetched(f"{site.url}config.json", tmp_path / "d")
    assert time.monotonic() - began >= 1.0


def test_a_file_that_changes_on_the_way_is_fetched_anew(site: Site, tmp_path: Path) -> None:
    answer, changed = site.web._answer, BIG[::-1]

    def change(asked: object) -> Answer:
        if len(site.web.asked_for("model.safetensors", method="GET")) == 3:
            site.files["model.safetensors"] = changed
        return answer(asked)  # type: ignore[arg-type]

    site.web._answer = change
    fetched(f"{site.url}model.safetensors", tmp_path / "d")
    assert tree(tmp_path / "d") == {"model.safetensors": changed}


def test_a_file_that_never_stops_changing_is_given_up(site: Site, tmp_path: Path) -> None:
    answer, number = site.web._answer, 0

    def change(asked: object) -> Answer:
        nonlocal number
        number += 1
        site.files["config.json"] = b"%d" % number
        return answer(asked)  # type: ignore[arg-type]

    site.web._answer = change
    with pytest.raises(KfpTrainerError, match="again and again"):
        fetched(f"{site.url}config.json", tmp_path / "d")


def test_pickles_are_refused_unless_asked_for(tmp_path: Path) -> None:
    files = {"config.json": b"{}", "pytorch_model.bin": b"pickle"}
    with Site(files) as site:
        with pytest.raises(KfpTrainerError, match=r"its weights are pickles .pytorch_model.bin."):
            fetched(site.url, tmp_path / "d")
        fetched(site.url, tmp_path / "d", selection=Selection("model", pickles=True))
    assert tree(tmp_path / "d") == files


def test_a_folder_that_is_there_stays_until_the_new_one_is_whole(site: Site, tmp_path: Path) -> None:
    fetched(site.url, tmp_path / "d")
    site.files["config.json"] = b"[1]"
    site.web.spoil(Answer(500), path="config.json", method="GET", times=1000)
    with pytest.raises(KfpTrainerError, match="500"):
        fetched(site.url, tmp_path / "d")
    assert tree(tmp_path / "d") == FILES


def test_every_file_that_can_be_seen_is_whole(site: Site, tmp_path: Path) -> None:
    answer = site.web._answer
    seen: list[Path] = []

    def look(asked: object) -> Answer:
        seen.extend(path for path in (tmp_path / "d").rglob("*") if path.is_file())
        return answer(asked)  # type: ignore[arg-type]

    site.web._answer = look
    fetched(site.url, tmp_path / "d")
    assert seen == []
    assert hash_file(tmp_path / "d/model.safetensors") == sha256(BIG)


def test_a_mount_point_is_filled_from_inside(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "d"
    (target / "lost+found").mkdir(parents=True)
    monkeypatch.setattr(os.path, "ismount", lambda path: str(path) == str(target))
    fetched(site.url, target)
    assert tree(target) == FILES
    site.files["config.json"] = b"[1]"
    del site.files["many/001.txt"]
    fetched(site.url, target)
    assert tree(target) == site.files
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d"]
    assert not [path.name for path in target.iterdir() if path.name.startswith(".")]


def test_a_run_that_died_while_it_published_is_finished_without_the_source(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched(site.url, tmp_path / "d")
    site.files["config.json"] = b"[1]"
    rename = os.rename

    def die(source: object, target: object) -> None:
        if str(source).endswith("tree"):
            raise KeyboardInterrupt
        rename(source, target)  # type: ignore[arg-type]

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(os, "rename", die)
        fetched(site.url, tmp_path / "d")
    assert not (tmp_path / "d").exists()
    site.web.spoil(Answer(404), times=1000)
    with pytest.raises(KfpTrainerError, match="404"):
        fetched(site.url, tmp_path / "d")
    assert tree(tmp_path / "d") == site.files
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def test_folders_that_lead_in_a_circle_are_refused(tmp_path: Path) -> None:
    page = Answer(200, {"Content-Type": "text/html"}, b'<a href="again/">again</a>')
    with WebServer(lambda _: page) as web, pytest.raises(KfpTrainerError, match="a link leads in a circle"):
        fetched(f"{web.url}/", tmp_path / "d")
    assert list(tmp_path.iterdir()) == []


def test_a_listing_that_breaks_off_goes_on_where_it_was(tmp_path: Path) -> None:
    files = {f"{number}.txt": b"%d" % number for number in range(300)}
    with Site(files) as site:
        site.web.spoil(Answer(503), path=r"[05]\.txt", method="HEAD", times=90)
        fetched(site.url, tmp_path / "d", kind="dataset")
        assert tree(tmp_path / "d") == files
        assert len(site.web.asked_for("txt", method="HEAD")) <= len(files) + 90


def test_ranges_that_a_server_does_not_tell_of_are_found(site: Site, tmp_path: Path) -> None:
    answer = site.web._answer

    def silent(asked: object) -> Answer:
        got = answer(asked)  # type: ignore[arg-type]
        got.headers.pop("Accept-Ranges", None)
        return got

    site.web._answer = silent
    site.web.spoil(path="model.safetensors", method="GET", cut_after=2_000_000, times=3)
    done = fetched(f"{site.url}model.safetensors", tmp_path / "d")
    assert tree(tmp_path / "d") == {"model.safetensors": BIG}
    assert done.fetched < len(BIG) * 1.01


def test_with_sums_a_server_without_validators_serves_in_ranges(tmp_path: Path) -> None:
    sums = f"{sha256(BIG)}  a.bin\n".encode()
    with Site({"a.bin": BIG, "SHA256SUMS": sums}, validator="") as site:
        fetched(site.url, tmp_path / "d", kind="dataset")
        assert [each for each in site.web.asked_for("a.bin", method="GET") if "range" in each.headers]
    assert tree(tmp_path / "d")["a.bin"] == BIG


def test_a_server_that_only_says_it_serves_ranges_is_read_whole(tmp_path: Path) -> None:
    with Site({"model.safetensors": BIG}, ranges=False) as site:
        site.web.spoil(
            headers={"Accept-Ranges": "bytes", "ETag": f'"{sha256(BIG)[:16]}"'}, method="HEAD", times=9
        )
        fetched(site.url, tmp_path / "d")
    assert tree(tmp_path / "d") == {"model.safetensors": BIG}

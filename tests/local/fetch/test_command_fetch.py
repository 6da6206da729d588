"""The command in a container: Trainer's environment, its folders, its exit codes, and where progress goes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.servers.fetching import tree
from tests.servers.site import Site
from tests.servers.web import Answer, Asked, WebServer

MODULE = "kfp_trainer.runtime_operator.workloads.fetch"
FILES = {
    "config.json": b"{}",
    "model.safetensors": b"s" * 1000,
    "a.bin": b"b",
    "b.pt": b"p",
    "readme.md": b"#",
}
CLEAN = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(FILES) as site:
        yield site


def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", MODULE, *arguments],
        env={**CLEAN, **environ},
        capture_output=True,
        text=True,
        timeout=300,
    )


def last(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


ENVIRONMENTS: dict[str, tuple[str, Mapping[str, str], set[str]]] = {
    "a model without patterns: the documented default applies": (
        "model",
        {},
        {"config.json", "model.safetensors", "readme.md"},
    ),
    "a model with patterns: they take the default's place": (
        "model",
        {"IGNORE_PATTERNS": "*.md, *.pt"},
        {"config.json", "model.safetensors"},
    ),
    "an empty list is none": (
        "model",
        {"IGNORE_PATTERNS": ""},
        {"config.json", "model.safetensors", "readme.md"},
    ),
    "a dataset has no default": ("dataset", {}, set(FILES)),
    "a dataset with patterns": (
        "dataset",
        {"IGNORE_PATTERNS": "*.bin,*.pt,*.safetensors"},
        {"config.json", "readme.md"},
    ),
    "only what is asked for": ("dataset", {"INCLUDE_PATTERNS": "*.json"}, {"config.json"}),
}


@pytest.mark.parametrize("sentence", ENVIRONMENTS)
def test_trainers_environment(site: Site, tmp_path: Path, sentence: str) -> None:
    kind, environ, want = ENVIRONMENTS[sentence]
    end = last(run(kind, "", str(tmp_path / "d"), STORAGE_URI=site.url, **environ))
    assert set(tree(tmp_path / "d")) == want
    assert (end["event"], end["files"]) == ("end", len(want))


@pytest.mark.parametrize("kind", ["dataset", "model"])
def test_without_a_folder_it_is_trainers(site: Site, tmp_path: Path, kind: str) -> None:
    script = f'mount --bind "$PLACE" /workspace && exec {sys.executable} -m {MODULE} {kind}'
    (tmp_path / "volume").mkdir()
    prepare = "mkdir -p /workspace" if os.getuid() == 0 else "true"
    made = not Path("/workspace").exists()
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", f"{prepare} && {script}"],
        env={**CLEAN, "PLACE": str(tmp_path / "volume"), "STORAGE_URI": site.url},
        capture_output=True,
        text=True,
        timeout=300,
    )
    if made and Path("/workspace").is_dir():
        Path("/workspace").rmdir()
    if "unshare" in done.stderr or "mount:" in done.stderr or "mkdir" in done.stderr:
        pytest.skip(f"no mount namespace here: {done.stderr.strip()}")
    assert last(done)["folder"] == f"/workspace/{kind}"
    assert [path.name for path in (tmp_path / "volume").iterdir()] == [kind]


def test_a_token_goes_along(tmp_path: Path) -> None:
    with Site(FILES, token="abc-token") as site:
        assert run("model", site.url, str(tmp_path / "d")).returncode == 1
        last(run("model", site.url, str(tmp_path / "d"), ACCESS_TOKEN="abc-token"))


ERRORS = {
    "no address": ([], {}, 2, "fetch model: no address, give one or set STORAGE_URI"),
    "no scheme": (["tatsu-lab/alpaca"], {}, 2, "is not an address, give SCHEME://PLACE"),
    "an unknown scheme": (["ftp://host/file"], {}, 2, "ftp://: is not a scheme that can be fetched from"),
    "Trainer's cache": (["cache://schema/table"], {}, 2, "cache:// is not served: it is Trainer's copy"),
    "a claim that is not mounted": (
        ["pvc://claim/path"],
        {},
        3,
        "the claim claim is not mounted at /mnt/claims/claim",
    ),
    "a bad switch": (["file:///etc/hostname"], {"ALLOW_PICKLES": "perhaps"}, 2, "must be true or false"),
    "a folder that is a file": (["file:///etc/hostname", "/etc/hostname"], {}, 2, "is a file, give a folder"),
}


@pytest.mark.parametrize("sentence", ERRORS)
def test_an_error_is_a_sentence_and_a_code(tmp_path: Path, sentence: str) -> None:
    arguments, environ, code, want = ERRORS[sentence]
    folder = [] if len(arguments) != 1 else [str(tmp_path / "d")]
    done = run("model", *arguments, *folder, **environ)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("error: ")
    assert want in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_progress_goes_to_the_jobs_endpoint(site: Site, tmp_path: Path) -> None:
    posted: list[Any] = []

    def answer(asked: Asked) -> Answer:
        assert asked.headers["authorization"] == "Bearer job-token"
        posted.append(json.loads(asked.body))
        return Answer(200, {}, b"{}")

    (tmp_path / "token").write_text("job-token\n")
    with WebServer(answer) as endpoint:
        url = f"{endpoint.url}/apis/trainer.kubeflow.org/v1alpha1/namespaces/a/trainjobs/b/status"
        last(
            run(
                "model",
                site.url,
                str(tmp_path / "d"),
                KUBEFLOW_TRAINER_SERVER_URL=url,
                KUBEFLOW_TRAINER_SERVER_TOKEN=str(tmp_path / "token"),
            )
        )
        assert endpoint.asked[0].path.endswith("/trainjobs/b/status")
    percents = [each["trainerStatus"]["progressPercentage"] for each in posted]
    assert percents[-1] == 100
    assert percents == sorted(percents)
    from kfp_trainer.runtime_operator.progress.payload import read_payload

    for each in posted:
        assert read_payload(json.dumps(each).encode(), name="b") == each["trainerStatus"]


def test_an_endpoint_that_is_down_harms_nothing(site: Site, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("job-token")
    done = run(
        "model",
        site.url,
        str(tmp_path / "d"),
        KUBEFLOW_TRAINER_SERVER_URL="http://127.0.0.1:1/",
        KUBEFLOW_TRAINER_SERVER_TOKEN=str(tmp_path / "token"),
    )
    last(done)
    assert done.stderr.splitlines() == [
        "warning: the progress cannot be posted (Connection refused); the fetch goes on"
    ]


def test_the_command_of_the_project_is_the_same(site: Site, tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("kfp-trainer")
    done = subprocess.run(
        [str(program), "fetch", "model", site.url, str(tmp_path / "d")],
        env=CLEAN,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert last(done)["files"] == 3
    refused = subprocess.run(
        [str(program), "fetch", "model", "cache://a/b"],
        env=CLEAN,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert refused.returncode == 2
    assert refused.stderr.startswith("kfp-trainer: cache:// is not served")

"""The Containerfiles agree with the table of images, and their lists with constraints.txt."""

import platform
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import requires
from pathlib import Path

import pytest
import yaml
from kfp import compiler, dsl
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from kfp_trainer.components.evaluation.gate_model import gate_model
from kfp_trainer.runtime_operator.images import IMAGES, REGISTRY, VERSION, image
from tests.cluster.process_node.images import ENTRYPOINTS, NOT_ROOT
from tests.images.building import DEBIAN
from tests.images.containerfile import Config, Stage, instructions, parse

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "manifests/images"
TEXTS = {path.parent.name: path.read_text() for path in sorted(FOLDER.glob("*/Containerfile"))}
LISTS = {name: (FOLDER / name / "requirements.txt").read_text() for name in TEXTS}
EXTRAS = {
    "operator": {"operator"},
    "workload": {"local", "operator", "pipelines", "katib", "registry"},
    "workload-cuda": {"local", "operator", "pipelines", "katib", "registry"},
    "workload-torchtune": {"local", "operator", "pipelines", "katib", "registry", "torchtune"},
}
ON = {
    "operator": ["operator"],
    "workload": ["workload", "workload-cuda"],
    "workload-cuda": ["workload", "workload-cuda"],
    "workload-torchtune": ["workload", "workload-cuda", "workload-torchtune"],
}
"""the lists that an image holds: its own, and those of what it is built on"""
PAGE = (ROOT / "docs/images.md").read_text()
SPEAKERS = ("README.md", "docs", "components", "pipelines", "manifests", "runtime_operator", "tests/cluster")
every_image = pytest.mark.parametrize("name", TEXTS)


def pinned(text: str) -> dict[str, str]:
    found = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;]+)", text, re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


def config(name: str) -> Config:
    """What an image says of running, with what its base says."""
    last = parse(TEXTS[name])[-1]
    own = last.base.removeprefix(f"{REGISTRY}/").partition(":")[0]
    told = config(own) if last.base.startswith(REGISTRY) else Config()
    for keyword, words in last.instructions:
        if keyword not in ("RUN", "COPY", "ARG"):
            told = told.changed(keyword, words)
    return told


def runs(stage: Stage) -> list[str]:
    return [words for keyword, words in stage.instructions if keyword == "RUN"]


def test_every_image_of_the_table_has_a_containerfile_and_a_list() -> None:
    assert set(TEXTS) == set(IMAGES)


def test_every_image_that_is_named_is_in_the_table() -> None:
    files = [file for each in SPEAKERS for file in files_of(ROOT / each)]
    named = {
        found for file in files for found in re.findall(rf"{REGISTRY}/[\w./-]+:[\w.-]+\w", file.read_text())
    }
    assert named == set(IMAGES.values())


def files_of(path: Path) -> Iterable[Path]:
    kinds = {".py", ".yaml", ".md", ""}
    return (
        [path]
        if path.is_file()
        else (each for each in path.rglob("*") if each.suffix in kinds and each.is_file())
    )


@every_image
def test_it_runs_as_the_user_whom_the_tests_of_pods_take(name: str) -> None:
    assert config(name).user == f"{NOT_ROOT}:{NOT_ROOT}"
    assert config(name).entrypoint == ENTRYPOINTS.get(name, ())


@every_image
def test_it_writes_nothing_but_to_tmp(name: str) -> None:
    env = config(name).env
    assert (env["HOME"], env["PYTHONDONTWRITEBYTECODE"]) == ("/tmp", "1")


def test_claims_of_our_runtimes_may_be_written_by_that_user() -> None:
    checked = 0
    for file in ROOT.glob("manifests/runtimes/*.yaml"):
        document = yaml.safe_load(file.read_text())
        for job in document.get("spec", {}).get("template", {}).get("spec", {}).get("replicatedJobs", ()):
            pod = job["template"]["spec"]["template"]["spec"]
            (container,) = pod["containers"]
            if container.get("image", "").startswith(REGISTRY) and container.get("volumeMounts"):
                checked += 1
                assert pod["securityContext"]["fsGroup"] == NOT_ROOT, f"{file.name}: {job['name']}"
    assert checked


@every_image
def test_its_labels_name_it_and_its_version(name: str) -> None:
    labels = {
        key.removeprefix("org.opencontainers.image."): value for key, value in config(name).labels.items()
    }
    assert (labels["title"], labels["version"], labels["licenses"]) == (name, VERSION, "Apache-2.0")


@every_image
def test_it_starts_from_debian_or_from_ours(name: str) -> None:
    stages = parse(TEXTS[name])
    allowed = {DEBIAN, *(stage.name for stage in stages), *IMAGES.values()} - {"", image(name)}
    assert {stage.base for stage in stages} <= allowed


@every_image
def test_nothing_is_installed_without_a_hash(name: str) -> None:
    words = " ".join(words for stage in parse(TEXTS[name]) for words in runs(stage))
    installs = re.findall(r"pip --python \S+ install ([^&]*)", words)
    assert installs
    assert [each for each in installs if "--require-hashes" not in each and "--no-index" not in each] == []


@every_image
def test_pip_stays_behind(name: str) -> None:
    assert "pip" not in " ".join(runs(parse(TEXTS[name])[-1]))


@every_image
def test_the_list_names_a_version_and_hashes_for_each_and_no_index(name: str) -> None:
    entries = re.findall(r"^[a-z0-9].*\n(?:    .*\n)*", LISTS[name], re.MULTILINE)
    shape = re.compile(r"[a-z0-9.-]+(\[[a-z,]+\])?==\S+(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n")
    assert [each for each in entries if not shape.fullmatch(each)] == []
    assert "".join(entries) == re.sub("^#.*\n", "", LISTS[name], flags=re.MULTILINE)


@every_image
def test_the_list_has_the_versions_that_everything_was_tested_with(name: str) -> None:
    tested = pinned((ROOT / "constraints.txt").read_text())
    listed = pinned(LISTS[name])
    said = "run: python manifests/images/write_requirements.py"
    assert listed == {each: tested[each] for each in listed}, said


@pytest.mark.skipif(
    (sys.platform, platform.machine(), sys.version_info[:2]) != ("linux", "x86_64", (3, 11)),
    reason="what packages need is read from those installed here: Linux on x86_64 with Python 3.11",
)
@every_image
def test_the_lists_hold_all_that_the_extras_need_and_no_more(name: str) -> None:
    listed = [each for one in ON[name] for each in pinned(LISTS[one])]
    assert len(listed) == len(set(listed)), "a package stands in two lists of one image"
    assert set(listed) == needed(EXTRAS[name]), "run: python manifests/images/write_requirements.py"


def needed(extras: Iterable[str]) -> set[str]:
    """The names of all that these extras of ours come to, by what the installed packages tell."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    ours: dict[str, list[str]] = project["optional-dependencies"]
    waiting = [
        Requirement(each) for each in (*project["dependencies"], *(r for e in extras for r in ours[e]))
    ]
    done: set[tuple[str, str]] = set()
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        for extra in {"", *wanted.extras}:
            if (name, extra) in done:
                continue
            done.add((name, extra))
            if name == "kfp-trainer":
                waiting += [Requirement(each) for each in ours.get(extra, [])]
                continue
            environment = {**default_environment(), "extra": extra}
            found = [Requirement(each) for each in requires(name) or ()]
            waiting += [each for each in found if not each.marker or each.marker.evaluate(environment)]
    return {name for name, _ in done} - {"kfp-trainer"}


def test_the_page_tells_every_argument_of_a_build() -> None:
    told = set(re.findall(r"^\| `(\w+)=", PAGE, re.MULTILINE))
    assert told == {
        words.partition("=")[0]
        for text in TEXTS.values()
        for keyword, words in instructions(text)
        if keyword == "ARG"
    }


def test_the_page_builds_every_image() -> None:
    assert [image(name) for name in IMAGES] == re.findall(r"^podman build -t (\S+) ", PAGE, re.MULTILINE)


def test_a_step_runs_in_the_image_that_the_page_lets_it(tmp_path: Path) -> None:
    @dsl.pipeline(name="p")
    def steps() -> None:
        gate_model(model_path="a", evaluation_path="b", rules="c").set_container_image("mine:1")

    assert "set_container_image" in PAGE
    compiler.Compiler().compile(steps, str(tmp_path / "p.yaml"))
    assert re.findall(r"^ +image: (\S+)", (tmp_path / "p.yaml").read_text(), re.MULTILINE) == ["mine:1"]


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl: not on the PATH")
def test_the_kustomization_of_the_page_renames_the_operator(tmp_path: Path) -> None:
    document = yaml.safe_load(re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0])
    shutil.copytree(ROOT / "manifests", tmp_path / "manifests")
    mine = tmp_path / "manifests/overlays/mine"
    mine.mkdir()
    (mine / "kustomization.yaml").write_text(yaml.safe_dump(document))
    built = subprocess.run(["kubectl", "kustomize", mine], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"image: (\S*operator\S*)", built) == [f"registry.example.org/ml/operator:{VERSION}"]


def test_the_image_of_ones_own_on_the_page_is_built_on_ours() -> None:
    (text,) = [
        each for each in re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL) if "FROM" in each
    ]
    stages = parse(text)
    assert {stage.base for stage in stages} <= set(IMAGES.values())
    kept = [keyword for keyword, _ in stages[-1].instructions]
    assert kept == ["COPY"], "the last stage keeps the user of its base"

"""What pyproject.toml lists by hand is complete, and the pinned versions satisfy it."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ROOMS = ("components", "pipelines", "runtime_operator", "manifests")


def test_every_package_is_listed() -> None:
    found = {
        "kfp_trainer." + ".".join(init.parent.relative_to(ROOT).parts)
        for room in ROOMS
        for init in (ROOT / room).rglob("__init__.py")
        if "tests" not in init.relative_to(ROOT).parts
    }
    assert set(PYPROJECT["tool"]["setuptools"]["packages"]) == found


def test_every_requirement_is_pinned() -> None:
    pinned = {
        name.lower().replace("_", "-").replace(".", "-")
        for name in re.findall(r"^([A-Za-z0-9._-]+)==", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    }
    project = PYPROJECT["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    wanted = {re.split(r"[\[<>=!~ ]", requirement)[0].lower() for group in groups for requirement in group}
    wanted = {name.replace("_", "-").replace(".", "-") for name in wanted} - {"kfp-trainer"}
    assert wanted - pinned == set()


def test_the_version_is_the_newest_of_the_changelog() -> None:
    versions = re.findall(r"^## ([0-9.]+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert versions[0] == PYPROJECT["project"]["version"] == version("kfp-trainer")


def test_the_top_level_holds_only_what_a_newcomer_expects() -> None:
    allowed = {
        *ROOMS, "tests", "docs", "pyproject.toml", "constraints.txt", "Makefile",
        "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE",
    }  # fmt: skip
    made = re.compile(r"build|dist|.*\.egg-info")
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert {name for name in found - allowed if not made.fullmatch(name)} == set()

"""The rules that kubeflow/pipelines-components has for an asset, one test a rule; images are our own."""

import ast
import importlib
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from kfp_trainer.runtime_operator.images import IMAGES
from tests.component_readmes import assets, described, function_of, indexes, readme_of

ROOT = Path(__file__).resolve().parents[3]
ASSETS = assets()
COMPONENTS = [folder for folder in ASSETS if folder.parent.parent.name == "components"]
CATEGORIES = {"data_processing", "training", "evaluation", "deployment"}
VERSION = re.compile(r"(==|>=|<=)?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
YEAR = 365
MOST_PARAMETERS = 10
MOST_BYTES = 1536  # of a component's code in the compiled document


def name(folder: Path) -> str:
    return str(folder.relative_to(ROOT))


every_asset = pytest.mark.parametrize("folder", ASSETS, ids=name)
every_component = pytest.mark.parametrize("folder", COMPONENTS, ids=name)


def metadata(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((folder / "metadata.yaml").read_text())
    return found


def component_of(folder: Path) -> Any:
    module = ".".join(folder.relative_to(ROOT).parts)
    return getattr(importlib.import_module(f"kfp_trainer.{module}"), folder.name)


@every_asset
def test_an_asset_has_its_files(folder: Path) -> None:
    source = "component.py" if folder in COMPONENTS else "pipeline.py"
    wanted = [source, "__init__.py", "metadata.yaml", "OWNERS", "README.md"]
    tests = ["tests/__init__.py", "tests/test_component_unit.py", "tests/test_component_local.py"]
    wanted += tests if folder in COMPONENTS else []
    assert [each for each in wanted if not (folder / each).is_file()] == []
    assert re.fullmatch("[a-z][a-z0-9_]*", folder.name)


@every_component
def test_a_component_has_a_category(folder: Path) -> None:
    assert folder.parent.name in CATEGORIES
    assert (folder.parent / "__init__.py").is_file()


@every_asset
def test_the_package_gives_its_one_function(folder: Path) -> None:
    assert function_of(folder).name == folder.name
    assert f'__all__ = ["{folder.name}"]' in (folder / "__init__.py").read_text()


@every_asset
def test_metadata_has_its_fields_in_their_order(folder: Path) -> None:
    known = metadata(folder)
    required = [key for key in known if key not in ("tags", "ci", "links")]
    assert required == ["name", "stability", "dependencies", "lastVerified"]
    assert known["name"] == folder.name
    assert known["stability"] in ("experimental", "alpha", "beta", "stable")
    assert all(isinstance(tag, str) for tag in known["tags"])


@every_asset
def test_dependencies_have_whole_versions_and_name_pipelines(folder: Path) -> None:
    dependencies = metadata(folder)["dependencies"]
    assert set(dependencies) <= {"kubeflow", "external_services"}
    assert "Pipelines" in [each["name"] for each in dependencies["kubeflow"]]
    for each in (*dependencies["kubeflow"], *dependencies.get("external_services", ())):
        assert VERSION.fullmatch(each["version"]), each


@every_asset
def test_it_was_verified_within_a_year(folder: Path) -> None:
    verified = metadata(folder)["lastVerified"]
    assert isinstance(verified, datetime)
    verified = verified if verified.tzinfo else verified.replace(tzinfo=UTC)
    assert abs((datetime.now(UTC) - verified).days) < YEAR


@every_asset
def test_owners_are_named_right_behind_the_heading(folder: Path) -> None:
    assert re.search(r"^approvers:\n\s+- \S+", (folder / "OWNERS").read_text(), re.MULTILINE)


@every_asset
def test_nothing_but_kfp_is_imported_before_the_function_runs(folder: Path) -> None:
    allowed = {*sys.stdlib_module_names, "kfp"} | ({"kfp_trainer"} if folder not in COMPONENTS else set())
    source = next(each for each in folder.iterdir() if each.name in ("component.py", "pipeline.py"))
    for node in ast.parse(source.read_text()).body:
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        modules += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
        assert {each.partition(".")[0] for each in modules} <= allowed


@every_asset
def test_every_parameter_is_described_in_a_line(folder: Path) -> None:
    overview, descriptions = described(function_of(folder))
    assert overview
    assert list(descriptions) == [each.arg for each in function_of(folder).args.args]


@every_asset
def test_the_readme_is_what_the_code_says(folder: Path) -> None:
    said = "`python -m tests.component_readmes` writes it"
    assert (folder / "README.md").read_text() == readme_of(folder).rstrip() + "\n", said


def test_every_folder_of_assets_has_its_index() -> None:
    assert {str(file): file.read_text() for file in indexes()} == {
        str(file): text for file, text in indexes().items()
    }


@every_component
def test_the_image_is_ours_and_of_this_version(folder: Path) -> None:
    container = component_of(folder).component_spec.implementation.container
    assert container.image in IMAGES.values()


@every_component
def test_nothing_is_installed_at_run_time(folder: Path) -> None:
    command = " ".join(component_of(folder).component_spec.implementation.container.command)
    assert "pip" not in command


@every_component
def test_a_component_is_small(folder: Path) -> None:
    assert len(function_of(folder).args.args) <= MOST_PARAMETERS
    code = component_of(folder).component_spec.implementation.container.command[-1]
    assert len(code.encode()) <= MOST_BYTES


@every_component
def test_the_body_only_hands_its_arguments_on(folder: Path) -> None:
    function = function_of(folder)
    bring, call = function.body[1:]
    assert isinstance(bring, ast.ImportFrom)
    assert isinstance(call, ast.Expr) and isinstance(call.value, ast.Call)
    given = [each.id for each in call.value.args if isinstance(each, ast.Name)]
    assert given == [each.arg for each in function.args.args]


def test_authors_find_every_component_by_its_name() -> None:
    package = importlib.import_module("kfp_trainer.components")
    assert {name: package.COMPONENTS[name] for name in sorted(package.COMPONENTS)} == {
        folder.name: folder.parent.name for folder in sorted(COMPONENTS, key=lambda each: each.name)
    }
    for name in package.COMPONENTS:
        assert getattr(package, name).python_func.__name__ == name

"""The rights of steps are those of one namespace, whichever a person puts into the one line for it."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = {"kfp": "pipeline-runner", "katib": "katib-trial"}

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl: not on the PATH")


def built(folder: Path) -> list[dict[str, Any]]:
    made = subprocess.run(["kubectl", "kustomize", str(folder)], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return list(yaml.safe_load_all(made.stdout))


@pytest.mark.parametrize("name", FOLDERS)
def test_all_of_it_is_in_the_namespace_of_the_one_line(name: str, tmp_path: Path) -> None:
    for each in FOLDERS:
        shutil.copytree(ROOT / "manifests" / each, tmp_path / each)
    file = tmp_path / name / "kustomization.yaml"
    lines = file.read_text().splitlines()
    (line,) = [each for each in lines if each.startswith("namespace: ")]
    file.write_text("\n".join("namespace: team-a" if each == line else each for each in lines))
    objects = built(tmp_path / name)
    assert {each["metadata"]["namespace"] for each in objects} == {"team-a"}
    (binding,) = [each for each in objects if each["kind"] == "RoleBinding"]
    (subject,) = binding["subjects"]
    assert subject == {"kind": "ServiceAccount", "name": FOLDERS[name], "namespace": "team-a"}
    (role,) = [each for each in objects if each["kind"] == "Role"]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]


def test_nothing_is_granted_on_secrets_or_beyond_the_namespace() -> None:
    objects = built(ROOT / "manifests/kfp")
    assert {each["kind"] for each in objects} == {"Role", "RoleBinding"}
    (role,) = [each for each in objects if each["kind"] == "Role"]
    granted = {resource for rule in role["rules"] for resource in rule["resources"]}
    assert granted == {"trainjobs", "trainingruntimes", "pods", "pods/log", "events"}
    assert not any("*" in rule["verbs"] for rule in role["rules"])

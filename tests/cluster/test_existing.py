"""The ring runs against a cluster that exists, and touches none that is not marked for it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.control_plane.client import collection
from tests.cluster.control_plane.cluster import DISPOSABLE
from tests.cluster.control_plane.existing import VARIABLE, ExistingCluster, UnusableCluster
from tests.cluster.control_plane.plane import Plane

pytestmark = pytest.mark.parts("scheduler", "kwok", "jobset")

HERE = Path(__file__).parent
MARK = f"{collection('v1', 'ConfigMap', 'kube-system')}/{DISPOSABLE}"


@pytest.fixture
def unmarked(plane: Plane) -> Iterator[Plane]:
    """The plane as a cluster that nobody has marked."""
    plane.client.delete(MARK)
    yield plane
    plane.mark(plane.started)


def test_a_cluster_without_the_mark_is_not_touched(unmarked: Plane, tmp_path: Path) -> None:
    with pytest.raises(UnusableCluster) as refused:
        ExistingCluster(unmarked.kubeconfig, tmp_path)
    told = re.search(r"run '(.*)' with those of", str(refused.value))
    assert told is not None
    subprocess.run(told[1].split(), check=True, capture_output=True)
    existing = ExistingCluster(unmarked.kubeconfig, tmp_path)
    existing.close()
    assert [existing.why_not(name) for name in ("scheduler", "jobset")] == ["", ""]
    assert existing.why_not("kwok").endswith("does not name kwok")


def test_the_same_tests_run_against_it(plane: Plane) -> None:
    files = [HERE / name for name in ("test_simulated_pods.py", "test_plane.py", "test_gangs.py")]
    chosen = "completes or audit or kubeconfig or seven"
    plane.mark(["scheduler", "kwok", "jobset"])
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-k", chosen, *files],
        env={**os.environ, VARIABLE: str(plane.kubeconfig)},
        capture_output=True,
        text=True,
        cwd=HERE.parents[1],
    )
    plane.mark(plane.started)
    assert ran.returncode == 0, ran.stdout
    assert "3 passed, " in ran.stdout
    assert "does not name volcano" in ran.stdout
    assert "its programs are not this run's" in ran.stdout


def test_a_kubeconfig_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnusableCluster, match="none: No such file"):
        ExistingCluster(tmp_path / "none", tmp_path)


def test_a_kubeconfig_may_name_files_beside_it(plane: Plane) -> None:
    config = json.loads(plane.kubeconfig.read_text(encoding="utf-8"))
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    config["clusters"][0]["cluster"] = {"server": cluster["server"], "certificate-authority": "pki/ca.crt"}
    config["users"][0]["user"] = {"client-certificate": "pki/admin.crt", "client-key": "pki/admin.key"}
    assert set(user) == {"client-certificate-data", "client-key-data"}
    path = plane.site.write("files.kubeconfig", config)
    folder = plane.site.folder / "existing"
    folder.mkdir()
    existing = ExistingCluster(path, folder)
    assert existing.client.text("GET", "/readyz") == "ok"
    existing.close()


def test_a_user_without_token_or_certificate_is_refused(plane: Plane, tmp_path: Path) -> None:
    config = json.loads(plane.kubeconfig.read_text(encoding="utf-8"))
    config["users"][0]["user"] = {"exec": {"command": "login"}}
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(UnusableCluster, match="neither a token nor a certificate"):
        ExistingCluster(path, tmp_path)

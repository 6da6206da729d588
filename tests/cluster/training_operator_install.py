"""The Training Operator 1.9.3 as its own manifests install it: its real manager, its webhook and its rights.

The container runs the program that the plane has built, for there are no images.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from .control_plane.client import collection
from .control_plane.parts import PARTS
from .control_plane.plane import Plane
from .operator_install import Installed
from .process_node.images import NOT_ROOT
from .process_node.starting import PROCESS_NODE

NAMESPACE = "kubeflow"
NAME = "training-operator"
SELECTOR = "control-plane=kubeflow-training-operator"


class TrainingOperator(Installed):
    """The installation."""

    def __init__(self, plane: Plane, folder: Path) -> None:
        super().__init__(plane, folder, NAMESPACE)
        self.deployment = f"{collection('apps/v1', 'Deployment', NAMESPACE)}/{NAME}"
        self.account, self.selector = NAME, SELECTOR


@contextmanager
def training_operator(plane: Plane) -> Iterator[TrainingOperator]:
    """Its overlay for a whole cluster, not applied yet."""
    with TemporaryDirectory() as scratch:
        shipped = Path(scratch, "shipped")
        shutil.copytree(PARTS[NAME].sources() / "manifests", shipped, copy_function=shutil.copyfile)
        for folder in (shipped, *(path for path in shipped.rglob("*") if path.is_dir())):
            folder.chmod(0o755)
        outer = Path(scratch, "here")
        outer.mkdir()
        target = {"kind": "Deployment", "name": NAME}
        kustomization = {
            "resources": ["../shipped/overlays/standalone"],
            "patches": [{"target": target, "patch": json.dumps(_on_the_process_node(plane))}],
        }
        (outer / "kustomization.yaml").write_text(json.dumps(kustomization), encoding="utf-8")
        yield TrainingOperator(plane, outer)


def _on_the_process_node(plane: Plane) -> list[dict[str, object]]:
    """How the Deployment becomes one that can run here; a look every second spares the test some."""
    pod = "/spec/template/spec"
    container = f"{pod}/containers/0"
    return [
        {"op": "add", "path": f"{pod}/nodeSelector", "value": {"pool": PROCESS_NODE}},
        {"op": "replace", "path": f"{container}/command", "value": [str(plane.site.programs[NAME])]},
        {"op": "add", "path": f"{container}/env/-", "value": {"name": "TMPDIR", "value": "/tmp"}},
        {"op": "add", "path": f"{container}/securityContext/runAsUser", "value": NOT_ROOT},
        {"op": "replace", "path": f"{container}/readinessProbe/initialDelaySeconds", "value": 1},
        {"op": "replace", "path": f"{container}/readinessProbe/periodSeconds", "value": 1},
    ]

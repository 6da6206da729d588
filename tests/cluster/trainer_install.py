"""Kubeflow Trainer 2.3 as its own manifests install it: its real manager, its certificates and its Lease.

Two things differ from a cluster: JobSet runs already, so the line that brings it is commented out, as that
file itself proposes; and the container runs the program that the plane has built, for there are no images.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from .control_plane.parts import PARTS
from .control_plane.plane import Plane
from .operator_install import NAME, NAMESPACE, Installed
from .process_node.images import NOT_ROOT
from .process_node.starting import PROCESS_NODE

JOBSET_LINE = "  - ../../third-party/jobset"


@contextmanager
def trainer_manifests(plane: Plane) -> Iterator[Installed]:
    """Trainer's overlay for a whole cluster, not applied yet."""
    with TemporaryDirectory() as scratch:
        shipped = Path(scratch, "shipped")
        shutil.copytree(PARTS["trainer"].sources() / "manifests", shipped, copy_function=shutil.copyfile)
        for folder in (shipped, *(path for path in shipped.rglob("*") if path.is_dir())):
            folder.chmod(0o755)
        file = shipped / "overlays" / "manager" / "kustomization.yaml"
        text = file.read_text(encoding="utf-8")
        assert JOBSET_LINE in text
        file.write_text(text.replace(JOBSET_LINE, f"  # {JOBSET_LINE}"), encoding="utf-8")
        outer = Path(scratch, "here")
        outer.mkdir()
        target = {"kind": "Deployment", "name": NAME}
        kustomization = {
            "resources": ["../shipped/overlays/manager"],
            "patches": [{"target": target, "patch": json.dumps(_on_the_process_node(plane))}],
        }
        (outer / "kustomization.yaml").write_text(json.dumps(kustomization), encoding="utf-8")
        yield Installed(plane, outer, NAMESPACE)


def _on_the_process_node(plane: Plane) -> list[dict[str, object]]:
    """How the Deployment becomes one that can run here; a look every second spares the test some."""
    pod = "/spec/template/spec"
    program = [str(plane.site.programs["trainer"])]
    return [
        {"op": "add", "path": f"{pod}/nodeSelector", "value": {"pool": PROCESS_NODE}},
        {"op": "add", "path": f"{pod}/containers/0/command", "value": program},
        {"op": "add", "path": f"{pod}/containers/0/env", "value": [{"name": "TMPDIR", "value": "/tmp"}]},
        {"op": "add", "path": f"{pod}/containers/0/securityContext/runAsUser", "value": NOT_ROOT},
        {"op": "replace", "path": f"{pod}/containers/0/readinessProbe/initialDelaySeconds", "value": 1},
        {"op": "replace", "path": f"{pod}/containers/0/readinessProbe/periodSeconds", "value": 1},
    ]

"""Start a control plane, say how to use it, and stop it with Ctrl-C.

python -m tests.cluster.control_plane [PART ...]    as in parts.py, or all; else scheduler kwok jobset
"""

import signal
import sys
import time
from typing import Any

import yaml

from .build import BuildError, why_not
from .nodes import add_nodes
from .parts import PARTS
from .plane import LAST_LOGS, Plane, running_plane

USUAL = ("scheduler", "kwok", "jobset")
POOL = "simulated"
NODES = 4
POD = {"name": "node", "image": "example.com/train:1", "command": ["sh", "-c", "echo hello; sleep 5"]}


def main(names: list[str]) -> int:
    """Run until interrupted."""
    if reason := why_not():
        print(f"no control plane on this machine: {reason}", file=sys.stderr)
        return 3
    asked = set(PARTS) if names == ["all"] else set(names or USUAL)
    if unknown := asked - set(PARTS):
        print(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}, and all", file=sys.stderr)
        return 2
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell starts what runs beside it without the first
        signal.signal(number, signal.default_int_handler)
    try:
        run([name for name in PARTS if name in asked])
    except BuildError as failed:
        print(failed, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nstopped; the logs are in {LAST_LOGS}")
    return 0


def run(parts: list[str]) -> None:
    """Start it with those of these parts that can run here, and wait for the interrupt."""
    for name in parts:
        if reason := PARTS[name].why_not():
            print(f"without {name}: {reason}", file=sys.stderr)
    parts = [name for name in parts if not PARTS[name].why_not()]
    began = time.monotonic()
    print(f"starting etcd, the API server, controllers, {', '.join(parts)}", flush=True)
    with running_plane(parts, lambda line: print(line, flush=True)) as plane:
        plane.need(*parts)
        if "kwok" in parts:
            add_nodes(plane.client, NODES, pool=POOL)
        print(f"all of it runs after {time.monotonic() - began:.1f} s\n")
        tell(plane, parts)
        while True:
            time.sleep(3600)


def tell(plane: Plane, parts: list[str]) -> None:
    """What runs, and three commands to try."""
    path = plane.site.folder / "hello.yaml"
    path.write_text(yaml.safe_dump(example(parts), sort_keys=False), encoding="utf-8")
    kinds = "jobsets,jobs,pods" if "jobset" in parts else "jobs,pods"
    for name, mb in plane.resident_mb().items():
        print(f"  {name:28}{mb:5} MB")
    if "kwok" in parts:
        print(f"  {NODES} simulated nodes, whose pods only say that they run")
    if "process-node" in parts:
        print("  1 node that runs pods as processes of this machine")
    print(f"\nto use it, and to see what a test sees:\n\n  export KUBECONFIG={plane.kubeconfig}")
    print(f"  kubectl get nodes\n  kubectl create -f {path}\n  kubectl get {kinds}")
    print(f"\nlogs and audit.log: {plane.site.folder}\nCtrl-C stops all of it", flush=True)


def example(parts: list[str]) -> dict[str, Any]:
    """Something small that runs on a node of this plane."""
    pool = POOL if "kwok" in parts else "process-node"
    pod = {"restartPolicy": "Never", "nodeSelector": {"pool": pool}, "containers": [POD]}
    metadata = {"annotations": {"kfp-trainer.test/run": "5s"}}
    spec = {"parallelism": 2, "completions": 2, "template": {"metadata": metadata, "spec": pod}}
    if "jobset" not in parts:
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "hello"}, "spec": spec}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "hello"},
        "spec": {"replicatedJobs": [{"name": "node", "template": {"spec": spec}}]},
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

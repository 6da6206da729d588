"""Start a control plane, say how to use it, and stop it with Ctrl-C.

python -m tests.cluster.control_plane [PART ...]    parts as in parts.py; without any: scheduler kwok jobset
"""

import signal
import sys
import time

from .build import BuildError, why_not
from .nodes import add_nodes
from .parts import PARTS
from .plane import LAST_LOGS, Plane, running_plane

USUAL = ("scheduler", "kwok", "jobset")
EXAMPLE = """apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: hello}
spec:
  replicatedJobs:
  - name: node
    template:
      spec:
        parallelism: 2
        completions: 2
        template:
          metadata: {annotations: {kfp-trainer.test/run: 5s}}
          spec: {containers: [{name: node, image: example.com/train:1}]}
"""


def main(names: list[str]) -> int:
    """Run until interrupted."""
    if reason := why_not():
        print(f"no control plane on this machine: {reason}", file=sys.stderr)
        return 3
    if unknown := set(names) - set(PARTS):
        print(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parts = names or list(USUAL)
    try:
        with running_plane(parts, lambda line: print(line, flush=True)) as plane:
            plane.need(*(name for name in PARTS if name in parts))
            if "kwok" in parts:
                add_nodes(plane.client, 4, pool="simulated")
            tell(plane)
            while True:
                time.sleep(3600)
    except BuildError as failed:
        print(failed, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nstopped; the logs are in {LAST_LOGS}")
        return 0


def tell(plane: Plane) -> None:
    """What runs, and three commands to try."""
    example = plane.site.folder / "hello.yaml"
    example.write_text(EXAMPLE, encoding="utf-8")
    running = ", ".join(f"{name} ({mb} MB)" for name, mb in plane.resident_mb().items())
    kubectl = f"kubectl --kubeconfig {plane.site.kubeconfig}"
    print(f"\nrunning: {running}\nkubeconfig: {plane.site.kubeconfig}\n")
    print(f"  {kubectl} get nodes")
    print(f"  {kubectl} create -f {example}")
    print(f"  {kubectl} get jobsets,jobs,pods\n\nCtrl-C stops all of it", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

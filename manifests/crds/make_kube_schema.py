"""Make runtime_operator/api/kube_schema.json: the schemas of JobSet and pods, out of the real JobSet CRD.

    python manifests/crds/make_kube_schema.py [JOBSET_CRD.yaml [OUT.json]]

Without a file the CRD is taken from the Go module of JobSet (needs Go and its module proxy). Descriptions
are dropped: they are nine tenths of the CRD, and `kubectl explain jobset.spec` has them. Run it when JOBSET
changes, then write the CRDs anew as README.md here tells.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

JOBSET = "sigs.k8s.io/jobset@v0.12.0"
CRD = "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml"
DATA = Path(__file__).resolve().parents[2] / "runtime_operator" / "api" / "kube_schema.json"


def main() -> None:
    """Write the data file from the CRD that is named, or from the Go module."""
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else download() / CRD
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else DATA
    target.write_text(render(yaml.safe_load(source.read_text(encoding="utf-8"))), encoding="utf-8")
    print(f"{target} written from {source}")


def download() -> Path:
    """Return the folder of the JobSet module, fetched if need be."""
    done = subprocess.run(
        ["go", "mod", "download", "-json", JOBSET], check=True, capture_output=True, text=True
    )
    return Path(json.loads(done.stdout)["Dir"])


def render(crd: dict[str, Any]) -> str:
    """Return the data file: the schema of a JobSet's spec and of a condition, one a line."""
    root = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    parts = {
        "Condition": root["status"]["properties"]["conditions"]["items"],
        "JobSetSpec": root["spec"],
    }
    lines = (f"{json.dumps(name)}:{compact(undescribed(part))}" for name, part in parts.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def compact(part: Any) -> str:
    """Return JSON without a blank."""
    return json.dumps(part, sort_keys=True, separators=(",", ":"))


def undescribed(schema: Any) -> Any:
    """Return a schema without its descriptions; a property that is called description stays."""
    if isinstance(schema, list):
        return [undescribed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: undescribed(one) for name, one in value.items()}
        if key == "properties"
        else undescribed(value)
        for key, value in schema.items()
        if key != "description"
    }


if __name__ == "__main__":
    main()

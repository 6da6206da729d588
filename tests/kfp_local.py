"""Runs components and pipelines in tests: through kfp's local runner, or as the plain function."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kfp import dsl

from kfp_trainer.pipelines.local_run import LocalRun, run_local
from kfp_trainer.runtime_operator.errors import JobFailed

__all__ = ["JobFailed", "LocalRun", "Outputs", "call", "run_local"]


class Outputs:
    """What a component called as a plain function is to fill: artifacts and parameter files in one folder."""

    def __init__(self, folder: Path, component: Any) -> None:
        self.folder = folder
        self.artifacts: dict[str, Any] = {}
        self.arguments: dict[str, Any] = {}
        for name, spec in (component.component_spec.outputs or {}).items():
            path = str(folder / "outputs" / name)
            if "@" not in spec.type:
                self.arguments[name] = path
                continue
            kind = getattr(dsl, spec.type.partition("@")[0].partition(".")[2])
            self.arguments[name] = self.artifacts[name] = kind(name=name, uri=path, metadata={})

    def text(self, name: str) -> str:
        """What a page or a parameter holds."""
        return (self.folder / "outputs" / name).read_text(encoding="utf-8")

    def facts(self, name: str) -> Mapping[str, Any]:
        """What an artifact tells of itself."""
        found: Mapping[str, Any] = self.artifacts[name].metadata
        return found


def call(component: Any, folder: Path, **arguments: Any) -> Outputs:
    """Call a component as the plain function that it is; SystemExit is left to who expects it."""
    outputs = Outputs(folder, component)
    component.python_func(**arguments, **outputs.arguments)
    return outputs

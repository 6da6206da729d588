"""Compiles the pipelines of this project to the documents that the Pipelines UI takes.

`python -m kfp_trainer.pipelines.compiling` writes those of `compiled/` anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kfp_trainer.runtime_operator.errors import SpecError

from .catalogue import PIPELINES, load_pipeline
from .lean import made_lean

COMPILED = Path(__file__).parent / "compiled"


@dataclass(frozen=True, slots=True)
class Workspace:
    """The claim that the tasks of a run share; what is empty stays as the pipeline has it."""

    size: str = ""
    storage_class: str = ""
    access_mode: str = ""


AS_IT_IS = Workspace()


def compile_pipeline(name: str, target: Path, workspace: Workspace = AS_IT_IS) -> None:
    """Write the document of a pipeline."""
    from kfp import compiler

    pipeline = load_pipeline(name)
    target.parent.mkdir(parents=True, exist_ok=True)
    with changed(pipeline, workspace), made_lean(pipeline):
        compiler.Compiler().compile(pipeline, str(target))


@contextmanager
def changed(pipeline: Any, workspace: Workspace) -> Iterator[None]:
    """Let a pipeline have another workspace meanwhile."""
    if workspace == AS_IT_IS:
        yield
        return
    known = pipeline.platform_spec.platforms  # asking for a platform that is not there makes it
    platform = known.get("kubernetes", None)
    if platform is None or not platform.pipelineConfig.HasField("workspace"):
        raise SpecError(f"{pipeline.name}: has no workspace that could be another")
    before = platform.pipelineConfig.__deepcopy__()
    try:
        _change(platform.pipelineConfig.workspace, workspace)
        yield
    finally:
        platform.pipelineConfig.CopyFrom(before)


def _change(given: Any, workspace: Workspace) -> None:
    if workspace.size:
        given.size = workspace.size
    if workspace.storage_class:
        given.kubernetes.pvc_spec_patch.update({"storageClassName": workspace.storage_class})
    if workspace.access_mode:
        given.kubernetes.pvc_spec_patch.update({"accessModes": [workspace.access_mode]})


def main() -> None:
    """Write the documents of all pipelines."""
    for name in PIPELINES:
        compile_pipeline(name, COMPILED / f"{name}.yaml")


if __name__ == "__main__":
    main()

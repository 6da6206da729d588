"""Takes out of a pipeline what a backend never reads: the explanations within its components.

A finished Workflow repeats every byte of a component about nine times, and a Workflow has an end at 1.5 MB.
So the compiled documents keep what the Pipelines UI shows, which are the descriptions of the pipeline and of
its parameters; what a component takes is told by its README and by its source.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def made_lean(pipeline: Any) -> Iterator[None]:
    """Let a pipeline be without explanations in its components meanwhile."""
    spec = pipeline.pipeline_spec
    before = spec.__deepcopy__()
    try:
        _strip(spec)
        yield
    finally:
        spec.CopyFrom(before)


def _strip(spec: Any) -> None:
    for executor in spec.deployment_spec["executors"].values():
        command = executor["container"]["command"]
        if _is_program(command[-1]):
            command[len(command) - 1] = without_docstrings(command[-1])
    for component in spec.components.values():
        for given in (component.input_definitions, component.output_definitions):
            for each in (*given.parameters.values(), *given.artifacts.values()):
                each.ClearField("description")


def without_docstrings(source: str) -> str:
    """The same program without the docstrings of its functions."""
    lines = source.split("\n")
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
            said = node.body[0]
            lines[said.lineno - 1 : said.end_lineno] = [""] * ((said.end_lineno or 0) - said.lineno + 1)
    return "\n".join(line for line in lines if line.strip())


def _is_program(text: str) -> bool:
    return "from kfp import dsl" in text

"""Whether a block is true, as far as that shows without running it: one check a language."""

import ast
import importlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from kfp_trainer.runtime_operator.api.names import GROUP
from kfp_trainer.runtime_operator.cli.documents import shipped_runtimes
from kfp_trainer.runtime_operator.render.dry_run import dry_run

from .blocks import Block, PageError, blocks_of
from .shell import check_shell

PACKAGES = ("kfp_trainer", "kfp", "kubeflow")
"""what is imported from these has to be there; other modules may be the reader's own"""


def check_block(block: Block) -> None:
    """PageError when the block cannot be true."""
    check = LANGUAGES.get(block.language)
    if check is None:
        raise PageError(
            f"{block.place}: {block.language!r} is checked by no test; take sh, yaml, python, json or text"
        )
    if block.mark == "run" and block.language not in ("sh", "python"):
        raise PageError(f"{block.place}: only sh and python can run")
    check(block)


def check_commands(block: Block) -> None:
    """Every command exists, with its options."""
    made = {each.detail for each in blocks_of(block.page) if each.mark == "file"}
    check_shell(block, made)


def check_yaml(block: Block) -> None:
    """It can be read; what a cluster takes has a name, and what we serve is right."""
    try:
        documents = [each for each in yaml.safe_load_all(block.text) if each is not None]
    except yaml.YAMLError as error:
        raise PageError(f"{block.place}: no YAML: {error}") from error
    objects = [each for each in documents if isinstance(each, dict) and {"apiVersion", "kind"} <= set(each)]
    for each in objects:
        metadata = each.get("metadata") or {}
        if each["kind"] != "Kustomization" and not (metadata.get("name") or metadata.get("generateName")):
            raise PageError(f"{block.place}: {each['kind']} has no metadata.name")
    served = [each for each in objects if str(each["apiVersion"]).startswith(f"{GROUP}/")]
    if served:
        check_served(block, served, around=objects_of(block.page))


def check_served(
    block: Block, served: Sequence[Mapping[str, Any]], *, around: Iterable[Mapping[str, Any]]
) -> None:
    """What the operator's webhook would say of these, with the page's other objects in the cluster."""
    others = [each for each in around if each not in served and each["kind"] != "TrainJob"]
    tried = dry_run([*served, *others], shipped=shipped_runtimes(), compat=None)
    errors = [error for each in tried.runtimes for error in each.errors]
    errors += [error for each in tried.jobs for error in each.errors]
    if errors:
        raise PageError(f"{block.place}: {'; '.join(dict.fromkeys(map(str, errors)))}")


def objects_of(page: Path) -> list[Mapping[str, Any]]:
    """Everything on a page that a cluster would take."""
    texts = (each.text for each in blocks_of(page) if each.language == "yaml")
    found = (document for text in texts for document in yaml.safe_load_all(text))
    return [each for each in found if isinstance(each, dict) and {"apiVersion", "kind"} <= set(each)]


def check_python(block: Block) -> None:
    """It can be read, and what it imports of ours and of Kubeflow's is there."""
    try:
        tree = ast.parse(block.text)
    except SyntaxError as error:
        raise PageError(f"{block.place}: no Python: {error}") from error
    for node in ast.walk(tree):
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}:{each.name}" for each in node.names]
        for name in names:
            if name.partition(":")[0].partition(".")[0] in PACKAGES and not is_there(
                *name.partition(":")[::2]
            ):
                raise PageError(f"{block.place}: {name.replace(':', '.')} cannot be imported")


def is_there(module: str, name: str) -> bool:
    """Whether a module has that name, or is there at all if none is given."""
    try:
        found = importlib.import_module(module)
        if name and not hasattr(found, name):
            importlib.import_module(f"{module}.{name}")
    except ImportError:
        return False
    return True


def check_json(block: Block) -> None:
    """It can be read."""
    try:
        json.loads(block.text)
    except ValueError as error:
        raise PageError(f"{block.place}: no JSON: {error}") from error


def no_check(block: Block) -> None:
    """A picture, or what a program prints."""


LANGUAGES: dict[str, Callable[[Block], None]] = {
    "sh": check_commands,
    "yaml": check_yaml,
    "python": check_python,
    "json": check_json,
    "text": no_check,
    "": no_check,
}

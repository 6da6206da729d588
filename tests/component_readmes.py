"""Writes the README of each component and pipeline from its code: `python -m tests.component_readmes`.

The head is what kubeflow/pipelines-components generates, word for word, so that its own check passes; below
its mark stand the fields of the settings documents, which the signature does not tell.
"""

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from kfp_trainer.runtime_operator.steps.fetching import FetchSettings
from kfp_trainer.runtime_operator.steps.job_settings import JobSettings
from kfp_trainer.runtime_operator.steps.register_model import RegistrySettings
from kfp_trainer.runtime_operator.workloads.dataset import CheckSettings
from kfp_trainer.runtime_operator.workloads.evaluate import EvaluateSettings
from kfp_trainer.runtime_operator.workloads.export import ExportSettings

# EXPORT
from kfp_trainer.runtime_operator.workloads.finetune import FinetuneSettings
from kfp_trainer.runtime_operator.workloads.gate import GateSettings
from kfp_trainer.runtime_operator.workloads.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
MARK = "<!-- custom-content -->"
ACRONYMS = ("KFP", "API", "URL", "ID", "UI", "CI", "CD")
# component or pipeline -> parameter -> the document it takes, and what the component itself decides
DOCUMENTS: dict[str, dict[str, tuple[type[Settings], tuple[str, ...]]]] = {
    "fetch_dataset": {"settings": (FetchSettings, ()), "checks": (CheckSettings, ("dataset", "output"))},
    "fetch_model": {"settings": (FetchSettings, ()), "registry": (RegistrySettings, ())},
    "check_dataset": {"settings": (CheckSettings, ("dataset", "output", "model"))},
    "finetune_llm": {
        "settings": (FinetuneSettings, ("model", "dataset", "output")),
        "job": (JobSettings, ()),
    },
    "launch_train_job": {"job": (JobSettings, ("runtime", "image", "retries"))},
    "train_job": {"job": (JobSettings, ("runtime", "image"))},
    "evaluate_llm": {"settings": (EvaluateSettings, ("model", "tuned", "dataset", "output"))},
    "gate_model": {"settings": (GateSettings, ("evaluation", "rules"))},
    "export_model": {"settings": (ExportSettings, ("model", "to")), "registry": (RegistrySettings, ())},
    "register_model": {"registry": (RegistrySettings, ())},
}


def assets() -> list[Path]:
    """The folders of all components and pipelines."""
    found = [*ROOT.glob("components/*/*/component.py"), *ROOT.glob("pipelines/*/pipeline.py")]
    return sorted(each.parent for each in found)


def indexes() -> dict[Path, str]:
    """The index of each folder that holds assets."""
    folders = sorted({folder.parent for folder in assets()})
    return {folder / "README.md": _index_of(folder) for folder in folders}


def _index_of(category: Path) -> str:
    kind = "Components" if category.parent.name == "components" else "Pipelines"
    name = title_of(category.name)
    lines = [
        f"- [{title_of(folder.name)}](./{folder.name}/README.md): {described(function_of(folder))[0]}"
        for folder in assets()
        if folder.parent == category
    ]
    about = f"This directory contains {kind.lower()} in the **{name}** category:"
    return "\n".join([f"# {name} {kind}", "", about, "", *lines]) + "\n"


def function_of(folder: Path) -> ast.FunctionDef:
    """The one decorated function of an asset."""
    source = next(folder / name for name in ("component.py", "pipeline.py") if (folder / name).exists())
    body = ast.parse(source.read_text(encoding="utf-8")).body
    return next(node for node in body if isinstance(node, ast.FunctionDef) and node.decorator_list)


def readme_of(folder: Path) -> str:
    """The whole README of an asset."""
    head = "\n".join(line.rstrip() for line in "\n".join(_head(folder)).splitlines())
    tables = "\n".join(_tables(folder.name) if folder.parent.parent.name == "components" else ())
    return f"{head}\n\n\n{MARK}\n\n{tables}\n" if tables else f"{head}\n"


def title_of(name: str) -> str:
    """A name as a title."""
    words = name.replace("_", " ").replace("-", " ").split()
    return " ".join(word.upper() if word.upper() in ACRONYMS else word.capitalize() for word in words)


def described(function: ast.FunctionDef) -> tuple[str, dict[str, str]]:
    """What the docstring says of the whole, and of each parameter."""
    overview, _, rest = (ast.get_docstring(function) or "").partition("\n\nArgs:\n")
    found = re.findall(r"^    (\w+): (.*?)(?=\n    \w+: |\n\n|\Z)", rest, re.MULTILINE | re.DOTALL)
    return overview, {name: " ".join(text.split()) for name, text in found}


def _head(folder: Path) -> Iterator[str]:
    metadata = yaml.safe_load((folder / "metadata.yaml").read_text(encoding="utf-8"))
    owners = yaml.safe_load((folder / "OWNERS").read_text(encoding="utf-8"))
    function = function_of(folder)
    overview, descriptions = described(function)
    yield f"# {title_of(metadata['name'])} ✨\n"
    yield f"> ⚠️ **Stability: {metadata['stability']}** — This asset is not yet stable and may change.\n"
    yield "## Overview 🧾\n"
    yield "\n\n".join(textwrap.fill(" ".join(part.split()), 120) for part in overview.split("\n\n")) + "\n"
    arguments, defaults = function.args.args, function.args.defaults
    if arguments:
        yield "## Inputs 📥\n"
        yield "| Parameter | Type | Default | Description |"
        yield "|-----------|------|---------|-------------|"
    for each, default in zip(
        arguments, [None] * (len(arguments) - len(defaults)) + list(defaults), strict=True
    ):
        value = _literal(default) if default else None
        shown = '`""`' if value == "" else f"`{value}`"
        kind = ast.unparse(each.annotation) if each.annotation else ""
        yield f"| `{each.arg}` | `{kind}` | {shown} | {descriptions[each.arg]} |"
    yield "\n## Metadata 🗂️\n"
    for key, value in {**metadata, "owners": owners}.items():
        yield f"- **{title_of(_spaced(key))}**: {_value(value)}"


def _literal(default: ast.expr) -> object:
    """A default's value, or its name where it is long and stands elsewhere."""
    return default.id if isinstance(default, ast.Name) else ast.literal_eval(default)


def _spaced(key: str) -> str:
    return re.sub(r"([a-z])([A-Z])", r"\1 \2", key)


def _value(value: Any, depth: int = 0) -> str:
    bullet = f"\n{'  ' * depth}  - "
    if isinstance(value, dict):
        items = [(title_of(_spaced(key)), _value(each, depth + 1)) for key, each in value.items()]
        return bullet + bullet.join(
            f"{key}:{text}" if "\n" in text else f"{key}: {text}" for key, text in items
        )
    if isinstance(value, list):
        shown = [
            ", ".join(f"{title_of(key)}: {text}" for key, text in each.items())
            if isinstance(each, dict)
            else str(each)
            for each in value
        ]
        return bullet + bullet.join(shown)
    return str(value)


def _tables(name: str) -> Iterator[str]:
    for parameter, (kind, fixed) in DOCUMENTS.get(name, {}).items():
        yield f"## The document `{parameter}`\n"
        yield "| field | default | is |"
        yield "|---|---|---|"
        for field, info in kind.model_fields.items():
            if field not in fixed:
                default = "" if info.is_required() or info.default in (None, ()) else f"`{info.default}`"
                yield f"| `{field}` | {default} | {info.description} |"
        yield ""


def main() -> None:
    """Write them all."""
    for folder in assets():
        (folder / "README.md").write_text(readme_of(folder).rstrip() + "\n", encoding="utf-8")
    for file, text in indexes().items():
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

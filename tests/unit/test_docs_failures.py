"""The page of failures names every message with which a job waits or dies, and every reason it is told by.

Messages are read from the code: each text of three words or more in the modules that tell of a job's fate.
A new message needs its line on the page.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator import errors
from kfp_trainer.runtime_operator.api import names
from kfp_trainer.runtime_operator.controller import failure, trouble
from tests.pages.blocks import ROOT

OPERATOR = ROOT / "runtime_operator"
TELLING = (
    *(f"controller/{name}.py" for name in ("deadlines", "failure", "next_step", "queueing", "trouble")),
    *(f"controller/{name}.py" for name in ("reconcile", "waiting", "writer")),
    *(str(path.relative_to(OPERATOR)) for path in OPERATOR.glob("jobs/**/*.py")),
    *(str(path.relative_to(OPERATOR)) for path in OPERATOR.glob("launch/*.py")),
)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
FEWEST_WORDS = 3
NEVER_SHOWN = {"a job that has ended is not built", "the folder of jobs"}
"""an assertion, and part of a text that a test of its own module holds"""


def plain(text: str) -> str:
    """Words alone, with one blank between them."""
    return " ".join(re.findall(r"[\w']+", text.replace("`", "").lower()))


PAGE = plain((ROOT / "docs" / "failures.md").read_text(encoding="utf-8"))


def texts(source: Path) -> Iterator[str]:
    """The texts of a module that are no docstrings: whole ones, and pieces between values."""
    tree = ast.parse(source.read_text(encoding="utf-8"))
    bodies = (node.body for node in ast.walk(tree) if isinstance(node, DOCUMENTED))
    said = {id(each.value) for body in bodies for each in body if isinstance(each, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value


def messages(module: str) -> list[str]:
    found = (text.strip() for text in texts(OPERATOR / module))
    return [
        text
        for text in found
        if sum(bool(re.search("[a-z]{2}", word)) for word in text.split()) >= FEWEST_WORDS
        and text not in NEVER_SHOWN
    ]


@pytest.mark.parametrize("module", TELLING)
def test_every_message_of_a_module_is_on_the_page(module: str) -> None:
    assert [text for text in messages(module) if plain(text) not in PAGE] == []


def test_messages_are_found() -> None:
    assert sum(len(messages(module)) for module in TELLING) > 50


REASONS = {
    "of a container that cannot start": trouble.ADVICE,
    "of a pod that was ended": failure.ADVICE,
    "of a node that was lost": failure.LOST_NODE,
    "of a job that we end": {
        value for name, value in vars(names).items() if name.startswith("REASON_") and "SUSPEND" not in name
    }
    - {names.REASON_RESUMED},
    "which a program ends with": [f"exit code {code}" for code in failure.BY_CODE],
    "which a command ends with": {
        f"| {each.exit_code} |" for each in vars(errors).values() if hasattr(each, "exit_code")
    },
}


@pytest.mark.parametrize("kind", REASONS)
def test_every_reason_is_on_the_page(kind: str) -> None:
    page = (ROOT / "docs" / "failures.md").read_text(encoding="utf-8")
    assert [each for each in REASONS[kind] if each not in page] == []

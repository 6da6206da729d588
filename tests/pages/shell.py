"""What a shell block asks for, command by command, and whether each exists as the page writes it.

Known are our own command with its options and arguments, verbs of make, modules and paths behind python -m,
kubectl's verbs and the files and folders it is given, what pip is told to install of ours, and the images
that podman builds. Other commands pass, but a block that holds none of the known ones is refused: it has to
be run.
"""

import importlib.util
import re
import shlex
import subprocess
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import PurePosixPath

import click

from kfp_trainer.runtime_operator.cli.main import cli

from .blocks import ROOT, Block, PageError
from .engines import of_engine

HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1(.*?\n).*?^\s*\2$", re.MULTILINE | re.DOTALL)
ASSIGNMENT = re.compile(r"\w+=")
ENDS = {"|", "||", "&&", ";", "&", "(", ")"}
KUBECTL = set(
    """annotate api-resources apply auth cp create delete describe diff edit events exec explain get kustomize
    label logs patch port-forward replace rollout run scale taint top version wait""".split()
)


def check_shell(block: Block, files: set[str]) -> None:
    """PageError when a command does not exist as written; `files` are those that the page makes."""
    parsed = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True)
    if parsed.returncode:
        raise PageError(f"{block.place}: bash cannot read this: {parsed.stderr.strip()}")
    known = False
    for words in commands(block.text):
        if check := CHECKS.get(PurePosixPath(words[0]).name):
            if trouble := check(words[1:], files):
                raise PageError(f"{block.place}: {shlex.join(words)}: {trouble}")
            known = True
    if not known and block.mark not in ("run", "first"):
        raise PageError(
            f"{block.place}: holds no command that is checked ({', '.join(CHECKS)}): "
            "put <!-- run --> before it, or show it without `sh`"
        )


def commands(text: str) -> Iterator[list[str]]:
    """The simple commands of a script, without assignments, redirections and comments."""
    text = HEREDOC.sub(r"\3", text).replace("\\\n", " ")
    for line in joined_lines(text):
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;()<>")
        lexer.whitespace_split = True
        words: list[str] = []
        for token in [*lexer, ";"]:
            if token in ENDS:
                if found := without_redirections(words):
                    yield found
                words = []
            else:
                words.append(token)


def joined_lines(text: str) -> Iterator[str]:
    """Lines, where one whose quotes are open goes on with the next."""
    held = ""
    for line in text.splitlines():
        held += line
        try:
            shlex.split(held, comments=True)
        except ValueError:
            held += "\n"
            continue
        yield held
        held = ""


def without_redirections(words: Sequence[str]) -> list[str]:
    """The words of a command that are handed to a program."""
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        if set(word) <= set("<>&|") and word:
            next(rest, None)
            if kept and kept[-1].isdigit():
                kept.pop()
        elif kept or not (ASSIGNMENT.match(word) or word in ("sudo", "time", "then", "do", "!")):
            kept.append(word)
    return kept


def of_ours(words: Sequence[str], files: set[str]) -> str:
    """What is wrong with a call of kfp-trainer."""
    rest, command, context = list(words), cli, click.Context(cli)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        name = rest.pop(0)
        found = command.get_command(context, name)
        if found is None:
            return f"there is no command {name!r}"
        command, context = found, click.Context(found, parent=context)  # type: ignore[assignment]
    if isinstance(command, click.Group):
        return ""
    try:
        _, left, _ = command.make_parser(context).parse_args(rest)
    except click.UsageError as error:
        return error.format_message()
    return f"it takes no {left[0]!r}" if left and not command.allow_extra_args else ""


def of_make(words: Sequence[str], files: set[str]) -> str:
    """What is wrong with a call of make."""
    unknown = [word for word in words if "=" not in word and word not in verbs()]
    return f"there is no verb {unknown[0]!r}" if unknown else ""


@cache
def verbs() -> set[str]:
    """The verbs of our Makefile."""
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^  make ([a-z-]+)", listed, re.MULTILINE))


def of_python(words: Sequence[str], files: set[str]) -> str:
    """What is wrong with a call of python: a module or a script that is not there."""
    if words[:1] == ["-m"]:
        module = words[1]
        if module == "pytest":
            missing = [
                word for word in words[2:] if "/" in word and not (ROOT / word.partition("::")[0]).exists()
            ]
            return f"there is no {missing[0]}" if missing else ""
        return of_pip(words[2:], files) if module == "pip" else missing_module(module)
    if words and words[0].endswith(".py") and words[0] not in files and not (ROOT / words[0]).exists():
        return f"there is no {words[0]}; show it on this page behind <!-- file: {words[0]} -->"
    return ""


def missing_module(name: str) -> str:
    """Why a module cannot be imported."""
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        found = None
    return "" if found else f"there is no module {name}"


def of_kubectl(words: Sequence[str], files: set[str]) -> str:
    """What is wrong with a call of kubectl: its verb, or a file of ours that is not there."""
    if not set(words) & KUBECTL:
        return f"it has no verb that kubectl knows ({', '.join(sorted(KUBECTL))})"
    for option, value in pairwise(words):
        if (
            option in ("-f", "-k", "--filename", "--kustomize")
            and value != "-"
            and not re.match(r"\w+:|/|\$|~", value)
        ):
            made = value in files and option not in ("-k", "--kustomize")
            if not made and not (ROOT / value).exists():
                return f"there is no {value}; show it on this page behind <!-- file: {value} -->"
    return ""


def of_pip(words: Sequence[str], files: set[str]) -> str:
    """What is wrong with what pip is told to install: an extra that we do not have."""
    asked = {
        extra
        for word in words
        for extras in re.findall(r"^(?:kfp-trainer|\.)\[(.*?)\]", word)
        for extra in extras.split(",")
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    missing = asked - set(project["optional-dependencies"])
    return f"there is no extra {', '.join(sorted(missing))}" if missing else ""


CHECKS: dict[str, Callable[[Sequence[str], set[str]], str]] = {
    "kfp-trainer": of_ours,
    "make": of_make,
    "python": of_python,
    "kubectl": of_kubectl,
    "pip": of_pip,
    "podman": of_engine,
}

"""The pages are true where a test can tell: links resolve, commands and verbs exist."""

import re
import subprocess
from pathlib import Path

import click
import pytest

from kfp_trainer.runtime_operator.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    {ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md")}
)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def commands_of(text: str) -> list[str]:
    """The commands of ours that a page shows, in a line or in a block."""
    blocks = "\n".join(re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    in_lines = re.findall(r"`(kfp-trainer [^`\n]*)`", text)
    return [*in_lines, *re.findall(r"^(?:\$ )?(kfp-trainer .*?)(?: +#.*)?$", blocks, re.MULTILINE)]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_to_files_resolve(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_and_their_options_exist(page: Path) -> None:
    for line in commands_of(page.read_text()):
        words = line.replace(",", " ").split()[1:]
        command: click.Command | None = cli
        context = click.Context(cli)
        while words and isinstance(command, click.Group) and re.fullmatch("[a-z]+", words[0]):
            command = command.get_command(context, words.pop(0))
            assert command is not None, line
        if command is None or command is cli:
            continue
        known = {option for parameter in command.params for option in parameter.opts} | {"--help", "-h"}
        assert {word.split("=")[0] for word in words if re.match("--?[a-z]", word)} <= known, line


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_verbs_of_make_exist(page: Path) -> None:
    verbs = set(re.findall(r"`make ([a-z-]+)`|^make ([a-z-]+)", page.read_text(), re.MULTILINE))
    targets = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"^  make ([a-z-]+)", targets, re.MULTILINE))
    assert {one or other for one, other in verbs} <= known

"""The pages are true where a test can tell without running them: links resolve, blocks are right.

What is marked to run is run in `tests/local/test_docs_run.py`.
"""

import re
from pathlib import Path

import click
import pytest

from kfp_trainer.runtime_operator.cli.main import cli
from tests.pages.blocks import ROOT, Block, PageError, blocks_of, pages
from tests.pages.checks import check_block
from tests.pages.shell import commands, of_ours, verbs

PAGES = pages()
TRAIN_JOB = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: hello}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: {numNodes: NODES}
"""


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_to_files_resolve(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)|(?:src|srcset|href)=\"([^\"#]+)", page.read_text())
    paths = [one or other for one, other in targets]
    assert [path for path in paths if "://" not in path and not (page.parent / path).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_is_right(page: Path) -> None:
    for block in blocks_of(page):
        check_block(block)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_in_sentences_exist(page: Path) -> None:
    text = page.read_text()
    for line in re.findall(r"`(kfp-trainer [^`\n]*)`", text):
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
    assert set(re.findall(r"`make ([a-z-]+)[^`]*`", text)) <= verbs()


REFUSED = {
    "an option that does not exist": ("sh", "kfp-trainer finetune --modle base", "No such option"),
    "a command that does not exist": ("sh", "kfp-trainer finetun", "there is no command 'finetun'"),
    "one behind another": ("sh", "cd x && KEY=1 kfp-trainer get --of\n", "No such option"),
    "over two lines": ("sh", "kfp-trainer run \\\n  -f job.yaml --clutser\n", "No such option"),
    "an argument too many": ("sh", "kfp-trainer validate job.yaml", "it takes no 'job.yaml'"),
    "a verb that make does not have": ("sh", "make dmeo", "there is no verb 'dmeo'"),
    "a folder that is not there": (
        "sh",
        "kubectl apply -k manifests/overlay/x",
        "there is no manifests/overlay/x",
    ),
    "a file that no block makes": ("sh", "kubectl create -f job.yaml", "<!-- file: job.yaml -->"),
    "an extra that we do not have": ("sh", "pip install 'kfp-trainer[locl]'", "there is no extra locl"),
    "a module that is not there": (
        "sh",
        "python -m kfp_trainer.runtime_operator.nothing",
        "there is no module",
    ),
    "an image that is not ours": (
        "sh",
        "podman build -t operators:1 -f manifests/images/operator/Containerfile manifests/images",
        "operators:1 is no image of ours",
    ),
    "an argument that a Containerfile does not have": (
        "sh",
        "podman build -t ghcr.io/kfp-trainer/operator:0.1.0 -f manifests/images/operator/Containerfile "
        "--build-arg TORCH=x manifests/images",
        "no build argument TORCH",
    ),
    "nothing that a test knows": ("sh", "ls -l\necho hello", "<!-- run -->"),
    "what bash cannot read": ("sh", "make demo &&& make test", "bash cannot read this"),
    "a language nobody checks": ("bash", "make demo", "take sh, yaml, python, json or text"),
    "broken YAML": ("yaml", "a: [1", "no YAML"),
    "an object without a name": ("yaml", "apiVersion: v1\nkind: Pod\n", "Pod has no metadata.name"),
    "a TrainJob that the webhook refuses": ("yaml", TRAIN_JOB.replace("NODES", "0"), "numNodes"),
    "an import that fails": ("python", "from kfp_trainer.components import fine_tune", "cannot be imported"),
    "broken JSON": ("json", "{'a': 1}", "no JSON"),
}


@pytest.mark.parametrize(("language", "text", "words"), REFUSED.values(), ids=REFUSED)
def test_a_block_is_refused_for(language: str, text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(PageError) as refusal:
        check_block(block(tmp_path, language, text))
    assert words in str(refusal.value)


ACCEPTED = {
    "a file that another block makes": (
        "sh",
        "kubectl create -f job.yaml",
        "<!-- file: job.yaml -->\n```yaml\na: 1\n```",
    ),
    "a TrainJob on a shipped runtime": ("yaml", TRAIN_JOB.replace("NODES", "2"), ""),
    "commands in a pipe and a document": ("sh", "kfp-trainer render -f - <<'END' | less\na: --b\nEND\n", ""),
}


@pytest.mark.parametrize(("language", "text", "before"), ACCEPTED.values(), ids=ACCEPTED)
def test_a_block_may_hold(language: str, text: str, before: str, tmp_path: Path) -> None:
    check_block(block(tmp_path, language, text, before))


def block(folder: Path, language: str, text: str, before: str = "") -> Block:
    """A page's last block, read from the page."""
    page = folder / "page.md"
    page.write_text(f"{before}\n\nText.\n\n```{language}\n{text.strip()}\n```\n")
    return [*blocks_of(page)][-1]


def test_a_mark_before_no_block_is_refused(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("<!-- run -->\n\n```sh\nmake demo\n```\n")
    with pytest.raises(PageError, match="stands before no block"):
        list(blocks_of(tmp_path / "page.md"))


def test_a_mark_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("<!-- runs -->\n```sh\nmake demo\n```\n")
    with pytest.raises(PageError, match="no mark is called 'runs'"):
        list(blocks_of(tmp_path / "page.md"))


def test_a_block_in_a_list_is_read_without_its_indent(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("- one\n\n  <!-- run -->\n  ```sh\n  make demo\n  ```\n")
    (found,) = blocks_of(tmp_path / "page.md")
    assert (found.text, found.mark, found.line) == ("make demo\n", "run", 4)


def test_commands_are_told_apart() -> None:
    text = "A=1 one x 2>/dev/null | two 'a b' # three\nfour \\\n five && six > out\n"
    assert list(commands(text)) == [["one", "x"], ["two", "a b"], ["four", "five"], ["six"]]
    assert of_ours(["pipelines", "run", "--local", "finetune_llm", "-p", "training={epochs: 2}"], set()) == ""

"""Running a page: its marked blocks one after the other in one shell, as its reader would, in a new folder.

Its home for jobs and caches is of that folder too. Our command and this Python come first on the PATH, and
the first command that fails ends it.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from .blocks import Block, PageError, blocks_of

BEGIN = "\x1eblock "
PYTHON = "python - <<'END_OF_THE_BLOCK'\n{}END_OF_THE_BLOCK\n"


def runs(page: Path) -> bool:
    """Whether a block of the page is marked to run."""
    return any(block.mark == "run" for block in blocks_of(page))


def run_page(page: Path, folder: Path, *, limit: float, environment: Mapping[str, str] | None = None) -> None:
    """Run what is marked on a page; PageError says which block failed, or printed something else."""
    blocks = list(blocks_of(page))
    for block in blocks:
        if block.mark == "file":
            (folder / block.detail).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.detail).write_text(block.text, encoding="utf-8")
    started = [block for block in blocks if block.mark in ("run", "first")]
    script = "".join(
        f"printf '\\n{BEGIN}{number}\\n'\n{as_shell(block)}\n" for number, block in enumerate(started)
    )
    variables = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "KFP_TRAINER_HOME": str(folder / ".kfp-trainer"),
        "PYTHONUNBUFFERED": "1",
        **(environment or {}),
    }
    ended = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=limit,
    )  # fmt: skip
    printed = outputs(ended.stdout)
    if ended.returncode:
        raise PageError(
            f"{started[max(printed)].place}: ended with {ended.returncode}:\n{printed[max(printed)]}"
        )
    for before, block in pairwise(blocks):
        if block.mark == "prints":
            if before.mark != "run":
                raise PageError(f"{block.place}: `prints` has to follow a block that runs")
            check_printed(block, printed[started.index(before)])


def as_shell(block: Block) -> str:
    """The block as lines of a shell, with what its mark replaces."""
    text = block.text
    for pair in filter(None, (each.strip() for each in block.detail.split(";"))):
        old, arrow, new = (part.strip() for part in pair.partition("=>"))
        if not arrow or old not in text:
            raise PageError(f"{block.place}: {pair!r} has to be OLD => NEW with a text of the block")
        text = text.replace(old, new)
    return PYTHON.format(text) if block.language == "python" else text


def outputs(text: str) -> dict[int, str]:
    """What each block has printed."""
    pieces = re.split(f"^{BEGIN}(\\d+)\n", text, flags=re.MULTILINE)
    return {int(number): printed for number, printed in zip(pieces[1::2], pieces[2::2], strict=True)}


def check_printed(block: Block, output: str) -> None:
    """The lines of a block stand in the output, in their order; numbers may be others, … is anything."""
    rest = output
    for line in filter(str.strip, block.text.splitlines()):
        found = re.search(f"^{as_pattern(line)}$", rest, re.MULTILINE)
        if line.strip() == "…":
            continue
        if not found:
            raise PageError(f"{block.place}: {line.strip()!r} was not printed there, but:\n{output}")
        rest = rest[found.end() :]


def as_pattern(line: str) -> str:
    """A shown line as an expression."""
    pieces = re.split(r"(\d[\d.,]*|…|\s+)", line.strip())
    known = {"…": ".*"}
    return r"\s*" + "".join(known.get(each) or rule_of(each) for each in pieces) + r"\s*"


def rule_of(piece: str) -> str:
    """An expression for a number, a gap or a word."""
    if piece[:1].isdigit():
        return r"\d[\d.,]*"
    return r"\s+" if piece.isspace() else re.escape(piece)

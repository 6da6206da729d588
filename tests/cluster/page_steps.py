"""The commands that a page tells an administrator, run as they stand there."""

import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.cluster.control_plane.cluster import Cluster
from tests.pages.blocks import blocks_of
from tests.pages.shell import commands

SECONDS = 300
"""for one command, which may wait until a rollout is over or a namespace is gone"""


def run_steps(cluster: Cluster, steps: Iterable[list[str]], places: Mapping[str, Path]) -> None:
    """Run kubectl's commands, with folders that can run here in the place of those named."""
    for program, *words in steps:
        assert program == "kubectl"
        here = [str(places.get(word, word)) for word in words]
        command = [program, f"--kubeconfig={cluster.kubeconfig}", *here]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"


def steps_under(page: Path, heading: str) -> list[list[str]]:
    """The commands in the blocks of a section."""
    lines = page.read_text(encoding="utf-8").splitlines()
    first = lines.index(f"## {heading}")
    after = (number for number, line in enumerate(lines) if number > first and line.startswith("## "))
    last = next(after, len(lines))
    found = (each for each in blocks_of(page) if first < each.line <= last and each.language == "sh")
    steps = [words for each in found for words in commands(each.text)]
    assert steps, f"{page.name}: no command under {heading!r}"
    return steps

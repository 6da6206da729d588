"""Write what each image installs: the versions of constraints.txt with their hashes, and no index's name.

    python manifests/images/write_requirements.py

Run it when constraints.txt or the extras of pyproject.toml have changed; tests/unit/manifests/test_images.py
says when that was forgotten. An image that builds on another lists only what it adds to it, and torch with
its CUDA libraries is a list of its own, so that a build can take another torch.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
WORKLOAD = ("local", "operator", "pipelines", "katib", "registry")
CUDA = re.compile(r"torch|triton|(nvidia|cuda)-.+")
Pins = Mapping[str, str]
"""name of a package -> its lines in a requirements file"""


def main() -> None:
    """Write the four files."""
    operator, workload = compile_pins("operator"), compile_pins(*WORKLOAD)
    torchtune = compile_pins(*WORKLOAD, "torchtune")
    cuda = {name for name in workload if CUDA.fullmatch(name)}
    write("operator", operator)
    write("workload", without(workload, cuda))
    write("workload-cuda", without(workload, workload.keys() - cuda))
    write("workload-torchtune", without(torchtune, workload.keys()))


def compile_pins(*extras: str) -> dict[str, str]:
    """What these extras need on Linux with Python 3.11, all of it."""
    words = [word for extra in extras for word in ("--extra", extra)]
    command = [Path(sys.executable).with_name("uv"), "pip", "compile", "--quiet", "pyproject.toml", *words]
    command += ["--constraint", "constraints.txt", "--generate-hashes", "--no-header", "--no-annotate"]
    command += ["--python-version", "3.11", "--python-platform", "x86_64-unknown-linux-gnu"]
    return read_pins(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


def read_pins(text: str) -> dict[str, str]:
    """The entries of a requirements file by the name of the package."""
    return {
        re.split(r"[\[= ]", entry)[0]: entry
        for entry in re.findall(r"^[a-z0-9].*\n(?:    .*\n)*", text, re.MULTILINE)
    }


def without(pins: Pins, names: Collection[str]) -> Pins:
    """The pins but those of these names."""
    return {name: entry for name, entry in pins.items() if name not in names}


def write(image: str, pins: Pins) -> None:
    """Write the file of one image."""
    head = "# Written by manifests/images/write_requirements.py out of constraints.txt.\n"
    (FOLDER / image / "requirements.txt").write_text(head + "".join(pins.values()), encoding="utf-8")


if __name__ == "__main__":
    main()

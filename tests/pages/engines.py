"""What a page lets a container engine build, and whether our Containerfiles have what it names."""

from collections.abc import Sequence
from itertools import pairwise

from kfp_trainer.runtime_operator.images import IMAGES
from tests.images.containerfile import instructions

from .blocks import ROOT


def of_engine(words: Sequence[str], files: set[str]) -> str:
    """What is wrong with a call of an engine: an image, a file or an argument that is not there."""
    options = list(pairwise(words))
    values = {option: value for option, value in options if option.startswith("-")}
    if words[0] != "build":
        return f"{words[0]}: of an engine only builds are checked"
    if values.get("-t") not in IMAGES.values():
        return f"{values.get('-t')} is no image of ours"
    file = ROOT / values.get("-f", "Containerfile")
    if not file.is_file() or not (ROOT / words[-1]).is_dir():
        return f"there is no {values.get('-f')}, or no folder {words[-1]}"
    known = {text.partition("=")[0] for keyword, text in instructions(file.read_text()) if keyword == "ARG"}
    given = [value.partition("=")[0] for option, value in options if option == "--build-arg"]
    unknown = [name for name in given if name not in known]
    return f"it takes no build argument {unknown[0]}" if unknown else ""

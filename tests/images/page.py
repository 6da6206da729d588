"""What docs/images.md tells of the images' sizes, to be held against what was built."""

import re

from .building import ROOT

PAGE = ROOT / "docs/images.md"


def told_megabytes(name: str) -> float:
    """What an image takes on top of its base, by the table of the page."""
    found = re.search(rf"^\| `{name}` \|.*\| ([0-9.]+) GB", PAGE.read_text(), re.MULTILINE)
    assert found, f"{PAGE}: tells no size of {name}"
    return float(found[1]) * 1000

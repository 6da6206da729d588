"""The blocks of a page, and the marks that say what a test does with each.

A mark is an HTML comment on the line before a block, which a reader does not see:

    <!-- run -->                  executed, with the page's other such blocks, in one shell, in a new folder
    <!-- run: base => demo -->    the same with one text in the place of another; several with `;`
    <!-- file: job.yaml -->       written into that folder before anything runs
    <!-- prints -->               what the block that ran before has printed, in this order; numbers may
                                  differ, and … stands for anything
    <!-- first: COMMAND -->       no block follows: what prepares the folder, over several lines if need be

A block without a mark is checked as far as that goes without running it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MARKS = ("run", "file", "prints", "first")
COMMENT = re.compile(r"^ *<!--\s*(?P<mark>\w+)(?::\s*(?P<detail>.*?))?\s*-->\n", re.MULTILINE | re.DOTALL)
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\S*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """A piece of a page in fences, or a command that stands in a comment alone."""

    page: Path
    line: int
    language: str
    text: str
    mark: str = ""
    detail: str = ""

    @property
    def place(self) -> str:
        """Where it stands, for a message."""
        return f"{self.page.relative_to(ROOT) if self.page.is_relative_to(ROOT) else self.page}:{self.line}"


class PageError(AssertionError):
    """Something on a page that cannot be true, with the place and what to do."""


def pages() -> list[Path]:
    """Every page that people read here."""
    folders = ("docs", "components", "pipelines", "manifests")
    below = (path for folder in folders for path in ROOT.glob(f"{folder}/**/*.md"))
    return sorted({*ROOT.glob("*.md"), *below})


def blocks_of(page: Path) -> Iterator[Block]:
    """The blocks of a page in their order; PageError for a mark that is none or stands before nothing."""
    text = page.read_text(encoding="utf-8")
    fences = {match.start(): match for match in FENCE.finditer(text)}
    inside = [range(match.start(), match.end()) for match in fences.values()]
    marks = {}
    for match in COMMENT.finditer(text):
        if any(match.start() in each for each in inside):
            continue
        line = text.count("\n", 0, match.start()) + 1
        if match["mark"] == "first":
            marks[match.start()] = Block(page, line, "sh", f"{match['detail'] or ''}\n", "first")
        elif match["mark"] not in MARKS and match.end() in fences:
            raise PageError(
                f"{page}:{line}: no mark is called {match['mark']!r}, there are {', '.join(MARKS)}"
            )
        elif match["mark"] in MARKS and match.end() not in fences:
            raise PageError(
                f"{page}:{line}: `{match['mark']}` stands before no block; put it on the line before one"
            )
        elif match["mark"] in MARKS:
            marks[match.end()] = Block(page, line, "", "", match["mark"], match["detail"] or "")
    for start in sorted({*fences, *marks}):
        mark = marks.get(start)
        if mark is not None and mark.mark == "first":
            yield mark
            continue
        found = fences[start]
        indent = found["indent"]
        body = re.sub(f"^{indent}", "", found["text"], flags=re.MULTILINE) if indent else found["text"]
        line = text.count("\n", 0, start) + 1
        yield Block(
            page, line, found["language"], body, mark.mark if mark else "", mark.detail if mark else ""
        )

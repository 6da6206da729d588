"""What stood on a terminal and when: each line from the second it came to the one it was drawn over.

Of a terminal's language it knows what our programs speak: the return to a line's begin, and colours.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.terminal import Piece

COLOUR = re.compile(r"\x1b\[([0-9;]*)m")
ERASE = "\x1b[K"


@dataclass(frozen=True)
class Shown:
    """One line of text, where it stood and how long."""

    row: int
    text: str
    begin: float
    end: float | None
    """None for what stayed"""


def lines_of(pieces: Iterable[Piece], *, columns: int) -> Iterator[Shown]:
    """Every line that was ever to be seen, in the order in which they came."""
    row, open_line = 0, ("", 0.0)
    for piece in pieces:
        for part in re.split(r"(\r\n|\n|\r)", COLOUR.sub("", piece.text)):
            text, begin = open_line
            if part in ("\r\n", "\n"):
                for wrapped in wrap(text, columns):
                    yield Shown(row, wrapped, begin, None)
                    row += 1
                open_line = ("", piece.second)
            elif part == "\r":
                if text:
                    yield Shown(row, text[:columns], begin, piece.second)
                open_line = ("", piece.second)
            elif part.replace(ERASE, ""):
                open_line = (text + part.replace(ERASE, ""), begin if text else piece.second)
    if open_line[0]:
        yield Shown(row, open_line[0], open_line[1], None)


def wrap(text: str, columns: int) -> list[str]:
    """A line as a terminal breaks it."""
    return [text[at : at + columns] for at in range(0, max(len(text), 1), columns)]

"""A self-contained HTML page: headline figures, sections, tables, notes.

Text goes through `escape` in the functions here; what is already HTML has the type `Html`, so that a
model's answer can never become markup. Colours are variables with a light and a dark value, all of them
with a contrast of at least 4.5 against their ground; meaning is never carried by colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import NewType

from .style import STYLE

Html = NewType("Html", str)


@dataclass(frozen=True, slots=True)
class Figure:
    """A headline number, what it is, and a word on it."""

    value: str
    label: str
    remark: str = ""


def page(title: str, lead: str, *parts: Html) -> str:
    """The whole document."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<header>\n<h1>{escape(title)}</h1>\n<p>{escape(lead)}</p>\n</header>\n"
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )


def section(heading: str, *parts: Html) -> Html:
    """A part of the page with a heading."""
    return Html(f"<section>\n<h2>{escape(heading)}</h2>\n" + "\n".join(parts) + "\n</section>")


def figures(items: Sequence[Figure]) -> Html:
    """The headline numbers, side by side while there is room."""
    cells = "\n".join(
        f"<div><dt>{escape(item.label)}</dt><dd>{escape(item.value)}</dd>"
        + (f"<dd class=remark>{escape(item.remark)}</dd>" if item.remark else "")
        + "</div>"
        for item in items
    )
    return Html(f'<dl class="figures">\n{cells}\n</dl>')


def note(text: str) -> Html:
    """A sentence that deserves attention."""
    return Html(f'<p class="note">{escape(text)}</p>')


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Sequence[int] = (),
    marks: Sequence[str] = (),
) -> Html:
    """A table; `numbers` are the columns set to the right, `marks` a class for each row.

    On a narrow screen a table of many columns becomes a stack of cards, each cell behind its column's name.
    """
    heading = "".join(f"<th{_right(at, numbers)}>{escape(name)}</th>" for at, name in enumerate(head))
    body = "\n".join(
        f"<tr{_marked(marks, number)}>"
        + "".join(
            f'<td data-name="{escape(head[at])}"{_right(at, numbers)}><span>{escape(cell)}</span></td>'
            for at, cell in enumerate(row)
        )
        + "</tr>"
        for number, row in enumerate(rows)
    )
    kind = "cards" if len(head) > 2 else "pairs"
    return Html(
        f'<table class="{kind}">\n<thead><tr>{heading}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>'
    )


def _right(column: int, numbers: Sequence[int]) -> str:
    return ' class="number"' if column in numbers else ""


def _marked(marks: Sequence[str], row: int) -> str:
    return f' class="{marks[row]}"' if row < len(marks) and marks[row] else ""

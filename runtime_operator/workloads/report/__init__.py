"""The pieces of our HTML reports: one file, nothing fetched, light and dark, wide and narrow."""

from .chart import Bar, Series, bar_chart, line_chart
from .page import Figure, Html, figures, note, page, section, table

__all__ = [
    "Bar",
    "Figure",
    "Html",
    "Series",
    "bar_chart",
    "figures",
    "line_chart",
    "note",
    "page",
    "section",
    "table",
]

"""The links of a web server's index page that lead below it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import quote, urljoin, urlsplit

from ..http_client import Document
from ..troubles import FetchError

MOST_FILES = 1_000_000
_LINK = re.compile(r"""<a\b[^<>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s<>"']+))""", re.IGNORECASE)


def links(page: Document, url: str, text: str) -> Iterator[str]:
    """The addresses one level below `url`, each once, in the order of the page; folders end in `/`."""
    kind = page.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        found = _json_names(page.body, text)
    elif kind in ("text/html", "application/xhtml+xml"):
        found = _html_names(page.body.decode("utf-8", "replace"))
    else:
        raise FetchError(
            f"{text}: is {kind or 'of no known type'} and not an index, leave out the last / for a file"
        )
    base = urlsplit(url)
    seen: set[str] = set()
    for name in found:
        try:
            target = urlsplit(urljoin(url, name))
        except ValueError:  # a link that leads nowhere
            continue
        address = target._replace(query=base.query, fragment="").geturl()
        if name.startswith(("?", "#")) or target.query or address in seen:
            continue
        same_place = (target.scheme, target.netloc) == (base.scheme, base.netloc)
        if same_place and target.path.startswith(base.path) and target.path != base.path:
            seen.add(address)
            yield address


def _json_names(body: bytes, text: str) -> list[str]:
    """Names as nginx lists them in JSON."""
    try:
        rows = json.loads(body)
        return [quote(str(row["name"])) + ("/" if row.get("type") == "directory" else "") for row in rows]
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        raise FetchError(
            f"{text}: its index is JSON, but not a list of objects with a name and a type"
        ) from None


def _html_names(page: str) -> list[str]:
    """What the links of a page name; the library's parser gives up on pages that browsers read."""
    return [unescape(next(filter(None, found.groups()), "")) for found in _LINK.finditer(page)]

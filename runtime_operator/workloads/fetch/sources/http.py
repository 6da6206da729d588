"""http:// and https://: one file, or all files below an index.

An address that ends in `/` is an index: the links of the page that lead below it, folders followed, as web
servers list them (Apache, nginx in HTML or JSON, Python). A SHA256SUMS among the files is believed and the
files are compared with it. Any other address is a file. ACCESS_TOKEN goes along as a bearer token, a user
and password of the address as basic authorization, a query as it is.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from urllib.parse import unquote, urlsplit, urlunsplit

from ..http_client import Facts, Http
from ..source import Digest, Entry, Listing, Reader, Request
from ..troubles import Changed, FetchError, NoRanges, Transient
from .http_index import MOST_FILES, links

_HEADS_AT_ONCE = 16
_DEEPEST = 50
_MOST_FAILED = 100
"""questions about files of one listing that may fail before the others are not asked any more"""
SUMS = ("SHA256SUMS", "sha256sum.txt", "SHA256SUMS.txt")
_SUM = re.compile(r"^([0-9a-fA-F]{64})[ \t]+\*?(.+)$")


def open_source(request: Request) -> Web:
    """The files at an address."""
    return Web(request)


class Web:
    """A web server."""

    def __init__(self, request: Request) -> None:
        uri = request.uri
        self._text = uri.text
        self._url = urlunsplit((uri.scheme, uri.host, f"/{uri.path}", uri.query, ""))
        self._http = Http(request.secrets, limits=request.limits)
        token = request.secrets.get("ACCESS_TOKEN")
        self._known: dict[str, Entry] = {}
        self._failed = 0
        self._whole_only: set[str] = set()
        """what was listed as served in ranges and is not"""
        self._headers: dict[str, str] = {}
        if uri.user and (uri.password or not token):
            pair = f"{uri.user}:{uri.password}".encode()
            self._headers["Authorization"] = f"Basic {b64encode(pair).decode()}"
        elif token:
            self._headers["Authorization"] = f"Bearer {token}"
        request.secrets.hide(self._headers.get("Authorization", "").partition(" ")[2])

    def resolve(self) -> Listing:
        """Ask what the files are."""
        path = urlsplit(self._url).path
        if path.endswith("/"):
            entries = self._index()
        else:
            entries = (self._entry(unquote(path.rpartition("/")[2]), self._url),)
        total = hashlib.sha256()
        for entry in entries:
            total.update(f"{entry.path}\0{entry.size}\0{entry.etag}\0{entry.digest}\n".encode())
        only = entries[0] if len(entries) == 1 else None
        revision = only.etag.strip('W/"') if only is not None and only.etag.startswith(('"', "W/")) else ""
        return Listing(revision or f"index-{total.hexdigest()[:16]}", entries)

    def open(self, entry: Entry, start: int, stop: int | None) -> Reader:
        """Open a part of a file."""
        assert isinstance(entry.handle, str)
        try:
            return self._http.open_range(
                entry.handle, start, stop, headers=self._headers, etag=entry.etag, size=entry.size
            )
        except NoRanges as error:
            self._whole_only.add(entry.handle)
            raise Changed(str(error)) from None

    def renew(self) -> None:
        """A token from the environment stays what it is; where redirects led is asked again."""
        self._http.forget()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _entry(self, name: str, url: str) -> Entry:
        facts: Facts = self._http.head(url, headers=self._headers)
        if not facts.size:  # servers that do not know say 0 as well: the body tells
            return Entry(name, None, etag=facts.etag, seekable=False, handle=url)
        return Entry(
            name,
            facts.size,
            etag=facts.etag,
            seekable=facts.ranges and url not in self._whole_only,
            handle=url,
        )

    def _index(self) -> tuple[Entry, ...]:
        self._failed = 0
        found = list(self._walk(self._url, set(), 0))
        if len(found) > MOST_FILES:
            raise FetchError(f"{self._text}: lists more than {MOST_FILES} files, give a folder of it")
        with ThreadPoolExecutor(_HEADS_AT_ONCE) as pool:
            troubles = [trouble for trouble in pool.map(self._ask, found) if trouble is not None]
        if troubles:
            raise troubles[0]
        entries = [self._known[url] for _, url in found]
        listed = tuple(self._with_sums(entries))
        self._known.clear()
        return listed

    def _ask(self, pair: tuple[str, str]) -> Transient | OSError | None:
        """Ask for one file, unless the last listing, which broke off, knew it; tell what was in the way."""
        name, url = pair
        if url not in self._known and self._failed < _MOST_FAILED:
            try:
                self._known[url] = self._entry(name, url)
            except (Transient, OSError) as error:
                self._failed += 1
                return error
        return None if url in self._known else Transient(f"{self._text}: too much goes wrong there")

    def _walk(self, url: str, seen: set[str], depth: int) -> Iterator[tuple[str, str]]:
        """The names and addresses of the files below an index."""
        if depth > _DEEPEST:
            raise FetchError(
                f"{self._text}: its folders lie deeper than {_DEEPEST}, a link leads in a circle"
            )
        seen.add(url)
        page = self._http.request("GET", url, headers=self._headers)
        below = partial(_relative, urlsplit(self._url).path)
        for link in links(page, url, self._text):
            if not link.endswith("/"):
                yield below(link), link
            elif link not in seen:
                yield from self._walk(link, seen, depth + 1)

    def _with_sums(self, entries: list[Entry]) -> Iterator[Entry]:
        sums: dict[str, str] = {}
        for entry in entries:
            folder, _, name = entry.path.rpartition("/")
            if name in SUMS:
                for value, path in self._sums(entry):
                    sums[f"{folder}/{path.removeprefix('./')}".removeprefix("/")] = value.lower()
        for entry in entries:
            known = sums.get(entry.path)
            yield replace(entry, digest=Digest("sha256", known)) if known else entry

    def _sums(self, entry: Entry) -> list[tuple[str, str]]:
        """The lines of a file of sums; one that is not such a file is not passed over."""
        body = self._http.request("GET", str(entry.handle), headers=self._headers).body
        lines = [line for line in body.decode("utf-8", "replace").splitlines() if line.strip()]
        matches = [match for line in lines if (match := _SUM.fullmatch(line.strip()))]
        found = [(match[1], match[2]) for match in matches]
        if not found or len(found) < len(lines):
            raise Transient(f"{self._text}: {entry.path} is not a list of SHA-256 sums and names")
        return found


def _relative(base: str, url: str) -> str:
    return unquote(urlsplit(url).path.removeprefix(base))

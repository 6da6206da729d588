"""Files of a Hugging Face hub: hf://org/name[@revision][/sub/path], a dataset or a model.

The hub's own index is the truth: a revision becomes a commit, and the commit's tree gives every file's size
and digest (SHA-256 of LFS files, git's name of the others). Bytes come from the local Hugging Face cache if
it holds that very file, else from xet's storage where the hub and this machine know it, else over HTTP. The
token goes to the hub alone: neither to where it redirects nor to where its pages point.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ....errors import SetupError, SpecError
from ..hidden import Secrets, shown
from ..http_client import Document, Http
from ..source import Digest, Entry, Listing, Reader, Request
from ..troubles import Changed, Expired, FetchError, NoRanges, Transient
from .addresses import place_of
from .hf_address import parse_hub_address
from .hf_cache import HubCache, hub_home
from .hf_refusals import reason, until_the_limit_resets
from .xet import XetStorage, xet_is_usable

ENDPOINT = "https://huggingface.co"
_MOST_PAGES = 10_000
_COMMIT = _SHA1 = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_NAME_OF_COMMIT = re.compile(r"[0-9A-Za-z]{1,64}")
"""what a hub answers; one that is not Hugging Face's may name commits in its own way"""
_NEXT = re.compile(r"<([^>]+)>\s*;\s*rel=\"?next\"?")


@dataclass(frozen=True, slots=True)
class _HubFile:
    """What the tree says of a file beyond its size and digest."""

    repo_path: str
    xet_hash: str = ""


def open_source(request: Request) -> HubSource:
    """The source of an hf:// address."""
    return HubSource(request)


class HubSource:
    """A repository of a hub, at one revision."""

    def __init__(self, request: Request) -> None:
        self._address = parse_hub_address(request.uri, request.kind)
        self._text = request.uri.text
        self._secrets = request.secrets
        self._endpoint = _endpoint(request.secrets)
        self._token = hub_token(request.secrets)
        self._stall = request.limits.stall
        self._http = Http(request.secrets, limits=request.limits)
        self._cache = HubCache(self._address, request.secrets)
        self._xet: XetStorage | None = None
        self._commit = ""
        self._serves_ranges = True

    def resolve(self) -> Listing:
        """Turn the revision into a commit and list its tree."""
        self._commit = self._resolved_commit()
        files = [item for item in self._tree() if item.get("type") == "file"]
        if any(item.get("xetHash") for item in files) and xet_is_usable(self._secrets):
            self._xet = XetStorage(self._xet_token, self._text, self._secrets, stall=self._stall)
        return Listing(self._commit, tuple(self._entries(files)))

    def open(self, entry: Entry, start: int, stop: int | None) -> Reader:
        """The bytes from the nearest place that has them."""
        cached = self._cache.open(entry, start)
        if cached is not None:
            return cached
        file = entry.handle
        assert isinstance(file, _HubFile)
        if self._xet and file.xet_hash and entry.size is not None:
            stream = self._xet.open(file.xet_hash, entry.size, start, stop)
            if stream is not None:
                return stream
        prefix = "datasets/" if self._address.kind == "dataset" else ""
        place = f"{prefix}{self._address.repo}/resolve/{self._commit}/{quote(file.repo_path)}"
        token = self._token
        try:
            return self._http.open_range(
                f"{self._endpoint}/{place}", start, stop, headers=_authorization(token), size=entry.size
            )
        except NoRanges:
            self._serves_ranges = False
            raise Changed(f"{self._text}: the hub sends no parts of a file, only all of it") from None
        except (FetchError, Transient) as error:
            raise self._said(error, token) from None

    def renew(self) -> None:
        """Forget signed addresses and read the token again."""
        self._http.forget()
        self._token = hub_token(self._secrets)

    def close(self) -> None:
        """Close connections."""
        self._http.close()

    def _resolved_commit(self) -> str:
        revision = self._address.revision
        if _COMMIT.fullmatch(revision):
            return revision
        commit = _mapping(self._get(self._api("revision", revision)), self._text).get("sha")
        if not isinstance(commit, str) or not _NAME_OF_COMMIT.fullmatch(commit):
            raise FetchError(_no_hub(self._text, self._endpoint))
        return commit

    def _tree(self) -> Iterator[dict[str, Any]]:
        """The entries of the commit's tree, page by page."""
        url = f"{self._api('tree', self._commit)}?recursive=true&expand=false"
        seen: set[str] = set()
        while url:
            if url in seen or len(seen) > _MOST_PAGES:
                raise FetchError(f"{self._text}: the hub's list of files goes in a circle")
            seen.add(url)
            page = self._get(url)
            items = _json(page, self._text)
            if not isinstance(items, list):
                raise FetchError(_no_hub(self._text, self._endpoint))
            yield from (item for item in items if isinstance(item, dict))
            found = _NEXT.search(page.headers.get("link", ""))
            url = self._checked_page(found.group(1)) if found else ""

    def _checked_page(self, url: str) -> str:
        if place_of(url) != place_of(self._endpoint):
            where = shown(url)
            raise FetchError(
                f"{self._text}: the hub's list goes on at {where}, which is another host, "
                "set HF_ENDPOINT to the hub's own address"
            )
        return url

    def _entries(self, files: list[dict[str, Any]]) -> Iterator[Entry]:
        for item in files:
            path = self._address.place_of(str(item.get("path", "")))
            if path is not None:
                yield _entry(item, path, self._text, ranges=self._serves_ranges)

    def _api(self, verb: str, revision: str) -> str:
        address = self._address
        return f"{self._endpoint}/api/{address.kind}s/{address.repo}/{verb}/{quote(revision, safe='')}"

    def _get(self, url: str) -> Document:
        token = self._token
        try:
            return self._http.request("GET", url, headers=_authorization(token))
        except (FetchError, Transient) as error:
            raise self._said(error, token) from None

    def _xet_token(self) -> Document:
        return self._get(self._api("xet-read-token", self._commit))

    def _said(self, error: FetchError | Transient, token: str | None) -> FetchError | Transient:
        """The hub's refusal in words that say what to do; a CDN's stays as it is."""
        refusal = error.refusal
        if refusal is None or place_of(refusal.url) != place_of(self._endpoint):
            return error
        if isinstance(error, Transient):
            return until_the_limit_resets(error)
        if refusal.status == 401 and hub_token(self._secrets) not in (None, token):
            return Expired(f"{self._text}: the token is not valid any more")
        why = reason(refusal, self._address, self._endpoint, has_token=token is not None)
        return FetchError(f"{self._text}: {why}") if why else error


def hub_token(secrets: Secrets) -> str | None:
    """The token, by Trainer's name, by the hub's own, or from the file where its login keeps it."""
    given = secrets.get("ACCESS_TOKEN") or secrets.get("HF_TOKEN") or secrets.get("HUGGING_FACE_HUB_TOKEN")
    if given is None:
        file = Path(secrets.get("HF_TOKEN_PATH") or hub_home(secrets) / "token").expanduser()
        try:
            given = file.read_text(encoding="utf-8").strip()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise SetupError(f"{file}: holds the hub's token and cannot be read, {error}") from None
    secrets.hide(given)
    if not given.isascii() or not given.isprintable() or " " in given:
        raise SpecError("ACCESS_TOKEN: is no token of a hub, it holds a blank, a line break or an odd letter")
    return given or None


def _authorization(token: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


def _endpoint(secrets: Secrets) -> str:
    given = (secrets.get("HF_ENDPOINT") or ENDPOINT).rstrip("/")
    scheme, host = place_of(given)
    if scheme not in ("http", "https") or not host:
        raise SpecError(f"HF_ENDPOINT: must be the address of a hub, got {shown(given)!r}; write {ENDPOINT}")
    return given


def _entry(item: Mapping[str, Any], path: str, text: str, *, ranges: bool) -> Entry:
    lfs = item.get("lfs")
    told = lfs if isinstance(lfs, dict) else item
    size, name = told.get("size"), str(told.get("oid")).removeprefix("sha256:")
    form = _SHA256 if told is lfs else _SHA1
    if type(size) is not int or size < 0 or not form.fullmatch(name):
        raise FetchError(
            f"{text}: the hub tells no size and digest of {path!a}, so that nobody could check it"
        )
    return Entry(
        path=path,
        size=size,
        digest=Digest("sha256" if told is lfs else "git-sha1", name),
        seekable=ranges and told is lfs,
        handle=_HubFile(str(item["path"]), str(item.get("xetHash") or "")),
    )


def _json(document: Document, text: str) -> Any:
    try:
        return json.loads(document.body)
    except (ValueError, RecursionError):
        raise FetchError(_no_hub(text, document.url)) from None


def _mapping(document: Document, text: str) -> Mapping[str, Any]:
    value = _json(document, text)
    if not isinstance(value, dict):
        raise FetchError(_no_hub(text, document.url))
    return value


def _no_hub(text: str, url: str) -> str:
    return f"{text}: {shown(url)} does not answer as a hub does, check HF_ENDPOINT"

"""Git LFS without git-lfs: pointers found in the tree, their objects fetched like any file.

A pointer is a small file of three lines. The server's batch API turns the digests in them into addresses
and headers that are good for a while; asked for a hundred at a time, again when they have run out. The
addresses may lie on another host, which gets the headers made for it and never the repository's password.
"""

from __future__ import annotations

import base64
import json
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..hidden import Secrets, shown
from ..http_client import Http
from ..troubles import Expired, FetchError
from .addresses import is_private, joined, place_of
from .git_address import GitAddress

MOST_POINTER = 1024
_POINTER = re.compile(
    rb"version https://(?:git-lfs\.github\.com|hawser\.github\.com)/spec/v1\n"
    rb"(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize (\d+)\n"
)
_HEADER = re.compile(r"[A-Za-z0-9-]+: [\x20-\x7e]*")
_EXTENSION = re.compile(rb"\next-")
_MEDIA_TYPE = "application/vnd.git-lfs+json"
_AT_ONCE = 100
_MARGIN, _LONGEST = 10.0, 3600.0


@dataclass(frozen=True, slots=True)
class Pointer:
    """What stands in the tree for a big file."""

    oid: str
    size: int


@dataclass(frozen=True, slots=True)
class _Action:
    """Where an object is to be had, and until when."""

    url: str
    headers: Mapping[str, str]
    until: float


class LfsStore:
    """The objects of one repository."""

    def __init__(
        self,
        address: GitAddress,
        pointers: Sequence[Pointer],
        http: Http,
        secrets: Secrets,
        *,
        ref: str,
        url: str = "",
        text: str,
    ) -> None:
        self._address, self._http, self._secrets, self._text = address, http, secrets, text
        self._url = url or f"{address.url.removesuffix('/').removesuffix('.git')}.git/info/lfs"
        self._ref = ref
        self._pointers = list({pointer.oid: pointer for pointer in pointers}.values())
        self._index = {pointer.oid: number for number, pointer in enumerate(self._pointers)}
        self._actions: dict[str, _Action] = {}
        self._lock = threading.Lock()

    def where(self, pointer: Pointer) -> tuple[str, Mapping[str, str]]:
        """The address of an object and the headers to send there."""
        with self._lock:
            action = self._actions.get(pointer.oid)
            if action is None or time.monotonic() > action.until:
                self._ask(pointer)
                action = self._actions[pointer.oid]
            return action.url, action.headers

    def forget(self) -> None:
        """Ask for every address anew."""
        with self._lock:
            self._actions.clear()

    def _ask(self, pointer: Pointer) -> None:
        """Ask for one object, and for those that will be wanted next."""
        first = self._index[pointer.oid]
        wanted = self._pointers[first : first + _AT_ONCE]
        question: dict[str, Any] = {
            "operation": "download",
            "transfers": ["basic"],
            "hash_algo": "sha256",
            "objects": [{"oid": each.oid, "size": each.size} for each in wanted],
        }
        if self._ref:
            question["ref"] = {"name": self._ref}
        answer = self._batch(json.dumps(question).encode())
        for each in answer:
            if isinstance(each, dict) and str(each.get("oid")) in self._index:
                self._take(each, asked=pointer)
        if pointer.oid not in self._actions:
            raise FetchError(f"{self._text}: the LFS server does not answer for {pointer.oid}, push it again")

    def _batch(self, question: bytes) -> Sequence[Any]:
        headers = {"Accept": _MEDIA_TYPE, "Content-Type": _MEDIA_TYPE, **self._authorization()}
        try:
            answer = self._http.request("POST", f"{self._url}/objects/batch", headers=headers, body=question)
        except Expired:
            raise FetchError(
                f"{self._text}: the LFS server does not let us read, give GIT_USERNAME and GIT_PASSWORD"
            ) from None
        try:
            objects = json.loads(answer.body)["objects"]
        except (ValueError, RecursionError, KeyError, TypeError):
            objects = None
        if not isinstance(objects, list):
            raise FetchError(f"{self._text}: {shown(self._url)} does not answer as an LFS server does")
        return objects

    def _take(self, found: Mapping[str, Any], *, asked: Pointer) -> None:
        """Keep the address of one object; what another one lacks is said when its turn comes."""
        oid = str(found["oid"])
        action = _mapping(_mapping(found.get("actions")).get("download"))
        if not action.get("href"):
            if oid == asked.oid:
                why = self._secrets.clean(str(_mapping(found.get("error")).get("message") or "no address"))
                raise FetchError(f"{self._text}: the LFS server lacks {oid} ({why}), push it again")
            return
        headers = {str(name): str(value) for name, value in _mapping(action.get("header")).items()}
        for name, value in headers.items():
            self._secrets.hide(value)
            if not _HEADER.fullmatch(f"{name}: {value}"):
                raise FetchError(f"{self._text}: the LFS server gives a header that is none, ask who runs it")
        url = joined(f"{self._url}/", str(action["href"]))
        if not is_private(url) and place_of(url)[0] != place_of(self._url)[0]:
            raise FetchError(
                f"{self._text}: the LFS server sends us to {shown(url)}, which is no encrypted HTTP"
            )
        if not headers and place_of(url) == place_of(self._url):
            headers = self._authorization()
        lasts = action.get("expires_in")
        seconds = lasts - _MARGIN if isinstance(lasts, int) and 0 < lasts < _LONGEST else _LONGEST
        until = time.monotonic() + seconds
        self._actions[oid] = _Action(url, headers, until)

    def _authorization(self) -> dict[str, str]:
        """The repository's password, for the repository's own host."""
        address = self._address
        own = place_of(self._url) == place_of(address.url)
        if not address.password or not own:
            return {}
        pair = base64.b64encode(f"{address.user}:{address.password}".encode()).decode()
        self._secrets.hide(pair)
        return {"Authorization": f"Basic {pair}"}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def read_pointer(content: bytes) -> Pointer | None:
    """The pointer that a file is; None where it is an ordinary file."""
    found = _POINTER.fullmatch(content)
    if found is None or _EXTENSION.search(content):
        return None
    return Pointer(found[1].decode(), int(found[2]))


def is_trusted_store(url: str, address: GitAddress) -> bool:
    """Whether an LFS address that the repository itself names may be asked."""
    place = place_of(url)
    return bool(place[1]) and (place == place_of(address.url) or is_private(url))
